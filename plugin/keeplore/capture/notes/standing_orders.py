"""What a person orders to be kept: to be remembered, to be written down as a rule for agents, or to
hold from now on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from keeplore.capture.cues import opens_with, pattern, says
from keeplore.capture.notes.note_wording import (
    points_elsewhere,
    without_lead,
    without_opener,
)
from keeplore.text.sentences import Sentence
from keeplore.text.terms import terms


@dataclass(frozen=True, slots=True)
class StandingOrder:
    text: str  # the statement itself
    kind: str  # remember | note | rule
    said: str  # the sentence that holds it


def standing_orders(message: Sequence[Sentence]) -> Iterator[StandingOrder]:
    """The orders of a message, in its order."""
    leads = {
        sentence.text for sentence in message if says(sentence.text, "remember_list")
    }
    before: Sentence | None = None
    for sentence in message:
        text, is_led = sentence.text, _is_led(sentence, before, leads)
        if is_led and terms(text):
            yield StandingOrder(text, "remember", text)
        elif before and opens_with(text, "rule_before"):
            yield from _rule(before, before.text)
        elif text not in leads and not opens_with(text, "quoted"):
            yield from _ordered_by(sentence)
        before = sentence


def _is_led(sentence: Sentence, before: Sentence | None, leads: set[str]) -> bool:
    """Does it stand in a list, or behind a sentence, that is to be remembered?"""
    follows = before is not None and before.text in leads
    return sentence.lead in leads or (follows and not sentence.label)


def _ordered_by(sentence: Sentence) -> Iterator[StandingOrder]:
    """What a sentence orders by its own words."""
    said, text = sentence.text, without_lead(sentence.text)
    if what := _named_in("remember", said):
        if len(terms(what)) > 1 or not what.isascii():
            yield StandingOrder(what, "remember", said)
    elif what := _named_in("written_rule", said):
        yield from _rule(sentence, what)
    elif (what := _named_in("keep_in_mind", text)) and _is_sound(sentence, what):
        yield StandingOrder(what, "note", said)
    elif says(text, "standing_order") and _is_sound(sentence, text):
        yield StandingOrder(without_opener(text), "rule", said)


def _named_in(name: str, text: str) -> str:
    """What one of the phrases names in the text, "" where none matches."""
    found = pattern(name).search(text)
    return next(filter(None, found.groupdict().values()), "") if found else ""


def _rule(sentence: Sentence, what: str) -> Iterator[StandingOrder]:
    """What shall be written down, where it says something by itself."""
    text = without_opener(what.rstrip("?. "))
    if _can_be_kept(text):
        yield StandingOrder(text, "rule", sentence.text)


def _is_sound(sentence: Sentence, what: str) -> bool:
    """True where what shall be kept can be read alone, and is neither asked nor doubted."""
    return not sentence.is_question and _can_be_kept(what)


def _can_be_kept(what: str) -> bool:
    if len(terms(what)) < 2:
        return False
    if says(pattern("note_wanted").sub("", what), "undecided"):
        return False
    return not (points_elsewhere(what) or says(what, "moment"))
