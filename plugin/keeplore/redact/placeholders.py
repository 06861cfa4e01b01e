"""What stands in the place of a secret: ``your-api-key``, ``$VAR``, ``<token>``, ``xxxx``."""

from __future__ import annotations

import re

from keeplore.redact.known_words import COMMON_VALUES, STAND_IN_WORDS

PLACEHOLDER_CHARS = 80
_FILLERS = ("xxxx", "****", "••••", "...", "…", "____", "[redacted:")
_PLACEHOLDER = re.compile(
    r"""^(?:
      [<\[{(%@&*].*[>\]})%] | <.* | [$\#]\{.* | \$\(.* | \{\{.* | %\(.*
    | \$[A-Z_][A-Z0-9_]*[/.]? | \$[a-z_]+ | \$env:.* | \$\w+(?:->|\[).* | %[A-Za-z_]\w*%? | @\w+\(.*
    | [x*.•#_?0-]+ | (.)\1{3,}
    | !\w+.* | (?:arn|vault|op|file|ssm|sm|secret|keyring|env|ref|https?|path)://?.* | arn:.*
        | ENC\[.*
    | (?i:.*(?:example|placeholder|change[_-]?me|change[_-]?this|redacted|dummy|insert[_-]
        |replace[_-]?|sample).*)
    | (?i:(?:your|my|the|some|any|this|user|new|old|enter|put|set|use|a|an|fake|test|mock|foo|bar
        |todo|fixme)
        [\ _.-].*(?:key|token|secret|pass\w*|pwd|here|value|id|credential\w*|string|auth
          |code)s?\d?[>\]})]*)
    | (?i:(?:your|my|user|test|fake|mock|super)?(?:api|access|secret|auth|client|private)?
        (?:key|token|secret|password)s?\d?)
    | (?i:your[A-Z_-].*)
    )$""",
    re.VERBOSE | re.DOTALL,
)
_FORMAT = re.compile(r"(?:%[-+#0-9.]*[sdrfxiq]|\\x[0-9a-f]{2}|[^A-Za-z0-9])+")
_LETTERS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_COUNTED = re.compile(
    r"\d{0,2}|1234?5?6?7?8?9?0?"
)  # digits that people put behind a word


def is_placeholder(value: str) -> bool:
    """True for what stands in the place of a secret: ``your-api-key``, ``$VAR``, ``<token>``,
    ``xxxx``.
    """
    value = value[:PLACEHOLDER_CHARS].strip(".,;:!?\"'`")
    lower = value.lower()
    if (
        not value
        or lower in COMMON_VALUES
        or any(filler in lower for filler in _FILLERS)
    ):
        return True
    if _PLACEHOLDER.match(value) or _FORMAT.fullmatch(value):
        return True
    return _is_stand_in(value)


def _is_stand_in(value: str) -> bool:
    """True for ``testPass``, ``my_secret1`` and ``password123``: words for what is meant."""
    if not _COUNTED.fullmatch("".join(filter(str.isdigit, value))) or len(value) > 40:
        return False
    words = _LETTERS.findall(value)
    return bool(words) and all(_is_stand_in_word(word.lower()) for word in words)


def _is_stand_in_word(word: str) -> bool:
    if word in STAND_IN_WORDS:
        return True
    return any({word[:n], word[n:]} <= STAND_IN_WORDS for n in range(3, len(word) - 1))
