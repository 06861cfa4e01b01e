"""A letter that is all that a person says takes the option of that letter."""

from __future__ import annotations

import pytest

from keeplore.capture.distill.decisions import decisions
from keeplore.memory import Exchange

AT = "2026-02-09T14:03:11Z"
ASKED = "Where do we keep the photos?"
OPTIONS = """Three ways:

A) in the database
B) in an S3 bucket with signed links
C) on the server's disk

Which do you want?"""
TAKEN = f"{ASKED} → in an S3 bucket with signed links"
OTHERS = """Two ways for the thumbnails:

A) made at upload, by a job
B) made on demand, by a proxy
"""


def told(*said: tuple[str, str]) -> list[tuple[str, str]]:
    talk = [
        Exchange(f"t-{n}", AT, user, (reply,)) for n, (user, reply) in enumerate(said)
    ]
    return [(d.quote.text, d.quote.turn) for d in decisions(talk)]


@pytest.mark.parametrize(
    "answer",
    [
        "ok thats acceptable. then B",
        "Fine with me. So option B.",
    ],
)
def test_behind_a_sentence_that_only_receives_the_reply(answer: str) -> None:
    assert told((ASKED, OPTIONS), (answer, "Done.")) == [(TAKEN, "t-1")]


@pytest.mark.parametrize("answer", ["B", "wow ok. B", "ok that is cheap. then B"])
def test_some_exchanges_after_the_options(answer: str) -> None:
    between = ("what does B cost?", "About 3 euro a month.")
    assert told((ASKED, OPTIONS), between, (answer, "Done.")) == [(TAKEN, "t-2")]
    far = [between] * 4
    assert told((ASKED, OPTIONS), *far, (answer, "Done.")) == []


@pytest.mark.parametrize(("count", "turns"), [(3, ["t-4"]), (4, [])])
def test_three_exchanges_may_lie_between_options_and_their_letter(
    count: int, turns: list[str]
) -> None:
    between = [("what does B cost?", "About 3 euro a month.")] * count
    found = told((ASKED, OPTIONS), *between, ("wow ok. B", "Done."))
    assert [turn for _, turn in found] == turns


def test_of_the_latest_choice_between_letters() -> None:
    said = told((ASKED, OPTIONS), ("and thumbnails?", OTHERS), ("hm, ok. B", "Done."))
    assert said == [("made on demand, by a proxy", "t-2")]
    # of a choice that was not put between it there is none
    assert (
        told((ASKED, OPTIONS), ("and thumbnails?", OTHERS), ("fine. C", "Done.")) == []
    )


@pytest.mark.parametrize(
    "answer",
    [
        "hm. not B",
        "Why B?",
        "it got a B. nice work",
        "Vitamin B",
        "ok. D",
        "thanks. B?",
    ],
)
def test_other_words_around_the_letter_take_nothing(answer: str) -> None:
    between = ("what does B cost?", "About 3 euro a month.")
    assert told((ASKED, OPTIONS), between, (answer, "Done.")) == []


@pytest.mark.parametrize("said", ["go with option1", "go with optionB", "use fix3"])
def test_a_label_without_a_space_is_a_label(said: str) -> None:
    assert told(("keep drafts", "Which way do you prefer?"), (said, "Done.")) == []


@pytest.mark.parametrize(
    ("question", "said", "expected"),
    [
        ("Strategy A with a table, or B with a file?", "go with strategy b", True),
        ("Should I use a queue?", "go with option a", False),
    ],
)
def test_a_label_is_looked_for_in_the_question_as_one(
    question: str, said: str, expected: bool
) -> None:
    lines = [line for line, _ in told(("keep drafts", question), (said, "Done."))]
    assert (f"{question} → {said}" in lines) is expected
