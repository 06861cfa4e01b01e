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

from keeplore.recall.request import INHERITED, OWN, SIBLING
from keeplore.recall.weights import WEIGHTS, Weights

LOOKED_AT = 50  # memories that are compared with all better ones; no more than a handful is shown
SUPPORT = 3  # passages of a memory that speak for one another
PARTS = (
    "text",  # what the words said
    "vectors",  # what the model said
    "doubt",  # where everything begins
    "words",  # what the passage's own words show
    "exchange",  # the rest of its exchange
    "memory",  # the memory's other passages
    "whole",  # how much of the question the whole memory speaks of
    "current",  # what holds now
    "outdated",  # its newest version may not be shown here
    "place",
    "passing",  # nobody marked it as permanent
    "age",
    "archive",
    "summary",  # a host's, of a talk that is kept itself
    "graph",
    "feedback",
    "repeated",  # it says nearly what another one says, or is of the same memory
)
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


@dataclass(frozen=True, slots=True)
class ScoreSteps:
    """What each step of scoring makes of each passage's log-odds, in their order."""

    # by the text, by the vectors, and the doubt
    said: Mapping[int, tuple[float, float, float]]
    worded: Mapping[int, float]
    exchanged: Mapping[int, float]
    joined: Mapping[int, float]
    whole: Mapping[int, float]
    current: Mapping[int, float]

    def parts(self, passage: int) -> Iterator[tuple[str, float]]:
        yield from zip(PARTS[:3], self.said[passage], strict=True)
        values = [sum(self.said[passage])]
        values += [step[passage] for step in (self.worded, self.exchanged, self.joined)]
        values += [self.whole[passage], self.current[passage]]
        yield from zip(
            PARTS[3:8], (b - a for a, b in itertools.pairwise(values)), strict=True
        )


def odds(
    found: Sequence[Evidence], floor: float | None, w: Weights = WEIGHTS
) -> dict[int, float]:
    """Passage → log-odds that it answers; ``floor`` belongs to the model, None where there are no
    vectors.
    """
    return {
        passage: text + vectors + doubt
        for passage, (text, vectors, doubt) in fuse(found, floor, w).items()
    }


def fuse(
    found: Sequence[Evidence], floor: float | None, w: Weights
) -> dict[int, tuple[float, float, float]]:
    """Passage → its log-odds from text, from vectors, and the doubt, which is below 0; an echo of
    the question has the doubt alone.
    """
    texts = [e for e in found if e.text is not None and not e.is_echo]
    best_text = max((e.text or 0.0 for e in texts), default=0.0)
    covered = max((e.coverage for e in texts), default=0.0)
    # a passage that the vector search did not give is at most as near as the last one that it gave
    lowest = min((e.cosine for e in found if e.cosine is not None), default=0.0)
    said = {}
    for e in found:
        if e.is_echo:
            doubt = w.doubt_alone if floor is None else w.doubt
            said[e.passage] = (0.0, 0.0, -doubt)
            continue
        text = covered * max(0.0, e.text or 0.0) / best_text if best_text > 0 else 0.0
        if floor is None:
            said[e.passage] = (w.text_alone * text, 0.0, -w.doubt_alone)
        else:
            cosine = lowest if e.cosine is None else e.cosine
            nearness = above_floor(cosine, floor)
            said[e.passage] = (w.text * text, w.vector * nearness, -w.doubt)
    return said


def above_floor(cosine: float, floor: float) -> float:
    """How far a cosine is above a model's floor, as a share of all that is above it."""
    return (cosine - floor) / (1.0 - floor)


