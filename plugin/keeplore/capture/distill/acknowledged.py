"""What a short message settles that the agent then states as set.

"Make it 20" decides by its form alone in few messages that do so; that the agent says next "the
limit is 20 minutes now" tells that it did, and of what. A reply that takes up what it grounds is
what makes an utterance common ground (H. H. Clark and E. F. Schaefer, "Contributing to discourse",
Cognitive Science 1989).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from keeplore.capture.cues import opens_with, says, weight_of
from keeplore.capture.distill.agreements import (
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
NO_SETTLING = ("workflow", "trouble", "undecided", "far_off", "chore")
NO_OPENING = (
    "task",
    "work_order",
    "tells_background",
    "courtesy",
    "defers",
    "not_known",
    "tells_result",
)
_NAMED = re.compile(r"\d+(?:[.,:]\d+)*|\b\w*[a-z][A-Z]\w*\b|\b[A-Z]{2,}\b|`[^`]+`")


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


def asks_for_facts(reply: str) -> bool:
    """Does a reply end by asking for what is the case, so that the answer to it settles nothing?"""
    asked = closing_questions(reply)[-1:]
    return any(says(one.text, "asks_for_facts") for one in asked)


def _may_settle(sentence: Sentence) -> bool:
    text = sentence.text
    if not (terms(text) or _NAMED.search(text)) or is_left(text):
        return False
    is_other = any(says(text, name) for name in NO_SETTLING)
    return not (is_other or any(opens_with(text, name) for name in NO_OPENING))


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
