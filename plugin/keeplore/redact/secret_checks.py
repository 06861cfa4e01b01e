"""Is this value a secret? Checks over what a rule's pattern found, each named in rules.yaml.

A check gives the length of the value's secret part in characters, 0 for none: patterns take what
may belong to a value, and only here is it known where it ends.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from keeplore.redact.code_references import is_reference
from keeplore.redact.known_words import COMMON_VALUES, MESSAGE_WORDS, SECRET_WORDS
from keeplore.redact.placeholders import is_placeholder
from keeplore.redact.randomness import SEEN_CHARS, classes, has_many_turns, is_sequence
from keeplore.redact.secret_names import is_no_secret_name, is_password_name
from keeplore.redact.value_shapes import (
    HEX,
    NUMBER,
    TIMED_ID,
    WORDS,
    has_secret_word,
    is_joined,
    is_mixed,
    is_name_of_words,
    is_path,
    is_random,
    names_a_secret,
    parts_of,
)


@dataclass(frozen=True, slots=True)
class SecretCandidate:
    key: str  # the name that stands before the value, with what precedes it
    gap: str  # what separates name and value
    value: str
    after: str

    @property
    def is_quoted(self) -> bool:
        return self.gap[-1:] in _QUOTES and self.after.lstrip("\\")[:1] == self.gap[-1:]

    @property
    def name(self) -> str:
        """The whole identifier that the key ends with: ``MAX_TOKENS`` where the pattern found
        ``TOKEN``.
        """
        found = _NAME.search(self.key)
        return found[0] if found else ""


_QUOTES = tuple("\"'`")
_NAME = re.compile(r"[\w.\-\[\]$]*$")
_TRAILING = ".,;:!?)]}>*'\"`"
_CLOSERS = ",;:)]}`'\"*"  # of a setting, whose value may end with any other sign
_MESSAGE_ENDS = ".:?…"  # of a sentence or a label
MIN_PHRASE, MAX_WORDS = 8, 6  # characters, words of a password with blanks
_SIGNS = "@#$%&*^+=~?!"  # at either end of a word they may be anything
# host:port, host:port:port
_ADDRESS = re.compile(r"^(?:[\w.-]+(?::\d{1,5}){1,2}|\d{1,3}(?:\.\d{1,3}){3})$")
_PUBLIC_KEY = re.compile(r"\b(?:public|primary|foreign|host)[ _-]key$", re.IGNORECASE)
_HOST_PATH = re.compile(r"\w\.[a-z]{2,10}/$")
_UUID = re.compile(
    r"^\{?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\}?$",
    re.IGNORECASE,
)
_PORT = re.compile(r"^\d{1,5}(?:$|[:/])")
_DATE = re.compile(r"^\d{4}-\d\d-\d\d(?:[T ].*)?$")
_TIME = re.compile(r"^\d\d:\d\d(?:[:.]\d+)*Z?$")
_DATE_FIRST = re.compile(r"^\d{4}-\d\d-\d\d")
_VERSION = re.compile(r"^[\^~>=<v]*\d+(?:\.\d+){1,3}(?:[-+]\w+)?$")
_CODE_IN_PROSE = re.compile(
    r"[A-Za-z_][\w.-]*=[\w\"'(\[]|[\w.-]+=$|--|[{(\[][A-Za-z_]\w*[.(})\]]|[{(\[][A-Za-z_.]+$"
)
_COMMA = re.compile(r"[\"'`]\s*,")
_SECRET_NAME = re.compile(r"secret(?:[_-]?key)?$", re.IGNORECASE)
_ARGUMENT_NAME = re.compile(r"[a-z_]+=")
_ID_NAME = re.compile(r"(?:session|sid|sessid|signature|sig)$", re.IGNORECASE)
_EXAMPLE_HOST = re.compile(r"@(?:[\w-]+\.)*(?:example\b|localhost\b|host\b|test\b)")
_LINK = re.compile(r"[:=→]|->|\b(?:is|was|ist|lautet|be)\b", re.IGNORECASE)
_NEXT_SETTING = re.compile(
    r"[;,&](?=\s*[\"']?[A-Za-z_][\w .-]{0,30}[\"']?\s*[=:])|[;,&]$|&(?=[\w-]+=)|\|(?=$)"
)


def token(candidate: SecretCandidate) -> int:
    """A vendor's format: everything that is not a documentation sample."""
    value = candidate.value
    body = re.sub(r"[-_.:]", "", value[:SEEN_CHARS])
    is_sample = len(set(body)) < 6 or is_sequence(body)
    return 0 if is_sample else len(value)


