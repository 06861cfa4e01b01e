"""A plan that the agent writes in the chat: what is decided by it, and what it is no outcome of."""

from __future__ import annotations

import pytest

from keeplore.capture.distill.distiller import distill
from keeplore.memory import Exchange

PLAN = """I looked at the importer.

## Refactoring Plan: importer

### Overview
I'll move the importer out of `main.py`.

### Module Design
- **Readers**: One class for each file format, `CsvReader` and `JsonReader`
- **Errors**: Collect the errors of all rows and raise them once

### Benefits
- Better testability of the readers without a database
- Removes some 200 lines from `main.py`

## Questions

1. Should the readers be generators?
2. Where should the tests stand?"""
ANSWERS = "1. generators\n2. in tests/readers\n\n"
DESIGN = [
    "Readers: One class for each file format, `CsvReader` and `JsonReader`",
    "Errors: Collect the errors of all rows and raise them once",
]
REPORT = "I moved the importer to `importer/` and added nine tests for its readers."


def heads(*said: tuple[str, str]) -> dict[str, list[str]]:
    exchanges = [
        Exchange(f"t-{n}", "2026-02-09T14:03:11Z", user, (reply,))
        for n, (user, reply) in enumerate(said)
    ]
    return {
        name: [quote.text for quote in quotes]
        for name, quotes in distill(exchanges).items()
    }


@pytest.mark.parametrize(
    "begins",
    [
        "Let's go!",
        "go ahead",
        "please proceed",
        "ok, implement the plan",
        "proceed with the implementation",
        "start with phase 1",
        "go, and thanks",
    ],
)
def test_its_design_is_decided_where_the_person_lets_the_agent_begin(
    begins: str,
) -> None:
    head = heads(("main.py is too long", PLAN), (ANSWERS + begins, REPORT))
    assert [line for line in head["also_decided"] if line in DESIGN] == DESIGN


@pytest.mark.parametrize(
    "goes_on",
    [
        "Should we begin today?",
        "No, one reader for all formats. Let's go!",
        "What would the readers return?",
        "start the dev server",
        "start by telling me the risks",
        "start with the tests of the exporter",
        "proceed once I have checked the budget",
        "go to the settings page and look",
        "Go is the language of the importer",
        "Go, but leave the JSON format out",
    ],
)
def test_it_is_not_where_they_ask_or_want_it_otherwise(goes_on: str) -> None:
    head = heads(("main.py is too long", PLAN), (goes_on, REPORT))
    decided = head["decision"] + head["also_decided"]
    assert [line for line in decided if line in DESIGN] == []


@pytest.mark.parametrize(
    "heading",
    ["Current architecture", "Existing Schema", "Rejected approach", "Open decisions"],
)
def test_what_is_there_already_or_was_not_chosen_is_not(heading: str) -> None:
    plan = PLAN.replace("Module Design", heading)
    head = heads(("main.py is too long", plan), ("go ahead", REPORT))
    decided = head["decision"] + head["also_decided"]
    assert [line for line in decided if line in DESIGN] == []


def test_what_it_hopes_for_is_no_outcome_once_the_work_was_done() -> None:
    head = heads(("main.py is too long", PLAN), (ANSWERS + "Let's go!", REPORT))
    assert head["outcome"] == [REPORT]


def test_where_it_is_the_last_word_it_is_told() -> None:
    [*told] = heads(("main.py is too long", PLAN))["outcome"]
    assert "Removes some 200 lines from `main.py`" in told


def test_decisions_below_a_heading_with_more_than_one_word_before_it_are_told() -> None:
    plan = """## How it will work

### Key Design Decisions

1. **Debounce time**: 1000 ms, which balances speed against a steady picture
2. **No sensor**: log it and go on with the usual rotation

Should I begin with the sketch?"""
    head = heads(("turn the picture with the device", plan), ("sure", "It is there."))
    assert head["decision"] + head["also_decided"] == [
        "Debounce time: 1000 ms, which balances speed against a steady picture",
        "No sensor: log it and go on with the usual rotation",
    ]
