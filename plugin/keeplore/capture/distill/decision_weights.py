"""How strongly a person's sentence decides something."""

from __future__ import annotations

from keeplore.capture.cues import opens_with, says, weight_of
from keeplore.capture.distill.agreements import TELLING_TERMS, stands_alone
from keeplore.text.sentences import Sentence
from keeplore.text.terms import terms


def decision_weight(sentence: Sentence, *, in_reply: bool = False) -> float:
    """How strongly a person's sentence decides something; 0 for a question, a doubt, a task and a
    report.
    """
    text = sentence.text
    if sentence.is_question or not terms(text):
        return 0.0
    weight = weight_of(text, "decided")
    if in_reply:
        weight = max(weight, weight_of(text, "settled_in_reply"))
    return 0.0 if is_left(text) or says(text, "workflow") else weight


def is_left(text: str) -> bool:
    """Does a sentence doubt, or put off?"""
    if opens_with(text, "defers") or says(text, "undecided"):
        return True
    return weight_of(text, "put_off") > 0


def is_wish(text: str) -> bool:
    """Does a first message say what it is for, and not how that shall be?"""
    return says(text, "wished") and not says(text, "firm")


def directive_weight(sentence: Sentence) -> float:
    """How much like a decision an order of the person's is, 0 for a question, a doubt and a task.

    It settles how a thing shall be, where others only say what to do next. Weaker than a decision,
    so it is read for a conversation's file alone and never makes a note.
    """
    text = sentence.text
    if sentence.is_question or sentence.is_heading or text.endswith(":"):
        return 0.0
    if len(set(terms(text))) < TELLING_TERMS or not stands_alone(text):
        return 0.0
    weight = weight_of(text, "directives")
    is_no_order = says(text, "workflow") or says(text, "far_off")
    return 0.0 if is_left(text) or is_no_order else weight
