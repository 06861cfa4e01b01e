"""What a message answers to the question that ends the reply before it."""

from __future__ import annotations

import pytest

from keeplore.capture.distill.decisions import decisions
from keeplore.memory import Exchange, Quote

AT = "2026-02-09T14:03:11Z"
KEEP = "How long do you want to keep the firing logs?"


def decided(asked: str, message: str, reply: str = "Done.") -> list[Quote]:
    exchanges = [
        Exchange("t-0", AT, "The kiln log is a mess.", (f"I tidied it. {asked}",)),
        Exchange("t-1", AT, message, (reply,)),
    ]
    return [one.quote for one in decisions(exchanges)]


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        (KEEP, "logs of this kiln for a year, the rest a month"),
        (KEEP, "90 days, after that the monthly mean"),
        ("Should the log page need a login?", "no login inside"),
        ("Do you want confirmed firings?", "nope. a lost one is fine"),
        ("Should Ida get the alarm as well?", "Only if I don't answer."),
        ("And what if a shelf is logged twice?", "the shelf counts once"),
    ],
)
def test_an_answer_stands_behind_its_question(asked: str, answer: str) -> None:
    assert decided(asked, answer) == [Quote(f"{asked} → {answer}", "user", "t-1")]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (KEEP, "why is the glaze so thick?"),
        (KEEP, "dunno yet"),
        (KEEP, "a year of logs, I think"),
        (KEEP, "show me the shelves"),
        (KEEP, "first tell me what it costs"),
        (KEEP, "hold on, explain the plug again"),
        ("Should I commit the logs?", "no"),
        ("Is the log of the red kiln complete?", "yes, the red one is there"),
        (
            "Can you look at the plug and tell me what it should read?",
            "the plug reads 3",
        ),
    ],
)
def test_what_is_no_answer_or_tells_how_things_are_decides_nothing(
    asked: str, message: str
) -> None:
    assert decided(asked, message) == []


def test_a_long_message_answers_with_its_first_sentence() -> None:
    first = "keep the logs for a year"
    more = (
        "the shelf of the red kiln has a crack that goes from the door to the plug " * 2
    )
    assert [one.text for one in decided(KEEP, f"{first}. {more}")] == [
        f"{KEEP} → {first}."
    ]
