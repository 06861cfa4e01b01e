from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from new_workspace import lay_down

from keeplore.config.places import Places
from keeplore.config.settings import load_settings
from keeplore.jobs import JobQueue
from keeplore.llm import SpendingLedger, Usage, accept

SECTION = """llm:
  provider: claude-cli
  daily_tokens: 1000
  monthly_tokens: 0
  prices: {haiku: {input: 1, output: 5, cached: 0}}
"""


@pytest.fixture
def places() -> Places:
    return Places.from_environment(os.environ)


@pytest.fixture
def today(within_a_day: None) -> datetime:
    return datetime.now(UTC)


@pytest.fixture
def root(places: Places, home: Path, today: datetime) -> Path:
    """A workspace with a model that has a price, on a machine that has used it, and another one."""
    lay_down(places, home / "memory")
    (home / "memory" / "keeplore.yaml").write_text(SECTION)
    ledger = SpendingLedger(places.ledger)
    ledger.add(today, "haiku", "extract", Usage(100_000, 2_000, 40_000))
    ledger.add(today, "haiku", "extract", Usage(100_000, 2_000, 0))
    ledger.add(today, "haiku", "decide", Usage(1_000, 100))
    ledger.add(today, "\x1b[31mred", "extract", Usage(10, 10))
    ledger.add(today - timedelta(days=40), "haiku", "extract", Usage(500, 50))
    ledger.settle(
        ledger.reserve(today, "haiku", "decide", Usage(77, 8_192), None), None
    )
    queue = JobQueue(places.jobs)
    queue.add("refine", "talk", {}, today)
    job = queue.lease(["refine"], today)
    assert job is not None
    queue.put_off(job, today + timedelta(days=1), "the tokens of this day are spent")
    return home / "memory"


def test_what_was_spent_is_told_by_day_model_and_stage(
    root: Path, today: datetime, run: Callable[..., Any]
) -> None:
    done = run("cost", cwd=root)
    day = today.strftime("%Y-%m-%d")
    assert [line.split("\t") for line in done.stdout.splitlines()] == [
        [day, "red", "extract", "1", "10", "0", "10", ""],
        [day, "haiku", "decide", "2", "1,077", "0", "100", "0.0016"],
        [day, "haiku", "extract", "2", "200,000", "40,000", "4,000", "0.1800"],
    ]
    assert "205,197 of 1,000 tokens are spent this day" in done.stderr
    assert "what red costs is not known: set llm.prices" in done.stderr
    assert "1 call broke off or is under way, and is counted" in done.stderr
    assert (
        "1 job (refine) waits until" in done.stderr
        and "the tokens of this day are spent" in done.stderr
    )


def test_a_program_gets_it_summed_up_as_it_asks(
    root: Path, run: Callable[..., Any]
) -> None:
    told = json.loads(
        run("cost", "--by", "model", "--since", "60d", "--json", cwd=root).stdout
    )
    haiku = next(row for row in told["rows"] if row["model"] == "haiku")
    assert (haiku["calls"], haiku["input_tokens"], haiku["estimates"]) == (
        5,
        201_577,
        1,
    )
    assert haiku["price"] == pytest.approx(0.161577 + 4_150 * 5 / 1_000_000)
    assert (told["spent"]["day"], told["budget"]) == (
        205_197,
        {"day": 1_000, "month": 0},
    )
    assert [(job["kind"], job["jobs"]) for job in told["queue"]] == [("refine", 1)]


def test_where_nothing_was_spent_nothing_is_made(
    places: Places, run: Callable[..., Any]
) -> None:
    done = run("cost")
    assert (done.returncode, done.stdout) == (0, "")
    assert "0 of 200,000 tokens are spent this day" in done.stderr
    assert not places.ledger.exists() and not places.jobs.exists()


def test_doctor_says_whether_the_model_may_be_used_and_answers(
    root: Path, places: Places, run: Callable[..., Any], tmp_path: Path
) -> None:
    def told() -> str:
        findings = json.loads(
            run("doctor", "--json", cwd=root, PATH=str(tmp_path)).stdout
        )
        return "\n".join(
            f"{one['level']}: {one['message']}"
            for one in findings
            if one["part"].endswith("model")
        )

    (tmp_path / "git").symlink_to(shutil.which("git") or "")
    assert (
        "note: the model of this workspace is not accepted here: claude-cli, 1,000 tokens a day"
        in told()
    )
    accept(places, root, load_settings(root).llm)
    assert "wrong: `claude` is not on the PATH" in told()
    (tmp_path / "claude").write_text("#!/bin/sh\necho 2.1.0\n")
    (tmp_path / "claude").chmod(0o755)
    assert told() == (
        "note: 1 job (refine) waits: the tokens of this day are spent\n"
        "ok: claude-cli, 1,000 tokens a day and any number of tokens a month"
    )
