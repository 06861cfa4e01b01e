"""Exchanges → statements: each sentence with who said it, where it stands and what it does.

What a sentence does is its dialogue act (H. Bunt et al., ISO 24617-2, 2012), read from its form and
from the cue phrases that people use for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from keeplore.capture.cues import opens_with, says, weight_of
from keeplore.capture.discourse.instructions import is_instructions
from keeplore.memory import AgentQuestion, Exchange, Quote
from keeplore.text.pasted import is_pasted_into
from keeplore.text.sentences import Sentence, answer_line, clip, sentences
from keeplore.text.terms import terms

DOCUMENT = 12  # sentences from which a person's message counts as a paste
PREAMBLE = 3  # its first sentences, which may be the person's own
HEADING_CHARS = 40  # of a heading that is told with what stands under it
# lines over lists of what nobody did
IDLE_LEADS = ("options_lead", "guessed", "ideas_lead")
_NAME_END = re.compile(r"\s[-–—]\s|[:：]")
IN_A_ROW = ("ways_told", "several_told")  # ways that a sentence lists


class DialogueAct(StrEnum):
    """What a statement does in the conversation."""

    HEADING = "heading"
    QUESTION = "question"
    ANSWER = "answer"  # to a question that the agent put in form
    PASTED = "pasted"
    DECISION = "decision"
    DIRECTIVE = "directive"  # an order of the person's that says how a thing shall be
    REQUEST = "request"  # any other sentence of the person's
    ANNOUNCEMENT = "announcement"  # what the agent is about to do
    PROPOSAL = "proposal"
    REPORT = "report"  # work that was done
    FINDING = "finding"  # how things are, and why


@dataclass(frozen=True)
class Statement:
    """A sentence, or an answered question, with its place in the conversation."""

    sentence: Sentence
    speaker: str  # user | assistant
    turn: str
    exchange: int  # number of its exchange
    message: int  # of its message in the exchange: 0 for the person's, then the replies
    place: int  # of the sentence in its message
    size: int  # sentences of its message
    is_final: bool = False  # in the last reply of its exchange
    is_answer: bool = False
    is_foreign: bool = False  # somebody else's text

    @property
    def text(self) -> str:
        return self.sentence.text

    @property
    def message_place(self) -> tuple[int, int]:
        """The numbers of its exchange and of its message there."""
        return self.exchange, self.message

    @property
    def is_of_person(self) -> bool:
        return self.speaker == "user"

    @property
    def left(self) -> int:
        """How many sentences of its message follow."""
        return self.size - self.place - 1

    @property
    def is_pasted(self) -> bool:
        """True for a statement in a long message of the person's that stands neither at its
        beginning nor in its section on the background.
        """
        if not self.is_of_person or self.is_answer:
            return False
        is_preamble = self.place < PREAMBLE or says(
            self.sentence.heading, "context_heading"
        )
        return self.is_foreign or (self.size > DOCUMENT and not is_preamble)

    @property
    def leads_in(self) -> bool:
        """Does it only announce what follows it?"""
        return self.text.endswith((":", "："))

    @cached_property
    def terms(self) -> frozenset[str]:
        return frozenset(terms(self.text))

    @cached_property
    def act(self) -> DialogueAct:
        return act_of(self)

    @property
    def quote(self) -> Quote:
        return Quote(clip(words_with_heading(self.sentence)), self.speaker, self.turn)


def words_with_heading(sentence: Sentence) -> str:
    """The sentence, after the item that it belongs to, or after its list's lead-in or its heading
    where that says that it describes what was wrong.
    """
    if sentence.is_first and 0 < len(sentence.within) <= HEADING_CHARS:
        return f"{sentence.within} {sentence.text}"
    if sentence.is_heading or opens_with(sentence.text, "remedy"):
        return sentence.text
    for above in (sentence.lead, sentence.heading):
        name = _NAME_END.split(above, maxsplit=1)[0].strip("*_ ")
        if len(name) <= HEADING_CHARS and says(name, "problem_heading"):
            return f"{name}: {sentence.text}"
    return sentence.text


def statements_of(exchanges: Sequence[Exchange]) -> tuple[Statement, ...]:
    """All statements in the order in which they were made."""
    return tuple(
        statement
        for number, exchange in enumerate(exchanges)
        for statement in _exchange_statements(number, exchange)
    )


def _exchange_statements(number: int, exchange: Exchange) -> Iterator[Statement]:
    """The sentences of the person's message (number 0), then those of each reply and answer."""
    turn, is_foreign = exchange.id, is_instructions(exchange.user)
    said = sentences(exchange.user)
    for place, sentence in enumerate(said):
        where = (turn, number, 0, place, len(said))
        is_theirs = is_foreign or is_pasted_into(exchange.user, sentence.text)
        yield Statement(sentence, "user", *where, is_foreign=is_theirs)
    for message, reply in enumerate(exchange.replies, 1):
        if isinstance(reply, AgentQuestion):
            yield from _answer_statements(number, turn, message, reply)
            continue
        said = sentences(reply)
        is_final = message == len(exchange.replies)
        for place, sentence in enumerate(said):
            where = (turn, number, message, place, len(said))
            yield Statement(sentence, "assistant", *where, is_final=is_final)


