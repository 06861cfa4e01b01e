"""One question from beginning to end: refresh, search, rank, check against the files, cut the excerpts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import partial
from typing import TYPE_CHECKING

from keeplore.errors import EngineUnavailable, IndexUnavailable, ModelUnavailable, RepositoryError, StoreError
from keeplore.index import Allowed, MemoryRow, PassageRow, Stamp
from keeplore.index.passages import passages_of, still_says
from keeplore.memory import Conversation, Memory
from keeplore.memory.note import statement_of
from keeplore.recall.echo import is_echo
from keeplore.recall.evident import bonus, closeness
from keeplore.recall.excerpt import excerpt
from keeplore.recall.query import Question, question_of, stems_of
from keeplore.recall.rank import LOOKED_AT, Evidence, Ranked, Standing, diverse, least_odds, odds, rank, shared
from keeplore.recall.trusted import stated_trust
from keeplore.recall.values import SIBLING, Answer, Here, Hit, Unasked
from keeplore.recall.weights import WEIGHTS, Weights
from keeplore.recall.when import Span, session_in, spans_in

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from keeplore.index import Embedder, Index, Source

ALL = Unasked()
_DAY_S = 86_400
WRITER_S = 1.0  # a person waits: what another process is writing just now is not waited for longer


@dataclass(frozen=True, slots=True)
class Sight:
    """A question with its vector, where the model gives one; ``floor`` is the model's, None without a vector."""

    question: Question
    vector: NDArray[np.float32] | None = None
    floor: float | None = None
    model: str = ""  # fingerprint of the model that made the vector
    is_patient: bool = False  # where no host waits for its prompt
    spans: tuple[Span, ...] = ()  # times that the question names


@dataclass(frozen=True, slots=True)
class Found:
    """What the searches gave: evidence, and the rows that it speaks of, as far as they were looked up."""

    evidence: tuple[Evidence, ...]
    passages: Mapping[int, PassageRow]
    memories: Mapping[str, MemoryRow]


@dataclass(frozen=True, slots=True)
class Kept:
    """Which of the memories that were found are looked at, best first."""

    limit: int
    at_least: float
    skip: Callable[[MemoryRow], bool]
    is_told: Callable[[str], bool]
    trust: Callable[[Memory], str]
    by_exchange: bool = False


def recall(
    index: Index,
    store: Source,
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
) -> Answer:
    """The memories that answer a question, as seen from ``here``, best first.

    ``by_exchange`` gives every exchange that answers, not one of each memory. ``wide`` asks the other projects as
    well, which otherwise happens when little is found. The index is brought up to date first, unless ``at_once`` says
    that a person waits and somebody else sees to that: then the other projects are not asked either. ``unasked`` says
    what is left out, ``trust`` how far a memory is believed. Nothing is fetched and no vectors are made but the
    question's. Raises IndexUnavailable where the index can neither be read nor made.
    """
    notes = [] if at_once else _refresh(index)
    is_behind = bool(notes)
    stamp = index.stamp(of_text=text_only)
    question = question_of(query)
    # while the model is being changed, the one before has the vectors
    answering = None if text_only or embedder is None else index.answering(embedder)
    sight, why_text = _look(question, answering, stamp.vectors)
    moment = now or datetime.now(UTC)
    spans = _spans(index, question, Allowed(() if wide else here.scopes), moment.date())
    sight = replace(sight, is_patient=not at_once, spans=spans)
    notes += [why_text] if why_text and not text_only else []
    notes += _lacking(stamp) if sight.floor is not None else []
    hits: list[Hit] = []
    if question.says_something and stamp.memories:
        at_least = max(unasked.at_least, weights.nothing_below)
        wanted = Kept(limit, at_least, unasked.skip, unasked.is_told, trust, by_exchange)
        look = partial(_looked, index, store, here=here, wanted=wanted, now=moment, w=weights)
        hits, dropped, sight = look(sight, is_wide=wide)
        if not wide and not at_once and not any(hit.score >= weights.widen_below for hit in hits):
            hits, more, sight = look(sight, is_wide=True)
            dropped = max(dropped, more)
            if any(here.distance(hit.scope, hit.project) == SIBLING for hit in hits):
                notes.append("little was found here, so the other projects were asked too")
        if dropped:
            notes.append(f"{dropped} left out: the file is gone or says something else since it was indexed")
    elif not question.says_something:
        notes.append("the question has no word to look for")
    notes += [index.note] if index.note else []
    status = "found" if hits else "stale" if is_behind else "nothing" if stamp.memories else "empty"
    legs = ("text",) if sight.floor is None else ("text", "vectors")
    return Answer(query, tuple(hits), status, legs, tuple(notes), stamp)


