"""The statements of a conversation's file that hold, for whoever answers questions with them."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from keeplore.capture.discourse.conversation_model import ConversationModel
from keeplore.capture.discourse.salience import salience
from keeplore.capture.discourse.statements import Act, Statement
from keeplore.capture.distill.choices import choice_of, last_options
from keeplore.memory import Conversation, Exchange, Quote
from keeplore.recall.request import HeldStatement
from keeplore.text.sentences import ARROW, Sentence, sentences

_UNTOLD = frozenset({Act.HEADING, Act.ANNOUNCEMENT})


# a file is often asked several times, and its reading takes a while
@lru_cache(maxsize=16)
def held_statements(conversation: Conversation) -> tuple[HeldStatement, ...]:
    """The statements that still hold, in the order in which they were made, without headings and
    announcements.
    """
    model = ConversationModel.of(conversation.exchanges)
    decided = {q.text: q for q in (*conversation.decision, *conversation.also_decided)}
    said = _said(model, decided)
    texts = {one.text for one in said}
    unsaid = [q for q in decided.values() if ARROW in q.text and q.text not in texts]
    first = max((one.message for one in said), default=-1) + 1
    lines = _picked_lines(decided.values(), model.exchanges)
    return (
        *(replace(one, text=lines.get(one.text, one.text)) for one in said),
        *_unsaid(model, unsaid, first),
    )


def _said(model: ConversationModel, decided: Container[str]) -> list[HeldStatement]:
    messages: dict[tuple[int, int], int] = {}  # exchange and place in it → number
    held: list[HeldStatement] = []
    for number, statement in enumerate(model.statements):
        message = messages.setdefault(statement.message_place, len(messages))
        is_untold = statement.act in _UNTOLD or statement.leads_in
        if not is_untold and number not in model.ended:
            held.append(_held(statement, message, model, decided))
    return held


def _unsaid(
    model: ConversationModel, picks: Iterable[Quote], first: int
) -> Iterator[HeldStatement]:
    """Decisions that stand in the head with their question, which nobody said in one sentence;
    their messages are numbered from ``first`` on.
    """
    numbers = {exchange.id: n for n, exchange in enumerate(model.exchanges)}
    for message, quote in enumerate(picks, first):
        if quote.turn in numbers:
            statement = _picked_statement(quote, numbers[quote.turn])
            yield _held(statement, message, model, {quote.text})


def _picked_lines(
    decided: Iterable[Quote], exchanges: Sequence[Exchange]
) -> dict[str, str]:
    """Option that was picked out of a list → the option behind the question that it answers."""
    of_turn = {exchange.id: exchange for exchange in exchanges}
    lines: dict[str, str] = {}
    for quote in decided:
        exchange = of_turn.get(quote.turn)
        options = last_options(sentences(exchange.assistant)) if exchange else []
        if exchange and quote.text in (option.text for option in options):
            lines[quote.text] = choice_of(exchange, options).line(quote.text)
    return lines


def _held(
    statement: Statement,
    message: int,
    model: ConversationModel,
    decided: Container[str],
) -> HeldStatement:
    text = statement.quote.text
    return HeldStatement(
        text,
        statement.turn,
        message,
        salience=salience(statement, len(model.exchanges)),
        is_decision=text in decided,
        is_pasted=statement.is_pasted,
    )


def _picked_statement(quote: Quote, exchange: int) -> Statement:
    place = (quote.turn, exchange, 0, 0, 1)
    return Statement(Sentence(quote.text), quote.speaker, *place, is_answer=True)
