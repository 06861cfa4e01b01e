"""Ways that the person puts as a question, or with a doubt, and that the agent then goes.

"Could the report be weekly?" orders nothing by its form (J. Searle, "Indirect speech acts", 1975).
That the agent says "the report is weekly now" tells that it was meant so, and "you're right" that
the agent found it right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from keeplore.capture.adjacency import last_reply
from keeplore.capture.cues import opens_with, says, weight_of
from keeplore.capture.distill.acknowledged import STATING, words_taken_up
from keeplore.capture.distill.agreements.suggestions import (
    is_put_as_question,
    is_put_softly,
    suggestion,
)
from keeplore.capture.distill.antecedents import stands_alone
from keeplore.capture.distill.decision_weights import is_left
from keeplore.memory import Exchange
from keeplore.text.revisions import revision_of
from keeplore.text.sentences import Sentence, answer_line, sentences
from keeplore.text.terms import count_terms

_ASIDE = re.compile(r"\([^()]*\)")
FEWEST_SHARED = 2  # content words of a suggestion that a report takes up
AGREEING = ("confirms", "affirmed", "assented")  # how a reply begins that says yes
MOST_POINTS = 4  # of an idea
# what is asked of the agent for the moment, and no way to go
ERRANDS = ("task", "work_order", "next_step")


def suggestions(message: Sequence[Sentence], exchange: Exchange) -> list[str]:
    """The only suggestion with what the agent says of it who finds it right; else each with the
    report that it was followed; else the points of an idea that the agent finds right.
    """
    if found_right := suggestion(message, exchange):
        return [found_right]
    followed = [*_followed_suggestions(message, exchange)]
    return followed or _approved_points(message, exchange)


def _followed_suggestions(
    message: Sequence[Sentence], exchange: Exchange
) -> Iterator[str]:
    reply = last_reply(exchange)[:STATING]
    for n, suggested in enumerate(message):
        if _is_put_off(message[n + 1 : n + 2]) or not _may_be_followed(suggested):
            continue
        if report := _report_on(suggested.text, reply):
            yield answer_line(suggested.text, report)


def _is_put_off(behind: Sequence[Sentence]) -> bool:
    """Does the person leave it for later in what follows?"""
    return any(is_left(s.text) and not s.is_question for s in behind)


def _report_on(suggested: str, reply: Sequence[Sentence]) -> str:
    """The report of a reply that takes up the most words of a suggestion; "" where the reply turns
    the suggestion down, or tells of something else.
    """
    reports = [s.text for s in reply if not s.is_heading and _tells_what_is_set(s)]
    if not reports or _turns_down(suggested, reply[0].text):
        return ""
    least = _fewest_shared(suggested, reply[0].text)
    best = max(reports, key=lambda report: words_taken_up(suggested, report))
    return best if words_taken_up(suggested, best) >= least else ""


def _turns_down(suggested: str, opening: str) -> bool:
    """Does a reply that begins so speak against a suggestion? A no to "do we need it?" does not,
    and a yes to "do we still need it?" does.
    """
    if says(suggested, "doubts_use"):
        return opens_with(opening, "says_yes")
    return opens_with(opening, "turns_down") and not says(suggested, "doubts_need")


def _fewest_shared(suggested: str, opening: str) -> int:
    """How many words a report has to take up of a suggestion, for a reply that begins so."""
    is_agreed = any(opens_with(opening, name) for name in AGREEING)
    if is_agreed or says(suggested, "doubts_need"):
        return 1
    return max(1, min(FEWEST_SHARED, count_terms(suggested)))


def _tells_what_is_set(sentence: Sentence) -> bool:
    """Does the agent say that something was done, or how it is from now on?"""
    text = sentence.text
    is_told = opens_with(text, "confirms") or says(text, "says_now")
    return not sentence.is_question and (is_told or weight_of(text, "done") > 0)


def _may_be_followed(sentence: Sentence) -> bool:
    """Is it a way to go, asked or said with a doubt, and no errand?"""
    text = sentence.text
    is_put = is_put_as_question(sentence) or is_put_softly(sentence)
    if not is_put or sentence.label:
        return False
    if says(text, "asks_leave"):
        return False
    if says(text, "asks_agent") and not revision_of(text):
        return False
    is_errand = any(opens_with(text, name) for name in ERRANDS)
    return not (is_errand or says(text, "chore"))


def _approved_points(message: Sequence[Sentence], exchange: Exchange) -> list[str]:
    opening = sentences(exchange.assistant)[:1]
    if not any(opens_with(s.text, "assented") for s in opening):
        return []
    listed = [s for s in message if s.label and s.is_first and not s.within]
    points = [s.text for s in listed if says(s.lead, "idea_lead") and _is_point(s)]
    return points[:MOST_POINTS]


def _is_point(sentence: Sentence) -> bool:
    text = sentence.text
    is_whole = not (sentence.is_question or text.endswith((":", "：")))
    said = _ASIDE.sub("", text)
    return is_whole and stands_alone(text) and not says(said, "undecided")
