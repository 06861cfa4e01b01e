"""Where words stand that rules look around: one pass over the text for all rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import re2

Span = tuple[int, int]
# bytes between two places of a word that are looked around as one: each rule's window is larger
CLOSE = 32


class KeywordRuns:
    """Words in any case, each of which begins the windows of some rules (their ranks)."""

    def __init__(self, ranks: Mapping[bytes, tuple[int, ...]], options: Any) -> None:
        self._ranks = ranks
        self._pattern = _any_of(ranks, options)

    def by_rank(self, data: bytes) -> dict[int, list[Span]]:
        """Rank of a rule → the runs in which its keywords begin; runs may overlap."""
        found: dict[int, list[Span]] = {}
        for word, runs in self._by_word(data).items():
            spans = [(first, last) for first, last in runs]
            for rank in self._ranks[word]:
                found.setdefault(rank, []).extend(spans)
        return found

    def _by_word(self, data: bytes) -> dict[bytes, list[list[int]]]:
        found: dict[bytes, list[list[int]]] = {}
        position = 0
        search = self._pattern.search
        while match := search(data, position):
            start, end = match.span()
            runs = found.setdefault(data[start:end].lower(), [])
            if runs and start - runs[-1][1] <= CLOSE:
                runs[-1][1] = start
            else:
                runs.append([start, start])
            position = start + 1  # not its end: words may overlap
        return found


def windows(runs: Iterable[Span], before: int, after: int, size: int) -> Iterator[Span]:
    """Stretches around the runs, joined where they touch: no byte is searched twice by a rule."""
    start = end = -1
    for first, last in sorted(runs):
        if end < 0 or first - before > end:
            if end >= 0:
                yield start, min(end, size)
            start = max(0, first - before)
        end = max(end, last + after)
    if end >= 0:
        yield start, min(end, size)


def _any_of(words: Iterable[bytes], options: Any) -> Any:
    """A pattern for the words, the longest of those that begin at one place."""
    options.longest_match = True
    options.case_sensitive = False
    return re2.compile(b"|".join(map(re2.escape, words)), options)
