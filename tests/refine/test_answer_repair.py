"""What small models get wrong in the fields of an answer is put right."""

from __future__ import annotations

import pytest

from keeplore.refine.answers.answer_repair import (
    repaired_choice,
    repaired_fact,
    repaired_line,
    share_of,
    shortened,
    type_of,
)

LONG = "x" * 3_000


@pytest.mark.parametrize(
    ("said", "share"),
    [("0.9", 0.9), (" 90 % ", 0.9), ("1", 1.0), (0.5, 0.5), ("high", "high")],
)
def test_a_share_may_be_written_as_text(said: object, share: object) -> None:
    assert share_of(said) == share


@pytest.mark.parametrize(
    ("said", "category", "expected"),
    [
        (" Decision ", "", "decision"),
        ("nonsense", "Infrastructure", "fact"),
        (None, "security", "convention"),
        (None, 7, "fact"),
    ],
)
def test_a_type_is_as_it_was_said_or_that_of_the_category(
    said: object, category: object, expected: str
) -> None:
    assert type_of(said, category) == expected


def test_a_text_is_cut_behind_a_sentence_or_a_word() -> None:
    assert shortened("One. Two words", 14) == "One. Two words"
    assert shortened("One. Two words", 13) == "One."
    assert shortened("Two words more", 13) == "Two words"
    assert shortened(None, 3) is None


def test_a_fact_gets_what_it_lacks_and_loses_what_is_too_long() -> None:
    asked = {"type": None, "content": LONG, "span": LONG, "lasting": "80%", "x": None}
    assert repaired_fact(asked) == {
        "type": "fact",
        "content": "x" * 2_000,
        "span": "x" * 1_000,
        "confidence": 0.7,
        "lasting": 0.8,
    }
    assert repaired_fact({"confidence": "0.9"}) == {
        "type": "fact",
        "content": None,
        "span": None,
        "confidence": 0.9,
        "lasting": 0.0,
    }


def test_a_choice_likewise() -> None:
    asked = {"action": " update ", "content": LONG, "reason": LONG, "confidence": "1"}
    assert repaired_choice(asked) == {
        "action": "UPDATE",
        "content": "x" * 2_000,
        "reason": "x" * 500,
        "confidence": 1.0,
    }
    assert repaired_choice({"action": 7, "content": None}) == {
        "action": 7,
        "content": "",
        "reason": None,
        "confidence": 0.7,
    }


def test_a_line_of_a_digest_likewise() -> None:
    asked = {"part": " Open ", "content": LONG, "span": LONG}
    assert repaired_line(asked) == {
        "part": "open",
        "content": "x" * 400,
        "span": "x" * 1_000,
        "confidence": 0.7,
    }
