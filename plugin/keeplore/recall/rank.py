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

LOOKED_AT = 50  # memories that are compared with all better ones; no more than a handful is shown
SUPPORT = 3  # passages of a memory that speak for one another
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
    bonus: float = 0.0  # log-odds for what its own words show
    turn: str = ""
    at: str = ""  # RFC 3339: when it was said
    passages: int = 1  # of its memory
    close: float = 0.0  # share of the question's words in two sentences that hold now, 0..1; 0 for none


@dataclass(frozen=True, slots=True)
class Standing:
    """What is known of a memory beside its words."""

    distance: int  # OWN | INHERITED | SIBLING
    age_days: float = 0.0
    is_permanent: bool = False
    is_archived: bool = False
    head: str = ""  # id of the version that replaces it, "" where it is the newest
    place: str = ""  # scope and project


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
    found: Sequence[Evidence],
    standings: Mapping[str, Standing],
    floor: float | None,
    w: Weights = WEIGHTS,
    *,
    by_turn: bool = False,
) -> list[Ranked]:
    """One entry for each memory, best first; an older version counts for its head and is not shown beside it.

    Memories without a standing are left out. A head without a standing (it may not be shown here) leaves its older
    version, far down. ``by_turn`` gives one entry for each exchange instead.
    """
    known = sorted((e for e in found if e.memory in standings), key=lambda e: e.passage)
    values = current(known, supported(known, odds(found, floor, w), w), standings, w)
    best: dict[tuple[str, str], tuple[float, int | None]] = {}
    for e in known:
        standing = standings[e.memory]
        value, shown = values[e.passage] - e.is_echo * w.echo, e.memory
        passage: int | None = e.passage
        if _is_replaced(e, standing):
            if standing.head in standings:
                shown, passage = standing.head, None
            else:
                value -= w.outdated
        place = (shown, e.turn if by_turn and passage is not None else "")
        best[place] = _better(best.get(place), (value, passage))
    ranked = []
    for (memory, _), (value, passage) in best.items():
        standing = standings[memory]
        total = round(value - burden(standing, w), _DIGITS)
        ranked.append(Ranked(memory, total, passage, standing.distance, standing.age_days))
    return in_order(ranked)


def supported(known: Sequence[Evidence], likely: Mapping[int, float], w: Weights = WEIGHTS) -> dict[int, float]:
    """The log-odds of each passage with what its exchange and its memory say beside it."""
    values = {e.passage: likely[e.passage] + e.bonus for e in known}
    of_turn: dict[tuple[str, str], list[int]] = {}
    of_memory: dict[str, list[Evidence]] = {}
    for e in sorted(known, key=lambda e: (-values[e.passage], e.passage)):
        of_memory.setdefault(e.memory, []).append(e)
        if e.turn:
            of_turn.setdefault((e.memory, e.turn), []).append(e.passage)
    for first, *others in of_turn.values():
        if others:
            sure, second = (max(0.0, values[passage] + w.doubt) for passage in (first, others[0]))
            values[first] += (sure + w.turn * second) / (1.0 + w.turn / 2) - sure
    joined: dict[int, float] = {}
    for entries in of_memory.values():
        best = [values[e.passage] for e in entries[:SUPPORT]]
        # one that no search found says nothing for the question
        expected = max(len(best), min(SUPPORT, entries[0].passages))
        mean = (sum(best) - (expected - len(best)) * w.doubt) / expected
        joined |= {e.passage: (1 - w.memory) * values[e.passage] + w.memory * mean for e in entries}
    return joined


def current(
    known: Sequence[Evidence], values: Mapping[int, float], standings: Mapping[str, Standing], w: Weights = WEIGHTS
) -> dict[int, float]:
    """The same values, handed out anew among statements that are about as close to the question: the newest first.

    They must be of one place, and none may be an older version: what replaced it is known there.
    """
    places: dict[tuple[int, str], list[Evidence]] = {}
    order = sorted(known, key=lambda e: (-values[e.passage], e.passage))[: w.current_among]
    for e in order:
        standing = standings[e.memory]
        is_near = values[e.passage] + w.doubt >= w.current_from * (values[order[0].passage] + w.doubt)
        if is_near and e.close >= w.current_close and not _is_replaced(e, standing) and not standing.is_archived:
            places.setdefault((standing.distance, standing.place), []).append(e)
    given = dict(values)
    for entries in places.values():
        closest = max(e.close for e in entries)
        rivals = [e for e in entries if e.close >= closest - w.current_within]
        newest = sorted(rivals, key=lambda e: (e.at, e.passage), reverse=True)
        given |= {e.passage: values[r.passage] for e, r in zip(newest, rivals, strict=True)}
    return given


def _is_replaced(e: Evidence, standing: Standing) -> bool:
    return bool(standing.head) and standing.head != e.memory


def in_order(ranked: Sequence[Ranked]) -> list[Ranked]:
    """Best first; on ties the own project, then what is inherited, then the newer, then by id."""
    return sorted(ranked, key=lambda r: (-r.odds, r.distance, r.age_days, r.memory))


def diverse(ranked: Sequence[Ranked], words: Mapping[int, frozenset[str]], w: Weights = WEIGHTS) -> list[Ranked]:
    """The same memories with those lowered that say nearly what a better one says; ``words`` by passage.

    The nearer one takes the place of the two: how they differ then is by what their project is called.
    """
    kept: list[Ranked] = []
    for entry in ranked[:LOOKED_AT]:
        twin = next((i for i, k in enumerate(kept) if _shared_by(entry, k, words) >= w.repeated_from), None)
        if twin is None:
            kept.append(entry)
            continue
        near, far = sorted((kept[twin], entry), key=lambda r: r.distance)
        kept[twin] = replace(near, odds=kept[twin].odds)
        kept.append(replace(far, odds=round(entry.odds - w.repeated, _DIGITS)))
    return in_order([*kept, *ranked[LOOKED_AT:]])


def _shared_by(one: Ranked, other: Ranked, words: Mapping[int, frozenset[str]]) -> float:
    if one.passage is None or other.passage is None:
        return 0.0
    return shared(words.get(one.passage, frozenset()), words.get(other.passage, frozenset()))


def shared(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of the words that both have (Jaccard), 0..1."""
    return len(one & other) / (len(one | other) or 1)


def _better(known: tuple[float, int | None] | None, new: tuple[float, int | None]) -> tuple[float, int | None]:
    """The higher odds; a passage of the memory itself is kept even where an older version matched better."""
    if known is None:
        return new
    high, low = (known, new) if known[0] >= new[0] else (new, known)
    return high[0], high[1] if high[1] is not None else low[1]
