"""Which words were shown already: each sentence counts for itself, not the whole memory that it is
from.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set

from keeplore.recall.question import STOP_STEMS, stems_of
from keeplore.text.similarity import content_hash, normalised

FEW_WORDS = 4  # a sentence with fewer tells nothing beside others
KEY_CHARS = 80  # of a sentence, so that one which was cut is known again
KEY_DIGITS = 16
# share of the words of the shorter text that the longer one has too; judgement
SAME_FROM = 0.8
_QUOTATION = re.compile(r"“([^“”]*)”")
_BREAK = re.compile(r"(?<=[.!?;])\s+|\s[-*•]\s+|(?:^|\s)(?:User|Assistant):\s")
_LEAD = re.compile(r"(?:[A-Z]\w{1,15}:\s+)+")  # "Decision: …"


def words_in(text: str) -> frozenset[str]:
    """A key for each sentence that is quoted in the lines of a block."""
    return frozenset(
        key for quotation in _QUOTATION.findall(text) for key in _keys(quotation)
    )


def is_repeated(text: str, known: Set[str]) -> bool:
    """Does every quotation of a line hold only what was shown?"""
    return words_in(text) <= known


def says_same(one: str, other: str) -> bool:
    """Does one of two texts say nearly all that the other one says?"""
    first, second = stems_of(one) - STOP_STEMS, stems_of(other) - STOP_STEMS
    return len(first & second) >= max(
        SAME_FROM * min(len(first), len(second)), FEW_WORDS
    )


def _keys(quotation: str) -> Iterator[str]:
    whole = quotation.strip(" …")
    parts = [part.strip(" …") for part in _BREAK.split(whole)]
    # what somebody asked tells nothing
    telling = [
        part
        for part in parts
        if len(part.split()) >= FEW_WORDS and not part.endswith("?")
    ]
    for part in telling or [whole]:
        yield content_hash(normalised(_LEAD.sub("", part, count=1))[:KEY_CHARS])[
            :KEY_DIGITS
        ]
