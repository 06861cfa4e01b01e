"""The statements of a conversation's file that hold, for whoever answers questions with them."""

from __future__ import annotations

from collections.abc import Container
from functools import lru_cache

from keeplore.capture.discourse.conversation_model import ConversationModel
from keeplore.capture.discourse.salience import salience
from keeplore.capture.discourse.statements import ARROW, Act, Statement
from keeplore.memory import Conversation, Quote
from keeplore.recall.request import HeldStatement
from keeplore.text.sentences import Sentence

_UNTOLD = frozenset({Act.HEADING, Act.ANNOUNCEMENT})


# a file is often asked several times, and its reading takes a while
@lru_cache(maxsize=16)
def held_statements(conversation: Conversation) -> tuple[HeldStatement, ...]:
    """The statements that still hold, in the order in which they were made, without headings and
    announcements.
    """
    model = ConversationModel.of(conversation.exchanges)
    quotes = {q.text: q for q in (*conversation.decision, *conversation.also_decided)}
    messages: dict[tuple[int, int], int] = {}  # exchange and place in it → number
    held: list[HeldStatement] = []
    for number, statement in enumerate(model.statements):
        message = messages.setdefault(statement.message_place, len(messages))
        is_untold = statement.act in _UNTOLD or statement.leads_in
        if is_untold or number in model.ended:
            continue
        held.append(_held(statement, message, model, quotes))
    said = {statement.text for statement in held}
    numbers = {exchange.id: n for n, exchange in enumerate(model.exchanges)}
    picks = [q for q in quotes.values() if ARROW in q.text and q.text not in said]
    for message, quote in enumerate(picks, len(messages)):
        if quote.turn in numbers:
            statement = _picked_statement(quote, numbers[quote.turn])
            held.append(_held(statement, message, model, quotes))
    return tuple(held)


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
    """A decision that stands in the head with its question, which nobody said in one sentence."""
    place = (quote.turn, exchange, 0, 0, 1)
    return Statement(Sentence(quote.text), quote.speaker, *place, is_answer=True)
