"""One question from beginning to end: refresh, search, rank, check against the files, cut the
excerpts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from keeplore.errors import EngineUnavailable, IndexUnavailable, ModelUnavailable, RepositoryError
from keeplore.index import IndexState, MemoryRow, PassageRow, ScopeFilter
from keeplore.index.embedding.embedder import embed_questions
from keeplore.index.graph.boost import Boost, BoostReason
from keeplore.memory import Memory
from keeplore.recall.injection_filter import stated_trust
from keeplore.recall.passage_features import bonuses, closeness
from keeplore.recall.question import Question, question_of, stems_of
from keeplore.recall.rank import Evidence, Ranked, Standing, diverse, least_odds, odds, rank
from keeplore.recall.request import ALL, SIBLING, Answer, Here, Hit, Unasked
from keeplore.recall.superseded import with_earlier
from keeplore.recall.time_expressions import Span, session_in, spans_in
from keeplore.recall.time_questions import Period, period_of, told_in
from keeplore.recall.unanswered_question import is_echo
from keeplore.recall.verify import Kept, Left, left_out, shown, standing_of, words_of
from keeplore.recall.weights import WEIGHTS, Weights

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from keeplore.index import Embedder, Index, TextSource

GRAPH_S = 0.02  # for a look at the graph; what it found until then counts
REFRESH_S = 1.5  # for reading what has changed, which after a clone is everything
NO_WORD = "the question has no word to look for"
WRITER_S = 1.0  # a person waits: what another process is writing just now is not waited for longer


@dataclass(frozen=True, slots=True)
class Sight:
    """A question with its vector, where the model gives one; ``floor`` is the model's, None without
    a vector.
    """

    question: Question
    vector: NDArray[np.float32] | None = None
    floor: float | None = None
    model: str = ""  # fingerprint of the model that made the vector
    is_patient: bool = False  # where no host waits for its prompt
    spans: tuple[Span, ...] = ()  # times that the question names


@dataclass(frozen=True, slots=True)
class Found:
    """What the searches gave: evidence, and the rows that it speaks of, as far as they were looked
    up.
    """

    evidence: tuple[Evidence, ...]
    passages: Mapping[int, PassageRow]
    memories: Mapping[str, MemoryRow]


@dataclass(frozen=True, slots=True)
class Look:
    """One look at the index, and the order into which it brought the memories."""

    sight: Sight
    found: Found
    memories: Mapping[str, MemoryRow]
    standings: Mapping[str, Standing]
    boost: Boost
    ranked: tuple[Ranked, ...]  # all of them
    ordered: tuple[
        Ranked, ...
    ]  # those that are sure enough, with what says the same again further down
    left: tuple[Left, ...]  # those of them that were passed over


@dataclass(frozen=True, slots=True)
class _Asking:
    """What stays the same however often the index is looked at for a question."""

    index: Index
    store: TextSource
    here: Here
    wanted: Kept
    now: datetime
    w: Weights
    graph: bool
    feedback: bool
    watch: Callable[[Look], None] | None


def recall(
    index: Index,
    store: TextSource,
    query: str,
    here: Here,
    *,
    embedder: Embedder | None = None,
    limit: int = 5,
    wide: bool = False,
    by_exchange: bool = False,
    text_only: bool = False,
    at_once: bool = False,
    unasked: Unasked = ALL,
    trust: Callable[[Memory], str] = stated_trust,
    now: datetime | None = None,
    weights: Weights = WEIGHTS,
    graph: bool = False,
    feedback: bool = False,
    watch: Callable[[Look], None] | None = None,
) -> Answer:
    """The memories that answer a question, as seen from ``here``, best first.

    ``by_exchange`` gives every exchange that answers, not one of each memory. ``wide`` asks the
    other projects as well, which otherwise happens when little is found. The index is brought up to
    date first, unless ``at_once`` says that a person waits and somebody else sees to that: then the
    other projects are not asked either. ``unasked`` says what is left out, ``trust`` how far a
    memory is believed. Nothing is fetched and no vectors are made but the question's. ``graph``
    lifts what is about the things that the question names, ``feedback`` what was of use before.
    ``watch`` is given each look at the index with the parts of its scores, the one that counts
    last. Raises IndexUnavailable where the index can neither be read nor made.
    """
    notes = [] if at_once else _refresh(index)
    is_behind = bool(notes)
    stamp = index.stamp(of_text=text_only)
    question = question_of(query)
    moment = now or datetime.now(UTC)
    session = _session(index, question, ScopeFilter(() if wide else here.scopes))
    wanted = Kept(
        limit,
        max(unasked.at_least, weights.nothing_below),
        unasked.skip,
        unasked.is_told,
        trust,
        by_exchange,
    )
    # words for a time alone are no reason to tell anything that nobody asked for
    period = None if unasked.at_least else period_of(question.text, session, moment.date())
    may_widen = not wide and not at_once
    asking = _Asking(index, store, here, wanted, moment, weights, graph, feedback, watch)
    if period:
        hits, told = _of_time(asking, period, wide=wide, may_widen=may_widen)
        return _answer(query, hits, ("text",), [*notes, *told], stamp, is_behind=is_behind)
    sight, told = _seen(index, question, None if text_only else embedder, stamp)
    spans = (*spans_in(question.text, moment.date()), *((session,) if session else ()))
    sight = replace(sight, is_patient=not at_once, spans=spans)
    notes += [] if text_only else told
    hits = []
    if question.says_something and stamp.memories:
        hits, told, sight = _widely(asking, sight, wide=wide, may_widen=may_widen)
        hits = (
            hits if unasked.at_least else with_earlier(index, store, hits, question, spans, wanted)
        )
        notes += told
    elif not question.says_something:
        notes.append(NO_WORD)
    notes += [index.note] if index.note else []
    legs = ("text",) if sight.floor is None else ("text", "vectors")
    return _answer(query, hits, legs, notes, stamp, is_behind=is_behind)


def _answer(
    query: str,
    hits: Sequence[Hit],
    legs: tuple[str, ...],
    notes: Sequence[str],
    stamp: IndexState,
    *,
    is_behind: bool,
) -> Answer:
    status = "found" if hits else "stale" if is_behind else "nothing" if stamp.memories else "empty"
    return Answer(query, tuple(hits), status, legs, tuple(notes), stamp)


def _of_time(
    asking: _Asking, period: Period, *, wide: bool, may_widen: bool
) -> tuple[list[Hit], list[str]]:
    """The hits of a time, and what has to be told of them; of all projects where there is nothing
    else.
    """
    a = asking
    then = partial(
        told_in, a.index, a.store, period, here=a.here, wanted=a.wanted, now=a.now, w=a.w
    )
    hits, told = then(is_wide=wide)
    if not hits and may_widen:
        hits, told = then(is_wide=True)
    return hits, [*told, *_widened(hits, a.here, is_asked=wide)]


def _widely(
    asking: _Asking, sight: Sight, *, wide: bool, may_widen: bool
) -> tuple[list[Hit], list[str], Sight]:
    """The hits, of all projects where little is found, what has to be told of them, and the sight
    that was used.
    """
    hits, left, sight = _looked(asking, sight, is_wide=wide)
    if not may_widen or any(hit.score >= asking.w.widen_below for hit in hits):
        return hits, left_out(left), sight
    hits, more, sight = _looked(asking, sight, is_wide=True)
    return (
        hits,
        [*_widened(hits, asking.here, is_asked=wide), *(left_out(more) or left_out(left))],
        sight,
    )


def _widened(hits: Sequence[Hit], here: Here, *, is_asked: bool) -> list[str]:
    is_so = not is_asked and any(here.distance(hit.scope, hit.project) == SIBLING for hit in hits)
    return ["little was found here, so the other projects were asked too"] if is_so else []


def search(
    index: Index, sight: Sight, allowed: ScopeFilter, w: Weights = WEIGHTS, at_least: float = 0.0
) -> Found:
    """Every passage that either search finds; what is known of it only where its score may reach
    ``at_least``.
    """
    said, patient = sight.question.text, sight.is_patient
    text = {
        m.passage: m.score
        for m in index.text_search(said, allowed, w.candidates, is_patient=patient)
    }
    cosines = {}
    if sight.vector is not None:
        cosines = {
            m.passage: m.score
            for m in index.vector_search(
                sight.vector, allowed, w.candidates, model=sight.model, is_patient=sight.is_patient
            )
        }
    covering = sorted(text, key=lambda id_: (-text[id_], id_))[: w.covering]
    passages = {row.id: row for row in index.passages(covering)}
    coverage = {
        row.id: sight.question.coverage(stems_of(f"{row.title}\n{row.text}"))
        for row in passages.values()
    }
    found = [
        Evidence(id_, "", text.get(id_), cosines.get(id_), coverage.get(id_, 0.0))
        for id_ in sorted(text.keys() | cosines.keys())
    ]
    # what can still raise a score is less than ``most_bonus``, so whatever is further below need
    # not be looked up
    likely = odds(found, sight.floor, w)
    least = least_odds(at_least) - w.most_bonus
    wanted = sorted(
        (id_ for id_, value in likely.items() if value >= least),
        key=lambda id_: (-likely[id_], id_),
    )
    passages |= {
        row.id: row for row in index.passages([id_ for id_ in wanted if id_ not in passages])
    }
    known = [id_ for id_ in wanted if id_ in passages]
    memories = index.memories(sorted({passages[id_].memory_id for id_ in known}))
    places = {id_: place for place, id_ in enumerate(known) if passages[id_].memory_id in memories}
    evidence = tuple(
        _known(e, passages[e.passage], memories, sight, places[e.passage], w)
        if e.passage in places
        else e
        for e in found
    )
    return Found(evidence, passages, memories)


def _known(
    e: Evidence,
    row: PassageRow,
    memories: Mapping[str, MemoryRow],
    sight: Sight,
    place: int,
    w: Weights,
) -> Evidence:
    """Evidence with what its passage shows; ``place`` is where it stands by the searches alone, 0
    the best.
    """
    question = sight.question
    memory = memories[row.memory_id]
    at = row.at or memory.updated_at or memory.created_at
    known = replace(e, memory=memory.id, turn=row.turn, at=at, passages=row.passages)
    if place >= w.read:
        return known
    close = 0.0
    if place < w.current_among and not question.is_about_past:
        share, is_rule = closeness(row.said, question)
        close = share if is_rule or not question.asks else 0.0
    named = any(span.holds(at) for span in sight.spans) * w.when
    return replace(
        known,
        is_echo=is_echo(row, question),
        bonus=sum(bonuses(row, question, w).values()) + named,
        close=close,
    )


def sight_of(question: Question, embedder: Embedder) -> Sight:
    """The question with its vector. Raises ModelUnavailable."""
    return Sight(
        question,
        embed_questions(embedder, [question.text])[0],
        embedder.floor,
        embedder.fingerprint,
    )


def _lacking(stamp: IndexState) -> list[str]:
    """What the vectors do not tell yet."""
    missing = stamp.passages - stamp.vectors
    switch = [str(stamp.switch)] if stamp.switch else []
    return (
        [*switch, f"{missing} of {stamp.passages} passages have no vector yet"]
        if missing > 0
        else switch
    )


def _session(index: Index, question: Question, allowed: ScopeFilter) -> Span | None:
    """When the session was that the question names, None where it names none."""
    number = session_in(question.text)
    session = index.session_span(allowed, number) if number else None
    return Span(*session) if session else None


def _refresh(index: Index) -> list[str]:
    if index.is_in_step():
        return []
    try:
        left = index.refresh(wait_s=WRITER_S, within_s=REFRESH_S).left
    except (IndexUnavailable, RepositoryError) as e:
        if behind := index.lag():
            return [f"the index is {behind} files behind the text: {e}"]
        return []
    return (
        [f"the index is being made, the newest first: {left:,} files are still to be read"]
        if left
        else []
    )


def _seen(
    index: Index, question: Question, embedder: Embedder | None, stamp: IndexState
) -> tuple[Sight, list[str]]:
    """The question as it is searched for, and what has to be told of that."""
    # while the model is being changed, the one before has the vectors
    sight, why_text = _look(
        question, index.answering(embedder) if embedder is not None else None, stamp.vectors
    )
    return sight, [
        *([why_text] if why_text else []),
        *(_lacking(stamp) if sight.floor is not None else []),
    ]


def _look(question: Question, embedder: Embedder | None, vectors: int) -> tuple[Sight, str]:
    if embedder is None:
        return Sight(question), "searched by text alone: no embedding model is set"
    if not vectors:
        return Sight(question), "searched by text alone: no vectors have been made yet"
    if not question.says_something:
        return Sight(question), ""
    try:
        return sight_of(question, embedder), ""
    except ModelUnavailable as e:
        return Sight(question), f"searched by text alone: {e}"


def _looked(asking: _Asking, sight: Sight, *, is_wide: bool) -> tuple[list[Hit], list[Left], Sight]:
    """What ``_hits`` gives, and the sight that was used: without vectors where the engine that has
    them is away.
    """
    try:
        return *_hits(asking, sight, is_wide=is_wide), sight
    except EngineUnavailable:  # asked again, its full text is this machine's
        sight = Sight(sight.question, is_patient=sight.is_patient, spans=sight.spans)
        return *_hits(asking, sight, is_wide=is_wide), sight


def _hits(asking: _Asking, sight: Sight, *, is_wide: bool) -> tuple[list[Hit], list[Left]]:
    """Hits that are sure enough and stand in their files, and those that were passed over."""
    wanted, w = asking.wanted, asking.w
    allowed = ScopeFilter(() if is_wide else asking.here.scopes)
    found = search(asking.index, sight, allowed, w, wanted.at_least)
    memories = {
        **found.memories,
        **_heads(asking.index, found.memories, asking.here, is_wide=is_wide),
    }
    until = time.monotonic() + GRAPH_S
    boost = asking.index.graph.boosted(sight.question.text, allowed, until) if asking.graph else {}
    used = asking.index.graph.feedback(list(memories), asking.now) if asking.feedback else {}
    standings = {
        id_: standing_of(
            row, asking.here, asking.now, _share(boost.get(id_), w), used.get(id_, 1.0)
        )
        for id_, row in memories.items()
    }
    told = {id_ for id_, row in found.passages.items() if wanted.is_told(row.text)}
    evidence = [e for e in found.evidence if e.passage not in told]
    explain = asking.watch is not None
    entries = rank(evidence, standings, sight.floor, w, by_turn=wanted.by_exchange, explain=explain)
    ranked = [r for r in entries if r.score >= wanted.at_least]
    words = words_of(ranked, found.passages)
    ordered = diverse(ranked, words, w)
    hits, left = shown(
        asking.store, ordered, memories, found.passages, words, sight.question, wanted, w
    )
    if asking.watch:
        asking.watch(
            Look(
                sight,
                found,
                memories,
                standings,
                boost,
                tuple(entries),
                tuple(ordered),
                tuple(left),
            )
        )
    return hits, left


def _share(about: BoostReason | None, w: Weights) -> float:
    """How much of what the question names a memory is about, 0..1."""
    return 0.0 if about is None else 1.0 if about.named else w.graph_related


def _heads(
    index: Index, rows: Mapping[str, MemoryRow], here: Here, *, is_wide: bool
) -> dict[str, MemoryRow]:
    """The newest versions of memories that were found, as far as they may be shown here."""
    missing = sorted({row.superseded_by for row in rows.values()} - rows.keys() - {""})
    heads = index.memories(missing) if missing else {}
    return {
        id_: row
        for id_, row in heads.items()
        if is_wide or here.distance(row.scope, row.project) != SIBLING
    }
