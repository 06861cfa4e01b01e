"""One question from beginning to end: refresh, prepare, search, rank, check against the files."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import NamedTuple

from keeplore.errors import EngineUnavailable
from keeplore.index import IndexState, MemoryRow, ScopeFilter
from keeplore.index.graph.boost import Boost, BoostReason
from keeplore.memory.names import short_id
from keeplore.recall.digest_hits import with_digests, without_digests
from keeplore.recall.latest import OF_NOTES, asked_of_latest, latest_hits
from keeplore.recall.prepare import (
    PreparedQuery,
    RecallContext,
    RecallDeps,
    named_span,
    prepare,
    refresh,
    unreadable_files,
)
from keeplore.recall.question import (
    STOP_STEMS,
    ParsedQuestion,
    parse_question,
    stems_of,
)
from keeplore.recall.ranking.diversity import complementary, diverse
from keeplore.recall.ranking.fuse import agreeing_passages
from keeplore.recall.ranking.model import Evidence, Ranked, Standing, in_order
from keeplore.recall.ranking.rank import rank
from keeplore.recall.request import (
    SIBLING,
    Answer,
    AnswerStatus,
    RecallHit,
    RecallRequest,
    SearchScope,
)
from keeplore.recall.search import SearchResults, search
from keeplore.recall.statements.memory_hit import hit_within
from keeplore.recall.statements.shown_lines import held_lines
from keeplore.recall.time_questions import period_hits, period_of
from keeplore.recall.unasked.prompt_injection import may_be_injected
from keeplore.recall.unasked.unasked_filter import unasked_filter
from keeplore.recall.verify import (
    LeftOut,
    Passed,
    changed_file_notes,
    verify,
    with_superseded,
    words_of,
)
from keeplore.recall.weights import Weights
from keeplore.text.sentences import clip
from keeplore.text.times.time_expressions import Span, spans_in

GRAPH_S = 0.02  # for a look at the graph; what it found until then counts
NEAREST = 2  # memories that are named where none is sure enough
NEAREST_CHARS = 200  # of the line that is told of each
NO_WORD = (
    "the question has no word to look for: name a thing, a person, a file or a time"
)


@dataclass(frozen=True, slots=True)
class SearchTrace:
    """A search of the index, and the order into which it brought the memories."""

    query: PreparedQuery
    results: (
        SearchResults  # with the rows of newest versions that were not found themselves
    )
    standings: Mapping[str, Standing]
    boost: Boost
    ranked: tuple[Ranked, ...]  # all of them
    # those that are sure enough, with what says the same again further down
    ordered: tuple[Ranked, ...]
    left: tuple[Passed, ...]  # those of them that were passed over


Watch = Callable[[SearchTrace], None]


def recall(
    deps: RecallDeps,
    request: RecallRequest,
    scope: SearchScope,
    *,
    now: datetime | None = None,
    watch: Watch | None = None,
) -> Answer:
    """The memories that answer a question, as seen from ``scope``, best first.

    The index is brought up to date first, unless a person waits. ``watch`` is given each search of
    the index with the parts of its scores, the one that counts last. Raises IndexUnavailable where
    the index can neither be read nor made.
    """
    behind = [] if request.at_once else refresh(deps.index)
    stamp = deps.index.state(of_text=request.text_only)
    question = parse_question(request.query)
    context = RecallContext(deps, request, scope, now or datetime.now(UTC))
    found = _found(context, question, stamp, watch)
    hits = found.hits
    unreadable = [] if hits or request.at_once else unreadable_files(deps.index)
    is_empty = not (stamp.memories or unreadable)
    status = AnswerStatus.EMPTY if is_empty else AnswerStatus.NOTHING
    if hits or behind:
        status = AnswerStatus.FOUND if hits else AnswerStatus.STALE
    is_of_several = question.is_of_several and found.is_by_words
    notes = (*behind, *found.notes, *unreadable)
    return Answer(
        request.query, tuple(hits), status, found.legs, notes, stamp, is_of_several
    )


class _Found(NamedTuple):
    hits: Sequence[RecallHit]
    notes: Sequence[str]
    legs: tuple[str, ...] = ("text",)
    is_by_words: bool = False


def _found(
    context: RecallContext,
    question: ParsedQuestion,
    stamp: IndexState,
    watch: Watch | None,
) -> _Found:
    """What answers a question: the newest where it names nothing, all of a time where it names that
    alone, else what its words and its meaning find.
    """
    session, rest = named_span(context, question)
    # what names nothing is no reason to tell anything that nobody asked for
    if not (context.request.filter.is_unasked or context.request.within):
        if not session and (aspect := asked_of_latest(question)):
            hits_of = partial(latest_hits, context, aspect)
            newest = _Found(*_search_newest(context, hits_of))
            if newest.hits or aspect not in OF_NOTES:
                return newest
        if period := period_of(rest, session, context.today):
            hits_of = partial(period_hits, context, period)
            return _Found(*_search_newest(context, hits_of))
    query, notes = _prepared(context, question, session, stamp)
    hits, words_notes, legs = _search_words(context, query, stamp, watch)
    return _Found(hits, [*notes, *words_notes], legs, is_by_words=True)


def _prepared(
    context: RecallContext,
    question: ParsedQuestion,
    session: Span | None,
    stamp: IndexState,
) -> tuple[PreparedQuery, list[str]]:
    """The question as it is searched for, and what has to be told of that."""
    query = PreparedQuery(question)
    notes: list[str] = []
    if not context.request.text_only:
        query, notes = prepare(context.deps, question, stamp)
    spans = tuple(one.in_utc() for one in spans_in(question.text, context.today))
    spans = (*spans, session) if session else spans
    query = replace(query, is_patient=not context.request.at_once, spans=spans)
    return replace(query, passages=stamp.passages), notes


def _search_words(
    context: RecallContext, query: PreparedQuery, stamp: IndexState, watch: Watch | None
) -> tuple[list[RecallHit], list[str], tuple[str, ...]]:
    """The hits, notes on the search for the person, and the searches that were made."""
    hits: list[RecallHit] = []
    notes: list[str] = []
    if not query.question.says_something:
        notes.append(NO_WORD)
    elif context.request.within:
        hits = _hits_within(context, query)
    elif stamp.memories:
        hits, notes, query = _search_widening(context, query, watch)
        if not context.request.filter.is_unasked:
            hits = with_superseded(context, hits, query)
    if context.deps.index.note:
        notes.append(context.deps.index.note)
    return hits, notes, ("text",) if query.floor is None else ("text", "vectors")


def _hits_within(context: RecallContext, query: PreparedQuery) -> list[RecallHit]:
    """What the one memory says that alone was asked."""
    rows = context.deps.index.memories([context.request.within])
    hits = [hit_within(context, query, row) for row in rows.values()]
    return [hit for hit in hits if hit is not None]


def _search_newest(
    context: RecallContext, hits_of: Callable[..., tuple[list[RecallHit], list[str]]]
) -> tuple[list[RecallHit], list[str]]:
    """The hits and notes that ``hits_of`` gives for ``is_wide``; from all projects where this one
    has none.
    """
    request = context.request
    hits, notes = hits_of(is_wide=request.wide)
    if not hits and request.may_widen:
        hits, notes = hits_of(is_wide=True)
    return hits, [*notes, *_widened(context, hits)]


def _search_widening(
    context: RecallContext, query: PreparedQuery, watch: Watch | None
) -> tuple[list[RecallHit], list[str], PreparedQuery]:
    """The hits, from all projects where little is found here; notes on them; and the query that was
    used.
    """
    request, least = context.request, context.deps.weights.widen_below
    hits, left, query = _search_with_fallback(
        context, query, watch, is_wide=request.wide
    )
    if not request.may_widen or any(hit.score >= least for hit in hits):
        return hits, _notes_on(context, query, left), query
    hits, more, query = _search_with_fallback(context, query, watch, is_wide=True)
    notes = _notes_on(context, query, more or left)
    return hits, [*_widened(context, hits), *notes], query


def _notes_on(
    context: RecallContext, query: PreparedQuery, left: Sequence[Passed]
) -> list[str]:
    """What is told of memories that were passed over; of those that may answer title and best
    line.
    """
    unsure = [id_ for id_, reason in left if reason is LeftOut.UNSURE]
    rows = context.deps.index.memories(unsure) if unsure else {}
    known = [rows[id_] for id_ in unsure if id_ in rows]
    near = [_nearest_line(context, query, row) for row in known]
    return [
        *changed_file_notes(left),
        *(f"closest, maybe of something else: {n}" for n in near),
    ]


def _nearest_line(context: RecallContext, query: PreparedQuery, row: MemoryRow) -> str:
    """A memory's title and id and, of a conversation, its line that answers best."""
    named = f"“{clip(row.title)}” ({short_id(row.id)})"
    opened = context.opened(row.path)
    if opened is None or opened.conversation is None:
        return named
    lines = held_lines(context, query, row, opened.conversation)
    best = clip(lines[0][0], NEAREST_CHARS) if lines else ""
    is_harmless = may_be_injected(context.deps.trust(opened.memory), row.title, best)
    is_new = not stems_of(best) - STOP_STEMS <= stems_of(row.title)
    return f"{named}: “{best}”" if is_new and is_harmless else named


