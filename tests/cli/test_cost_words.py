"""What ``keeplore cost`` says beside its table, word for word."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from keeplore.cli.commands.tidy import cost_
from keeplore.jobs import JobCount, JobState

NOW = datetime(2026, 2, 9, 14, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("state", "jobs", "in_s", "told"),
    [
        (
            JobState.WAITING,
            1,
            60,
            "1 job (refine) waits until 2026-02-09 14:01 UTC: no",
        ),
        (
            JobState.WAITING,
            2,
            60,
            "2 jobs (refine) wait until 2026-02-09 14:01 UTC: no",
        ),
        (JobState.WAITING, 2, 0, ""),
        (JobState.LEASED, 1, 60, ""),
        (JobState.DEAD, 1, 0, "1 job (refine) was given up, the first because: no"),
        (JobState.DEAD, 2, 60, "2 jobs (refine) were given up, the first because: no"),
    ],
)
def test_jobs_that_wait_or_were_given_up_are_counted(
    capsys: pytest.CaptureFixture[str],
    state: JobState,
    jobs: int,
    in_s: int,
    told: str,
) -> None:
    due = NOW + timedelta(seconds=in_s)
    cost_._note_waiting(JobCount("refine", state, jobs, due, "no"), NOW)
    assert capsys.readouterr().err == (f"note: {told}\n" if told else "")


def test_what_is_spent_is_told_beside_what_may_be(
    capsys: pytest.CaptureFixture[str],
) -> None:
    cost_._note_budget({"day": 1200, "month": 7}, {"day": 200_000, "month": 0})
    assert capsys.readouterr().err.splitlines() == [
        "note: 1,200 of 200,000 tokens are spent this day",
        "note: 7 tokens, without a limit, are spent this month",
    ]


@pytest.mark.parametrize(
    ("groups", "lines"),
    [
        ([{"unpriced": (), "estimates": 0}], []),
        (
            [{"unpriced": (), "estimates": 1}],
            [
                "note: 1 call broke off or is under way, and is counted as far as it was sent"
            ],
        ),
        (
            [
                {"unpriced": ("b",), "estimates": 1},
                {"unpriced": ("a",), "estimates": 2},
            ],
            [
                "note: what a, b costs is not known: set llm.prices in keeplore.yaml",
                (
                    "note: 3 calls broke off or are under way, and are counted as far as they "
                    "were sent"
                ),
            ],
        ),
    ],
)
def test_what_prices_do_not_cover_is_told(
    capsys: pytest.CaptureFixture[str], groups: list[dict[str, Any]], lines: list[str]
) -> None:
    cost_._note_unknown(groups)
    assert capsys.readouterr().err.splitlines() == lines


@pytest.mark.parametrize(("price", "told"), [(None, ""), (1.23456, "1.2346")])
def test_a_line_of_the_table_has_counts_and_a_price_where_that_is_known(
    price: float | None, told: str
) -> None:
    group = {
        "model": "m", "calls": 1200, "input_tokens": 3, "cached_tokens": 2,
        "output_tokens": 1, "price": price,
    }  # fmt: skip
    assert cost_._cells(group, ("model",)) == ["m", "1,200", "3", "2", "1", told]