def anything(candidate: SecretCandidate) -> int:
    """The pattern says it all."""
    return len(candidate.value)


def password(candidate: SecretCandidate) -> int:
    """The value of something that is called a password."""
    length, value = _setting(candidate)
    if len(value) < 4 or is_placeholder(value) or _has_no_secret_name(candidate):
        return 0
    if value[0] == ":":  # the name of a class and of what is in it
        return 0
    if candidate.is_quoted:
        return length if _is_quoted_password(value, candidate.name) else 0
    is_short_number = len(value) < 6 and NUMBER.match(value)
    if is_short_number or _CODE_IN_PROSE.match(value) or is_reference(value):
        return 0
    return length if _is_bare_password(value, candidate) else 0


def secret(candidate: SecretCandidate) -> int:
    """The value of something that is called a secret, a token or an API key."""
    length, value = _setting(candidate)
    if len(value) < 8 or is_placeholder(value) or _has_no_secret_name(candidate):
        return 0
    if not candidate.is_quoted and is_reference(value):
        return 0
    if is_path(value) or _DATE.match(value) or _VERSION.match(value) or " " in value:
        return 0
    if _SECRET_NAME.search(candidate.name):  # as freely chosen as a password
        is_chosen = is_joined(value) or (_is_whole(candidate) and is_mixed(value))
        return length if is_chosen or is_random(value, bits=2.6) else 0
    return length if is_random(value, bits=2.6) else 0


def weak(candidate: SecretCandidate) -> int:
    """The value of something whose name alone says little: a key, a salt, a signature, a
    session.
    """
    length, value = _setting(candidate)
    if len(value) < 16 or is_placeholder(value) or _has_no_secret_name(candidate):
        return 0
    if _UUID.match(value) or _DATE_FIRST.match(value) or is_path(value) or " " in value:
        return 0
    is_id = _ID_NAME.search(candidate.name) and HEX.match(value)
    is_public = _PUBLIC_KEY.search(candidate.key)
    is_digest = is_id or is_public or (len(value) in (40, 64) and HEX.match(value))
    if is_digest or is_reference(value):
        return 0
    return length if is_random(value, bits=3.3) and classes(value) >= 2 else 0


def password_in_prose(candidate: SecretCandidate) -> int:
    """A password in a sentence: only what no sentence would hold otherwise."""
    value = candidate.value
    if not candidate.is_quoted:
        value = _without_closers(value[:SEEN_CHARS], _TRAILING)
    if _CODE_IN_PROSE.match(value) or _is_verb(candidate) or _is_no_password(value):
        return 0
    is_listed = candidate.gap.lstrip("\"'`*").startswith(",")  # "the password, …"
    if is_listed and not is_mixed(value):
        return 0
    if candidate.is_quoted and is_password_name(candidate.name):
        is_secret = _is_quoted_password(value, candidate.name)
    else:
        is_in_url = bool(_HOST_PATH.search(candidate.gap))
        is_secret = not is_in_url and _is_unlike_prose(value)
    return len(value) if is_secret else 0


def _is_unlike_prose(value: str) -> bool:
    """Whether a word is none that sentences hold, nor a time, a version, an id or an address."""
    if " " in value or _ADDRESS.match(value):
        return False
    if any(shape.match(value) for shape in (_DATE, _TIME, _VERSION, _UUID)):
        return False
    return is_joined(value) or is_mixed(value.strip(_SIGNS))


