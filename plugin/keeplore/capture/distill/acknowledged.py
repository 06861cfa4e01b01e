"""What a short message settles that the agent then states as set, or asked at the end of its reply.

"Make it 20" decides by its form alone in few messages that do so; that the agent says next "the
limit is 20 minutes now" tells that it did, and of what. A reply that takes up what it grounds is
what makes an utterance common ground (H. H. Clark and E. F. Schaefer, "Contributing to discourse",
Cognitive Science 1989). "90 days" is a decision behind "how long do you want to keep raw rows?": of
two adjacent turns the second is read in the light of the first (E. Schegloff and H. Sacks, "Opening
up closings", Semiotica 1973).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from keeplore.capture.cues import opens_with, says, weight_of
from keeplore.capture.distill.agreements import (
    NAMED_TERMS,
    closing_questions,
    last_reply,
    stands_alone,
)
from keeplore.capture.distill.decision_weights import is_left
from keeplore.memory import Exchange
from keeplore.text.revisions import revision_of
from keeplore.text.sentences import Sentence, answer_line
from keeplore.text.terms import terms

MOST_WORDS = 40  # of a message that settles something in passing
STATING = 6  # sentences at the beginning of the last reply that can state what is set
TERSE = 6  # words of a sentence whose figure or name is taken up in any form
BRIEF = 3  # words of a sentence that is taken up by half of its content words
SHARED = 2  # content words of a longer one, numbers and names apart
SPEAKS_FOR_ITSELF = 5  # content words from which a message needs no restatement
# what settles nothing: work, trouble, doubts, what is told of what was done
NO_SETTLING = (
    "workflow",
    "workflow_question",
    "trouble",
    "undecided",
    "far_off",
    "chore",
)
NO_OPENING = (
    "errand",
    "task",
    "work_order",
    "tells_background",
    "courtesy",
    "defers",
    "not_known",
    "tells_result",
)
ANSWER_WORDS = (
    30  # of a message that is given whole; of a longer one its first sentence
)
# what is no question about how a thing shall be
NO_MATTER = ("offer", "courtesy", "workflow_question", "asks_which", "asks_for_facts")
ANSWERS = ("affirmed", "turns_down", "answers_in_part")
# what is no answer
NO_ANSWER = (
    "task",
    "work_order",
    "next_step",
    "defers",
    "not_known",
    "left_to_agent",
    "tells_result",
    "tells_state",
)
_NAMED = re.compile(
    r"\d+(?:[.,:]\d+)*|\b\w*[a-z][A-Z]\w*\b|\b(?!OK\b)[A-Z]{2,}\b|`[^`]+`"
)


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """A sentence of the person's, and what the agent states of it, "" for a word that it is so."""

    said: str
    stated: str

    @property
    def line(self) -> str:
        """The sentence, with what it came to where it says too little by itself."""
        is_enough = len({*terms(self.said)}) >= SPEAKS_FOR_ITSELF
        if not self.stated or (is_enough and stands_alone(self.said)):
            return self.said
        return answer_line(self.said, self.stated)


def acknowledged(
    said: Sequence[Sentence], exchange: Exchange
) -> Iterator[Acknowledged]:
    """What a message settles by what the reply to it confirms, of each confirmation the sentence
    that it takes up most of.
    """
    words = sum(len(one.text.split()) for one in said)
    if words > MOST_WORDS or any(one.is_question for one in said):
        return
    settling = [one.text for one in said if _may_settle(one)]
    reply = last_reply(exchange)[:STATING]
    is_confirmed = bool(reply) and _confirms(reply[0].text)
    if not is_confirmed:
        settling = [text for text in settling if _is_terse(text)]
    for stated in _statements(reply):
        of_it = [(_in_common(text, stated), text) for text in settling]
        shared, text = max(of_it, default=(0, ""), key=lambda pair: pair[0])
        if shared:
            settling.remove(text)
            yield Acknowledged(text, stated)
    # what says itself that something shall be otherwise, and is no reason for something else
    for text in settling if is_confirmed else ():
        if revision_of(text) and not weight_of(text, "reason"):
            yield Acknowledged(text, "")


