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
    messages: dict[tuple[int, int], int] = {}  # exchange and place in it → number
    held: list[HeldStatement] = []
    for number, statement in enumerate(model.statements):
        message = messages.setdefault(statement.message_place, len(messages))
        is_untold = statement.act in _UNTOLD or statement.leads_in
        if is_untold or number in model.ended:
            continue
        text = statement.quote.text
        held.append(
            HeldStatement(
                text,
                statement.turn,
                message,
                salience=salience(statement, len(model.exchanges)),
                is_decision=text in decided,
                is_pasted=statement.is_pasted,
            )
        )
    return tuple(held)
