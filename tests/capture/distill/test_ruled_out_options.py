"""Options that a message names in order to rule them out."""

from __future__ import annotations

import pytest

from keeplore.capture.distill.decisions import decisions
from keeplore.memory import Exchange

AT = "2026-02-09T14:03:11Z"
OPTIONS = """Two ways:

1. Redis with RQ: quick, one more server.
2. Postgres with SKIP LOCKED: nothing new to run.

Which do you prefer?"""


@pytest.mark.parametrize(
    ("message", "made"),
    [
        ("2 won't work", ["Which do you prefer? → 2 won't work"]),
        ("2 is out", ["Which do you prefer? → 2 is out"]),
        (
            "the second option won't work",
            ["Which do you prefer? → the second option won't work"],
        ),
        ("Redis: no", ["Which do you prefer? → Redis: no"]),
        ("Redis, no way", ["Which do you prefer? → Redis, no way"]),
        ("anything but redis", ["Which do you prefer? → anything but redis"]),
        (
            "Redis for dev, Postgres for prod",
            ["Redis for dev, Postgres for prod"],
        ),
        ("2 questions", ["Which do you prefer? → 2 questions"]),
        ("first, run the tests", []),
        ("you choose", []),
    ],
)
def test_what_speaks_against_an_option_picks_none(
    message: str, made: list[str]
) -> None:
    talk = [
        Exchange("t-0", AT, "We need a job queue for the invoices.", (OPTIONS,)),
        Exchange("t-1", AT, message, ("Done.",)),
    ]
    assert [one.quote.text for one in decisions(talk)] == made
