"""Values that are likely to be secret by where they stand and what they look like, whatever the
syntax around them: logistic regression over both.

Rules name forms; this asks of each token near a word for a secret how it is placed (behind the
word, behind an option, beside a user's name, alone on the next line) and how it looks. The weights
were fitted by ``benchmarks/train_secrets.py``.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from keeplore.redact import value_model
from keeplore.redact.bare_tokens import Span, is_diff_mark, is_text
from keeplore.redact.code_references import is_reference
from keeplore.redact.placeholders import is_placeholder
from keeplore.redact.value_shapes import HEX, has_secret_word, is_name_of_words

# a line a feature: its name and its weight
WEIGHTS = Path(__file__).with_name("likely_secrets.txt")
INTERCEPT = "intercept"
SURE = 0.5  # from which chance a value is taken for a secret
BEFORE, AFTER = 160, 320  # bytes around a word in which its line is looked at
BELOW = 2  # lines after it
MIN_VALUE = 5
DIGESTS = (40, 64)  # hexadecimal digits of SHA-1 and SHA-256
_ODD = 5.0  # bits of surprise a letter of what has neither digit nor sign

_WORD = re.compile(
    rb"(?P<strong>pass(?:w(?:or)?d|wort|phrase|_phrase|code|wd)?s?(?![a-z])|pwd|\bpw\b|_pw\b"
    rb"|psk|kennwort|\bmdp\b|mot de passe|contrase|senha|wachtwoord|has\xc5\x82o|heslo"
    rb"|\xd0\xbf\xd0\xb0\xd1\x80\xd0\xbe\xd0\xbb|\xe5\xaf\x86\xe7\xa0\x81)"
    rb"|(?P<secret>secret|token|credential|\bcreds\b|bearer"
    rb"|(?:api|private|encrypt\w*|signing|secret|access)[_ .-]?key"
    rb"|authorization|[a-z]_key\b|community|passkey|\bpin\b)"
    rb"|(?P<weak>\bkeys?\b|auth|log[ -]?in|sign[ -]?in|\baccount\b|\busers?(?:name)?\b|\badmin"
    rb"|\broot\b|unlock|\bsudo\b|basic|(?<=\s)-[pu]\b)",
    re.IGNORECASE,
)
_VALUE = re.compile(
    rb"\"(?P<double>[!#-\[\]-~]{5,120})\\*\"|'(?P<single>[!-&(-\[\]-~]{5,120})\\*'"
    rb"|(?P<bare>[A-Za-z0-9!#$%&*+\-./:;=?@\\^_~]{5,120})"
)
# on a line without this no value is looked at
_HINT = re.compile(
    rb"[0-9!#$%&*+?@^~][A-Za-z_-]|[A-Za-z._-][0-9!#$%&*+?@^~]|[a-z][A-Z][a-z]?[A-Z0-9]"
    rb"|[a-z]{4}-[a-z]{4}-"
)
_ESCAPES = re.compile(r"\\+(?=[\"'`])")
# what stands before a value in one run of signs: user:…, KEY=…, DOMAIN\user%…, user/…
_LEAD = re.compile(
    rb"(?:[\w.@+\\-]{1,48}?(?:[:=]|(?<!/)/(?!/))|[A-Za-z.\\]{2,48}%|-[pPwWa])(?=.{5})"
)
_DIGEST = re.compile(r"(?:sha-?\d+|md5)[:=-]$", re.IGNORECASE)
# win32, hmac-sha256, HKDF-SHA256, x86_64: a size in bits
_SIZED = re.compile(
    r"(?:[a-z]+(?:[-_.][a-z]+)*|[A-Z]+[-_][A-Z]+)[-_]?\d{0,2}[-_]?"
    r"(?:8|16|32|64|128|256|384|512|1024)$"
)
# a version, a name in a module, a ticket, a pattern or a fragment of code
_OF_CODE = re.compile(
    r"\d\.\d+\.\d|^(?:[A-Za-z_]\w*\.){2,}[A-Za-z_]\w*$|^[a-z_]+\.[A-Z]+_[A-Z0-9_]+$"
    r"|^[A-Z]{2,6}-\d{1,5}$|[\[\](){}<>\"'|].*[\[\](){}<>\"'|]"
)
_SHORT_FLAG = re.compile(r"(?:^|[\s\"'])-[pPwWaAXsk][\"']?[\s,=]{0,3}[\"']?$")
_LONG_FLAG = re.compile(r"--?[\w.-]{2,40}[\s=,]{0,2}[\"']?$")
_CLOSE = re.compile(
    r"[\w\-.\]]{0,24}[\"'`)\]*]{0,4}\s{0,8}(?:[:=>|,(<?*→-]|\bis\b){0,4}[\s\"'`(\[*<@]{0,8}$"
)
_LINKED = re.compile(r".{0,80}(?:[:=]|\b(?:is|to|was|as|with|from|use)\b)\W{0,6}$")
_BESIDE_USER = re.compile(r"[\w.@-]{2,40}[\"']?\s?[:/,%]\s?[\"']?$")
_CODE_LINE = re.compile(
    r"^\s*(?:def|class|import|from|return|if|elif|for|while|assert|raise|except|with|@|>>>|#|//)"
    r"|[\w.]\(|[;{]\s*$|\bself\.|==|\br[\"']"
)
_COMMAND_LINE = re.compile(r"(?:^|\s)[$#>]\s|\s--?[a-zA-Z][\w-]*[\s=]")
_SENTENCE = re.compile(r"(?:[a-z]+[,.]? ){4}")
_TRAILING = b".,;:?\\"
_IN_LIST = re.compile(r".?,\s?[\"']{2},\s?[\"'].?")  # its quotes touch where it stood


@dataclass(frozen=True, slots=True)
class LineValue:
    """A value with the line that it stands on, and the words for secrets around it."""

    text: str
    start: int
    before: str  # of its line
    after: str
    near: tuple[str, str]  # kind of the last word before it, and the text between
    following: str  # kind of the first word after it on its line
    below: int  # lines below the word
    is_quoted: bool


def likely(data: bytes, match: Span, examined: int) -> tuple[list[Span], int]:
    """The likely secrets on the line of a word and on the lines below it; ``match`` begins with a
    word.
    """
    if match[0] < examined:
        return [], examined
    found = [
        (value.start, value.start + len(value.text))
        for value in values(data, match[0], examined)
        if chance(value) >= SURE
    ]
    return found, _line_end(data, match[0])


def candidates(data: bytes) -> Iterator[LineValue]:
    """The values near all words of a text."""
    examined = 0
    for match in _WORD.finditer(data):
        if match.start() >= examined:
            yield from values(data, match.start(), examined)
            examined = _line_end(data, match.start())


def values(data: bytes, place: int, examined: int) -> Iterator[LineValue]:
    """The values on the line of a word at this place, and below it, that may be secrets."""
    start = max(examined, data.rfind(b"\n", 0, place) + 1, place - BEFORE)
    end = _line_end(data, place)
    kind = ""  # of the last word on its line
    for below in range(BELOW + 1):
        words = [*_WORD.finditer(data, start, end)]
        is_first_line = below == 0
        if bool(words) != is_first_line:  # a word further down has lines of its own
            return
        yield from _values_on_line(data, (start, end), words, (below, kind))
        if words:
            kind = words[-1].lastgroup or ""
        start, end = end + 1, _line_end(data, end + 1)
        if start >= len(data):
            return


def _line_end(data: bytes, start: int) -> int:
    """Where a line ends, or what is looked at of it."""
    end = data.find(b"\n", start, start + AFTER)
    return end if end >= 0 else min(len(data), start + AFTER)


def _values_on_line(
    data: bytes, line: Span, words: list[re.Match[bytes]], below: tuple[int, str]
) -> Iterator[LineValue]:
    """The values of a line; ``below`` says how far it is below the word of which kind."""
    start, end = line
    is_named = any(word.lastgroup != "weak" for word in words)
    for begin, stop, is_quoted in _spans(data, line):
        text = data[begin:stop].decode("latin-1")
        before = data[start:begin].decode("latin-1")
        if not _may_be(text, is_named=is_named) or _DIGEST.search(before):
            continue
        if is_name_of_words(text) and _IN_LIST.fullmatch(
            before[-3:] + data[stop : stop + 4].decode("latin-1")
        ):
            continue
        last = _last_before(words, begin)
        between = data[last.end() if last else start : begin].decode("latin-1")
        yield LineValue(
            text=text,
            start=begin,
            before=_ESCAPES.sub("", before),
            after=_ESCAPES.sub("", data[stop:end].decode("latin-1")),
            near=(
                last.lastgroup or "" if last else below[1],
                _ESCAPES.sub("", between),
            ),
            following=_first_after(words, stop),
            below=below[0],
            is_quoted=is_quoted,
        )


def _spans(data: bytes, line: Span) -> Iterator[tuple[int, int, bool]]:
    """Where values may stand, in quotes (True) or between blanks, without what stands before and
    behind them in the same run of signs.
    """
    has_any = _HINT.search(data, *line)
    for match in _VALUE.finditer(data, *line) if has_any else ():
        begin, stop = match.span(match.lastgroup or 0)
        if match.lastgroup == "bare":
            begin += is_diff_mark(data, begin)
            text = data[begin:stop]
            begin += len(text) - len(text.lstrip(b"\\"))
            stop -= len(text) - len(text.rstrip(_TRAILING))
        while lead := _LEAD.match(data, begin, stop):
            begin = lead.end()
        yield begin, stop, match.lastgroup != "bare"


def _last_before(words: list[re.Match[bytes]], place: int) -> re.Match[bytes] | None:
    return next((word for word in reversed(words) if word.end() <= place), None)


def _first_after(words: list[re.Match[bytes]], place: int) -> str:
    """The kind of the first word behind a place."""
    return next((word.lastgroup or "" for word in words if word.start() >= place), "")


def _may_be(value: str, *, is_named: bool) -> bool:
    """Whether a value has what most passwords have, and is no example; ``is_named`` is one on the
    line of a word that says so.
    """
    if len(value) < MIN_VALUE or is_placeholder(value) or is_text(value):
        return False
    if HEX.match(value) and len(value) in DIGESTS:
        return is_named
    if value[0] == "-" or _SIZED.match(value) or _is_name_of_secret(value):
        return False
    if _OF_CODE.search(value) or (value.islower() and value.count("_") >= 3):
        return False
    digits = sum(map(str.isdigit, value))
    if digits < 3 and is_reference(value):
        return False
    if not digits and not any(c in "!#$%&*+?@^~" for c in value):
        return len(value) >= 8 and value_model.bigram_bits(value) >= _ODD
    return any(map(str.isalpha, value))


def _is_name_of_secret(value: str) -> bool:
    """True for ``dbPassword2``."""
    is_name = value.isidentifier() and sum(map(str.isdigit, value)) < 3
    return is_name and has_secret_word(value)


def chance(value: LineValue) -> float:
    """Probability, 0 to 1, that the value is a secret; 0 where there are no weights."""
    weights = _load(WEIGHTS)
    if not weights:
        return 0.0
    amounts = features(value).items()
    score = weights[INTERCEPT] + sum(weights.get(n, 0.0) * v for n, v in amounts if v)
    return 1 / (1 + math.exp(-max(-50.0, min(50.0, score))))


def features(value: LineValue) -> dict[str, float]:
    """How the value is placed, how it looks, and how it looks for one so placed."""
    place = place_of(value)
    looks = value_model.features(value.text)
    line = value.before + value.text + value.after
    amounts = {
        f"at {place}": 1.0,
        "quoted": float(value.is_quoted),
        "code": float(bool(_CODE_LINE.search(value.before))),
        "command": float(bool(_COMMAND_LINE.search(line))),
        "sentence": float(bool(_SENTENCE.search(line))),
        "followed": float(value.following in ("strong", "secret")),
        "linked": float(bool(_LINKED.match(value.near[1]))),
        "beside a user": float(bool(_BESIDE_USER.search(value.before[-48:]))),
        "ends the line": float(not value.after.strip(" \"'`.,;)")),
        "near": float(len(value.near[1]) <= 12),
        "far": float(len(value.near[1]) > 40),
    }
    given = {f"{place}: {name}": amount for name, amount in looks.items()}
    lined = {f"{place}: {name}": amount for name, amount in amounts.items()}
    return {**amounts, **lined, **looks, **given}


def place_of(value: LineValue) -> str:
    """How the value stands to the word for a secret, in a word or two."""
    kind, between = value.near
    if value.below:
        is_alone = len(
            value.before.strip(" \t\"'`>+|*-")
        ) <= 1 and not value.after.strip(" \"'`,\\")
        return f"{'alone ' if is_alone else ''}below {kind}"
    if kind and _CLOSE.match(between):
        return f"behind {kind}"
    if _SHORT_FLAG.search(value.before[-8:]):
        return "short option"
    if _LONG_FLAG.search(value.before[-44:]):
        return "long option"
    if kind:
        return f"after {kind}"
    return f"before {value.following}" if value.following else "elsewhere"


@functools.cache
def _load(path: Path) -> dict[str, float]:
    """The weights by their names, none where the file is missing."""
    if not path.is_file():
        return {}
    pairs = (
        line.rsplit(" ", 1) for line in path.read_text(encoding="ascii").splitlines()
    )
    return {name: float(weight) for name, weight in pairs}
