"""The statements of a conversation's file that hold, for whoever answers questions with them."""

from __future__ import annotations

from functools import lru_cache

from keeplore.capture.discourse.conversation_model import ConversationModel
from keeplore.capture.discourse.salience import salience
from keeplore.capture.discourse.statements import Act
from keeplore.memory import Conversation
from keeplore.recall.request import HeldStatement

_UNTOLD = frozenset({Act.HEADING, Act.ANNOUNCEMENT})


# a file is often asked several times, and its reading takes a while
@lru_cache(maxsize=16)
def held_statements(conversation: Conversation) -> tuple[HeldStatement, ...]:
    """In the order in which they were made, without headings, announcements and what ended."""
    model = ConversationModel.of(conversation.exchanges)
    decided = {q.text for q in (*conversation.decision, *conversation.also_decided)}
    held: list[HeldStatement] = []
    messages: dict[tuple[int, int], int] = {}
    for number, statement in enumerate(model.statements):
        where = (statement.exchange, statement.message)
        message = messages.setdefault(where, len(messages))
        is_untold = statement.act in _UNTOLD or statement.leads_in
        if is_untold or number in model.ended:
            continue
        quote = statement.quote
        held.append(
            HeldStatement(
                quote.text,
                quote.turn,
                message,
                salience(statement, len(model.exchanges)),
                quote.text in decided,
                statement.is_pasted,
            )
        )
    return tuple(held)
