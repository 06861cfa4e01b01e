"""Ranking by fusion of two searches, by text and by vectors: what they found → memories in the
order in which they are shown. Pure and deterministic.

Each search says how sure it is. For text that is the passage's BM25 as a part of the best one's,
times the share of the question's words that the best passages have; for vectors it is how far the
cosine lies above what unrelated texts have with this model. The log-odds that the passage answers
the question are linear in the two (logistic regression), so a search that is unsure says little and
a score means the same for every question. Reciprocal ranks, which know no sureness, were measured
and are worse.

Every step adds to or takes from the log-odds, and each has a name in ``PARTS``: a score is the sum
of its parts.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from keeplore.recall.request import INHERITED, OWN, SIBLING
from keeplore.recall.weights import WEIGHTS, Weights
from keeplore.text.similarity import jaccard_index

LOOKED_AT = 50  # memories that are compared with all better ones; no more than a handful is shown
SUPPORT = 3  # passages of a memory that speak for one another
REPEATED = "repeated"  # the part of what says nearly what another one says, or is of its memory
# of log-odds: smaller differences are noise of floating point, and count as ties
_DIGITS = 6


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the searches know of one passage."""

    passage: int
    memory: str  # "" where it was not looked up
    # BM25, higher is better; None where the text search did not find it
    text: float | None = None
    cosine: float | None = None  # None where the vector search did not find it
    coverage: float = 0.0  # share of the question's words in it, 0..1
    # it asks the same and does not answer: what it shares with the question says nothing
    is_echo: bool = False
    bonus: float = 0.0  # log-odds for what its own words show
    turn: str = ""
    at: str = ""  # RFC 3339: when it was said
    passages: int = 1  # of its memory
    # share of the question's words in two sentences that hold now, 0..1; 0 for none
    close: float = 0.0
    is_statement: bool = False  # one sentence of the head, which holds at the end
    # among all that was found, by what it says: the same on every machine, unlike its number
    order: int = 0


@dataclass(frozen=True, slots=True)
class Standing:
    """What is known of a memory beside its words."""

    distance: int  # OWN | INHERITED | SIBLING
    age_days: float = 0.0
    is_permanent: bool = False
    is_archived: bool = False
    is_summary: bool = False  # of its talk, by the host
    head: str = ""  # id of the version that replaces it, "" where it is the newest
    place: str = ""  # scope and project
    graph: float = 0.0  # how much of what the question names it is about, 0..1
    # weight of its aspects: above 1 it was of use, below it fades
    feedback: float = 1.0
    # how much more of the question the whole memory speaks of than the likeliest one, -1..1
    whole: float = 0.0


@dataclass(frozen=True, slots=True)
class Ranked:
    memory: str
    odds: float  # log-odds that it answers the question
    passage: int | None  # None where only an older version's words were found
    distance: int = OWN
    age_days: float = 0.0
    # the passage whose words count: that of an older version, where this matched better
    by: int | None = None
    # names of PARTS and log-odds, where they were asked for
    parts: tuple[tuple[str, float], ...] = ()

    @property
    def score(self) -> float:
        """The likelihood, 0..1."""
        return 1.0 / (1.0 + math.exp(-self.odds))


@dataclass(frozen=True, slots=True)
class _Candidate:
    """The passage that speaks best for a memory."""

    odds: float
    # that is shown; None where only an older version's words were found
    passage: int | None
    by: int  # whose words count
    outdated: float  # what was lost because its newest version may not be shown


class SearchOdds(NamedTuple):
    """What the searches say of a passage, as log-odds."""

    text: float  # what the words said
    vectors: float  # what the model said
    doubt: float  # where everything begins, below 0


class PriorOdds(NamedTuple):
    """The log-odds that a memory has whatever is asked; but for the last two at most 0."""

    place: float
    passing: float  # nobody marked it as permanent
    age: float
    archive: float
    summary: float  # a host's, of a talk that is kept itself
    graph: float
    feedback: float


STEPS = (
    "words",  # what the passage's own words show
    "exchange",  # the rest of its exchange
    "memory",  # the memory's other passages
    "whole",  # how much of the question the whole memory speaks of
    "current",  # what holds now
)
OUTDATED = "outdated"  # the part of a memory whose newest version may not be shown here
PARTS = (*SearchOdds._fields, *STEPS, OUTDATED, *PriorOdds._fields, REPEATED)


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


def odds(
    found: Sequence[Evidence], floor: float | None, w: Weights = WEIGHTS
) -> dict[int, float]:
    """Passage → log-odds that it answers; ``floor`` belongs to the model, None where there are no
    vectors.
    """
    return {passage: sum(parts) for passage, parts in fuse(found, floor, w).items()}


