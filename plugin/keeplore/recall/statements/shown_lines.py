"""The lines that a hit shows of its memory, each with the turn that it is from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from keeplore.index import MemoryRow, PassageRow
from keeplore.memory import Conversation
from keeplore.memory.model import Trust
from keeplore.recall.excerpt import excerpt
from keeplore.recall.prepare import PreparedQuery, RecallContext
from keeplore.recall.repeated_questions import ends_with_question_mark
from keeplore.recall.request import BREAK, HeldStatement, Said
from keeplore.recall.statements.head_statements import (
    ranked_statements,
    reply_to,
    statements_and_exchange,
)
from keeplore.recall.statements.told_statements import told_statements
from keeplore.recall.weights import EXCERPT_CHARS
from keeplore.text.sentences import ARROW, answer_in, plain_words
from keeplore.text.similarity import normalised

READ = 50_000  # characters of a message in which a line is looked for


def shown_lines(
    context: RecallContext,
    query: PreparedQuery,
    row: MemoryRow,
    passage: PassageRow | None,
    conversation: Conversation | None,
    found: Said,
) -> list[Said]:
    """What a hit prints, at least a line; ``found`` are the text and the turn that were found.
    Unasked it is quick: from the head alone.
    """
    text, turn = found
    lines: list[Said] = []
    is_by_statement = query.question.says_something and not context.request.by_exchange
    if conversation and is_by_statement:
        if not context.request.filter.is_unasked:
            lines = held_lines(context, query, row, conversation)
        lines = lines or _head_lines(context, query, row, passage, conversation, found)
    return lines or [(excerpt(text, query.question), turn)]


def line_marks(
    conversation: Conversation | None,
    said: Sequence[Said],
    held: Iterable[HeldStatement] = (),
) -> tuple[str, ...]:
    """Of each line whose words it has, "user" or "pasted" ("" for the agent's), and of a decision
    that holds that it was "decided": "user, decided". None where no line has a mark.

    A question with its answer is the person's where the decision is; ``held`` tells what they
    pasted.
    """
    if conversation is None:
        return ()
    quoted = {quote.text: quote.speaker for quote in conversation.quotes}
    decided = {quote.text for quote in conversation.decided}
    pasted = {
        (text, one.turn)
        for one in held
        if one.is_pasted
        for text in (one.text, one.lead)
    }
    turns = {turn for _, turn in said}
    exchanges = {e.id: e for e in conversation.exchanges if e.id in turns}
    by_user = {turn: _words_of(one.user) for turn, one in exchanges.items()}

    def speaker(line: str, turn: str) -> str:
        words = normalised(answer_in(line))
        is_said = bool(words) and words in by_user.get(turn, "")
        # a reply can be long, and is seldom asked for; it may repeat the answer to a question
        is_own = is_said and (
            ARROW in line or words not in _words_of(exchanges[turn].assistant)
        )
        if not is_own and quoted.get(line) != Trust.USER:
            return ""
        return "pasted" if (line, turn) in pasted else "user"

    marks = tuple(
        ", ".join(filter(None, (speaker(line, turn), "decided" * (line in decided))))
        for line, turn in _lines_in(said)
    )
    return marks if any(marks) else ()


def _lines_in(said: Iterable[Said]) -> Iterator[Said]:
    """Each line by itself with its turn."""
    for words, turn in said:
        yield from ((line, turn) for line in words.split(BREAK))


def _words_of(message: str) -> str:
    return normalised(plain_words(message[:READ]))


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
    deps, held = context.deps, held_in(context, conversation)
    lines = told_statements(deps.index, query, row.id, held, deps.weights, room)
    is_asking = all(ends_with_question_mark(text) for text, _ in lines)
    return [] if is_asking else lines


def held_in(
    context: RecallContext, conversation: Conversation | None
) -> Sequence[HeldStatement]:
    """The statements of a conversation that hold, none of what is no conversation."""
    held = context.deps.held
    return held(conversation) if held and conversation else ()


def _head_lines(
    context: RecallContext,
    query: PreparedQuery,
    row: MemoryRow,
    passage: PassageRow | None,
    conversation: Conversation,
    found: Said,
) -> list[Said]:
    """What the head of the file says now, what answers best first, beside the exchange that was
    found; nothing where the head says nothing.
    """
    index, w = context.deps.index, context.deps.weights
    ranked = ranked_statements(index, query, row.id, passage, w)
    texts = {quote.text for quote in conversation.quotes}
    rows = tuple(r for r in ranked.rows if r.text in texts)
    if not rows:
        return []
    is_exchange = passage is None or passage.kind == "exchange"
    reply = reply_to(rows[0], conversation), rows[0].turn
    beside = found if is_exchange else reply
    return statements_and_exchange(replace(ranked, rows=rows), beside, query, w)
