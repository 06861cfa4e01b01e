"""How strongly a person's sentence decides something, and what the person says of how a thing shall
be without a word of a decision.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from keeplore.capture.cues import opens_with, pattern, says, weight_of
from keeplore.capture.discourse.salience import DIRECTS, directive_odds
from keeplore.capture.discourse.statements import DialogueAct, Statement, statements_of
from keeplore.capture.distill.antecedents import INFORMATIVE_TERMS, stands_alone
from keeplore.memory import AgentQuestion, Exchange
from keeplore.text.revisions import lifts_rule
from keeplore.text.sentences import Sentence
from keeplore.text.terms import count_terms, terms

LIFTS = 2.2  # how strongly "migrations on Fridays are fine now" decides
# an order of work with these says more than what to do next: why, and what all will do
SETTLING = ("firm", "of_all")
REFUSING = ("turns_down", "concedes")  # how a reply begins that speaks against a way
STIPULATING = ("changes", "wanted", "required", "please", "suggested")  # phrases


def without_next_steps(message: Iterable[Sentence]) -> list[Sentence]:
    """The sentences, each up to the step that it tells to take next: "use Redis, then commit"."""
    return [_without_next_step(sentence) for sentence in message]


def _without_next_step(sentence: Sentence) -> Sentence:
    if opens_with(sentence.text, "set_for_run"):
        return sentence
    step = pattern("then_next_step").search(sentence.text)
    said = sentence.text[: step.start()] if step else ""
    return replace(sentence, text=said) if terms(said) else sentence


def decision_weight(sentence: Sentence, *, in_reply: bool = False) -> float:
    """How strongly a person's sentence decides something; 0 for a question, a doubt, a task and a
    report.
    """
    text = sentence.text
    if sentence.is_question or not terms(text):
        return 0.0
    weight = max(weight_of(text, "decided"), LIFTS * lifts_rule(text))
    if in_reply:
        weight = max(weight, weight_of(text, "settled_in_reply"))
    return 0.0 if is_left(text) or says(text, "workflow") else weight


def is_left(text: str) -> bool:
    """Does a sentence doubt, or put off?"""
    if opens_with(text, "defers") or says(text, "undecided"):
        return True
    return weight_of(text, "put_off") > 0


def is_wish(text: str) -> bool:
    """Does a first message ask for work, or say what it is for, and not how that shall be?"""
    is_question = text.endswith(("?", "？")) and not says(text, "please")
    return is_question or (says(text, "wished") and not says(text, "firm"))


def directive_weight(sentence: Sentence) -> float:
    """How much like a decision an order of the person's is, 0 for a question, a doubt and a task.

    It settles how a thing shall be, where others only say what to do next. Weaker than a decision,
    so it is read for a conversation's file alone and never makes a note.
    """
    text = sentence.text
    if sentence.is_question or sentence.is_heading or text.endswith(":"):
        return 0.0
    if count_terms(text) < INFORMATIVE_TERMS or not stands_alone(text):
        return 0.0
    weight = weight_of(text, "directives")
    is_no_order = says(text, "workflow") or says(text, "far_off")
    return 0.0 if is_left(text) or is_no_order else weight


def stipulations(exchange: Exchange) -> Iterator[str]:
    """The person's own sentences that say how a thing shall be."""
    # of the replies only what the person answered
    forms = tuple(r for r in exchange.replies if isinstance(r, AgentQuestion))
    is_refused = any(opens_with(exchange.assistant, name) for name in REFUSING)
    for statement in statements_of([replace(exchange, replies=forms)]):
        is_left_out = statement.is_answer or statement.is_foreign
        if is_left_out or not _may_stipulate(statement):
            continue
        if is_refused and statement.act is DialogueAct.QUESTION:
            continue
        if directive_odds(statement) >= DIRECTS:
            yield statement.text


def _may_stipulate(statement: Statement) -> bool:
    """False for what only goes on with the work, asks or puts off."""
    text = statement.text
    if len(statement.terms) < INFORMATIVE_TERMS or says(text, "workflow"):
        return False
    if opens_with(text, "tells_background"):
        return False
    if opens_with(text, "task") and not any(says(text, name) for name in SETTLING):
        return False
    if not any(says(text, name) for name in STIPULATING):
        return False
    if statement.act is DialogueAct.QUESTION:
        return says(text, "suggested") or says(text, "please")
    if opens_with(text, "asks_openly"):
        return False
    is_undone = is_left(text) or weight_of(text, "open")
    return statement.act is DialogueAct.REQUEST and not is_undone