def _widened(context: RecallContext, hits: Sequence[RecallHit]) -> list[str]:
    scope = context.scope
    distances = {scope.distance(hit.scope, hit.project) for hit in hits}
    if context.request.wide or SIBLING not in distances:
        return []
    return ["little was found here, so the other projects were asked too"]


def _search_with_fallback(
    context: RecallContext, query: PreparedQuery, watch: Watch | None, *, is_wide: bool
) -> tuple[list[RecallHit], list[Passed], PreparedQuery]:
    """Hits, what was passed over, and the query that was used: without its vector where the engine
    that has the vectors is away.
    """
    try:
        return *_collect(context, query, watch, is_wide=is_wide), query
    except EngineUnavailable:  # asked again, its full text is this machine's
        query = query.without_vector()
        return *_collect(context, query, watch, is_wide=is_wide), query


def _collect(
    context: RecallContext, query: PreparedQuery, watch: Watch | None, *, is_wide: bool
) -> tuple[list[RecallHit], list[Passed]]:
    """Hits that are sure enough and stand in their files, and those that were passed over."""
    deps, request, w = context.deps, context.request, context.deps.weights
    allowed = context.allowed(is_wide=is_wide)
    results = search(deps.index, query, allowed, w, context.threshold)
    results = replace(
        results, memories=_with_heads(context, results.memories, is_wide=is_wide)
    )
    boost = _boost(deps, query, allowed)
    standings = _standings(context, results, boost)
    is_of_several = query.question.is_of_several and not request.filter.is_unasked
    ranks = partial(
        rank,
        _not_shown(request, results),
        standings,
        query.floor,
        context.ranking,
        explain=watch is not None,
    )
    ranked = _ranked(ranks, request, results, is_of_several=is_of_several)
    sure = _sure(context, query, without_digests(ranked, results.memories), results)
    words = words_of(sure, results.passages)
    ordered = diverse(sure, words, w)
    if is_of_several:
        ordered = complementary(ordered, w)
    ordered, results = with_digests(context, query, ordered, results, is_wide=is_wide)
    hits, left = verify(context, query, ordered, results, words)
    unsure = [] if sure else _unsure(context, ranked, results)
    if watch:
        watch(
            SearchTrace(
                query,
                results,
                standings,
                boost,
                tuple(ranked),
                tuple(ordered),
                tuple(left),
            )
        )
    return hits, [*left, *unsure]


