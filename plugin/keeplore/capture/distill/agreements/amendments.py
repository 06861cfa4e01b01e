"""What a message wants otherwise than it was proposed: a change, another value, a condition."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from keeplore.capture.adjacency import closing_question, last_question
from keeplore.capture.cues import opens_with, pattern, says
from keeplore.capture.distill.agreements.agent_proposals import waiting_proposal
from keeplore.capture.distill.agreements.agreed import Agreed, AgreedKind
from keeplore.capture.distill.agreements.agreed_picks import CLAUSE_END
from keeplore.capture.distill.antecedents import (
    INFORMATIVE_TERMS,
    NAMED_TERMS,
    offered_work,
    stands_alone,
)
from keeplore.capture.distill.choices.choice import asked_by
from keeplore.capture.distill.choices.reply_options import TAIL
from keeplore.memory import Exchange
from keeplore.text.sentences import Sentence, answer_line, sentences
from keeplore.text.terms import count_terms, terms

IN_REPLY = 3  # sentences at the beginning of a message that answer what was said before
VALUE_BACK = 2  # exchanges in which the number was named that a message corrects


def amended_proposal(opening: str, said: str, before: Exchange) -> Agreed | None:
    """What a reply proposes, with the change that the message makes; behind the question where only
    a value is another one.
    """
    is_value = opens_with(opening, "another_value")
    values = naming_value(before.assistant)
    if is_value and (asks_fact(before) or not values):
        return None
    if says(opening, "undecided") or says(said, "tells_symptom"):
        return None
    proposal = waiting_proposal(before.assistant)
    amended = [proposal.text] if proposal else []
    asked = [asked_by(before, ()), last_question(before.user)]
    if is_value:
        questions = [text for text in asked if text.endswith(("?", "？"))]
        about_it = [text for text in values if {*terms(text)} & {*terms(said)}]
        told = [text for text in values if text not in amended]
        single = told if len(values) == 1 else []
        amended = [*questions, *about_it, *single, *asked, *amended, *values]
    else:
        is_plain = says(opening, "with_plain_change")
        amended += [offered_work(before)] * is_plain + asked
    first = next((text for text in amended if " " in text), "")  # and no "nope."
    kind = AgreedKind.NEW_VALUE if is_value else AgreedKind.AMENDED
    return Agreed(answer_line(first, said), kind, said=said) if first else None


def asks_fact(before: Exchange) -> bool:
    """Does a reply end by asking how things are? A figure is the answer to that, and no choice."""
    return opens_with(closing_question(before.assistant), "asks_fact")


def naming_value(reply: str) -> list[str]:
    return [s.text for s in sentences(reply)[-TAIL:] if says(s.text, "value")]


def value_set(message: Sequence[Sentence]) -> str:
    """What a first sentence ends with that sets another value, "... make it 25 km"; "" for none."""
    ends = (
        CLAUSE_END.split(s.text)[-1] for s in message[:IN_REPLY] if not s.is_question
    )
    return next((end for end in ends if opens_with(end, "sets_value")), "")


def valued_itself(value: str, message: Sequence[Sentence]) -> Agreed | None:
    """A value behind what the message itself says of it, "it times out on phones. make it 20"."""
    place = next(n for n, s in enumerate(message) if value in s.text)
    if not place:
        return None
    about = message[place - 1]
    if about.is_question or count_terms(about.text) < NAMED_TERMS:
        return None
    return Agreed(answer_line(about.text, value), AgreedKind.NEW_VALUE, said=value)


def corrected_value(first: Sentence, earlier: Sequence[Exchange]) -> Agreed | None:
    """Another value than the one that the person last named, "no, 20"."""
    text = first.text
    is_other = opens_with(text, "another_value") and says(text, "corrected")
    if first.is_question or not is_other or says(text, "undecided"):
        return None
    named = [value for exchange in earlier for value in naming_value(exchange.user)]
    if not named:
        return None
    return Agreed(answer_line(named[-1], text), AgreedKind.NEW_VALUE, said=text)


def conditions(message: Sequence[Sentence]) -> Iterator[str]:
    """What the sentences behind a yes say that shall be otherwise, without their "but"."""
    for sentence in message[1:IN_REPLY]:
        if found := pattern("adds_condition").match(sentence.text):
            text = sentence.text[found.end() :]
            is_telling = count_terms(text) >= INFORMATIVE_TERMS and stands_alone(text)
            is_other = any(
                says(text, kind) for kind in ("undecided", "trouble", "workflow")
            )
            if is_telling and not (is_other or sentence.is_question):
                yield text
