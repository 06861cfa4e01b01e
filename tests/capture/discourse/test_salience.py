"""How much a statement tells, and how surely it says how a thing shall be."""

from __future__ import annotations

from itertools import pairwise

import pytest

from keeplore.capture.discourse.salience import (
    DIRECTS,
    directive_odds,
    salience,
)
from keeplore.capture.discourse.statements import statements_of
from keeplore.memory import Exchange

AT = "2026-03-01T10:00:00Z"


def test_a_finding_tells_more_than_an_announcement_and_the_last_answer_most() -> None:
    finding = (
        "The importer drops rows whose `id` is empty because the filter runs first."
    )
    exchanges = [
        Exchange("a", AT, "look into it", ("Let me check the importer.", finding)),
        Exchange("b", AT, "and now?", (finding,)),
    ]
    found = statements_of(exchanges)
    odds = {n: salience(s, len(exchanges)) for n, s in enumerate(found)}
    # the announcement, the finding on the way, the finding that the conversation ends with
    assert all(less < more for less, more in pairwise((odds[1], odds[2], odds[4])))


@pytest.mark.parametrize(
    "text",
    [
        "please replace them with a single link to the combined page",
        "I want the list sorted by date, never by name",
        "the config file should stay in TOML format",
    ],
)
def test_how_a_thing_shall_be_is_a_directive(text: str) -> None:
    (statement,) = statements_of([Exchange("a", AT, text)])
    assert directive_odds(statement) >= DIRECTS


@pytest.mark.parametrize(
    "text",
    [
        "run the tests again and push the branch",
        "please commit and push the changes when the review is through",
        "there is an error in the log of the worker",
    ],
)
def test_work_of_the_day_is_none(text: str) -> None:
    (statement,) = statements_of([Exchange("a", AT, text)])
    assert directive_odds(statement) < DIRECTS
