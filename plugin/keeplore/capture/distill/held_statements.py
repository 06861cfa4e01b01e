"""The statements of a conversation's file that hold, for whoever answers questions with them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from keeplore.capture.discourse.conversation_model import ConversationModel
from keeplore.capture.discourse.salience import salience
from keeplore.capture.discourse.statements import Act, Statement
from keeplore.memory import Conversation, Quote
from keeplore.recall.request import HeldStatement
from keeplore.text.sentences import ARROW, Sentence, answer_in

Decided = Mapping[tuple[str, str], Quote]  # turn and words → what stands in the head
_UNTOLD = frozenset({Act.HEADING, Act.ANNOUNCEMENT})


# a file is often asked several times, and its reading takes a while
@lru_cache(maxsize=16)
def held_statements(conversation: Conversation) -> tuple[HeldStatement, ...]:
    """The statements that still hold, in the order in which they were made, without headings and
    announcements.
    """
    model = ConversationModel.of(conversation.exchanges)
    decided = _decided(conversation)
    said = [*_said(model, decided)]
    texts = {one.text for one in said}
    unsaid = {q.text: q for q in decided.values() if ARROW in q.text}
    first = max((one.message for one in said), default=-1) + 1
    picks = [quote for text, quote in unsaid.items() if text not in texts]
    return *said, *_unsaid(model, picks, first)


def _decided(conversation: Conversation) -> Decided:
    quotes = (*conversation.decision, *conversation.also_decided)
    return {
        (quote.turn, text): quote
        for quote in quotes
        for text in (answer_in(quote.text), quote.text)
    }


def _said(model: ConversationModel, decided: Decided) -> Iterator[HeldStatement]:
    """What was said, an option that was picked behind the question that it answers."""
    messages: dict[tuple[int, int], int] = {}  # exchange and place in it → number
    for number, statement in enumerate(model.statements):
        message = messages.setdefault(statement.message_place, len(messages))
        is_untold = statement.act in _UNTOLD or statement.leads_in
        if not is_untold and number not in model.ended:
            quote = decided.get((statement.turn, statement.quote.text))
            yield _held(statement, message, model, quote)


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
            yield _held(statement, message, model, quote)


def _held(
    statement: Statement,
    message: int,
    model: ConversationModel,
    decided: Quote | None,
) -> HeldStatement:
    return HeldStatement(
        decided.text if decided else statement.quote.text,
        statement.turn,
        message,
        salience=salience(statement, len(model.exchanges)),
        is_decision=decided is not None,
        is_pasted=statement.is_pasted,
    )


def _picked_statement(quote: Quote, exchange: int) -> Statement:
    place = (quote.turn, exchange, 0, 0, 1)
    return Statement(Sentence(quote.text), quote.speaker, *place, is_answer=True)
