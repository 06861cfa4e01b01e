"""Ways that the person suggested and the agent found right."""

from __future__ import annotations

from collections.abc import Sequence

from keeplore.capture.adjacency import last_reply
from keeplore.capture.cues import opens_with, says
from keeplore.capture.distill.agreements.amendments import IN_REPLY
from keeplore.capture.distill.antecedents import (
    INFORMATIVE_TERMS,
    NAMED_TERMS,
    stands_alone,
)
from keeplore.memory import Exchange
from keeplore.text.sentences import Sentence, answer_line, sentences
from keeplore.text.terms import count_terms, terms


def suggestion(message: Sequence[Sentence], exchange: Exchange) -> str:
    """The one way that the person puts as a question, or what they say with a doubt, with what the
    agent says of it who finds it right; else "".
    """
    put = [s for s in message if is_put_as_question(s)]
    answer = sentences(exchange.assistant)[:IN_REPLY]
    if len(put) > 1 or not answer or not opens_with(answer[0].text, "assented"):
        return ""
    put = put or [s for s in message if is_put_softly(s)]
    if not put or count_terms(put[0].text) < NAMED_TERMS:
        return ""
    said_of_it = (s.text for s in answer if not (s.is_heading or s.is_question))
    telling = (text for text in said_of_it if count_terms(text) >= NAMED_TERMS)
    return answer_line(put[0].text, next(telling, answer[0].text))


def is_put_as_question(sentence: Sentence) -> bool:
    """Does the person ask for a way to go, with a question mark or without, and for no errand?"""
    text = sentence.text
    is_asked = sentence.is_question or opens_with(text, "asks_for_way")
    return is_asked and says(text, "suggested_way") and not says(text, "asks_leave")


def is_put_softly(sentence: Sentence) -> bool:
    """Does the person speak for a way or against one, without being sure?"""
    if sentence.is_question or not stands_alone(sentence.text):
        return False
    return says(sentence.text, "doubts_it") or says(sentence.text, "puts_softly")


def own_suggestion(before: Exchange) -> str:
    """The way that the person asked about last, with what the agent said of it who found that it
    can be done, or told what it comes to; "" for none.
    """
    put = [s.text for s in sentences(before.user) if _puts_way(s)]
    answer = last_reply(before)
    if not put or not answer or not _speaks_for(answer[0].text, put[-1]):
        return ""
    told = next(
        (s.text for s in answer if count_terms(s.text) >= INFORMATIVE_TERMS), ""
    )
    return answer_line(put[-1], told) if told else ""


def _puts_way(sentence: Sentence) -> bool:
    """Does it ask for a way, or name one with a question mark ("code splitting per route?")?"""
    text = sentence.text
    is_named = sentence.is_question and not says(text.rstrip("?"), "asks")
    return says(text, "suggested_way") or is_named


def _speaks_for(answer: str, way: str) -> bool:
    """Does an answer begin with a yes, or go through with a way without speaking against it?"""
    if opens_with(answer, "affirmed"):
        return True
    is_against = any(opens_with(answer, name) for name in ("turns_down", "concedes"))
    shared = {*terms(answer)} & {*terms(way)}
    return not is_against and len(shared) >= NAMED_TERMS