def search(index: Index, sight: Sight, allowed: Allowed, w: Weights = WEIGHTS, at_least: float = 0.0) -> Found:
    """Every passage that either search finds; what is known of it only where its score may reach ``at_least``."""
    said, patient = sight.question.text, sight.is_patient
    text = {m.passage: m.score for m in index.text_search(said, allowed, w.candidates, is_patient=patient)}
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
    coverage = {row.id: sight.question.coverage(stems_of(f"{row.title}\n{row.text}")) for row in passages.values()}
    found = [
        Evidence(id_, "", text.get(id_), cosines.get(id_), coverage.get(id_, 0.0))
        for id_ in sorted(text.keys() | cosines.keys())
    ]
    # what a memory is burdened with only lowers its score, so whatever is too far below need not be looked up
    likely = odds(found, sight.floor, w)
    least = least_odds(at_least) - w.most_bonus
    wanted = sorted((id_ for id_, value in likely.items() if value >= least), key=lambda id_: (-likely[id_], id_))
    passages |= {row.id: row for row in index.passages([id_ for id_ in wanted if id_ not in passages])}
    known = [id_ for id_ in wanted if id_ in passages]
    memories = index.memories(sorted({passages[id_].memory_id for id_ in known}))
    places = {id_: place for place, id_ in enumerate(known) if passages[id_].memory_id in memories}
    evidence = tuple(
        _known(e, passages[e.passage], memories, sight, places[e.passage], w) if e.passage in places else e
        for e in found
    )
    return Found(evidence, passages, memories)


def _known(
    e: Evidence, row: PassageRow, memories: Mapping[str, MemoryRow], sight: Sight, place: int, w: Weights
) -> Evidence:
    """Evidence with what its passage shows; ``place`` is where it stands by the searches alone, 0 the best."""
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
    return replace(known, is_echo=is_echo(row, question), bonus=bonus(row, question, w) + named, close=close)


def sight_of(question: Question, embedder: Embedder) -> Sight:
    """The question with its vector. Raises ModelUnavailable."""
    return Sight(question, embedder.embed([question.text])[0], embedder.floor, embedder.fingerprint)


def _lacking(stamp: Stamp) -> list[str]:
    """What the vectors do not tell yet."""
    missing = stamp.passages - stamp.vectors
    switch = [str(stamp.switch)] if stamp.switch else []
    return [*switch, f"{missing} of {stamp.passages} passages have no vector yet"] if missing > 0 else switch


def _spans(index: Index, question: Question, allowed: Allowed, today: date) -> tuple[Span, ...]:
    """The times that the question names."""
    named = spans_in(question.text, today)
    number = session_in(question.text)
    session = index.session_span(allowed, number) if number else None
    return (*named, Span(*session)) if session else named


def _refresh(index: Index) -> list[str]:
    try:
        index.refresh(wait_s=WRITER_S)
    except (IndexUnavailable, RepositoryError) as e:
        if behind := index.lag():
            return [f"the index is {behind} files behind the text: {e}"]
    return []


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


def _looked(
    index: Index, store: Source, sight: Sight, *, here: Here, wanted: Kept, is_wide: bool, now: datetime, w: Weights
) -> tuple[list[Hit], int, Sight]:
    """What ``_hits`` gives, and the sight that was used: without vectors where the engine that has them is away."""
    try:
        return *_hits(index, store, sight, here, wanted, is_wide=is_wide, now=now, w=w), sight
    except EngineUnavailable:  # asked again, its full text is this machine's
        sight = Sight(sight.question, is_patient=sight.is_patient, spans=sight.spans)
        return *_hits(index, store, sight, here, wanted, is_wide=is_wide, now=now, w=w), sight