def fuse(
    found: Sequence[Evidence], floor: float | None, w: Weights
) -> dict[int, SearchOdds]:
    """Passage → its log-odds by the searches; an echo of the question has the doubt alone."""
    texts = [e for e in found if e.text is not None and not e.is_echo]
    best_text = max((e.text or 0.0 for e in texts), default=0.0)
    covered = max((e.coverage for e in texts), default=0.0)
    # a passage that the vector search did not give is at most as near as the last one that it gave
    lowest = min((e.cosine for e in found if e.cosine is not None), default=0.0)
    odds_of = {}
    for e in found:
        if e.is_echo:
            doubt = w.doubt_alone if floor is None else w.doubt
            odds_of[e.passage] = SearchOdds(0.0, 0.0, -doubt)
            continue
        text = covered * max(0.0, e.text or 0.0) / best_text if best_text > 0 else 0.0
        if floor is None:
            odds_of[e.passage] = SearchOdds(w.text_alone * text, 0.0, -w.doubt_alone)
        else:
            cosine = lowest if e.cosine is None else e.cosine
            vectors = w.vector * above_floor(cosine, floor)
            odds_of[e.passage] = SearchOdds(w.text * text, vectors, -w.doubt)
    return odds_of


def above_floor(cosine: float, floor: float) -> float:
    """How far a cosine is above a model's floor, as a share of all that is above it."""
    return (cosine - floor) / (1.0 - floor)


def agreeing_passages(
    found: Sequence[Evidence], passages: int, floor: float | None, w: Weights = WEIGHTS
) -> frozenset[int]:
    """The passages that have enough to do with the question by themselves, where the odds only
    compare with the best one.

    What counts is the words in common, measured in words that one alone of all ``passages`` has,
    and the nearness in meaning. With few passages no word is rare, and all agree.
    """
    if passages < w.counted_from:
        return frozenset(e.passage for e in found)
    least = w.told_alone_from if floor is None else w.told_from
    rarest = math.log(1 + passages)
    return frozenset(
        e.passage
        for e in found
        if (e.text or 0.0) / rarest + w.told_near * (e.cosine or 0.0) >= least
    )


def least_odds(score: float) -> float:
    """The log-odds below which no memory reaches a score (0..1), however it stands."""
    if score <= 0.0:
        return -math.inf
    certain = min(score, 1.0 - sys.float_info.epsilon)
    return math.log(certain / (1.0 - certain)) - 10.0**-_DIGITS


def prior_odds(standing: Standing, w: Weights = WEIGHTS) -> PriorOdds:
    """The log-odds that a memory has by what is known of it beside its words."""
    places = {OWN: 0.0, INHERITED: -w.inherited, SIBLING: -w.sibling}
    is_passing = not standing.is_permanent
    fresh = 0.5 ** (max(0.0, standing.age_days) / w.half_life_days)
    return PriorOdds(
        place=places[standing.distance],
        passing=-w.impermanent if is_passing else 0.0,
        age=-w.oldest * (1.0 - fresh) if is_passing else 0.0,
        archive=-w.archived if standing.is_archived else 0.0,
        summary=-w.summary if standing.is_summary else 0.0,
        graph=w.graph * standing.graph,
        feedback=feedback_odds(standing.feedback, w),
    )


def feedback_odds(weight: float, w: Weights = WEIGHTS) -> float:
    """The log-odds that a weight of feedback gives: none at 1, ``w.feedback`` from 2 on, and as
    much less at a half.
    """
    return w.feedback * max(-1.0, min(1.0, math.log2(max(weight, sys.float_info.min))))


def rank(
    found: Sequence[Evidence],
    standings: Mapping[str, Standing],
    floor: float | None,
    w: Weights = WEIGHTS,
    *,
    by_turn: bool = False,
    explain: bool = False,
) -> list[Ranked]:
    """One entry for each memory, best first; an older version counts for its head and is not shown
    beside it.

    Memories without a standing are left out. A head without a standing (it may not be shown here)
    leaves its older version, far down. ``by_turn`` gives one entry for each exchange instead;
    ``explain`` fills in the parts.
    """
    # a statement stands for its conversation, and not for the exchange that it is from
    counted = (e for e in found if not (by_turn and e.is_statement))
    known = sorted((e for e in counted if e.memory in standings), key=_number)
    steps = steps_of(found, known, standings, floor, w)
    best: dict[tuple[str, str], _Candidate] = {}
    for e in known:
        memory, candidate = _candidate(e, standings, steps.after[-1][e.passage], w)
        turn = e.turn if by_turn and candidate.passage is not None else ""
        best[memory, turn] = _better(best.get((memory, turn)), candidate)
    ranked = []
    for (memory, _), candidate in best.items():
        standing = standings[memory]
        prior = prior_odds(standing, w)
        ranked.append(
            Ranked(
                memory,
                round(candidate.odds + sum(prior), _DIGITS),
                candidate.passage,
                standing.distance,
                standing.age_days,
                candidate.by,
                _parts(candidate, steps, prior) if explain else (),
            )
        )
    return in_order(ranked)


