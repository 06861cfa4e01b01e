"""Which words are rare enough to tell subjects apart: all but the commonest."""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Iterable, Mapping

from keeplore.text.common_words import common
from keeplore.text.terms import terms


@functools.lru_cache(maxsize=4096)  # an open conversation is read again at every turn
def rare_terms(text: str) -> Mapping[str, int]:
    """How often each rare term occurs; names, identifiers and words of a trade are rare."""
    return Counter(term for term in terms(text) if term not in common())


def damped_counts(counts: Iterable[Mapping[str, int]]) -> dict[str, float]:
    """All counts in one bag, 1 + log of each sum: said ten times is not ten times as much."""
    total: Counter[str] = Counter()
    for count in counts:
        total.update(count)
    return {term: 1 + math.log(n) for term, n in total.items()}
