"""The hits of an answer: what was ranked, as its files have it now, without what says the same
again, and with earlier versions where a question asks for these.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace
from enum import StrEnum
from functools import partial

from keeplore.index import MemoryRow, PassageRow
from keeplore.recall.digest_hits import most_with, stands_in, without_digest_lines
from keeplore.recall.excerpt import sentences_of
from keeplore.recall.prepare import PreparedQuery, RecallContext
from keeplore.recall.question import ParsedQuestion, stems_of
from keeplore.recall.ranking.diversity import LOOKED_AT
from keeplore.recall.ranking.fuse import least_odds
from keeplore.recall.ranking.model import Ranked
from keeplore.recall.request import BREAK, RecallHit
from keeplore.recall.search import SearchResults
from keeplore.recall.since.asked_versions import asked_versions
from keeplore.recall.since.newer_values import (
    ConversationContext,
    as_stated,
    holds_instead,
    newest_first,
)
from keeplore.recall.statements.hit_lengths import likely_hits
from keeplore.recall.statements.memory_hit import held_hit, verified_hit
from keeplore.recall.unasked.prompt_injection import may_be_injected
from keeplore.recall.unasked.unasked_filter import unasked_filter
from keeplore.recall.weights import EXCERPT_CHARS, LONG_EXCERPT_CHARS
from keeplore.text.similarity import jaccard_index, normalised

_SPEAKER = re.compile(r"\s*(?:User|Assistant): ")  # before what each said
# of the best, among which is looked for what holds in the place of what is told
RIVALS = 8


class LeftOut(StrEnum):
    """Why a memory that was found is no hit."""

    SAME = "same"  # it says what a better one says
    CHANGED = "changed"  # its file is gone or says something else by now
    UNSURE = "unsure"  # it may answer, and nothing is sure enough to be shown


Passed = tuple[str, LeftOut]  # a memory, and why it is no hit


def words_of(
    ranked: Sequence[Ranked], passages: Mapping[int, PassageRow]
) -> dict[int, frozenset[str]]:
    """The words of the passages of the best ones, by passage."""
    shown = (r.passage for r in ranked[:LOOKED_AT] if r.passage is not None)
    return {passage: stems_of(passages[passage].said) for passage in shown}


def verify(
    context: RecallContext,
    query: PreparedQuery,
    ranked: Sequence[Ranked],
    results: SearchResults,
    words: Mapping[int, frozenset[str]],
) -> tuple[list[RecallHit], list[Passed]]:
    """The best entries as hits, and those that were passed over, each with the reason.

    A hit stands in its file as it was found, and says something else than a better one. What nobody
    asked for must also be sure, see ``sure_hits``.
    """
    wanted = context.request.filter
    is_skipped = _skipping(context)
    most = RIVALS if wanted.is_unasked else context.request.limit
    hits: list[RecallHit] = []
    sureness: list[float] = []  # log-odds of each hit
    known: set[int] = set()  # places of hits that the request leaves out
    left: list[Passed] = []
    accepted: list[tuple[MemoryRow, frozenset[str]]] = []  # each hit with its words
    for entry in ranked:
        if len(hits) >= min(most, most_with(hits)):
            break
        row = results.memories[entry.memory]
        if is_skipped(row):
            continue
        own = _words_of_entry(entry, row, words)
        is_same = _is_repeated(row, own, accepted, context)
        if is_same or stands_in(context, row, hits):
            left.append((entry.memory, LeftOut.SAME))
            continue
        hit = _addition_to(hits, context, query, entry, results)
        if isinstance(hit, LeftOut):
            left.append((entry.memory, hit))
            continue
        is_known = wanted.skip(row) or wanted.is_shown(hit.passage)
        if wanted.is_unasked or not is_known:
            if is_known:
                known.add(len(hits))
            hits.append(hit)
            sureness.append(entry.odds)
            accepted.append((row, own))
    if wanted.is_unasked:
        return _hits_for_unasked(context, query, hits, sureness, known, results), left
    return _hits_for_asked(context, query, hits, results), left


def _hits_for_unasked(
    context: RecallContext,
    query: PreparedQuery,
    hits: Sequence[RecallHit],
    sureness: Sequence[float],
    known: Set[int],
    results: SearchResults,
) -> list[RecallHit]:
    """The hits that are sure enough for what nobody asked for, as excerpts: one alone is longer."""
    told = sure_hits(context, query.question, hits, sureness, known)
    room = LONG_EXCERPT_CHARS if len(told) == 1 else EXCERPT_CHARS
    rows = (results.memories[hit.memory_id] for hit in told)
    return [
        _as_held(context, query, hit, row, room)
        for hit, row in zip(told, rows, strict=True)
    ]


def _hits_for_asked(
    context: RecallContext,
    query: PreparedQuery,
    hits: Sequence[RecallHit],
    results: SearchResults,
) -> list[RecallHit]:
    """The hits for a question: of what contradicts, the newest first; the likeliest at length."""
    ordered = newest_first(
        hits, query.question, partial(_conversation_context, context)
    )

    def at_length(hit: RecallHit) -> RecallHit:
        row = results.memories[hit.memory_id]
        return held_hit(context, query, hit, row, LONG_EXCERPT_CHARS) or hit

    told = likely_hits(context, query.question, ordered, at_length)
    return told if context.request.by_exchange else _told_once(told)


def _told_once(hits: Sequence[RecallHit]) -> list[RecallHit]:
    """The hits without those of which another hit of their memory showed every sentence."""
    shown: dict[str, set[str]] = {}
    kept = []
    for hit in hits:
        sentences, before = _sentences(hit), shown.setdefault(hit.memory_id, set())
        if not (before and before.issuperset(sentences)):
            kept.append(hit)
        before.update(sentences)
    return kept


def _sentences(hit: RecallHit) -> set[str]:
    """The sentences that a hit shows, without who said them."""
    found = sentences_of(hit.passage)
    return {normalised(_SPEAKER.sub("", sentence)) for sentence in found} - {""}


def _conversation_context(
    context: RecallContext, hit: RecallHit
) -> ConversationContext:
    opened = context.opened(hit.path) if hit.turn else None
    if opened is None or opened.conversation is None:
        return ConversationContext()
    talk, lines = opened.conversation, hit.passage.split(BREAK)
    exchange = opened.exchange(hit.turn)
    message = exchange.user if exchange else ""
    return ConversationContext(
        message, any(quote.text in lines for quote in talk.decided)
    )


def _addition_to(
    hits: Sequence[RecallHit],
    context: RecallContext,
    query: PreparedQuery,
    entry: Ranked,
    results: SearchResults,
) -> RecallHit | LeftOut:
    """What an entry adds to these hits; of a memory that is among them another exchange alone."""
    row, passage = results.memories[entry.memory], _passage_of(entry, results)
    turns = [hit.turn for hit in hits if hit.memory_id == row.id]
    hit = verified_hit(
        context, row, passage, entry.score, query, is_exchange=bool(turns)
    )
    if hit is None:
        return LeftOut.CHANGED
    hit = without_digest_lines(hit, hits)
    is_told = not context.request.filter.is_unasked and _is_noted(hit, hits)
    return LeftOut.SAME if not hit.passage or hit.turn in turns or is_told else hit


def _is_noted(hit: RecallHit, hits: Sequence[RecallHit]) -> bool:
    """Does a note state what a conversation of its place shows already?"""
    talks = [other for other in hits if other.kind == "conversation"]
    place = hit.scope, hit.project
    shown = [talk.passage for talk in talks if (talk.scope, talk.project) == place]
    return hit.kind == "note" and any(hit.passage in passage for passage in shown)


def sure_hits(
    context: RecallContext,
    question: ParsedQuestion,
    hits: Sequence[RecallHit],
    sureness: Sequence[float],
    known: Set[int],
) -> list[RecallHit]:
    """The hits that are sure enough, and nearly as sure as the best one; best first.

    Left out are hits about another thing of the same kind, those that the agent has before it, and
    those that another one replaces, which then counts as equally sure.

    ``sureness`` has the log-odds of each hit; ``known`` are places in ``hits``, of those that the
    agent has.
    """
    stated = [as_stated(hit, question) for hit in hits]
    odds = [*sureness]
    dropped = {place for place, one in enumerate(stated) if one.is_of_other} | known
    for place, old in enumerate(stated):
        for other, new in enumerate(stated):
            if other != place and holds_instead(new, old, question):
                dropped.add(place)
                odds[other] = max(odds[other], odds[place])
    kept = sorted({*range(len(hits))} - dropped, key=lambda place: -odds[place])
    best = odds[kept[0]] if kept else 0.0
    least = max(least_odds(context.threshold), best - context.deps.weights.beside_told)
    sure = [hits[place] for place in kept if odds[place] >= least]
    return sure[: context.request.limit]


def _skipping(context: RecallContext) -> Callable[[MemoryRow], bool]:
    """Tells which memories are passed over: those that the request leaves out, and for an unasked
    answer documents and what may not be told unasked.
    """
    chosen = context.request.filter
    if not chosen.is_unasked:
        return chosen.skip
    is_told = unasked_filter(context.deps.index, context.deps.sources())
    return lambda row: row.kind == "document" or not is_told(row)


def changed_file_notes(left: Sequence[Passed]) -> list[str]:
    """The note on hits that no longer stand in their files."""
    count = sum(reason is LeftOut.CHANGED for _, reason in left)
    if not count:
        return []
    return [
        f"{count} left out: the file is gone or says something else since it was indexed"
    ]


def with_superseded(
    context: RecallContext, hits: Sequence[RecallHit], query: PreparedQuery
) -> list[RecallHit]:
    """The hits, each followed by those that it replaced and the question asks for.

    These are the one before, for "originally" the first one, and whatever is from a time that the
    question names.
    """
    request = context.request
    shown: list[RecallHit] = []
    for hit in hits:
        shown.append(hit)
        for row in _earlier_versions(context, hit, query) if hit.changes else ():
            earlier = verified_hit(context, row, None, 0.0, query)
            if earlier:
                shown.append(replace(earlier, score=hit.score))
    known: dict[tuple[str, str], RecallHit] = {}
    is_by_turn = request.by_exchange or query.question.is_of_several
    for hit in shown:
        known.setdefault((hit.memory_id, hit.turn if is_by_turn else ""), hit)
    return list(known.values())[: request.limit]


def _earlier_versions(
    context: RecallContext, hit: RecallHit, query: PreparedQuery
) -> list[MemoryRow]:
    index, text = context.deps.index, query.question.text
    asked = asked_versions(index, hit.memory_id, text, query.spans)
    return [row for row in asked if not context.request.filter.skip(row)]


def _passage_of(entry: Ranked, results: SearchResults) -> PassageRow | None:
    return None if entry.passage is None else results.passages.get(entry.passage)


def _words_of_entry(
    entry: Ranked, row: MemoryRow, words: Mapping[int, frozenset[str]]
) -> frozenset[str]:
    own = words.get(entry.passage) if entry.passage is not None else None
    return own or stems_of(row.title)


def _is_repeated(
    row: MemoryRow,
    own: frozenset[str],
    accepted: Sequence[tuple[MemoryRow, frozenset[str]]],
    context: RecallContext,
) -> bool:
    """Does one of its place say nearly the same words, and the same figures?"""
    same_from = context.deps.weights.same_from
    return any(
        ((row.scope, row.project) == (other.scope, other.project))
        and jaccard_index(own, theirs) >= same_from
        and not any(stem.isdigit() for stem in own ^ theirs)
        for other, theirs in accepted
    )


def _as_held(
    context: RecallContext,
    query: PreparedQuery,
    hit: RecallHit,
    row: MemoryRow,
    room: int,
) -> RecallHit:
    """A hit that is told unasked, with what of all that was said and holds answers best: where that
    may be told, and the agent has not seen it.
    """
    held = held_hit(context, query, hit, row, room)
    if held is None or context.request.filter.is_shown(held.passage):
        return hit
    return held if may_be_injected(held.trust, held.title, held.passage) else hit
