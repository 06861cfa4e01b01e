"""The hits of an answer: what was ranked, as its files have it now, without what says the same
again, and with earlier versions where a question asks for these.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import StrEnum

from keeplore.errors import StoreError
from keeplore.index import MemoryRow, PassageRow
from keeplore.index.passages import passages_of, still_says
from keeplore.memory import Conversation, Memory
from keeplore.memory.note import statement_of
from keeplore.recall.excerpt import excerpt
from keeplore.recall.fuse import LOOKED_AT, Ranked, shared
from keeplore.recall.prepare import PreparedQuery, RecallContext, RecallDeps
from keeplore.recall.question import ParsedQuestion, stems_of
from keeplore.recall.request import RecallHit
from keeplore.recall.search import SearchResults
from keeplore.recall.time_expressions import Span
from keeplore.recall.weights import EXCERPT_CHARS

LEAST_EXCERPT = 120  # characters of an exchange that are worth showing
_BREAK = "\n"
EARLIER = 2  # earlier versions of one memory, at most
_BEFORE = re.compile(
    r"\b(?:before|used to|previous\w*|earlier|former\w*|old|older|replaced?|back then|until "
    r"recently)\b",
    re.IGNORECASE,
)
_FIRST = re.compile(
    r"\b(?:original\w*|initial\w*|at first|first|begin with|in the beginning)\b",
    re.IGNORECASE,
)
_HISTORY = re.compile(
    r"\b(?:history|evolved?|over time|changed?|changes)\b", re.IGNORECASE
)


class LeftOut(StrEnum):
    """Why a memory that was found is no hit."""

    SAME = "same"  # it says what a better one says
    CHANGED = "changed"  # its file is gone or says something else by now


Passed = tuple[str, LeftOut]  # a memory, and why it is no hit


def words_of(
    ranked: Sequence[Ranked], passages: Mapping[int, PassageRow]
) -> dict[int, frozenset[str]]:
    """The words of the passages of the best ones, by passage."""
    shown = (r.passage for r in ranked[:LOOKED_AT] if r.passage is not None)
    return {passage: stems_of(passages[passage].said) for passage in shown}


def verify(
    context: RecallContext,
    question: ParsedQuestion,
    ranked: Sequence[Ranked],
    results: SearchResults,
    words: Mapping[int, frozenset[str]],
) -> tuple[list[RecallHit], list[Passed]]:
    """The best ones that stand in their files and say something else than a better one; and those
    passed over.
    """
    request, same_from = context.request, context.deps.weights.same_from
    hits: list[RecallHit] = []
    left: list[Passed] = []
    told: list[tuple[MemoryRow, frozenset[str]]] = []  # each hit with its words
    for entry in ranked:
        if len(hits) == request.limit or entry.score < context.threshold:
            break
        row = results.memories[entry.memory]
        if request.filter.skip(row):
            continue
        own = _words_of_entry(entry, row, words)
        if any(
            _is_beside(row, other) and shared(own, theirs) >= same_from
            for other, theirs in told
        ):
            left.append((entry.memory, LeftOut.SAME))
            continue
        passage = (
            results.passages.get(entry.passage) if entry.passage is not None else None
        )
        statements = [results.passages[id_] for id_ in entry.statements]
        hit = _verified(context.deps, row, passage, entry.score, question, statements)
        if hit is None:
            left.append((entry.memory, LeftOut.CHANGED))
        elif not request.filter.is_shown(hit.passage):
            hits.append(hit)
            told.append((row, own))
    return hits, left


def left_out(left: Sequence[Passed]) -> list[str]:
    """What is told of hits that did not stand in their files."""
    count = sum(reason is LeftOut.CHANGED for _, reason in left)
    if not count:
        return []
    return [
        f"{count} left out: the file is gone or says something else since it was indexed"
    ]


def with_superseded(
    context: RecallContext,
    hits: Sequence[RecallHit],
    query: PreparedQuery,
) -> list[RecallHit]:
    """Behind each hit that replaced others those of them that are asked for; never before it.

    These are the one before, for "originally" the first one, and whatever is from a time that the
    question names.
    """
    request = context.request
    shown: list[RecallHit] = []
    for hit in hits:
        shown.append(hit)
        for row in _asked_versions(context, hit, query) if hit.changes else ():
            earlier = _verified(context.deps, row, None, 0.0, query.question)
            if earlier:
                shown.append(replace(earlier, score=hit.score))
    known: dict[tuple[str, str], RecallHit] = {}
    for hit in shown:
        known.setdefault((hit.memory_id, hit.turn if request.by_exchange else ""), hit)
    return list(known.values())[: request.limit]


def _words_of_entry(
    entry: Ranked, row: MemoryRow, words: Mapping[int, frozenset[str]]
) -> frozenset[str]:
    own = words.get(entry.passage) if entry.passage is not None else None
    return own or stems_of(row.title)


def _is_beside(one: MemoryRow, other: MemoryRow) -> bool:
    return (one.scope, one.project) == (other.scope, other.project)


def _verified(
    deps: RecallDeps,
    row: MemoryRow,
    passage: PassageRow | None,
    score: float,
    question: ParsedQuestion,
    statements: Sequence[PassageRow] = (),
) -> RecallHit | None:
    """The hit as its file has it now; None where the file is gone, unreadable, or no longer says
    it.

    Without a passage, what of the memory says most to the question is shown.
    """
    try:
        memory = deps.store.load(row.path)
    except (StoreError, OSError):
        return None
    conversation = (
        Conversation.from_markdown(memory.body) if row.kind != "document" else None
    )
    if passage is None:
        text, turn = _most_covering(memory, question)
    elif still_says(memory, conversation, passage.turn, passage.text):
        text, turn = passage.text, passage.turn
    else:
        return None
    # a note without the words that it was made from
    if row.kind == "note" and len(passages_of(memory)) == 1:
        text = statement_of(memory)
    shown = excerpt(text, question)
    at = ""
    if conversation:
        is_said = passage is None or passage.kind == "exchange"
        if holding := _holding(conversation, statements):
            shown = _stated(holding, text if is_said else "", question)
            turn = turn if is_said else holding[0].turn
        at = next((e.at for e in conversation.exchanges if e.id == turn), "")
    return RecallHit(
        row.id,
        row.title,
        (row.updated_at or row.created_at)[:10],
        row.kind,
        row.scope,
        row.project,
        row.category,
        deps.trust(memory),
        round(score, 3),
        shown,
        turn,
        row.path,
        row.changes,
        row.session,
        row.superseded_by,
        at,
    )


def _holding(
    conversation: Conversation, statements: Sequence[PassageRow]
) -> list[PassageRow]:
    """Those of the statements that the head of the file has now."""
    held = {quote.text for quote in conversation.quotes}
    return [statement for statement in statements if statement.text in held]


def _stated(
    statements: Sequence[PassageRow], text: str, question: ParsedQuestion
) -> str:
    """As many statements as fit, the best first, and what is left of the room from the exchange."""
    room = EXCERPT_CHARS
    lines: list[str] = []
    for statement in statements:
        length = len(statement.text) + len(_BREAK)
        if length <= room:
            lines.append(statement.text)
            room -= length
    if text and room >= LEAST_EXCERPT:
        lines.append(excerpt(text, question, room))
    return _BREAK.join(lines)


def _most_covering(memory: Memory, question: ParsedQuestion) -> tuple[str, str]:
    """The text with the most of the question's words, and its turn."""
    passages = [(passage.body, passage.turn) for passage in passages_of(memory)]
    return max(
        passages, key=lambda p: question.coverage(stems_of(p[0])), default=("", "")
    )


def _asked_versions(
    context: RecallContext, hit: RecallHit, query: PreparedQuery
) -> list[MemoryRow]:
    """The earlier versions of a hit that a question asks for, the latest first."""
    index = context.deps.index
    versions = index.versions(hit.memory_id)
    known = index.memories(versions)
    rows = [
        known[id_]
        for id_ in reversed(versions)
        if id_ in known and known[id_].superseded_by
    ]
    asked = _asked_for(rows, query.question.text, query.spans)
    return [row for row in asked if not context.request.filter.skip(row)]


def _asked_for(
    rows: Sequence[MemoryRow], text: str, spans: Sequence[Span]
) -> Sequence[MemoryRow]:
    def is_of_time(row: MemoryRow) -> bool:
        return any(span.holds(row.created_at) for span in spans)

    if of_time := list(filter(is_of_time, rows)):
        return of_time[:EARLIER]
    if _HISTORY.search(text):
        return rows[:EARLIER]
    if _FIRST.search(text):
        return rows[-1:]
    return rows[:1] if _BEFORE.search(text) else ()
