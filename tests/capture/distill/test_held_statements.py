"""The statements of a conversation that answers are made of."""

from __future__ import annotations

import pytest

from keeplore.capture.distill.held_statements import held_statements
from keeplore.memory import Conversation, Exchange, Quote

EXCHANGES = (
    Exchange(
        "a",
        "2026-03-01T10:00:00Z",
        "We go with Postgres for the queue. Why does the export drop rows?",
        (
            "## Cause\n\nLet me look at the writer.",
            "The export drops rows because the encoding of dates is wrong. Two reasons:",
        ),
    ),
    Exchange(
        "b",
        "2026-03-01T10:05:00Z",
        "no, the export of dates still drops rows",
        ("The filter runs before the `id` is set.",),
    ),
)
DECISION = Quote("We go with Postgres for the queue.", "user", "a")


def test_what_holds_is_told_with_its_turn_and_message_and_nothing_that_was_rejected() -> (
    None
):
    talk = Conversation("Exports", EXCHANGES, decision=(DECISION,))
    held = held_statements(talk)
    assert [(s.text, s.turn, s.message, s.is_decision) for s in held] == [
        (DECISION.text, "a", 0, True),
        ("Why does the export drop rows?", "a", 0, False),
        ("no, the export of dates still drops rows", "b", 3, False),
        ("The filter runs before the `id` is set.", "b", 4, False),
    ]
    assert not any(s.is_pasted for s in held)


def test_an_item_has_its_heading_and_the_line_that_introduces_its_list() -> None:
    reply = (
        "## Hook names\n\nThey cannot be merged because:\n\n- each agent names them its own way\n"
        "- the settings expect them\n\nThat's why the parser maps them."
    )
    exchange = Exchange("a", "2026-03-01T10:00:00Z", "Can they be merged?", (reply,))
    held = held_statements(Conversation("Hooks", (exchange,)))
    lead = "They cannot be merged because:"
    told = [(s.text, s.heading, s.lead, s.points_back) for s in held]
    assert told == [
        ("Can they be merged?", "", "", False),
        ("each agent names them its own way", "Hook names", lead, False),
        ("the settings expect them", "Hook names", lead, False),
        ("That's why the parser maps them.", "Hook names", "", True),
    ]
    assert held[2].in_context == f"Hook names {lead} the settings expect them"


def test_a_conversation_without_exchanges_holds_nothing() -> None:
    assert held_statements(Conversation("Exports", ())) == ()


def test_what_the_agent_asked_is_told_with_its_answer_whatever_that_settles() -> None:
    asked = "What is the timeout of the payment provider?"
    exchanges = (
        Exchange("a", "2026-03-01T10:00:00Z", "Retry the payment", (asked,)),
        Exchange("b", "2026-03-01T10:05:00Z", "40s", ("Then I retry after 45 s.",)),
    )
    held = held_statements(Conversation("Retries", exchanges))
    assert [(s.text, s.turn, s.is_decision) for s in held] == [
        ("Retry the payment", "a", False),
        (asked, "a", False),
        ("Then I retry after 45 s.", "b", False),
        (f"{asked} → 40s", "b", False),
    ]


def test_an_answer_that_the_head_tells_is_told_once() -> None:
    asked = "Which queue should it be?"
    exchanges = (
        Exchange("a", "2026-03-01T10:00:00Z", "Retry the payment", (asked,)),
        Exchange("b", "2026-03-01T10:05:00Z", "the one in Postgres", ("Done.",)),
    )
    line = Quote(f"{asked} → the one in Postgres", "user", "b")
    held = held_statements(Conversation("Retries", exchanges, decision=(line,)))
    assert [s.text for s in held] == ["Retry the payment", asked, "Done.", line.text]


def test_what_only_waits_to_hear_what_else_is_wanted_answers_nothing() -> None:
    reply = (
        "The watcher is fixed. If you want the watcher to do more, just let me know!"
    )
    asked = "Tell me why the watcher stops."
    talk = Conversation(
        "Watcher", (Exchange("a", "2026-03-01T10:00:00Z", asked, (reply,)),)
    )
    told = [statement.text for statement in held_statements(talk)]
    assert told == [asked, "The watcher is fixed."]


@pytest.mark.parametrize(
    "idle",
    [
        "Good catch - let me clarify.",
        "Ah, I see the issue!",
        "Good, I now understand the full picture.",
        "You raise a good point.",
        "Wait, that's not right either.",
        "Have a great day and bye byez!",
        "You're all set",
    ],
)
def test_what_the_agent_only_takes_in_is_not_told(idle: str) -> None:
    said = (idle, "The export reads the table `orders_2019`.")
    exchange = Exchange("a", "2026-03-01T10:00:00Z", "Orders are missing.", said)
    told = [s.text for s in held_statements(Conversation("Orders", (exchange,)))]
    assert told == ["Orders are missing.", "The export reads the table `orders_2019`."]


@pytest.mark.parametrize(
    "telling",
    [
        "I see the issue: the export reads the old table.",
        "Good point about the rows that were deleted.",
        "I understand the export as a copy of the table.",
        "You're all set: the export runs at 02:00.",
    ],
)
def test_what_says_what_was_seen_is_told(telling: str) -> None:
    exchange = Exchange("a", "2026-03-01T10:00:00Z", "Rows are missing.", (telling,))
    told = [s.text for s in held_statements(Conversation("Orders", (exchange,)))]
    assert told == ["Rows are missing.", telling]


def test_that_all_is_ready_but_for_something_is_no_good_bye() -> None:
    said = "Everything is in place, only the migration of the orders is missing."
    exchange = Exchange("a", "2026-03-01T10:00:00Z", said, ("The migration is long.",))
    told = [s.text for s in held_statements(Conversation("Orders", (exchange,)))]
    assert told == [said, "The migration is long."]


def test_a_file_that_is_shown_is_not_told_and_a_link_is() -> None:
    message = "@/home/ann/shop/terminals/2.txt:10-20\n\nhttps://git.example/shop"
    exchange = Exchange("a", "2026-03-01T10:00:00Z", message, ("I see a seed run.",))
    told = [s.text for s in held_statements(Conversation("Shop", (exchange,)))]
    assert told == ["https://git.example/shop", "I see a seed run."]