def _ranked(
    ranks: Callable[..., list[Ranked]],
    request: RecallRequest,
    results: SearchResults,
    *,
    is_of_several: bool,
) -> list[Ranked]:
    """What was found by its score; where several answer together, exchanges beside memories."""
    ranked = ranks(by_turn=request.by_exchange)
    if is_of_several and not request.by_exchange:
        return _with_exchanges(ranked, ranks(by_turn=True), results)
    return ranked


def _unsure(
    context: RecallContext, ranked: Sequence[Ranked], results: SearchResults
) -> list[Passed]:
    """The likeliest memories, where somebody asked and none is sure enough to be shown."""
    wanted, deps = context.request.filter, context.deps
    if wanted.is_unasked:
        return []
    is_told = unasked_filter(deps.index, deps.sources())
    likely = (one for one in ranked if one.score >= deps.weights.near_from)
    rows = (results.memories[one.memory] for one in likely)
    named = [row for row in rows if is_told(row) and not wanted.skip(row)]
    return [(row.id, LeftOut.UNSURE) for row in named[:NEAREST]]


def _not_shown(request: RecallRequest, results: SearchResults) -> list[Evidence]:
    """What was found and not told before."""
    is_shown = request.filter.is_shown
    shown = {id_ for id_, row in results.passages.items() if is_shown(row.text)}
    return [e for e in results.evidence if e.passage not in shown]


