"""What a value looks like: a path, a word, a password of joined words, something random."""

from __future__ import annotations

import math
import re

from keeplore.redact.known_words import SECRET_WORDS
from keeplore.redact.randomness import (
    LETTER_RUN,
    SEEN_CHARS,
    classes,
    entropy,
    has_many_turns,
    is_sequence,
)

HEX = re.compile(r"^(?:0x)?[0-9a-f]+$", re.IGNORECASE)
BASE64 = re.compile(r"^[A-Za-z0-9+/]{22,}={0,2}$")
PATH = re.compile(
    r"^(?:\.{0,2}/|~/|[A-Za-z]:[\\/]|https?://|[\w.-]+(?:/[\w.-]+){1,}\.\w{1,5}$"
    r"|[\w.:-]+\.(?:pem|key|crt|cer|pub|p12|pfx|jks|asc|gpg|json|ya?ml|toml|ini|cfg|conf|env|txt|md"
    r"|py|pyi|js|ts|go|rs|rb|java|sh|db|sqlite|html?|xml|log)$)"
)
NUMBER = re.compile(
    r"^[+-]?[\d_,.]+(?:px|em|rem|ms|s|m|h|d|kb|mb|gb|k|%)?$", re.IGNORECASE
)
# an id of a service that gives them in order of time
TIMED_ID = re.compile(r"^[a-z]{2,12}_01[A-Za-z0-9]{20,26}$")
SNAKE = re.compile(r"^[a-z]+(?:_(?:[a-z]{2,}|\d{1,4}[a-z]?))+$")
_NAME_WORD = re.compile(r"[A-Z]?[a-z]{3,}|[A-Z]{3,}")
_FILLED = re.compile(r"\{[A-Za-z_][\w.()]*\}")  # where a program puts something
WORDS = re.compile(r"^[A-Za-z]+(?:[ _./:@-][A-Za-z]+)*$")
TECHNICAL = re.compile(
    r"""^(?:gh|md|sha|utf|base|rot|aes|rsa|v|https?|ipv|oauth|argon|pbkdf|ed|x|p|step|phase|issue|pr
      |line|s|ec|k|l|i|h|a|b)
    -?\d+\w?$ | .*(?:-(?:bit|byte|char\w*|digit|day|hour|minute|only)|/\w+/)""",
    re.VERBOSE | re.IGNORECASE,
)


def parts_of(value: str) -> list[str]:
    return re.split(r"[ _./:@-]", value.lower())


def is_joined(value: str) -> bool:
    """True for ``correct-horse-battery-staple``, as managers of passwords make them."""
    words = value.split("-")
    return (
        len(words) >= 4
        and all(w.isalpha() and w.islower() and len(w) >= 4 for w in words)
        and not any(w.startswith(SECRET_WORDS) for w in words)
    )


def is_name_of_words(value: str) -> bool:
    """True for ``MDLAnimatedMatrix4x4``: among names it is one of them."""
    words = _NAME_WORD.findall(value)
    is_of_words = len(words) >= 3 and sum(map(len, words)) >= 0.6 * len(value)
    return value.isidentifier() and is_of_words


def has_secret_word(value: str) -> bool:
    """True for ``apiKey2`` and ``db_password``, not for ``monkey7``."""
    return any(names_a_secret(part.lower()) for part in LETTER_RUN.findall(value))


def names_a_secret(word: str) -> bool:
    return word.startswith(SECRET_WORDS) or word.endswith(
        ("apikey", "token", "secret", "password", "pass")
    )


def is_path(value: str) -> bool:
    return PATH.match(value) is not None and not _is_base64(value)


def _is_base64(value: str) -> bool:
    """True for letters and digits as random as no names of folders are."""
    return BASE64.match(value) is not None and (
        value.endswith("=") or (classes(value) == 3 and has_many_turns(value))
    )


def is_mixed(value: str) -> bool:
    """True for what has a digit or a sign inside letters and is not a word of ordinary technical
    prose.
    """
    if (
        WORDS.match(value)
        or NUMBER.match(value)
        or len(value) < 5
        or TECHNICAL.match(value)
    ):
        return False
    return any(c.isalpha() for c in value) and any(
        c.isdigit() or c in "!@#$%^&*+=~?" for c in value
    )


def is_random(value: str, bits: float) -> bool:
    """Whether a value looks random; ``bits`` of entropy a character are needed, fewer in short
    values.
    """
    if HEX.match(value) and len(value) >= 16:
        return len(set(value)) >= 6 and not is_sequence(value)
    if SNAKE.match(value) or _FILLED.search(value):
        return False
    has_digit = any(c.isdigit() for c in value)
    if not has_digit:
        return len(value) >= 16 and has_many_turns(value) and entropy(value) >= 3.5
    if (
        re.fullmatch(
            r"[A-Za-z]{2,}(?:[_./:-][A-Za-z]{2,})*[_./:-]?\d{0,3}", value[:SEEN_CHARS]
        )
        and len(value) < 40
    ):
        return False
    return entropy(value) >= min(bits, math.log2(len(value)) - 0.7) and not is_sequence(
        value
    )
