"""Times that are named by what happened then."""

from __future__ import annotations

from datetime import date

import pytest

from keeplore.text.times.event_expressions import event_in


@pytest.mark.parametrize(
    ("question", "event", "first", "last"),
    [
        (
            "what did we decide since the release?",
            "the release",
            "2026-04-10",
            "2026-05-13",
        ),
        (
            "what have we changed after our migration",
            "our migration",
            "2026-04-10",
            "2026-05-13",
        ),
        (
            "before we moved to pnpm, what did we use?",
            "we moved to pnpm",
            "",
            "2026-04-10",
        ),
        (
            "what broke the week after the migration? it was red",
            "the migration",
            "2026-04-10",
            "2026-04-17",
        ),
        (
            "which bugs were open the day before the launch",
            "the launch",
            "2026-04-09",
            "2026-04-10",
        ),
        (
            "what was slow before you added the GIN index?",
            "you added the GIN index",
            "",
            "2026-04-10",
        ),
        (
            "what has been said since the outage of db7?",
            "the outage of db7",
            "2026-04-10",
            "2026-05-13",
        ),
        (
            "in the month after the audit, who was on call?",
            "the audit",
            "2026-04-10",
            "2026-05-10",
        ),
        (
            "why was CI red right after the Node upgrade",
            "the Node upgrade",
            "2026-04-10",
            "2026-05-13",
        ),
        (
            "what happened since I left the team?",
            "I left the team",
            "2026-04-10",
            "2026-05-13",
        ),
    ],
)
def test_a_time_is_named_by_an_event(
    question: str, event: str, first: str, last: str
) -> None:
    found = event_in(question)
    assert found is not None
    named = (found.event, *found.around(date(2026, 4, 10), date(2026, 5, 13)))
    assert named == (event, first, last)


@pytest.mark.parametrize(
    "question",
    [
        "what runs before the merge?",
        "close the file after the loop",
        "does the hook fire before we commit?",
        "since the list is empty, skip it",
        "call flush() after you write",
        "what was decided in March?",
        "which step comes after the build?",
        "put a comma after the brace",
        "look before you leap",
        "never push before the tests are green",
    ],
)
def test_an_order_of_steps_is_no_time(question: str) -> None:
    assert event_in(question) is None