def _is_verb(candidate: SecretCandidate) -> bool:
    """Whether ``pass`` says what somebody does."""
    return candidate.name.lower() == "pass" and not _LINK.search(candidate.gap)


def _is_no_password(value: str) -> bool:
    """Whether a word is too short, an example, a path or a reference."""
    if len(value) < 4 or is_placeholder(value) or is_path(value):
        return True
    return is_reference(value)


def random_text(candidate: SecretCandidate) -> int:
    """A long random string near a word that says what it is."""
    value = candidate.value[:SEEN_CHARS]
    is_known = _UUID.match(value) or WORDS.match(value) or TIMED_ID.match(value)
    if is_known or is_path(value) or is_placeholder(value):
        return 0
    if HEX.match(value):
        is_key = len(value) >= 32 and len(value) not in (40, 64)
        return len(candidate.value) if is_key else 0
    is_packed = value.endswith("=")
    if (
        "/" in value
        and not is_packed
        and (len(value) < 32 or "-" in value or "_" in value)
    ):
        return 0
    is_secret = is_random(value, bits=3.5) and classes(value) >= 3
    return len(candidate.value) if is_secret else 0


def header(candidate: SecretCandidate) -> int:
    """What an authorisation header or a cookie carries."""
    value = candidate.value.rstrip(",;")
    seen = value[:SEEN_CHARS].rstrip(")]}")
    if (
        len(value) < 8
        or is_placeholder(seen)
        or is_reference(seen)
        or WORDS.match(seen)
    ):
        return 0
    is_word = candidate.gap.rstrip().lower().endswith("basic") and len(value) < 12
    return 0 if is_word else len(value)


def cookie(candidate: SecretCandidate) -> int:
    """A cookie header with at least one value that nobody could guess."""
    for pair in candidate.value.split(";"):
        value = pair.partition("=")[2]
        if len(value) >= 8 and is_random(value, bits=2.6):
            return len(candidate.value)
    return 0


def url_password(candidate: SecretCandidate) -> int:
    """A password where only one can stand: ``scheme://user:password@host``, ``curl -u
    user:password``.
    """
    value = candidate.value[:SEEN_CHARS]
    if len(value) < 3 or value.lower() in COMMON_VALUES or _PORT.match(value):
        return 0
    is_example = WORDS.match(value) and _EXAMPLE_HOST.match(candidate.after)
    return 0 if is_example or is_placeholder(value) else len(candidate.value)


def flag(candidate: SecretCandidate) -> int:
    """The value after a command line's option."""
    length, value = _setting(candidate)
    if (
        len(value) < 5
        or value[0] == "-"
        or _ARGUMENT_NAME.fullmatch(value)
        or _has_no_secret_name(candidate)
        or is_placeholder(value)
    ):
        return 0
    if (
        _PORT.match(value)
        or _ADDRESS.match(value)
        or is_path(value)
        or is_reference(value)
        or _VERSION.match(value)
    ):
        return 0
    return length if is_mixed(value) or is_random(value, bits=2.6) else 0


def markup(candidate: SecretCandidate) -> int:
    """The content of an element or the value beside a name."""
    value = candidate.value[:SEEN_CHARS]
    if (
        len(value) < 6
        or is_placeholder(value)
        or _has_no_secret_name(candidate)
        or " " in value
    ):
        return 0
    if NUMBER.match(value):
        return 0
    if is_password_name(candidate.name):
        return len(candidate.value) if _is_quoted_password(value, "") else 0
    return (
        len(candidate.value) if is_random(value, bits=2.6) and not is_path(value) else 0
    )


def key_bytes(candidate: SecretCandidate) -> int:
    """The 64 bytes of a key pair as numbers; a table of numbers has smaller ones, or the same ones
    again.
    """
    numbers = [int(number) for number in re.findall(r"\d+", candidate.value)]
    is_key = max(numbers) in range(200, 256) and len(set(numbers)) >= 40
    return len(candidate.value) if is_key else 0