def _with_exchanges(
    ranked: Sequence[Ranked], exchanges: Sequence[Ranked], results: SearchResults
) -> list[Ranked]:
    """The memories, and beside them the exchanges that are not the best passage of one.

    A passage outside of all exchanges stands for its memory.
    """

    def exchange_of(entry: Ranked) -> tuple[str, str]:
        """Memory and turn."""
        row = results.passages.get(entry.passage) if entry.passage is not None else None
        return entry.memory, row.turn if row else ""

    shown = {exchange_of(entry) for entry in ranked}
    shown |= {(entry.memory, "") for entry in ranked}
    others = [entry for entry in exchanges if exchange_of(entry) not in shown]
    return in_order([*ranked, *others])


def _sure(
    context: RecallContext,
    query: PreparedQuery,
    ranked: Sequence[Ranked],
    results: SearchResults,
) -> list[Ranked]:
    """The hits that may be shown, for an unasked answer with what may hold in their place; none
    where the best one is not sure enough.
    """
    wanted, w = context.request.filter, context.deps.weights
    if wanted.is_unasked:
        by = agreeing_passages(results.evidence, query.passages, query.floor, w)
        ranked = [r for r in ranked if r.score < wanted.at_least or r.by in by]
    if not ranked or ranked[0].score < max(wanted.at_least, query.silence(w)):
        return []
    least = context.threshold
    if wanted.is_unasked:
        least = min(least, w.in_place_from)
    return [entry for entry in ranked if entry.score >= least]


def _boost(deps: RecallDeps, query: PreparedQuery, allowed: ScopeFilter) -> Boost:
    """What the graph knows of memories about what the question names."""
    if not deps.graph:
        return {}
    until = time.monotonic() + GRAPH_S
    return deps.index.graph.boosted(query.question.text, allowed, until)


def _standings(
    context: RecallContext, results: SearchResults, boost: Boost
) -> dict[str, Standing]:
    """What is known of each memory beside its text: place, age, graph, use."""
    deps, memories = context.deps, results.memories
    least = min(results.whole.values(), default=0.0)
    used: Mapping[str, float] = {}
    if deps.feedback:
        used = deps.index.graph.feedback(list(memories), context.now, deps.weights.use)
    return {
        id_: replace(
            context.standing_of(row),
            graph=_graph_share(boost.get(id_), deps.weights),
            feedback=used.get(id_, 1.0),
            whole=results.whole.get(id_, least),
        )
        for id_, row in memories.items()
    }


def _graph_share(about: BoostReason | None, w: Weights) -> float:
    """The share, 0..1, of what the question names that a memory is about."""
    if about is None:
        return 0.0
    return 1.0 if about.named else w.graph_related


def _with_heads(
    context: RecallContext, rows: Mapping[str, MemoryRow], *, is_wide: bool
) -> dict[str, MemoryRow]:
    """Memories that were found and the newest versions of them, as far as these may be shown
    here.
    """
    missing = sorted({row.superseded_by for row in rows.values()} - rows.keys() - {""})
    heads = context.deps.index.memories(missing) if missing else {}
    seen = {
        id_: row for id_, row in heads.items() if context.may_show(row, is_wide=is_wide)
    }
    return {**rows, **seen}
