"""What a person wants to be written into the files of rules for agents."""

import pytest

from keeplore.capture.notes.standing_orders import StandingOrder, standing_orders
from keeplore.text.sentences import sentences


def orders(message: str) -> list[StandingOrder]:
    return [*standing_orders(sentences(message))]


@pytest.mark.parametrize(
    ("said", "rule"),
    [
        (
            "Add a note to CLAUDE.md that you shouldn't push without asking the developer",
            "You shouldn't push without asking the developer",
        ),
        (
            "can you please put a rule into AGENTS.md: handlers never open a transaction",
            "Handlers never open a transaction",
        ),
        (
            "Add a note to CLAUDE to update the worklog when working on branches.",
            "Update the worklog when working on branches",
        ),
        (
            "Remind yourself in CLAUDE.md that every fix needs a failing test",
            "Every fix needs a failing test",
        ),
        (
            "update AGENTS.md to say that migrations are never edited after release",
            "Migrations are never edited after release",
        ),
        (
            "Add a comment to queries.py to never build SQL from strings.",
            "Never build SQL from strings",
        ),
        (
            "Prices are stored in cents - please add this to CLAUDE.md",
            "Prices are stored in cents",
        ),
    ],
)
def test_what_shall_stand_among_the_rules_for_agents_is_a_rule(
    said: str, rule: str
) -> None:
    assert orders(said) == [StandingOrder(rule, "rule", said)]


def test_a_sentence_that_is_handed_to_the_rules_by_the_next_one_is_a_rule() -> None:
    said = "Integration tests need Docker. Can you add this to CLAUDE.md?"
    rule = "Integration tests need Docker"
    assert orders(said) == [StandingOrder(rule, "rule", f"{rule}.")]


@pytest.mark.parametrize(
    "said",
    [
        "add this to CLAUDE.md",
        "It works now. Add that to CLAUDE.md",
        "Add a section to AGENTS.md to explain the build",
        "Add a note to AGENTS.md to describe the release",
        "Can you add a note to the readme that the server needs redis?",
        "Add a note to CLAUDE.md that we might want to use Rust",
        "Update AGENTS.md to reflect the new layout",
    ],
)
def test_what_says_nothing_by_itself_and_work_on_such_a_file_are_no_rules(
    said: str,
) -> None:
    assert orders(said) == []
