"""When two texts say the same: exactly, by a hash of the normalised text, or nearly, by shared
words and letters.
"""

from __future__ import annotations

import functools
import hashlib
import re
import unicodedata

# from here on a person is asked whether it is the same; measured, see docs/benchmarks.md
SIMILAR = 0.62
_TRAILING = " \t.,;:!?…。、！？"
_WORD = re.compile(r"\w+")
# words that say nothing about what a statement is about
_EMPTY_WORDS = """
a an and are as at be been by can do does for from had has have i in is it its may of on or our
should so that the their them then there these they this those to use used uses using was we were
will with would you your
"""
_EMPTY = frozenset(_EMPTY_WORDS.split())


def normalised(text: str) -> str:
    """White space folded, lower case, punctuation at the end off."""
    return " ".join(unicodedata.normalize("NFC", text).lower().split()).rstrip(
        _TRAILING
    )


def text_hash(text: str) -> str:
    """SHA-256 of the text, in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def content_hash(text: str) -> str:
    """SHA-256 of the normalised text, in hexadecimal."""
    return text_hash(normalised(text))


@functools.lru_cache(maxsize=256)  # an open conversation is read again at every turn
def spaced_words(text: str) -> str:
    """The words of a text alone, in lower case, with a space around each: so ``in`` compares whole
    words.
    """
    return f" {' '.join(_WORD.findall(text.lower()))} "


def without_accents(text: str) -> str:
    """The text without the marks on its letters; compatibility forms such as full width are
    folded.
    """
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(sign for sign in decomposed if not unicodedata.combining(sign))


def similarity(one: str, other: str) -> float:
    """0..1, symmetric; 1 for texts with one content hash.

    The larger of two Dice coefficients (Dice 1945): of the words that say something, and of the
    letters in threes, which also serves languages without spaces and words spelt or inflected in
    two ways.
    """
    first, second = normalised(one), normalised(other)
    if first == second:
        return 1.0
    return max(
        _dice_coefficient(_words(first), _words(second)),
        _dice_coefficient(_trigrams(first), _trigrams(second)),
    )


def _words(text: str) -> set[str]:
    """The words that say something; all of them where none does."""
    words = set(_WORD.findall(text))
    return words - _EMPTY or words


def _trigrams(text: str) -> set[str]:
    return {text[at : at + 3] for at in range(len(text) - 2)}


def _dice_coefficient(one: set[str], other: set[str]) -> float:
    return 2 * len(one & other) / (len(one) + len(other)) if one and other else 0.0


def jaccard_index(one: frozenset[str], other: frozenset[str]) -> float:
    """How much two sets have in common, 0..1 (Jaccard 1912)."""
    common = len(one & other)
    return common / (len(one) + len(other) - common or 1)