def block(candidate: SecretCandidate) -> int:
    """A value on lines of its own below its name, as YAML has them."""
    first = candidate.value.partition("\n")[0].strip()
    first_line = SecretCandidate(candidate.key, ': "', first, '"')
    return len(candidate.value) if password(first_line) or secret(first_line) else 0


def key_block(candidate: SecretCandidate) -> int:
    """A block of a private key; its first line alone is only a mention."""
    return len(candidate.value) if len(candidate.value) >= 80 else 0


def called(candidate: SecretCandidate) -> int:
    """The value of a call or an output whose name says that it is secret: a word without a digit
    or a sign is a name or a text.
    """
    if _has_no_secret_name(candidate) or _is_verb(candidate):
        return 0
    return 0 if _CODE_IN_PROSE.match(candidate.value) else argument(candidate)


def argument(candidate: SecretCandidate) -> int:
    """An argument whose place among others says that it is secret, as in ``login("ann", …)``."""
    value = candidate.value[:SEEN_CHARS]
    if _is_no_password(value) or " " in value or _ADDRESS.match(value):
        return 0
    is_secret = is_mixed(value) or is_joined(value) or is_random(value, bits=2.6)
    return len(candidate.value) if is_secret else 0


def printed(candidate: SecretCandidate) -> int:
    """What a command printed that was asked for a secret, alone on its line."""
    value = candidate.value[:SEEN_CHARS]
    if _is_no_password(value) or _CODE_IN_PROSE.match(value) or value[-1] in ":;,)({":
        return 0
    if _VERSION.match(value) or _DATE.match(value) or "://" in value:
        return 0
    is_secret = any(map(str.isdigit, value)) and is_mixed(value)
    return len(candidate.value) if is_secret or is_random(value, bits=2.6) else 0


def _without_closers(value: str, closers: str) -> str:
    """An unquoted value without the punctuation behind it."""
    if value.startswith(("{", "[", "(", "<")) and value.rstrip(closers) != value:
        return ""  # a form to be filled in, or code
    return value.rstrip(closers)


def _setting(candidate: SecretCandidate) -> tuple[int, str]:
    """Length of an unquoted value without the punctuation or the next setting after it, and as much
    of it as is looked at.
    """
    value = candidate.value
    if not candidate.is_quoted:
        cut = _NEXT_SETTING.search(value[:SEEN_CHARS])
        value = _without_closers(value[: cut.start()] if cut else value, _CLOSERS)
    return len(value), value[:SEEN_CHARS]


def _has_no_secret_name(candidate: SecretCandidate) -> bool:
    """Whether what stands before a value does not name a secret after all."""
    # alternatives: pass|fail
    if "|" in candidate.gap and not re.search(r" \| |\|\|", candidate.gap):
        return True
    if _COMMA.search(candidate.gap) and not _is_pair(candidate):
        return True
    if candidate.name == "PASS" and "=" not in candidate.gap:  # a test's result
        return True
    if "pass" in candidate.name.lower() and not is_password_name(candidate.name):
        return True
    return is_no_secret_name(candidate.name)


def _is_pair(candidate: SecretCandidate) -> bool:
    """Whether name and value, apart by a comma, are two arguments and no list of words."""
    value = candidate.value[:SEEN_CHARS]
    if _ADDRESS.match(value) or " " in value or is_name_of_words(value):
        return False
    is_name = re.fullmatch(r"\w+", value) and not re.search(r"[a-z]_\d{2,4}$", value)
    if is_name and "_" in value:
        return is_random(value.replace("_", ""), bits=3.3)
    return is_mixed(value) or is_random(value, bits=2.6) or is_joined(value)


def _is_quoted_password(value: str, name: str) -> bool:
    if is_path(value) or _ADDRESS.match(value):
        return False
    if is_reference(value) and "(" not in value[1:-1]:
        return False
    if " " in value:
        return _is_passphrase(value, name)
    return not WORDS.match(value) or _is_password_of_words(value)


