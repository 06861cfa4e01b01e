"""What the person says of how a thing shall be, without a word of a decision."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from keeplore.capture.cues import opens_with, says, weight_of
from keeplore.capture.discourse.salience import DIRECTS, directive_odds
from keeplore.capture.discourse.statements import Act, Statement, statements_of
from keeplore.capture.distill.agreements import TELLING_TERMS
from keeplore.capture.distill.decision_weights import is_left
from keeplore.memory import AnsweredQuestion, Exchange

# an order of work with these says more than what to do next: why, and what all will do
SETTLING = ("firm", "of_all")
STIPULATING = ("changes", "wanted", "required", "please", "suggested")  # phrases


def stipulated(exchange: Exchange) -> Iterator[str]:
    """The person's own sentences that say how a thing shall be."""
    # of the replies only what the person answered
    forms = tuple(r for r in exchange.replies if isinstance(r, AnsweredQuestion))
    for statement in statements_of([replace(exchange, replies=forms)]):
        is_left_out = statement.is_answer or statement.is_foreign
        if is_left_out or not _may_stipulate(statement):
            continue
        if directive_odds(statement) >= DIRECTS:
            yield statement.text


def _may_stipulate(statement: Statement) -> bool:
    """False for what only goes on with the work, asks or puts off."""
    text = statement.text
    if len(statement.terms) < TELLING_TERMS or says(text, "workflow"):
        return False
    if opens_with(text, "tells_background"):
        return False
    if opens_with(text, "task") and not any(says(text, name) for name in SETTLING):
        return False
    if not any(says(text, name) for name in STIPULATING):
        return False
    if statement.act is Act.QUESTION:
        return says(text, "suggested") or says(text, "please")
    is_undone = is_left(text) or weight_of(text, "open")
    return statement.act is Act.REQUEST and not is_undone
