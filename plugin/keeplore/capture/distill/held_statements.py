"""The statements of a conversation's file that hold, for whoever answers questions with them."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from keeplore.capture.adjacency import told_answers
from keeplore.capture.cues import opens_with, pattern, says
from keeplore.capture.discourse.conversation_model import ConversationModel
from keeplore.capture.discourse.salience import salience
from keeplore.capture.discourse.statements import DialogueAct, Statement
from keeplore.capture.shown_commands import shown_commands
from keeplore.memory import Conversation, Exchange, Quote
from keeplore.recall.request import HeldStatement
from keeplore.text.pasted import is_reference
from keeplore.text.sentences import ARROW, Sentence, answer_in, question_and_answer

_UNTOLD = frozenset({DialogueAct.HEADING, DialogueAct.ANNOUNCEMENT})


# a file is often asked several times, and its reading takes a while
@lru_cache(maxsize=16)
def held_statements(conversation: Conversation) -> tuple[HeldStatement, ...]:
    """The statements that still hold, in the order in which they were made, without headings,
    announcements and what only asks to be told more.
    """
    model = ConversationModel.of(conversation.exchanges)
    decided = conversation.decided
    quotes = (*decided, *conversation.open_questions)
    said = {*((statement.turn, statement.quote.text) for statement in model.statements)}
    unsaid = [q for q in quotes if ARROW in q.text and (q.turn, q.text) not in said]
    unsaid += _answers_apart_from(unsaid, conversation.exchanges)
    answers = {(q.turn, answer_in(q.text)) for q in unsaid}
    amended = {question_and_answer(q.text)[0] for q in unsaid}
    held = [*_spoken_statements(model, decided, answers, amended)]
    first = max((statement.message for statement in held), default=-1) + 1
    return *held, *_head_statements(model, unsaid, decided, first)


def _answers_apart_from(
    quotes: Sequence[Quote], exchanges: Sequence[Exchange]
) -> Iterator[Quote]:
    """What the person answered to a question of the agent's, where none of the quotations tells
    it.
    """
    for turn, line in told_answers(exchanges).items():
        told = (quote.text for quote in quotes if quote.turn == turn)
        if not any(_is_same_answer(text, line) for text in told):
            yield Quote(line, "user", turn)


def _is_same_answer(told: str, line: str) -> bool:
    """Does a line tell an answer, or a part of it behind the same question?"""
    question, answer = question_and_answer(line)
    return answer in told or question_and_answer(told)[0] == question


def _spoken_statements(
    model: ConversationModel,
    decided: Sequence[Quote],
    answers: Container[tuple[str, str]],
    amended: Container[str],
) -> Iterator[HeldStatement]:
    """What was said, without ``answers``, which are told with their questions, and without the
    ``amended`` proposals, which are told with what changed them.
    """
    texts = {quote.text for quote in decided}
    messages: dict[tuple[int, int], int] = {}  # exchange and place in it → number
    for number, spoken in enumerate(model.statements):
        statement = _with_shown_command(spoken, model.exchanges)
        message = messages.setdefault(statement.message_place, len(messages))
        is_untold = statement.act in _UNTOLD or statement.leads_in
        is_untold = is_untold or _asks_to_be_told(statement)
        is_untold = is_untold or _says_nothing(statement)
        text = statement.quote.text
        is_told = (statement.turn, text) in answers or (
            text in amended and not statement.sentence.is_question
        )
        if not (is_untold or is_told or number in model.ended):
            is_decision = text in texts
            yield _held_statement(statement, message, model, is_decision=is_decision)


def _with_shown_command(
    statement: Statement, exchanges: Sequence[Exchange]
) -> Statement:
    """A sentence of the agent's that leads up to a short block of code with that code, but for an
    item of a list and what only tells the agent's next step; any other statement as it is.
    """
    is_item = bool(statement.sentence.label)
    if statement.is_of_person or is_item or not statement.leads_in:
        return statement
    reply = exchanges[statement.exchange].replies[statement.message - 1]
    shown = shown_commands(reply) if isinstance(reply, str) else {}
    if statement.text not in shown or says(statement.text, "on_the_way"):
        return statement
    whole = replace(statement.sentence, text=shown[statement.text])
    return replace(statement, sentence=whole)


def _asks_to_be_told(statement: Statement) -> bool:
    """Does the agent only wait to hear what else is wanted?"""
    is_waiting = opens_with(statement.text, "asks_to_be_told")
    return is_waiting and not statement.is_of_person


def _says_nothing(statement: Statement) -> bool:
    """Is it a good-bye, a file that the person points at, or an agent's "good catch", "I see the
    issue", "have a great day"?
    """
    text = statement.text
    if statement.is_answer:
        return False
    if statement.is_of_person:
        is_shown = text.startswith("@") and is_reference(text)
        return is_shown or opens_with(text, "takes_leave")
    return opens_with(text, "takes_in") or bool(pattern("takes_leave").fullmatch(text))


def _head_statements(
    model: ConversationModel,
    quotes: Iterable[Quote],
    decided: Container[Quote],
    first: int,
) -> Iterator[HeldStatement]:
    """What stands in the head with its question, which nobody said in one sentence; the messages
    are numbered from ``first`` on.
    """
    numbers = {exchange.id: n for n, exchange in enumerate(model.exchanges)}
    for message, quote in enumerate(quotes, first):
        if quote.turn in numbers:
            place = (quote.turn, numbers[quote.turn], 0, 0, 1)
            statement = Statement(
                Sentence(quote.text), quote.speaker, *place, is_answer=True
            )
            yield _held_statement(
                statement, message, model, is_decision=quote in decided
            )


def _held_statement(
    statement: Statement, message: int, model: ConversationModel, *, is_decision: bool
) -> HeldStatement:
    text, sentence = statement.quote.text, statement.sentence
    return HeldStatement(
        text,
        statement.turn,
        message,
        salience=salience(statement, len(model.exchanges)),
        is_decision=is_decision,
        is_pasted=statement.is_pasted,
        heading=sentence.heading,
        lead=sentence.lead,
        points_back=opens_with(text, "points_back"),
    )