def _is_passphrase(value: str, name: str) -> bool:
    """Whether quoted words are a secret, and not a message of a form or a program to its user.

    ``name`` is that of the variable or field; one that says "phrase" expects several words.
    """
    words = value.split(" ")
    if "phrase" in name.lower() and len(words) >= 4:
        return all(word.isalnum() for word in words)
    if not all(words) or value[-1] in _MESSAGE_ENDS or len(words) > MAX_WORDS:
        return False
    plain = [word.strip(_TRAILING + _SIGNS).lower() for word in words]
    is_message = any(word in MESSAGE_WORDS or names_a_secret(word) for word in plain)
    return len(value) >= MIN_PHRASE and not is_message


def _is_password_of_words(value: str) -> bool:
    """True for ``sunflower``, ``maple-river-stone-cloud`` and letters of random case, not for
    ``userName``, ``user-name`` and ``api-token``.
    """
    is_of_one_case = value[1:].islower() or value.isupper() or value.istitle()
    if not is_of_one_case:
        return len(value) >= 10 and value.isalpha() and has_many_turns(value)
    parts = parts_of(value)
    if len(value) < 6 or any(map(names_a_secret, parts)):
        return False
    if len(parts) == 1 or len(parts) >= 4:
        return True
    return "-" in value and MESSAGE_WORDS.isdisjoint(parts)


def _is_bare_password(value: str, candidate: SecretCandidate) -> bool:
    """Whether an unquoted value is a password: in a settings file any word counts, in code or prose
    only what no name would look like.
    """
    if WORDS.match(value):
        return _is_bare_word(value, candidate)
    if re.fullmatch(r"[A-Za-z_]\w*", value):
        return _is_bare_name(value, candidate)
    return True


def _is_bare_word(value: str, candidate: SecretCandidate) -> bool:
    """Whether words without a digit are a password: of many turns, or in a settings file."""
    parts = parts_of(value)
    is_single_word, is_long = len(parts) == 1, len(value) >= 8
    if is_single_word and len(value) >= 10 and has_many_turns(value):
        return True
    is_setting = _is_setting(candidate)
    # NAME=value
    is_variable = (
        is_setting and candidate.name.isupper() and candidate.gap.startswith("=")
    )
    if is_variable and is_long and not _holds_a_secret_word(value):
        return True
    if any(map(names_a_secret, parts)) or not (value.islower() or value.isupper()):
        return False
    return len(parts) >= 4 or (is_setting and is_single_word and is_long)


def _holds_a_secret_word(value: str) -> bool:
    return any(word in value.lower() for word in SECRET_WORDS)


def _is_bare_name(value: str, candidate: SecretCandidate) -> bool:
    is_setting = _is_setting(candidate)
    if has_secret_word(value) and len(value) < 16:
        stem = value.rstrip("0123456789").lower()
        is_repeated = stem.endswith(candidate.name.lower()[-4:])
        return "=" in candidate.gap and is_setting and not is_repeated
    return is_setting or (is_mixed(value) and len(value) >= 6)


def _is_whole(candidate: SecretCandidate) -> bool:
    """Whether it is known where the value ends."""
    return candidate.is_quoted or _is_setting(candidate)


def _is_setting(candidate: SecretCandidate) -> bool:
    """True where name and value make a whole line, as in an ``.env`` or YAML file."""
    rest = candidate.after.lstrip("\"'")
    ends = (
        not rest
        or rest[0] in "\r\n\\"
        or rest.lstrip(" \t")[:1] in ("", "\n", "#", "\r")
    )
    is_close = candidate.gap.strip(" \"'") in (
        "=",
        ":",
    ) and not candidate.gap.startswith(" ")
    return ends and is_close


CHECKS: dict[str, Callable[[SecretCandidate], int]] = {
    "token": token,
    "anything": anything,
    "password": password,
    "secret": secret,
    "weak": weak,
    "prose": password_in_prose,
    "random": random_text,
    "header": header,
    "cookie": cookie,
    "url": url_password,
    "flag": flag,
    "markup": markup,
    "key_block": key_block,
    "bytes": key_bytes,
    "block": block,
    "called": called,
    "argument": argument,
    "printed": printed,
}
