"""Answers to numbered points that the agent asked about: in a list of their own, or in a line as in
"1 at booking. 2 yes, all of it".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile

from keeplore.capture.adjacency import LAST_WORDS, last_reply
from keeplore.capture.cues import opens_with, says
from keeplore.capture.distill.antecedents import INFORMATIVE_TERMS
from keeplore.memory import Exchange
from keeplore.text.sentences import Sentence, answer_line, sentences
from keeplore.text.terms import count_terms, terms

LEAST = 2  # points from which a message answers a list by its numbers
LEAST_COUNTED = (
    3  # the same where the points have no numbers, or the lines no list's form
)
LONGEST = 30  # sentences; a longer message is a document
LONGEST_LINE = 300  # characters of a message that answers in a line
_NUMBER = re.compile(
    r"(?:\A|(?<=[\s,;.]))(?:(?:ad|to|for|on|zu|question|q)\s?)?#?(?P<number>\d{1,2})"
    r"\s?[.:=)–-]?\s+(?=\S)",
    re.IGNORECASE,
)

_NUMBERED_LINE = re.compile(
    r"^[ \t]*(?P<number>\d{1,2})[ \t]*[.:)–-]?[ \t]*(?P<text>[^\W\d].+)$", re.MULTILINE
)


def answers_by_number(message: str, before: Exchange) -> Iterator[str]:
    """What a message answers to numbered points that the agent asked about, each with its point."""
    for point, answer in _answered_points(message, before):
        text = answer.text
        if answer.is_question or says(text, "undecided"):
            continue
        if opens_with(text, "left_to_agent"):
            continue
        names_point = {*terms(point)} <= {*terms(text)}
        option = _option_of(point, text, before)
        yield text if names_point else answer_line(point, option or text)


def _option_of(point: str, answer: str, before: Exchange) -> str:
    """The option of a point that an answer names by its letter alone; "" for none."""
    letter = answer.strip(" .)").upper()
    reply = last_reply(before)
    place = next((n for n, s in enumerate(reply) if s.text == point), len(reply))
    under = takewhile(lambda s: not s.label.isdigit(), reply[place + 1 :])
    options = [s.text for s in under if s.label == letter and s.is_first]
    return options[0] if letter.isalpha() and options else ""


def undecided_points(message: str, before: Exchange) -> Iterator[str]:
    """The agent's numbered points to which a message answers that it does not know."""
    for point, answer in _answered_points(message, before):
        is_told = count_terms(point) >= INFORMATIVE_TERMS
        if is_told and opens_with(answer.text, "not_known"):
            yield point


def _answered_points(message: str, before: Exchange) -> Iterator[tuple[str, Sentence]]:
    """Each point that a message answers by its number, with the answer."""
    said = sentences(message)
    numbered = _numbered(said)
    if len(numbered) < LEAST:
        numbered = _in_lines(message) or _in_a_line(message)
    if len(numbered) < LEAST or len(said) > LONGEST:
        return
    points = _points_by_number(before) or _questions_in_order(before, numbered)
    if all(s.label in points for s in numbered):  # and no list of the person's own
        yield from ((points[answer.label], answer) for answer in numbered)


def _points_by_number(before: Exchange) -> Mapping[str, str]:
    """Number → point of the last numbered list of a reply that asks about it."""
    reply = last_reply(before)
    listed = _numbered(reply)
    under = [s for s in listed if s.heading == listed[-1].heading]
    is_asked = any(s.is_question for s in (*reply[-LAST_WORDS:], *under))
    return {s.label: s.text for s in under} if is_asked else {}


def _questions_in_order(
    before: Exchange, answers: Sequence[Sentence]
) -> Mapping[str, str]:
    """Number → question of a reply that has as many as there are answers, and numbers none."""
    asked = [s.text for s in last_reply(before) if s.is_question]
    if asked and opens_with(asked[-1], "offers_to"):
        asked.pop()  # "do you want it as a file?"
    counted = [str(n) for n in range(1, len(asked) + 1)]
    is_each = len(asked) >= LEAST_COUNTED and counted == [s.label for s in answers]
    return dict(zip(counted, asked, strict=True)) if is_each else {}


def _numbered(message: Sequence[Sentence]) -> list[Sentence]:
    return [s for s in message if s.label.isdigit() and s.is_first]


def _in_a_line(message: str) -> list[Sentence]:
    """The answers of a short message that begins with a number and goes on counting."""
    message = message.strip()
    if len(message) > LONGEST_LINE or not _NUMBER.match(message):
        return []
    found: list[re.Match[str]] = []
    for number in _NUMBER.finditer(message):
        if not found or int(number["number"]) == int(found[-1]["number"]) + 1:
            found.append(number)
    ends = [*(number.start() for number in found[1:]), len(message)]
    pairs = zip(found, ends, strict=True)
    answers = ((n["number"], sentences(message[n.end() : end])[:1]) for n, end in pairs)
    return [
        Sentence(said.text.strip(" ,;."), label=number)
        for number, first in answers
        for said in first
    ]


def _in_lines(message: str) -> list[Sentence]:
    """The answers of a message of which lines begin with 1, 2, 3 and so on, in any spelling: "5 -
    the clinic", "7-later".
    """
    found = [*_NUMBERED_LINE.finditer(message)]
    counted = [str(n) for n in range(1, len(found) + 1)]
    if len(found) < LEAST_COUNTED or [line["number"] for line in found] != counted:
        return []
    return [Sentence(line["text"].strip(), label=line["number"]) for line in found]
