"""The lines that a hit shows of its memory, each with the turn that it is from."""

from __future__ import annotations

from dataclasses import replace

from keeplore.index import MemoryRow, PassageRow
from keeplore.memory import Conversation
from keeplore.recall.excerpt import excerpt
from keeplore.recall.prepare import PreparedQuery, RecallContext
from keeplore.recall.request import Said
from keeplore.recall.statements.head_statements import (
    RankedStatements,
    ranked_statements,
    reply_to,
    told_beside,
)
from keeplore.recall.statements.told_statements import told_statements


def shown_lines(
    context: RecallContext,
    query: PreparedQuery,
    row: MemoryRow,
    passage: PassageRow | None,
    conversation: Conversation | None,
    found: tuple[str, str],
) -> tuple[list[Said], str]:
    """What a hit prints, and the turn of what comes first; ``found`` are the text and the turn that
    were found. Unasked it is quick: from the head alone.
    """
    text, turn = found
    is_by_statement = query.question.says_something and not context.request.by_exchange
    if conversation and is_by_statement:
        is_asked = not context.request.filter.is_unasked
        lines = held_lines(context, query, row, conversation) if is_asked else []
        if lines:
            return lines, lines[0][1]
        statements = _head_lines(context, query, row, passage, conversation)
        if statements.rows:
            first = statements.rows[0]
            is_exchange = passage is None or passage.kind == "exchange"
            reply = reply_to(first, conversation), first.turn
            beside = found if is_exchange else reply
            return told_beside(statements, beside, query, context.deps.weights)
    return [(excerpt(text, query.question), turn)], turn


def held_lines(
    context: RecallContext,
    query: PreparedQuery,
    row: MemoryRow,
    conversation: Conversation,
) -> list[Said]:
    """What of all that was said and holds answers best. It takes up to 100 ms for a long
    conversation.
    """
    deps = context.deps
    statements = deps.held(conversation) if deps.held else ()
    return told_statements(deps.index, query, row.id, statements, deps.weights)


def _head_lines(
    context: RecallContext,
    query: PreparedQuery,
    row: MemoryRow,
    passage: PassageRow | None,
    conversation: Conversation,
) -> RankedStatements:
    """What the head of the file says now, what answers best first."""
    index, w = context.deps.index, context.deps.weights
    ranked = ranked_statements(index, query, row.id, passage, w)
    texts = {quote.text for quote in conversation.quotes}
    return replace(ranked, rows=tuple(r for r in ranked.rows if r.text in texts))
