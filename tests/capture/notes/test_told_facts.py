"""Facts that a person tells in passing, which are noted, and what sounds alike and passes."""

from __future__ import annotations

import pytest

from keeplore.capture.notes.note_candidates import AUTOMATIC, candidates
from keeplore.memory import Exchange

AT = "2026-02-09T14:03:11Z"


def written(said: str) -> list[tuple[str, str]]:
    """The text and category of each note that is written unasked."""
    talk = [
        Exchange("t-0", AT, "Fix the invoices page", ("Done.",)),
        Exchange("t-1", AT, said, ("Noted.",)),
    ]
    found = candidates(talk)
    return [(one.text, one.category) for one in found if one.confidence >= AUTOMATIC]


@pytest.mark.parametrize(
    ("said", "text", "category"),
    [
        (
            "fyi the staging db is on db7",
            "The staging db is on db7",
            "infrastructure",
        ),
        (
            "keep in mind that the export is monthly",
            "The export is monthly",
            "architectural-decisions",
        ),
        (
            "amounts are stored as integer cents, then run the tests",
            "Amounts are stored as integer cents",
            "project-conventions",
        ),
        (
            "Important to keep in mind: we do not want the client to parse the payload.",
            "We do not want the client to parse the payload.",
            "architectural-decisions",
        ),
        (
            "we don't want each app to have its own lock file.",
            "We don't want each app to have its own lock file.",
            "architectural-decisions",
        ),
        (
            "We want a single lock file for the workspace",
            "We want a single lock file for the workspace",
            "architectural-decisions",
        ),
        (
            "I usually update the schema first and then update the code that uses it",
            "I usually update the schema first and then update the code that uses it",
            "coding-preferences",
        ),
        (
            "plus: we never commit generated files",
            "We never commit generated files",
            "project-conventions",
        ),
        ("we deploy on Fridays", "We deploy on Fridays", "project-conventions"),
        ("this repo uses poetry", "This repo uses poetry", "project-conventions"),
        (
            "don't touch legacy/, it's generated",
            "Don't touch legacy/, it's generated",
            "project-conventions",
        ),
        (
            "generated files are in gen/, don't edit them",
            "Generated files are in gen/, don't edit them",
            "project-conventions",
        ),
        (
            "our prod secrets are in vault",
            "Our prod secrets are in vault",
            "infrastructure",
        ),
        (
            "our fiscal year starts in April",
            "Our fiscal year starts in April",
            "infrastructure",
        ),
        (
            "the docs live in a separate repo",
            "The docs live in a separate repo",
            "infrastructure",
        ),
        (
            "the release is every second Tuesday",
            "The release is every second Tuesday",
            "infrastructure",
        ),
        (
            "Max owns the billing service",
            "Max owns the billing service",
            "infrastructure",
        ),
        (
            "ask Max before touching billing",
            "Ask Max before touching billing",
            "infrastructure",
        ),
        (
            "the tests need docker running",
            "The tests need docker running",
            "gotchas",
        ),
        (
            "the old API is deprecated and goes away in June",
            "The old API is deprecated and goes away in June",
            "architectural-decisions",
        ),
        (
            "we can't use Redis in prod, the security team forbids it",
            "We can't use Redis in prod, the security team forbids it",
            "architectural-decisions",
        ),
        ("users can have several roles", "Users can have several roles", "patterns"),
        (
            "the company name is written ACME Corp., with a dot",
            "The company name is written ACME Corp., with a dot",
            "patterns",
        ),
        ("I'm on Windows", "I'm on Windows", "user-facts"),
        (
            "port 8080 is taken on my machine, use 8081",
            "Port 8080 is taken on my machine, use 8081",
            "user-facts",
        ),
    ],
)
def test_a_fact_told_in_passing_is_noted(said: str, text: str, category: str) -> None:
    assert written(said) == [(text, category)]


@pytest.mark.parametrize(
    "said",
    [
        "fyi the build is broken",
        "fyi I pushed the branch",
        "just so you know the tests are red",
        "keep in mind that the demo is tomorrow",
        "this app uses too much memory",
        "the app needs a dark mode",
        "the docs are in the wrong folder, move them",
        "our login page is in a weird state",
        "we moved the button from left to right",
        "the old function is deprecated, remove it",
        "is the API deprecated?",
        "we can't use this",
        "we can't run the tests",
        "don't touch it, it's fine",
        "don't change the header, it's ok now",
        "users can have several carts open which breaks checkout",
        "the name is written Twice on the page",
        "ask the user for the path",
        "the button is on my screen but not on his",
    ],
)
def test_what_is_so_just_now_is_not(said: str) -> None:
    assert written(said) == []


def test_a_refusal_is_titled_by_itself_and_noted_once() -> None:
    offer = "The schema changed. I can fix the SQL, or let Room drop the tables."
    refusal = "no dropping please, people have their sheets in it"
    talk = [
        Exchange("t-0", AT, "the app crashes on update", (offer,)),
        Exchange("t-1", AT, refusal, ("Then I'll fix the SQL.",)),
    ]
    [found] = candidates(talk)
    proposal = "I can fix the SQL, or let Room drop the tables."
    title = (
        "I can fix the SQL, or let Room drop… → no dropping please, people have their…"
    )
    assert (found.title, found.text) == (title, f"{proposal} → {refusal}")


@pytest.mark.parametrize("lead", ["", "Plus ", "and "])
def test_work_that_is_still_to_be_done_is_no_note(lead: str) -> None:
    need = "we need to update the loader since the server expects the old layout"
    assert written(f"{lead}{need}") == []