def _parts(
    candidate: _Candidate, steps: ScoreSteps, prior: PriorOdds
) -> tuple[tuple[str, float], ...]:
    outdated = (OUTDATED, candidate.outdated)
    return (*steps.parts(candidate.by), outdated, *prior._asdict().items())


def _candidate(
    e: Evidence, standings: Mapping[str, Standing], odds: float, w: Weights
) -> tuple[str, _Candidate]:
    """The id of the memory that a passage counts for, its newest version, and the candidate."""
    memory, passage = e.memory, e.passage
    outdated = 0.0
    head = standings[memory].head
    if head and head != memory:
        if head in standings:
            return head, _Candidate(odds, None, passage, outdated)
        outdated = -w.outdated
    return memory, _Candidate(odds + outdated, passage, passage, outdated)


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
    return sorted(known, key=lambda e: (-values[e.passage], _number(e)))


def _number(e: Evidence) -> tuple[int, int]:
    return e.order, e.passage


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
        newest = sorted(rivals, key=lambda e: (e.at, _number(e)), reverse=True)
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


def in_order(ranked: Sequence[Ranked]) -> list[Ranked]:
    """Best first; on ties the own project, then what is inherited, then the newer, then by id."""
    return sorted(ranked, key=lambda r: (-r.odds, r.distance, r.age_days, r.memory))


def diverse(
    ranked: Sequence[Ranked], words: Mapping[int, frozenset[str]], w: Weights = WEIGHTS
) -> list[Ranked]:
    """The ranked memories with those lowered that nearly repeat a better one; ``words`` is by
    passage.

    The nearer one takes the place of the two: how they differ then is by what their project is
    called.
    """
    kept: list[Ranked] = []
    for entry in ranked[:LOOKED_AT]:
        same = (i for i, k in enumerate(kept) if _says_same(entry, k, words, w))
        twin = next(same, None)
        if twin is None:
            kept.append(entry)
            continue
        near, far = sorted((kept[twin], entry), key=lambda r: r.distance)
        better, worse = kept[twin].odds, round(entry.odds - w.repeated, _DIGITS)
        kept[twin] = _with_odds(near, better)
        kept.append(_with_odds(far, worse))
    return in_order([*kept, *ranked[LOOKED_AT:]])


def complementary(ranked: Sequence[Ranked], w: Weights) -> list[Ranked]:
    """The ranked passages in the order for a question that several answer together: each is lowered
    by those of its memory that come before it.
    """
    before: Counter[str] = Counter()
    left, chosen = [*ranked[:LOOKED_AT]], list[Ranked]()
    while left:
        lowered = [
            r.odds - w.same_memory * math.log2(1 + before[r.memory]) for r in left
        ]
        best = lowered.index(max(lowered))
        entry = left.pop(best)
        chosen.append(_with_odds(entry, round(lowered[best], _DIGITS)))
        before[entry.memory] += 1
    return in_order([*chosen, *ranked[LOOKED_AT:]])


def _with_odds(entry: Ranked, odds: float) -> Ranked:
    before = [(name, value) for name, value in entry.parts if name != REPEATED]
    lowered = dict(entry.parts).get(REPEATED, 0.0) + odds - entry.odds
    parts = (*before, (REPEATED, lowered)) if before else ()
    return replace(entry, odds=odds, parts=parts)


def _says_same(
    one: Ranked, other: Ranked, words: Mapping[int, frozenset[str]], w: Weights
) -> bool:
    """Whether the passages of two results share most of their words, ``words`` by passage."""
    if one.passage is None or other.passage is None:
        return False
    mine, theirs = words.get(one.passage), words.get(other.passage)
    if not mine or not theirs:
        return False
    # cheap: of texts so different in length no more can be shared
    short, long = sorted((len(mine), len(theirs)))
    may_be_near = short >= w.repeated_from * long
    return may_be_near and jaccard_index(mine, theirs) >= w.repeated_from


def _better(known: _Candidate | None, new: _Candidate) -> _Candidate:
    """The higher odds; a passage of the memory itself is kept even where an older version matched
    better.
    """
    if known is None:
        return new
    high, low = (known, new) if known.odds >= new.odds else (new, known)
    return high if high.passage is not None else replace(high, passage=low.passage)
