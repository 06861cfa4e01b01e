"""What a message settles though nothing in it says so: the agent had told how a thing is, and tells
after the message how it is now.

"It caches for 24 hours.", "prices change hourly", "The cache lives for one hour now.": the answer
makes the remark between a decision (H. H. Clark and E. F. Schaefer, "Contributing to discourse",
Cognitive Science 1989).
"""

from __future__ import annotations

from collections.abc import Sequence

from keeplore.capture.adjacency import closing_question, last_reply
from keeplore.capture.cues import opens_with, says, weight_of
from keeplore.capture.distill.acknowledged import (
    is_asking,
    may_settle,
    statements,
    words_taken_up,
)
from keeplore.capture.follow_ups import behind_yes
from keeplore.memory import Exchange
from keeplore.text.sentences import Sentence, answer_line
from keeplore.text.terms import terms

MOST_WORDS = 25  # of such a message
TOLD_BACK = 6  # sentences at the end of a reply that can tell how the thing is
MOST_ANSWER = 6  # words of an answer whose reply need not repeat them
NO_MATTER = ("offer", "courtesy", "workflow_question", "asks_fact", "asks_next_work")
TOLD_FIRST = 2  # statements at the beginning of the next that tell how it is now
# what tells how it went
COURSE = ("states_past", "told_past")


def settled_by_change(
    before: Exchange, message: Sequence[Sentence], exchange: Exchange
) -> str:
    """The message with what the reply to it says to be otherwise now; "" where it is long, asks,
    orders work or tells of a trouble, and where the reply is of something else.
    """
    is_long = len(exchange.user.split()) > MOST_WORDS
    message = [sentence for sentence in message if terms(sentence.text)]
    if is_long or not message or is_asking(exchange.user):
        return ""
    if not all(_is_remark(sentence) for sentence in message):
        return ""
    said = " ".join(sentence.text for sentence in message)
    changed = _changed_state(before, said, exchange)
    if changed:
        return answer_line(said, changed)
    return _settled_choice(before, said, exchange)


def _settled_choice(before: Exchange, said: str, exchange: Exchange) -> str:
    """A message behind the question that it answers, where the reply says that it is so, or how it
    is of both.
    """
    asked = closing_question(before.assistant)
    if not asked or any(says(asked, name) for name in NO_MATTER):
        return ""
    first = statements(last_reply(exchange))[:TOLD_FIRST]
    is_brief = len(said.split()) <= MOST_ANSWER
    is_set = any(_is_new(stated) or weight_of(stated, "done") for stated in first)
    is_of_both = any(
        {*terms(asked)} & {*terms(stated)} and words_taken_up(said, stated)
        for stated in first
    )
    is_settled = (is_brief and is_set) or (is_of_both and says(asked, "names_ways"))
    return answer_line(asked, said) if is_settled else ""


def _is_remark(sentence: Sentence) -> bool:
    """Can it say how a thing shall be, or why, and not how it went or what was done?"""
    text = sentence.text
    if not terms(behind_yes(text) or text) or not may_settle(sentence):
        return False
    if opens_with(text, "adds_to_it"):
        return False
    if any(opens_with(part, "orders_it") for part in text.split(", ")):
        return False
    return not (any(says(text, name) for name in COURSE) or weight_of(text, "done"))


def _changed_state(before: Exchange, said: str, exchange: Exchange) -> str:
    """What a reply first says to be otherwise now, of what the message or the end of the reply
    before it speaks of.
    """
    told = [{*terms(s.text)} for s in last_reply(before)[-TOLD_BACK:]]
    for stated in statements(last_reply(exchange))[:TOLD_FIRST]:
        named = {*terms(stated)}
        is_of_it = any(named & words and named != words for words in told)
        if _is_new(stated) and (is_of_it or words_taken_up(said, stated)):
            return stated
    return ""


def _is_new(stated: str) -> bool:
    is_told = says(stated, "says_now") or opens_with(stated, "confirms_change")
    return is_told and not says(stated, "states_supposed")