def agreeing(
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


def priors(
    standing: Standing, w: Weights = WEIGHTS
) -> tuple[float, float, float, float, float, float, float]:
    """What place, permanence, age, archive and being a summary take from the log-odds, at most 0,
    and what graph and feedback give.
    """
    place = {OWN: 0.0, INHERITED: -w.inherited, SIBLING: -w.sibling}[standing.distance]
    archive = -w.archived if standing.is_archived else 0.0
    summary = -w.summary if standing.is_summary else 0.0
    graph, feedback = w.graph * standing.graph, feedback_odds(standing.feedback, w)
    if standing.is_permanent:
        return place, 0.0, 0.0, archive, summary, graph, feedback
    fresh = 0.5 ** (max(0.0, standing.age_days) / w.half_life_days)
    aged = -w.oldest * (1.0 - fresh)
    return place, -w.impermanent, aged, archive, summary, graph, feedback


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
    known = [
        e for e in found if e.memory in standings and not (by_turn and e.is_statement)
    ]
    known.sort(key=_number)
    steps = steps_of(found, known, standings, floor, w)
    best: dict[tuple[str, str], _Candidate] = {}
    for e in known:
        memory, candidate = _candidate(e, standings, steps.current[e.passage], w)
        turn = e.turn if by_turn and candidate.passage is not None else ""
        best[memory, turn] = _better(best.get((memory, turn)), candidate)
    ranked = []
    for (memory, _), candidate in best.items():
        standing = standings[memory]
        prior_odds = priors(standing, w)
        ranked.append(
            Ranked(
                memory,
                round(candidate.odds + sum(prior_odds), _DIGITS),
                candidate.passage,
                standing.distance,
                standing.age_days,
                candidate.by,
                _parts(candidate, steps, prior_odds) if explain else (),
            )
        )
    return in_order(ranked)


def _parts(
    candidate: _Candidate, steps: ScoreSteps, prior_odds: Iterable[float]
) -> tuple[tuple[str, float], ...]:
    lost = (candidate.outdated, *prior_odds)
    return (*steps.parts(candidate.by), *zip(PARTS[8:-1], lost, strict=True))


def _candidate(
    e: Evidence, standings: Mapping[str, Standing], odds: float, w: Weights
) -> tuple[str, _Candidate]:
    """The memory that a passage speaks for, and how it does."""
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
    """``known`` are those of ``found`` that have a standing, and for which the steps are made."""
    said = fuse(found, floor, w)
    worded = {e.passage: sum(said[e.passage]) + e.bonus for e in known}
    exchanged, joined = with_support(known, worded, w)
    whole = {
        e.passage: joined[e.passage] + w.whole * standings[e.memory].whole
        for e in known
    }
    current = favour_newest(known, whole, standings, w)
    return ScoreSteps(said, worded, exchanged, joined, whole, current)


def with_support(
    known: Sequence[Evidence], worded: Mapping[int, float], w: Weights
) -> tuple[dict[int, float], dict[int, float]]:
    """The log-odds of each passage together with its exchange, and then together with its
    memory.
    """
    exchanged = dict(worded)
    of_turn: dict[tuple[str, str], list[int]] = {}
    of_memory: dict[str, list[Evidence]] = {}
    for e in _best_first(known, exchanged):
        of_memory.setdefault(e.memory, []).append(e)
        if e.turn:
            of_turn.setdefault((e.memory, e.turn), []).append(e.passage)
    for first, *others in of_turn.values():
        if others:
            exchanged[first] += _support(exchanged[first], exchanged[others[0]], w)
    joined: dict[int, float] = {}
    for entries in of_memory.values():
        mean = _mean_of_best(entries, exchanged, w)
        for e in entries:
            joined[e.passage] = (1 - w.memory) * exchanged[e.passage] + w.memory * mean
    return exchanged, joined


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
    """The log-odds, given out anew among statements that are about as close to the question: the
    newest one gets the best.

    They must be of one place, and none may be an older version: what replaced it is known there.
    """
    given = dict(values)
    for entries in _near_by_place(known, values, standings, w):
        closest = max(e.close for e in entries)
        rivals = [e for e in entries if e.close >= closest - w.current_within]
        newest = sorted(rivals, key=lambda e: (e.at, _number(e)), reverse=True)
        given |= {
            e.passage: values[r.passage] for e, r in zip(newest, rivals, strict=True)
        }
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
        twin = next(
            (i for i, k in enumerate(kept) if _says_same(entry, k, words, w)),
            None,
        )
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
    before = [(name, value) for name, value in entry.parts if name != PARTS[-1]]
    lowered = dict(entry.parts).get(PARTS[-1], 0.0) + odds - entry.odds
    parts = (*before, (PARTS[-1], lowered)) if before else ()
    return replace(entry, odds=odds, parts=parts)


def _says_same(
    one: Ranked, other: Ranked, words: Mapping[int, frozenset[str]], w: Weights
) -> bool:
    mine, theirs = (
        None if entry.passage is None else words.get(entry.passage)
        for entry in (one, other)
    )
    if not mine or not theirs:
        return False
    # texts of so different lengths have less in common, which needs no look at the words
    short, long = sorted((len(mine), len(theirs)))
    return short >= w.repeated_from * long and shared(mine, theirs) >= w.repeated_from


def shared(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of the words that both have (Jaccard), 0..1."""
    common = len(one & other)
    return common / (len(one) + len(other) - common or 1)


def _better(known: _Candidate | None, new: _Candidate) -> _Candidate:
    """The higher odds; a passage of the memory itself is kept even where an older version matched
    better.
    """
    if known is None:
        return new
    high, low = (known, new) if known.odds >= new.odds else (new, known)
    return high if high.passage is not None else replace(high, passage=low.passage)