def acknowledged_behind(
    before: Exchange | None, said: Sequence[Sentence], exchange: Exchange
) -> list[Acknowledged]:
    """What a message settles so behind an exchange that did not ask for what is the case; of a
    talk's first message, which is mostly a task, another value of something alone ("make it 8").
    """
    if before is None:
        found = acknowledged(said, exchange)
        return [one for one in found if opens_with(one.said, "another_value")]
    return [] if _asks_for_facts(before.assistant) else [*acknowledged(said, exchange)]


def _asks_for_facts(reply: str) -> bool:
    """Does a reply end by asking for what is the case, so that the answer to it settles nothing?"""
    asked = closing_questions(reply)[-1:]
    return any(says(one.text, "asks_for_facts") for one in asked)


def _may_settle(sentence: Sentence) -> bool:
    text = sentence.text
    if not (terms(text) or _NAMED.search(text)) or is_left(text):
        return False
    is_other = any(says(text, name) for name in NO_SETTLING)
    # an item of "Fix:" is what the work is on
    openings = (text, sentence.lead)
    return not is_other and not any(
        opens_with(opening, name) for opening in openings for name in NO_OPENING
    )


def _is_terse(text: str) -> bool:
    return len(text.split()) <= TERSE and _NAMED.search(text) is not None


def _statements(reply: Sequence[Sentence]) -> list[str]:
    stating = (one for one in reply if not (one.is_question or one.is_heading))
    return [one.text for one in stating if terms(one.text)]


def _confirms(text: str) -> bool:
    return (
        opens_with(text, "confirms")
        or says(text, "now_set")
        or weight_of(text, "done") > 0
    )


def _in_common(said: str, stated: str) -> int:
    """How many words a statement takes up of a sentence, 0 for too few."""
    own = {*terms(said)}
    named = {*_NAMED.findall(said)} & {*_NAMED.findall(stated)}
    shared = own & {*terms(stated)}
    is_brief = len(said.split()) <= BRIEF and stands_alone(said)
    least = len(own) / 2 if is_brief else SHARED
    return len(named | shared) if named or len(shared) >= least else 0


def closing_answer(said: Sequence[Sentence], before: Exchange) -> str:
    """The question how a thing shall be that ends a reply, with what a message answers; "" where it
    asks something else, or where the message begins with something else.
    """
    asked = closing_questions(before.assistant)[-1:]
    if not asked or not said or not _asks_how_it_shall_be(asked[0].text):
        return ""
    question, first = asked[0].text, said[0]
    if not _may_answer(first) or not _is_answer(question, first.text):
        return ""
    words = sum(len(one.text.split()) for one in said)
    is_brief = words <= ANSWER_WORDS and all(_may_answer(one) for one in said)
    answer = " ".join(one.text for one in said) if is_brief else first.text
    return answer_line(question, answer)


def _asks_how_it_shall_be(text: str) -> bool:
    if len({*terms(text)}) < NAMED_TERMS or opens_with(text, "offers_to"):
        return False
    if any(says(text, name) for name in NO_MATTER):
        return False
    return says(text, "asks_how_it_shall_be")


def _may_answer(sentence: Sentence) -> bool:
    text = sentence.text
    if sentence.is_question or sentence.is_heading:
        return False
    if says(text, "workflow") or says(text, "hedged"):
        return False
    return not (is_left(text) or any(opens_with(text, name) for name in NO_ANSWER))


def _is_answer(question: str, text: str) -> bool:
    """Does it say yes or no, take a word of the question, or name the number that it asks for?"""
    if any(opens_with(text, form) for form in ANSWERS):
        return True
    if {*terms(question)} & {*terms(text)}:
        return True
    return says(question, "asks_value") and says(text, "value")
