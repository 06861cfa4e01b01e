"""What a value looks like, in numbers: the features by which `likely_secrets` tells a password from
a name, a version or a word.

None of them is a word of a list: shares of digits and signs, where they stand, how the case turns,
and how seldom one letter follows another in ordinary text.
"""

from __future__ import annotations

import functools
import math
import re
from itertools import pairwise
from pathlib import Path

from keeplore.redact.known_words import STAND_IN_WORDS
from keeplore.redact.randomness import LETTER_RUN, entropy, has_many_turns
from keeplore.redact.value_shapes import (
    HEX,
    NUMBER,
    SNAKE,
    TECHNICAL,
    TIMED_ID,
    has_secret_word,
    is_joined,
    is_path,
)

# a line a letter: bits of surprise, in tenths, of each letter after it, `a` to `z`
LETTER_PAIRS = Path(__file__).with_name("letter_pairs.txt")
SEEN = 80  # characters of a value
SIGNS = frozenset("!#$%&*+?@^~=")
LETTERS = re.compile(r"[a-z]+")
_FORMS = {
    "word then digits": re.compile(r"[A-Z]?[a-z]{3,}\d{2,}$"),
    "word then digits and sign": re.compile(r"[A-Z]?[a-z\d]{3,}\d{1,6}[!@#$%&*?_+]+$"),
    "words then digits": re.compile(r"[A-Za-z]+(?:[._-][A-Za-z]+)+[._-]?\d{2,}$"),
    "word, sign, digits": re.compile(r"[A-Za-z\d]{3,}[!@#$%&*?_.+-]\d{2,}$"),
    "digits for letters": re.compile(r"[A-Za-z]+[0-9@$][a-z]{2,}"),
    "letters and digits": re.compile(r"(?=.*[a-z])(?=.*[A-Z])(?=.*\d)[A-Za-z\d]+$"),
    "name of code": re.compile(r"[A-Za-z_]+(?:[._][A-Za-z_]+)*\d?$"),
    "dotted": re.compile(r"[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)+$"),
    "with dashes": re.compile(r"[A-Za-z]\w*(?:-\w+)+$"),
    "four by four": re.compile(r"[A-Za-z\d]{4,6}(?:-[A-Za-z\d]{4,6}){2,}$"),
    "uuid": re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE),
    "version": re.compile(r"\D{0,12}\d+(?:\.\d+)+(?:[-+.]?\w+)?$"),
    "date": re.compile(r"\d{4}-\d\d|\d\d?[:/]\d\d"),
    "measure": re.compile(r"[~<>+-]?\d[\d.,]*[A-Za-z%]{1,5}(?:/\w+)?$"),
    "address": re.compile(r"[\w.-]+:\d+|\d+(?:\.\d+){3}|[\w.+-]+@[\w-]+(?:\.\w+)+$"),
    "code inside": re.compile(r".*[\\()\[\]{}<>]|.*::|.*->|\$|.*=="),
    "assignment": re.compile(r"[\w.-]+[=:]"),
    "ends in a type": re.compile(r".*\.[a-z]{1,5}\d?$"),
}


def features(value: str) -> dict[str, float]:
    """What the model weighs of a value of at least one character, each between 0 and about 1."""
    value = value[:SEEN]
    digits = sum(map(str.isdigit, value))
    signs = sum(c in SIGNS for c in value)
    return {
        **{name: float(bool(form.match(value))) for name, form in _FORMS.items()},
        **_shape_features(value),
        "length": math.log2(len(value)) / 6,
        "long": float(len(value) >= 16),
        "very long": float(len(value) >= 30),
        "one digit": float(digits == 1),
        "three digits": float(digits >= 3),
        "digits": digits / len(value),
        "sign": float(signs > 0),
        "signs": signs / len(value),
        "entropy": entropy(value) / 5,
        "surprise": bigram_bits(value) / 8,
        "very surprising": float(bigram_bits(value) > 6),
    }


def _shape_features(value: str) -> dict[str, float]:
    """What a value looks like, each feature from 0 to 1."""
    has_lower, has_upper = value != value.upper(), value != value.lower()
    return {
        "both cases": float(has_lower and has_upper),
        "turns": float(has_many_turns(value)),
        "no digit": float(not any(map(str.isdigit, value))),
        "no upper": float(not has_upper),
        "no lower": float(not has_lower),
        "hex": float(bool(HEX.match(value))),
        "hex of a digest": float(bool(HEX.match(value)) and len(value) in (40, 64)),
        "number": float(bool(NUMBER.match(value))),
        "snake": float(bool(SNAKE.match(value))),
        "technical": float(bool(TECHNICAL.match(value))),
        "timed id": float(bool(TIMED_ID.match(value))),
        "secret's word": float(has_secret_word(value)),
        "stand-in word": float(_has_stand_in(value)),
        "joined": float(is_joined(value)),
        "path": float(is_path(value)),
        "slashes": min(value.count("/"), 3) / 3,
        "separators": min(sum(map(value.count, "._-")), 4) / 4,
    }


def bigram_bits(value: str) -> float:
    """Bits that a letter costs after the one before it, the mean over all pairs; 4 where there are
    none.
    """
    costs, a = _pairs(), ord("a")
    bits = [
        costs[ord(before) - a][ord(letter) - a]
        for run in LETTERS.findall(value.lower())
        for before, letter in pairwise(run)
    ]
    return sum(bits) / len(bits) if bits else 4.0


def _has_stand_in(value: str) -> bool:
    return any(word.lower() in STAND_IN_WORDS for word in LETTER_RUN.findall(value))


@functools.cache
def _pairs() -> list[list[float]]:
    lines = LETTER_PAIRS.read_text(encoding="ascii").splitlines()
    return [[int(number) / 10 for number in line.split()] for line in lines]
