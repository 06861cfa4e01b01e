"""The lines that a hit shows of its memory, each with the turn that it is from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from keeplore.index import MemoryRow, PassageRow
from keeplore.memory import Conversation
from keeplore.memory.model import Trust
from keeplore.recall.excerpt import excerpt
from keeplore.recall.prepare import PreparedQuery, RecallContext
from keeplore.recall.repeated_questions import ends_with_question_mark
from keeplore.recall.request import BREAK, Said
from keeplore.recall.statements.head_statements import (
    RankedStatements,
    ranked_statements,
    reply_to,
    told_beside,
)
from keeplore.recall.statements.told_statements import told_statements
from keeplore.recall.weights import EXCERPT_CHARS
from keeplore.text.sentences import unstressed
from keeplore.text.similarity import normalised

READ = 50_000  # characters of a message in which a line is looked for


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


def lines_of_user(
    conversation: Conversation | None, said: Sequence[Said]
) -> tuple[int, ...]:
    """The places of the lines that the person alone said, from 0; a question with its answer is
    theirs where the decision is.
    """
    if conversation is None:
        return ()
    quoted = {quote.text: quote.speaker for quote in conversation.quotes}
    turns = {turn for _, turn in said}
    exchanges = {e.id: e for e in conversation.exchanges if e.id in turns}
    by_user = {turn: _words_of(one.user) for turn, one in exchanges.items()}

    def is_of_user(line: str, turn: str) -> bool:
        words = normalised(line)
        is_said = bool(words) and words in by_user.get(turn, "")
        # a reply can be long, and is seldom asked for
        is_own = is_said and words not in _words_of(exchanges[turn].assistant)
        return is_own or quoted.get(line) == Trust.USER

    lines = chain.from_iterable(
        [(line, turn) for line in text.split(BREAK)] for text, turn in said
    )
    return tuple(place for place, line in enumerate(lines) if is_of_user(*line))


def _words_of(message: str) -> str:
    return normalised(unstressed(message[:READ]))


def held_lines(
    context: RecallContext,
    query: PreparedQuery,
    row: MemoryRow,
    conversation: Conversation,
    room: int = EXCERPT_CHARS,
) -> list[Said]:
    """What of all that was said and holds answers best, within ``room`` characters; nothing where
    that only asks, since a reply of code alone is no statement. It takes up to 100 ms for a long
    conversation.
    """
    deps = context.deps
    statements = deps.held(conversation) if deps.held else ()
    lines = told_statements(deps.index, query, row.id, statements, deps.weights, room)
    is_asking = all(ends_with_question_mark(text) for text, _ in lines)
    return [] if is_asking else lines


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
