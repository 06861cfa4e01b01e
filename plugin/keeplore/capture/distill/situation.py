"""What a person told of the situation that a conversation begins in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from keeplore.capture.cues import opens_with, says, weight_of
from keeplore.capture.discourse.conversation_model import ERRAND
from keeplore.capture.discourse.instructions import TYPED_COMMANDS
from keeplore.capture.discourse.statements import Statement
from keeplore.capture.distill.decision_weights import decision_weight
from keeplore.capture.distill.extracts import HEADED, Extract, ExtractSource
from keeplore.text.terms import is_prose, stems

MIN_TOLD = 3  # content words of a sentence of context
OPENING = 60  # sentences of a person's in which the situation is told
CONTEXT_EXCHANGES = 3  # likewise exchanges
STATED = 0.8  # weight of a first sentence that is nothing but the request


def situation(source: ExtractSource, answers: Mapping[str, str]) -> Iterator[Extract]:
    """What the person told of the situation, in the first messages that tell anything, but for
    ``answers``, which are told with their questions.
    """
    own = (s for s in source.said if s.is_of_person and not s.is_foreign)
    opening = [s for s in own if not s.sentence.is_heading][:OPENING]
    telling = [(order, s) for order, s in enumerate(opening) if _is_informative(s)]
    for order, s in telling:
        is_first = order == telling[0][0]
        is_early = s.exchange < CONTEXT_EXCHANGES
        tells_situation = is_first or (is_early and not decision_weight(s.sentence))
        if s.is_pasted or not tells_situation or s.turn in answers:
            continue
        if weight := _context_weight(s, is_first=is_first):
            yield Extract(s.quote, weight - 0.6 * s.exchange - 0.05 * s.place, order)


def _context_weight(s: Statement, *, is_first: bool) -> float:
    weight = 0.0 if s.sentence.is_question else weight_of(s.text, "context")
    if is_first:  # what they came with says what it is all for, if nothing else does
        weight = max(weight, STATED) + 1.0
    is_headed = says(s.sentence.heading, "context_heading")
    return max(weight, HEADED) if is_headed else weight


def _is_informative(s: Statement) -> bool:
    """Is it prose that tells a later reader something, and no order of the moment or set phrase?"""
    text = TYPED_COMMANDS.sub("", s.text)
    if len(s.terms) < ERRAND and opens_with(text.lstrip(), "next_step"):
        return False  # an order of the moment
    if len(stems(text)) < MIN_TOLD or opens_with(text, "boilerplate"):
        return False
    if text.endswith((":", "：")) and not weight_of(text, "context"):
        return False  # it leads into a list, and not into a log
    return is_prose(text) and (" " in text or not text.isascii())
