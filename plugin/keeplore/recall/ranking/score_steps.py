"""The steps from what the searches say of a passage to its score: its own words, its exchange, its
memory, and what holds now.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from keeplore.recall.ranking.fuse import SearchOdds, fuse
from keeplore.recall.ranking.model import Evidence, Standing, tie_break
from keeplore.recall.weights import Weights

SUPPORT = 3  # passages of a memory that speak for one another
STEPS = (
    "words",  # what the passage's own words show
    "exchange",  # the rest of its exchange
    "memory",  # the memory's other passages
    "whole",  # how much of the question the whole memory speaks of
    "current",  # what holds now
)


@dataclass(frozen=True, slots=True)
class ScoreSteps:
    """The log-odds of each passage: by the searches, and after each of the ``STEPS``."""

    searched: Mapping[int, SearchOdds]
    after: Sequence[Mapping[int, float]]

    def parts(self, passage: int) -> Iterator[tuple[str, float]]:
        """The name of each part in ``PARTS``, and what it adds."""
        searched = self.searched[passage]
        yield from searched._asdict().items()
        values = (sum(searched), *(odds[passage] for odds in self.after))
        added = (after - before for before, after in itertools.pairwise(values))
        yield from zip(STEPS, added, strict=True)


def steps_of(
    found: Sequence[Evidence],
    known: Sequence[Evidence],
    standings: Mapping[str, Standing],
    floor: float | None,
    w: Weights,
) -> ScoreSteps:
    """The steps of scoring for the ``known`` passages: those of ``found`` that have a standing."""
    searched = fuse(found, floor, w)
    with_words = {e.passage: sum(searched[e.passage]) + e.bonus for e in known}
    best_first = _best_first(known, with_words)
    with_exchange = _with_exchange_support(best_first, with_words, w)
    with_memory = _with_memory_mean(best_first, with_exchange, w)
    with_whole = {
        e.passage: with_memory[e.passage] + w.whole * standings[e.memory].whole
        for e in known
    }
    with_newest = favour_newest(known, with_whole, standings, w)
    after = (with_words, with_exchange, with_memory, with_whole, with_newest)
    return ScoreSteps(searched, after)


def _with_exchange_support(
    best_first: Sequence[Evidence], values: Mapping[int, float], w: Weights
) -> dict[int, float]:
    """The log-odds, raised for the best passage of each exchange by the second best one."""
    passages: dict[tuple[str, str], list[int]] = {}
    for e in best_first:
        if e.turn:
            passages.setdefault((e.memory, e.turn), []).append(e.passage)
    supported = dict(values)
    for first, *others in passages.values():
        if others:
            supported[first] += _support(values[first], values[others[0]], w)
    return supported


def _with_memory_mean(
    best_first: Sequence[Evidence], values: Mapping[int, float], w: Weights
) -> dict[int, float]:
    """The log-odds, each mixed with the mean of the best passages of its memory."""
    by_memory: dict[str, list[Evidence]] = {}
    for e in best_first:
        by_memory.setdefault(e.memory, []).append(e)
    mixed: dict[int, float] = {}
    for entries in by_memory.values():
        mean = _mean_of_best(entries, values, w)
        for e in entries:
            mixed[e.passage] = (1 - w.memory) * values[e.passage] + w.memory * mean
    return mixed


def _support(best: float, second: float, w: Weights) -> float:
    """What the second best passage of an exchange adds to the best one."""
    first, more = max(0.0, best + w.doubt), max(0.0, second + w.doubt)
    return (first + w.turn * more) / (1.0 + w.turn / 2) - first


def _best_first(
    known: Sequence[Evidence], values: Mapping[int, float]
) -> list[Evidence]:
    """The highest value first, equals by number."""
    return sorted(known, key=lambda e: (-values[e.passage], tie_break(e)))


def _mean_of_best(
    entries: Sequence[Evidence], values: Mapping[int, float], w: Weights
) -> float:
    """What the best passages of a memory say; one that no search found says nothing for the
    question.
    """
    best = [values[e.passage] for e in entries[:SUPPORT]]
    expected = max(len(best), min(SUPPORT, entries[0].passages))
    return (sum(best) - (expected - len(best)) * w.doubt) / expected


def favour_newest(
    known: Sequence[Evidence],
    values: Mapping[int, float],
    standings: Mapping[str, Standing],
    w: Weights,
) -> dict[int, float]:
    """The log-odds, with those of statements about as close to the question dealt out anew: the
    best to the newest, among statements of one place that no version has replaced.
    """
    given = dict(values)
    for entries in _near_by_place(known, values, standings, w):
        closest = max(e.close for e in entries)
        rivals = [e for e in entries if e.close >= closest - w.current_within]
        newest = sorted(rivals, key=lambda e: (e.at, tie_break(e)), reverse=True)
        for e, rival in zip(newest, rivals, strict=True):
            given[e.passage] = values[rival.passage]
    return given


def _near_by_place(
    known: Sequence[Evidence],
    values: Mapping[int, float],
    standings: Mapping[str, Standing],
    w: Weights,
) -> Iterable[Sequence[Evidence]]:
    """The statements of each place that are close to the question and hold, the best first."""
    places: dict[tuple[int, str], list[Evidence]] = {}
    order = _best_first(known, values)[: w.current_among]
    for e in order:
        standing = standings[e.memory]
        least = w.current_from * (values[order[0].passage] + w.doubt)
        is_near = values[e.passage] + w.doubt >= least and e.close >= w.current_close
        is_replaced = standing.head not in ("", e.memory)
        if is_near and not is_replaced and not standing.is_archived:
            places.setdefault((standing.distance, standing.place), []).append(e)
    return places.values()
