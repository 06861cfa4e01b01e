"""What becomes a decision of what a person agreed to: whose words it is, and what it was picked of."""

from __future__ import annotations

import pytest

from keeplore.capture.distill.agreements.agreed import Agreed, AgreedKind
from keeplore.capture.distill.choices.choice import Choice
from keeplore.capture.distill.decisions import PICKED, _agreed_decision
from keeplore.capture.distill.standing_decisions import CONFIRMED

CHOICE = Choice("Which queue do we take?", ("Redis streams", "Postgres"))


@pytest.mark.parametrize(
    ("kind", "weight", "words", "has_choice"),
    [
        (AgreedKind.PICK, PICKED, "Which queue do we take? → Redis streams", True),
        (
            AgreedKind.OTHER_PICK,
            PICKED,
            "Which queue do we take? → Redis streams",
            True,
        ),
        (AgreedKind.NAMED, CONFIRMED, "Which queue do we take? → Redis streams", True),
        (AgreedKind.ANSWERED_OFFER, CONFIRMED, "Redis streams", True),
        (AgreedKind.AMENDED, CONFIRMED, "Redis streams", True),
        (AgreedKind.NEW_VALUE, CONFIRMED, "Redis streams", False),
    ],
)
def test_what_a_person_picked_or_changed_is_theirs(
    kind: AgreedKind, weight: float, words: str, has_choice: bool
) -> None:
    decision = _agreed_decision(Agreed("Redis streams", kind, CHOICE), "t2", "t1", 7)
    quote = decision.quote
    assert (quote.text, quote.speaker, quote.turn) == (words, "user", "t2")
    assert (decision.weight, decision.at) == (weight, 7)
    assert decision.choice == (CHOICE if has_choice else None)
    assert decision.is_new_value is (kind is AgreedKind.NEW_VALUE)


@pytest.mark.parametrize("kind", [AgreedKind.PROPOSAL, AgreedKind.OFFER])
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I take Redis streams:", "I take Redis streams"),
        ("I take Redis streams：", "I take Redis streams"),
        ("I take Redis streams.", "I take Redis streams."),
    ],
)
def test_what_was_proposed_stays_the_agents_of_the_turn_before(
    kind: AgreedKind, text: str, words: str
) -> None:
    decision = _agreed_decision(Agreed(text, kind), "t2", "t1", 7)
    quote = decision.quote
    assert (quote.text, quote.speaker, quote.turn) == (words, "assistant", "t1")
    assert (decision.weight, decision.at, decision.choice) == (CONFIRMED, 6, None)


@pytest.mark.parametrize(
    ("option", "is_of_option"), [("Redis streams", True), ("Redis", False)]
)
def test_a_pick_of_several_words_is_about_these_and_of_one_about_its_question(
    option: str, is_of_option: bool
) -> None:
    agreed = Agreed(option, AgreedKind.PICK, CHOICE)
    decision = _agreed_decision(agreed, "t2", "t1", 7)
    assert ("queu" in decision.terms) is not is_of_option
