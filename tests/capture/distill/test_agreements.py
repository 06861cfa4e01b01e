"""What a yes agrees to."""

from __future__ import annotations

import pytest

from keeplore.capture.distill.decisions import decisions
from keeplore.memory import Exchange, Quote

AT = "2026-02-09T14:03:11Z"
OFFER = "Shall I move the sessions into Redis?"
TABLES = ("sessions", "invoices", "tickets", "photos", "orders")


def decided(*said: tuple[str, str]) -> list[Quote]:
    exchanges = [
        Exchange(f"t-{n}", AT, user, (reply,)) for n, (user, reply) in enumerate(said)
    ]
    return [one.quote for one in decisions(exchanges)]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("yes please do it right now", f"{OFFER} → yes please do it right now"),
        ("yes please do it right now today", ""),
    ],
    ids=["five words", "six words"],
)
def test_behind_a_yes_to_an_offer_stand_five_words_at_most(
    answer: str, expected: str
) -> None:
    made = decided(
        ("sessions are lost", f"The cache is full. {OFFER}"), (answer, "Ok.")
    )
    assert made == ([Quote(expected, "user", "t-1")] if expected else [])


def test_of_a_proposal_the_first_four_points_are_agreed_to() -> None:
    points = [f"Put the {name} into Postgres tables" for name in TABLES]
    listed = "\n".join(f"- {point}" for point in points)
    plan = f"I propose this plan:\n\n{listed}\n\nShall I do that?"
    made = decided(("go", plan), ("yes", "Done."))
    assert made == [Quote(point, "assistant", "t-0") for point in points[:4]]


@pytest.mark.parametrize(
    ("advice", "expected"),
    [
        ("I recommend option 2.", "Move the sessions to Postgres"),
        (
            "I recommend option 2, which needs no second backup, login and alarm.",
            "I recommend option 2, which needs no second backup, login and alarm.",
        ),
    ],
)
def test_advice_that_says_more_than_an_options_number_keeps_its_words(
    advice: str, expected: str
) -> None:
    ways = "1. Keep Redis for the sessions\n2. Move the sessions to Postgres"
    reply = f"There are two ways:\n\n{ways}\n\n{advice} Shall I?"
    [made] = decided(("sessions are lost", reply), ("yes", "Done."))
    assert made.text == expected
