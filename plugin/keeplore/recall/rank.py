"""Scoring: what two searches found → memories in the order in which they are shown. Pure and deterministic.

Each search says how sure it is. For text that is the passage's BM25 as a part of the best one's, times the share of the
question's words that the best passages have; for vectors it is how far the cosine lies above what unrelated texts have
with this model. The log-odds that the passage answers the question are linear in the two (logistic regression),
so a search that is unsure says little and a score means the same for every question. Reciprocal ranks, which know no
sureness, were measured and are worse.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from keeplore.recall.values import INHERITED, OWN, SIBLING
from keeplore.recall.weights import WEIGHTS, Weights

_DIGITS = 6  # of log-odds: smaller differences are noise of floating point, and count as ties


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the searches know of one passage."""

    passage: int
    memory: str  # "" where it was not looked up
    text: float | None = None  # BM25, higher is better; None where the text search did not find it
    cosine: float | None = None  # None where the vector search did not find it
    coverage: float = 0.0  # share of the question's words in it, 0..1
    is_echo: bool = False  # it asks the same and does not answer


@dataclass(frozen=True, slots=True)
class Standing:
    """What is known of a memory beside its words."""

    distance: int  # OWN | INHERITED | SIBLING
    age_days: float = 0.0
    is_permanent: bool = False
    is_archived: bool = False
    head: str = ""  # id of the version that replaces it, "" where it is the newest


@dataclass(frozen=True, slots=True)
class Ranked:
    memory: str
    odds: float  # log-odds that it answers the question
    passage: int | None  # None where only an older version's words were found
    distance: int = OWN
    age_days: float = 0.0

    @property
    def score(self) -> float:
        """The likelihood, 0..1."""
        return 1.0 / (1.0 + math.exp(-self.odds))


def odds(found: Sequence[Evidence], floor: float | None, w: Weights = WEIGHTS) -> dict[int, float]:
    """For each passage the log-odds that it answers; ``floor`` is the model's, None where there are no vectors."""
    best_text = max((e.text for e in found if e.text is not None), default=0.0)
    covered = max((e.coverage for e in found if e.text is not None), default=0.0)
    # a passage that the vector search did not give is at most as near as the last one that it gave
    lowest = min((e.cosine for e in found if e.cosine is not None), default=0.0)
    joined = {}
    for e in found:
        text = covered * max(0.0, e.text) / best_text if e.text is not None and best_text > 0 else 0.0
        if floor is None:
            joined[e.passage] = w.text_alone * text - w.doubt_alone
        else:
            above = ((e.cosine if e.cosine is not None else lowest) - floor) / (1.0 - floor)
            joined[e.passage] = w.vector * above + w.text * text - w.doubt
    return joined


def least_odds(score: float) -> float:
    """The log-odds below which no memory reaches a score (0..1), however it stands."""
    if score <= 0.0:
        return -math.inf
    certain = min(score, 1.0 - sys.float_info.epsilon)
    return math.log(certain / (1.0 - certain)) - 10.0**-_DIGITS


def burden(standing: Standing, w: Weights = WEIGHTS) -> float:
    """What place, age, permanence and archive take from the log-odds: at least 0."""
    place = {OWN: 0.0, INHERITED: w.inherited, SIBLING: w.sibling}[standing.distance]
    fresh = 0.5 ** (max(0.0, standing.age_days) / w.half_life_days)
    passing = 0.0 if standing.is_permanent else w.impermanent + w.oldest * (1.0 - fresh)
    return place + passing + (w.archived if standing.is_archived else 0.0)


def rank(
    found: Sequence[Evidence], standings: Mapping[str, Standing], floor: float | None, w: Weights = WEIGHTS
) -> list[Ranked]:
    """One entry for each memory, best first; an older version counts for its head and is not shown beside it.

    Memories without a standing are left out. A head without a standing (it may not be shown here) leaves its older
    version, far down.
    """
    likely = odds(found, floor, w)
    best: dict[str, tuple[float, int | None]] = {}
    for e in sorted(found, key=lambda e: e.passage):
        standing = standings.get(e.memory)
        if standing is None:
            continue
        value, shown = likely[e.passage] - e.is_echo * w.echo, e.memory
        passage: int | None = e.passage
        if standing.head and standing.head != e.memory:
            if standing.head in standings:
                shown, passage = standing.head, None
            else:
                value -= w.outdated
        best[shown] = _better(best.get(shown), (value, passage))
    ranked = []
    for memory, (value, passage) in best.items():
        standing = standings[memory]
        total = round(value - burden(standing, w), _DIGITS)
        ranked.append(Ranked(memory, total, passage, standing.distance, standing.age_days))
    return in_order(ranked)


def in_order(ranked: Sequence[Ranked]) -> list[Ranked]:
    """Best first; on ties the own project, then what is inherited, then the newer, then by id."""
    return sorted(ranked, key=lambda r: (-r.odds, r.distance, r.age_days, r.memory))


def diverse(ranked: Sequence[Ranked], words: Mapping[int, frozenset[str]], w: Weights = WEIGHTS) -> list[Ranked]:
    """The same memories with those lowered that say nearly what a better one says; ``words`` by passage."""
    kept: list[Ranked] = []
    for entry in ranked:
        own = words.get(entry.passage, frozenset()) if entry.passage is not None else frozenset()
        others = (words.get(k.passage, frozenset()) for k in kept if k.passage is not None)
        is_repeated = bool(own) and any(shared(own, other) >= w.repeated_from for other in others)
        kept.append(replace(entry, odds=round(entry.odds - w.repeated, _DIGITS)) if is_repeated else entry)
    return in_order(kept)


def shared(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of the words that both have (Jaccard), 0..1."""
    return len(one & other) / (len(one | other) or 1)


def _better(known: tuple[float, int | None] | None, new: tuple[float, int | None]) -> tuple[float, int | None]:
    """The higher odds; a passage of the memory itself is kept even where an older version matched better."""
    if known is None:
        return new
    high, low = (known, new) if known[0] >= new[0] else (new, known)
    return high[0], high[1] if high[1] is not None else low[1]
