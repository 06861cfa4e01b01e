"""What a plan or a design says of how it will be done, once it is agreed to."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter

from keeplore.capture.adjacency import closing_questions, last_reply
from keeplore.capture.cues import opens_with, says
from keeplore.capture.distill.antecedents import INFORMATIVE_TERMS
from keeplore.memory import AgentQuestion, Exchange
from keeplore.text.sentences import Sentence
from keeplore.text.terms import count_terms, terms

PLAN_HEADINGS = 3  # from which a message is a plan
DESIGN_LINES = 4  # of a plan in the chat


def agrees_to_plan(asked: AgentQuestion) -> bool:
    return asked.answer == "Yes" and opens_with(asked.question, "plan_question")


def planned_approach(message: Sequence[Sentence]) -> list[Sentence]:
    """The first sentences of a plan under the headings that say how it will be done."""
    if sum(s.is_heading for s in message) < PLAN_HEADINGS:
        return []
    prose = [
        s for s in message if not (s.is_heading or s.label) and len(terms(s.text)) > 2
    ]
    planned = [s for s in prose if says(s.heading, "approach_heading")]
    planned = [s for s in planned if not says(s.heading, "goal_heading")] or planned
    return _first_under_headings(planned)


def approved_design(message: Sequence[Sentence], before: Exchange) -> list[Sentence]:
    """What a plan of the agent's says first, under each of its headings on the design and in each
    item there, where the message lets the agent begin.
    """
    plan = last_reply(before)
    is_plan = any(s.is_heading and says(s.text, "plan_heading") for s in plan)
    if not is_plan or sum(s.is_heading for s in plan) < PLAN_HEADINGS:
        return []
    if not _lets_begin(message):
        return []
    told = [s for s in plan if s.is_first and says(s.heading, "design_heading")]
    return [s for s in told if _is_informative(s)][:DESIGN_LINES]


def _lets_begin(message: Sequence[Sentence]) -> bool:
    """Does the first sentence or the last one say so, and none that something shall change?"""
    if any(says(s.text, "corrected") for s in message):
        return False
    ends = (message[0], message[-1])
    return any(opens_with(s.text, "lets_begin") for s in ends if not s.is_question)


def agreed_designs(message: Sequence[Sentence], before: Exchange) -> list[Sentence]:
    """What a design says first under its headings that the agent asked about ("does this look
    right?") and the message agrees to.
    """
    asked = any(
        says(s.text, "design_question") for s in closing_questions(before.assistant)
    )
    first = message[0]
    is_other = first.is_question or first.label or says(first.text, "hedged_reply")
    if not asked or is_other or not opens_with(first.text, "affirmed"):
        return []
    prose = [s for s in last_reply(before) if s.heading and _is_informative(s)]
    return _first_under_headings(prose)


def _is_informative(sentence: Sentence) -> bool:
    text = sentence.text
    is_option = opens_with(text, "option_labelled")
    is_prose = not (sentence.is_heading or sentence.is_question or is_option)
    is_whole = not text.endswith((":", "：")) or ": " in text
    return is_prose and is_whole and count_terms(text) >= INFORMATIVE_TERMS


def _first_under_headings(message: Sequence[Sentence]) -> list[Sentence]:
    """The first sentence under each heading, of two at most."""
    return [next(under) for _, under in groupby(message, key=attrgetter("heading"))][:2]
