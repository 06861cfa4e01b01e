"""Plain words: the commonest ones, which are data, and the stems by which they are compared.

``common_words.txt`` holds the stems of the words among the first ``benchmarks/common_words.py``'s
``FIRST`` entries of the packaged embedding model's vocabulary, which lists them by frequency.
"""

from __future__ import annotations

import functools
from pathlib import Path

COMMON = Path(__file__).with_name("common_words.txt")


@functools.lru_cache(maxsize=1)
def common() -> frozenset[str]:
    """Stems of the commonest words."""
    return frozenset(COMMON.read_text(encoding="ascii").split())


@functools.lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """A crude stem: enough that *queues* meets *queue* and *caching* meets *cache*; it is never
    shown.
    """
    word = word.removesuffix("'s").removesuffix("’s")
    if len(word) < 5 or not word.isalpha():
        return word
    word = _without_ending(word)
    if word[-1] == word[-2] and word[-1] not in "ls":
        word = word[:-1]
    return word.removesuffix("e").removesuffix("y") if len(word) > 3 else word


def _without_ending(word: str) -> str:
    """The word without one of the usual endings, where enough is left."""
    if word.endswith("ss"):
        return word
    for suffix, least in (("ing", 3), ("ies", 2), ("ed", 3), ("es", 4), ("s", 4)):
        if word.endswith(suffix) and len(word) - len(suffix) >= least:
            return word.removesuffix(suffix)
    return word
