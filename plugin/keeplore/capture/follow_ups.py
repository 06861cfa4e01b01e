"""How a message relates to what was said before it: a go-ahead, an amendment, an answer, the same
once more. What follows so opens no topic of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from keeplore.capture.adjacency import told_answer
from keeplore.capture.cues import opens_with, pattern, says, word_list
from keeplore.capture.task_change import quotes
from keeplore.text.terms import terms

# minutes between a turn's end and the next prompt from which this may open another topic. Half an
# hour is the habit for web sessions; reading a long answer, trying it out and a meeting take
# longer, and of recorded pauses of an hour and more two thirds changed no subject
PAUSE = 60
OPENING = 300  # characters of a message in which words open a subject, or take one up
CONFIRMATION_CHARS = 80  # a go-ahead is shorter
QUOTED_REPLIES = 3  # the last ones, which a message may quote
LABELS_CHARS = 600  # of a message in which the name of an option or point counts
# words of a message that takes something of the reply before, and characters of that reply
ECHO_WORDS, ECHOED = 6, 4000
SAME_START = 60  # characters of a message that are compared with the one before
SAME_LEAST = 15  # of a message that can be the one before again


def is_reply(
    exchanges: Sequence[Mapping[str, Any]], message: str, minutes: float
) -> bool:
    """True where a message answers at once what was asked last, amends what was proposed or takes
    something of it, and however late where it says yes to what was asked, takes an item of a list
    by its number, or quotes a recent answer.
    """
    answers = [str(exchange["assistant"]) for exchange in exchanges[-QUOTED_REPLIES:]]
    is_asked = ends_with_question(answers[-1])
    is_invited = is_asked or amends_proposal(message)
    is_at_once = minutes < PAUSE and (is_invited or echoes_reply(message, answers[-1]))
    is_yes = is_asked and opens_with(message, "affirmed")
    is_answer = is_at_once or is_yes or opens_with(message, "picks")
    return is_answer or quotes(message, answers)


def ends_with_question(answer: str) -> bool:
    """True where an answer ends in a question or an offer: what comes next replies to it."""
    return answer.rstrip("*_) \n").endswith(("?", "？"))


def is_confirmation(message: str) -> bool:
    """True for a bare go-ahead, pick or greeting ("yes", "go on", "1"): it answers the last
    message, whatever topic its words are close to.
    """
    if len(message) >= CONFIRMATION_CHARS:
        return False
    plain = message.lower().replace("’", "'").replace(",", " ")
    said = (word.strip('.!?;:()"*`…') for word in plain.split())
    return all(
        not word or word.isdigit() or word in word_list("confirmations")
        for word in said
    )


def amends_proposal(message: str) -> bool:
    """True where a message takes what was proposed with a change, or with another value ("yes, but
    60 days", "make it three").
    """
    opening = message[:OPENING].partition("\n")[0]
    behind = behind_yes(opening)
    if behind is not None and says(behind, "with_change"):
        return True
    return opens_with(opening, "another_value")


def behind_yes(text: str) -> str | None:
    """What a text says behind the yes that it begins with; None where it begins with none."""
    yes = pattern("affirmed").match(text)
    return text[yes.end() :] if yes else None


def echoes_reply(message: str, reply: str) -> bool:
    """True for a few words, no command or question, half of them of the reply before: they take
    something of it ("mattermost, channel alarms").
    """
    if "?" in message or message.startswith("/") or len(message.split()) > ECHO_WORDS:
        return False
    own = {*terms(message.replace("-", " "))}
    said = terms(reply[-ECHOED:].replace("-", " "))
    return bool(own) and 2 * len(own.intersection(said)) >= len(own)


def is_again(message: str, before: str) -> bool:
    """True where the message is the one before once more, whole or changed after its head: that one
    was interrupted.
    """
    one, other = _message_start(message), _message_start(before)
    is_same = one.startswith(other) or other.startswith(one)
    return is_same and min(len(one), len(other)) >= SAME_LEAST


def _message_start(message: str) -> str:
    return " ".join(message[: 4 * SAME_START].lower().split())[:SAME_START]


def takes_up(message: str, replies: Sequence[str]) -> bool:
    """True where the message speaks of an option or a point by the letter or number that one of the
    replies gave it, amends what was proposed or takes something of it, or answers, accepts or puts
    off what the last one asks at its end: the words may be new then, the subject is not.
    """
    last = replies[-1] if replies else ""
    if amends_proposal(message) or echoes_reply(message, last):
        return True
    if told_answer(last, message) or _answers_by_number(message, last):
        return True
    labels = _labels("labels", message[:LABELS_CHARS])
    if labels and any(labels & _labels("labelled", reply) for reply in replies):
        return True
    is_resolved = opens_with(message, "accepts") or opens_with(message, "defers")
    return is_resolved and ends_with_question(last)


def _labels(name: str, text: str) -> set[str]:
    """The letters and numbers of options that the phrases of this name find in a text."""
    labels: set[str] = set()
    for found in pattern(name).finditer(text):
        labels.update(label.upper() for label in found.groups() if label)
    return labels


def _answers_by_number(message: str, reply: str) -> bool:
    """Does it begin with the number of a point of a reply that asks, and go on to another?"""
    opening = message[:LABELS_CHARS]
    if "?" not in reply or not opening[:1].isdigit():
        return False
    return len(_labels("numbers", opening) & _labels("labelled", reply)) > 1
