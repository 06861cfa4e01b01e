"""Answers to the agent's numbered questions, in a list or in a line."""

from __future__ import annotations

import pytest

from keeplore.capture.distill.numbered_answers import (
    answers_by_number,
    undecided_points,
)
from keeplore.memory import Exchange

CAPTURE = "Capture at booking or at departure?"
SMALL = "Should bookings under 50 kr go through Nets at all?"
ASKED = f"The client is thin. Two questions:\n\n1. {CAPTURE}\n2. {SMALL}"
BOTH = [f"{CAPTURE} → at booking", f"{SMALL} → yes all of it"]


def exchange(reply: str) -> Exchange:
    return Exchange("t0", "2026-03-01T10:00:00Z", "Card payments.", (reply,))


@pytest.mark.parametrize(
    "message",
    [
        "1 at booking. 2 yes all of it",
        "1) at booking, 2) yes all of it",
        "1: at booking\n2: yes all of it",
        "1. at booking\n2. yes all of it",
        "ad 1: at booking. ad 2: yes all of it. btw can you check the logs?",
    ],
)
def test_each_answer_stands_behind_its_question(message: str) -> None:
    assert list(answers_by_number(message, exchange(ASKED))) == BOTH


@pytest.mark.parametrize(
    "message",
    [
        "1 at departure",
        "2 workers, 4 threads",
        "at booking, and 2 yes",
        "1 at booking. 2 yes all of it. 3 later",
        "1 " + "very " * 80 + "late. 2 yes",
        "",
    ],
)
def test_what_does_not_count_along_the_questions_answers_none(message: str) -> None:
    assert list(answers_by_number(message, exchange(ASKED))) == []


def test_answers_in_a_line_have_300_characters_at_most() -> None:
    line = "1 at booking. 2 yes "
    long = [f"{line:v<{length}}" for length in (300, 301)]
    told = [len([*answers_by_number(one, exchange(ASKED))]) for one in long]
    assert told == [2, 0]


def test_answers_in_a_list_stand_among_30_sentences_at_most() -> None:
    answers = "1. at booking\n2. yes all of it\n\n"
    long = [answers + "The logs are long.\n\n" * count for count in (28, 29)]
    told = [[*answers_by_number(one, exchange(ASKED))] for one in long]
    assert told == [BOTH, []]


def test_a_list_that_asks_nothing_is_not_answered() -> None:
    told = exchange(
        "I did two things:\n\n1. The client is thin.\n2. The queue is gone."
    )
    assert list(answers_by_number("1 at booking. 2 yes", told)) == []


def test_what_is_not_known_stays_open_and_is_no_answer() -> None:
    message = "1 at booking. 2 no idea"
    assert list(answers_by_number(message, exchange(ASKED))) == BOTH[:1]
    assert list(undecided_points(message, exchange(ASKED))) == [SMALL]


def test_hostile_text_takes_no_time() -> None:
    for message in ("1 " * 150, "1 2 " * 75, "1" * 300, ". 1 " * 100_000):
        assert list(answers_by_number(message, exchange(ASKED))) == []


ASKED_IN_WORDS = (
    "Before I write it:\n"
    "Overbooking. May two patients have one slot?\n"
    "Length. Is it fixed, or does it depend on the treatment?\n"
    "Reminders. Are they part of the first phase?\n\n"
    "Want me to leave it as a file?"
)


@pytest.mark.parametrize(
    "message",
    [
        "1 only the staff may do that\n2 - fixed for each doctor\n3-later",
        "1. only the staff may do that\n2. fixed for each doctor\n3. later",
    ],
)
def test_questions_without_numbers_are_answered_in_their_order(message: str) -> None:
    before = Exchange("t-0", "2026-02-09T14:03:11Z", "a plan", (ASKED_IN_WORDS,))
    assert [*answers_by_number(message, before)] == [
        "May two patients have one slot? → only the staff may do that",
        "Is it fixed, or does it depend on the treatment? → fixed for each doctor",
        "Are they part of the first phase? → later",
    ]


@pytest.mark.parametrize(
    "message",
    [
        "1 only the staff\n2 fixed",  # fewer than were asked
        "1 add the slots\n2 fix the length\n3 write the mail\n4 run it",
        "2 only the staff\n3 fixed\n4 later",
    ],
)
def test_other_counts_answer_no_questions_without_numbers(message: str) -> None:
    before = Exchange("t-0", "2026-02-09T14:03:11Z", "a plan", (ASKED_IN_WORDS,))
    assert [*answers_by_number(message, before)] == []