def _hits(
    index: Index, store: Source, sight: Sight, here: Here, wanted: Kept, *, is_wide: bool, now: datetime, w: Weights
) -> tuple[list[Hit], int]:
    """Hits that are sure enough and stand in their files, and how many did not stand there."""
    found = search(index, sight, Allowed(() if is_wide else here.scopes), w, wanted.at_least)
    memories = {**found.memories, **_heads(index, found.memories, here, is_wide=is_wide)}
    standings = {row.id: _standing(row, here, now) for row in memories.values()}
    told = {id_ for id_, row in found.passages.items() if wanted.is_told(row.text)}
    evidence = [e for e in found.evidence if e.passage not in told]
    entries = rank(evidence, standings, sight.floor, w, by_turn=wanted.by_exchange)
    ranked = [r for r in entries if r.score >= wanted.at_least]
    words = {r.passage: stems_of(found.passages[r.passage].said) for r in ranked[:LOOKED_AT] if r.passage is not None}
    hits: list[Hit] = []
    said: list[tuple[str, str, frozenset[str]]] = []  # place and words of each hit
    dropped = 0
    for entry in diverse(ranked, words, w):
        if len(hits) == wanted.limit or entry.score < wanted.at_least:
            break
        memory = memories[entry.memory]
        own = (words.get(entry.passage) if entry.passage is not None else None) or stems_of(memory.title)
        if wanted.skip(memory) or any(
            (memory.scope, memory.project) == (scope, project) and shared(own, other) >= w.same_from
            for scope, project, other in said
        ):
            continue
        row = found.passages.get(entry.passage) if entry.passage is not None else None
        hit = _checked(store, memory, row, entry, sight.question, wanted.trust)
        if hit and not wanted.is_told(hit.passage):
            hits.append(hit)
            said.append((memory.scope, memory.project, own))
        dropped += hit is None
    return hits, dropped


def _heads(index: Index, rows: Mapping[str, MemoryRow], here: Here, *, is_wide: bool) -> dict[str, MemoryRow]:
    """The newest versions of memories that were found, as far as they may be shown here."""
    missing = sorted({row.superseded_by for row in rows.values()} - rows.keys() - {""})
    heads = index.memories(missing) if missing else {}
    return {id_: row for id_, row in heads.items() if is_wide or here.distance(row.scope, row.project) != SIBLING}


def _standing(row: MemoryRow, here: Here, now: datetime) -> Standing:
    return Standing(
        here.distance(row.scope, row.project),
        _age_days(row.updated_at or row.created_at, now),
        row.permanent,
        row.is_archived,
        row.superseded_by,
        f"{row.scope}/{row.project}",
    )


def _age_days(at: str, now: datetime) -> float:
    """Days since a moment of a front matter; one that cannot be read counts as ten years ago."""
    try:
        then = datetime.fromisoformat(at)
    except ValueError:
        return 3650.0
    then = then if then.tzinfo else then.replace(tzinfo=UTC)
    return max(0.0, (now - then).total_seconds() / _DAY_S)


def _checked(
    store: Source,
    row: MemoryRow,
    passage: PassageRow | None,
    entry: Ranked,
    question: Question,
    trust: Callable[[Memory], str],
) -> Hit | None:
    """The hit as its file has it now; None where the file is gone, unreadable, or no longer says it."""
    try:
        memory = store.load(row.path)
    except (StoreError, OSError):
        return None
    talk = Conversation.from_markdown(memory.body) if row.kind == "conversation" else None
    if passage is None:
        text, turn = _most_covering([(p.body, p.turn) for p in passages_of(memory)], question)
    elif still_says(memory, talk, passage.turn, passage.text):
        text, turn = passage.text, passage.turn
    else:
        return None
    if row.kind == "note" and len(passages_of(memory)) == 1:  # without the words that it was made from
        text = statement_of(memory)
    decided = talk.decision[0].text if talk and talk.decision else ""
    return Hit(
        row.id,
        row.title,
        (row.updated_at or row.created_at)[:10],
        row.kind,
        row.scope,
        row.project,
        row.category,
        trust(memory),
        round(entry.score, 3),
        excerpt(text, question),
        turn,
        row.path,
        row.changes,
        row.session,
        decided,
    )


def _most_covering(passages: Sequence[tuple[str, str]], question: Question) -> tuple[str, str]:
    """For a memory of which only an older version matched: its own text with the most of the question's words."""
    return max(passages, key=lambda p: question.coverage(stems_of(p[0])), default=("", ""))
