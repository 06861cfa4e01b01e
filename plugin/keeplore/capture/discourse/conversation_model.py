"""A conversation read once: its statements, which of them still hold, and how much each tells."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import NamedTuple

from keeplore.capture.cues import opens_with, says, weight_of
from keeplore.capture.discourse.salience import salience
from keeplore.capture.discourse.standing import ended_statements, sent_back
from keeplore.capture.discourse.statements import (
    DialogueAct,
    Statement,
    is_in_idle_list,
    statements_of,
)
from keeplore.memory import AgentQuestion, Exchange
from keeplore.text.terms import STOP, is_prose, words

OFFER_SENTENCES = 2  # at the end of a message, in which it offers its work
_OPTION = re.compile(r"\s--?[A-Za-z]")
WOULD_DO = 1.4  # weight of "I would", above that of "we could"
ERRAND = 8  # content words of an order that says more than what to do next
_NO_SUBSTANCE = frozenset(
    {
        DialogueAct.HEADING,
        DialogueAct.QUESTION,
        DialogueAct.ANNOUNCEMENT,
        DialogueAct.PASTED,
    }
)


class SalientStatement(NamedTuple):
    odds: float  # its salience
    number: int  # its place among the conversation's statements
    statement: Statement


@dataclass(frozen=True, slots=True)
class ConversationModel:
    """``ended``: the number of each statement that no longer holds → the exchange that ended it;
    ``sent_back``: the exchanges whose answers the person did not let stand.
    """

    exchanges: Sequence[Exchange]
    statements: Sequence[Statement]
    ended: Mapping[int, int]
    sent_back: Set[int]

    @classmethod
    def of(cls, exchanges: Sequence[Exchange]) -> ConversationModel:
        statements = statements_of(exchanges)
        rejected = sent_back(exchanges)
        gone = ended_statements(statements, exchanges, rejected)
        return cls(exchanges, statements, gone, rejected)

    def salient_statements(self) -> Iterator[SalientStatement]:
        """The statements that hold and have substance, in order."""
        offering = {s.message_place for s in self.statements if _offers_work(s)}
        planned = self._carried_out_plans()
        taught = {
            n for n, e in enumerate(self.exchanges) if says(e.user, "asks_how_to")
        }
        for number, statement in enumerate(self.statements):
            if number in self.ended or statement.act in _NO_SUBSTANCE:
                continue
            if len(statement.terms) < 2 or statement.leads_in:
                continue
            if statement.place > planned.get(statement.message_place, statement.size):
                continue
            if statement.message_place in offering and _is_step_of_offer(statement):
                continue
            if statement.exchange not in taught and _is_reader_step(statement):
                continue
            if not any(is_idle(statement) for is_idle in _IDLE):
                odds = salience(statement, len(self.exchanges))
                yield SalientStatement(odds, number, statement)

    def _carried_out_plans(self) -> Mapping[tuple[int, int], int]:
        """The message of each of the agent's plans that work followed → where in it the plan
        begins.
        """
        reported = [s.exchange for s in self.statements if s.act is DialogueAct.REPORT]
        last = max(reported, default=-1)
        return {
            s.message_place: s.place
            for s in reversed(self.statements)
            if s.exchange < last and not s.is_of_person and _begins_plan(s)
        }

    def questions(self, since: int = 0) -> Iterator[tuple[int, AgentQuestion]]:
        """The agent's questions in form, with the number of their exchange."""
        for at, exchange in enumerate(self.exchanges[since:], since):
            for reply in exchange.replies:
                if isinstance(reply, AgentQuestion):
                    yield at, reply


def _begins_plan(statement: Statement) -> bool:
    return statement.act is DialogueAct.HEADING and says(statement.text, "plan_heading")


def is_errand(statement: Statement) -> bool:
    """Is it a short order of the person's for work of the day?"""
    is_short = statement.is_of_person and len(statement.terms) < ERRAND
    return is_short and (
        says(statement.text, "chore") or opens_with(statement.text, "next_step")
    )


def _is_offer(statement: Statement) -> bool:
    """Does the agent only say what it could do next, or be told?"""
    text = statement.text
    opens = any(opens_with(text, name) for name in ("offered", "asks_to_be_told"))
    is_offer = opens or says(text, "idle_offer")
    return is_offer and not statement.is_of_person


def _offers_work(statement: Statement) -> bool:
    """Does a message of the agent's end by asking whether it shall do the work?"""
    is_end = not statement.is_of_person and statement.left < OFFER_SENTENCES
    return is_end and opens_with(statement.text, "offers_to")


def _is_step_of_offer(statement: Statement) -> bool:
    """Is it an item that tells what to do, which nobody did yet?"""
    is_item = bool(statement.sentence.label) and not statement.is_of_person
    return is_item and says(statement.text, "to_do")


def _is_advice(statement: Statement) -> bool:
    return not statement.is_of_person and opens_with(statement.text, "advised")


def _is_guess(statement: Statement) -> bool:
    return not statement.is_of_person and says(statement.text, "guessed")


def _is_wish(statement: Statement) -> bool:
    """Does the agent only say what it would do?"""
    is_wish = weight_of(statement.text, "would_do") >= WOULD_DO
    return is_wish and not statement.is_of_person


def _is_in_idle_list(statement: Statement) -> bool:
    if statement.is_of_person:
        return False
    is_idea = opens_with(statement.sentence.heading, "ideas_heading")
    return is_idea or is_in_idle_list(statement.sentence)


def _only_looks(statement: Statement) -> bool:
    """Does the agent only say on the way what it sees, or that a step went well?"""
    text = statement.text
    is_on_the_way = not (statement.is_of_person or statement.is_final)
    is_sight = opens_with(text, "only_seen") and not opens_with(text, "cause_seen")
    return is_on_the_way and (is_sight or opens_with(text, "step_went_well"))


def _states_aim(statement: Statement) -> bool:
    """Does the agent only say what its work is for?"""
    return not statement.is_of_person and opens_with(statement.text, "states_aim")


def _is_reader_step(statement: Statement) -> bool:
    """Is it what the person is to do next, by themselves?"""
    is_item = bool(statement.sentence.label)
    is_listed = is_item and says(statement.sentence.lead, "steps_lead")
    is_step = is_listed or opens_with(statement.text, "reader_step")
    return is_step and not statement.is_of_person


def _is_aside_of_person(statement: Statement) -> bool:
    """Is it a typed command of the person's, or a word of praise that stands alone?"""
    if not statement.is_of_person or statement.is_answer:
        return False
    if opens_with(statement.text, "praises_alone"):
        return True
    return _is_typed(statement.text) or not is_prose(statement.text)


def _takes_leave(statement: Statement) -> bool:
    return opens_with(statement.text, "takes_leave")


def _is_typed(text: str) -> bool:
    """True for a command with its options, in which no word is one of speech."""
    said = (word.lower() for word in words(text))
    return _OPTION.search(text) is not None and STOP.isdisjoint(said)


# what a statement may be that tells nothing of the matter
_IDLE = (
    is_errand,
    _is_guess,
    _is_wish,
    _is_offer,
    _is_advice,
    _is_in_idle_list,
    _states_aim,
    _only_looks,
    _is_aside_of_person,
    _takes_leave,
)