def _answer_statements(
    number: int, turn: str, message: int, asked: AgentQuestion
) -> Iterator[Statement]:
    """What a person says in an answer: their objection, else the question with the answer as one
    line.
    """
    if not asked.is_complete:
        return
    if said := objection(asked):
        for place, sentence in enumerate(said):
            where = (turn, number, message, place, len(said))
            yield Statement(sentence, "user", *where)
        return
    line = Sentence(answer_line(asked.question, asked.answer))
    yield Statement(line, "user", turn, number, message, 0, 1, is_answer=True)


def objection(asked: AgentQuestion) -> Sequence[Sentence]:
    """The person's own sentences where the agent asked leave for a step and they answered with more
    than yes or no: what they want stands by itself, without the name of the step.
    """
    if not is_step(asked) or asked.answer in asked.options:
        return ()
    return sentences(asked.answer)


def is_step(asked: AgentQuestion) -> bool:
    """True for a request for leave to do something, or to go on: the question itself is about
    nothing.
    """
    return opens_with(asked.question, "leave") or says(
        asked.question, "workflow_question"
    )


def is_in_idle_list(sentence: Sentence) -> bool:
    """Is it one of several things that could be done, or of a list of guesses, or all of them in a
    row?
    """
    if any(opens_with(sentence.text, name) for name in IN_A_ROW):
        return not says(sentence.text, "states_past")  # "I tried two things: …"
    if not sentence.label:
        return False
    if opens_with(sentence.lead, "advised"):
        return True
    return any(says(sentence.lead, name) for name in IDLE_LEADS)


def act_of(statement: Statement) -> DialogueAct:
    """The dialogue act of a statement by its own form."""
    sentence = statement.sentence
    if statement.is_answer:
        return DialogueAct.ANSWER
    if sentence.is_heading:
        return DialogueAct.HEADING
    if sentence.is_question:
        return DialogueAct.QUESTION
    if statement.is_of_person:
        return _act_of_person(statement)
    return _act_of_agent(statement.text)


def _act_of_person(statement: Statement) -> DialogueAct:
    if statement.is_pasted:
        return DialogueAct.PASTED
    if weight_of(statement.text, "decided"):
        return DialogueAct.DECISION
    if weight_of(statement.text, "directives"):
        return DialogueAct.DIRECTIVE
    return DialogueAct.REQUEST


def _act_of_agent(text: str) -> DialogueAct:
    if weight_of(text, "done"):
        return DialogueAct.REPORT
    if says(text, "announced") or text.endswith((":", "...", "…")):
        return DialogueAct.ANNOUNCEMENT
    if weight_of(text, "proposed") or says(text, "offer"):
        return DialogueAct.PROPOSAL
    return DialogueAct.FINDING
