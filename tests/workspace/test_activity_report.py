"""What stands in a report of what was done on this machine, and what models have cost."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from keeplore.config.settings import TokenPrice
from keeplore.llm.ledger import SpendingLedger
from keeplore.workspace import activity
from keeplore.workspace.activity import ActivityLog, Counted
from keeplore.workspace.reading.activity_report import activity_report
from keeplore.workspace.workspace import Workspace
from keeplore_hooks.contracts import Usage

NOTHING = dict.fromkeys(
    (
        "turns",
        "sessions",
        "prompts",
        "silent",
        "told",
        "memories",
        "used",
        "nothing found",
        "errors",
    ),
    0,
)


def test_a_machine_on_which_nothing_was_done(workspace: Workspace) -> None:
    assert activity_report(workspace, "2026-01-01") == {
        "since": "2026-01-01",
        "counts": NOTHING,
        "answers": [],
        "tokens": 0,
        "price": 0,
    }
    assert not workspace.places.ledger.exists()


def test_what_was_counted_timed_and_spent_since_a_day(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = workspace.places
    for day, turns, steps in (
        ("2026-01-30", 1, {1: 1}),
        ("2026-01-31", 20, {10: 90, 20: 9}),
        ("2026-02-01", 300, {30: 1}),
    ):
        monkeypatch.setattr(activity, "now", lambda day=day: f"{day}T08:00:00Z")
        log = ActivityLog(places.state)
        log.count(Counted.TURNS, turns)
        log.count(Counted.NOTHING, 2)
        log.save(is_last=True)
        file = places.state / activity.FOLDER / f"{day[:7]}.json"
        counted = json.loads(file.read_text())
        counted[day]["times"] = {"recall": steps, "prompt": steps}
        file.write_text(json.dumps(counted))
    ledger = SpendingLedger(places.ledger)
    for day, used in ((30, Usage(9_999, 9_999)), (31, Usage(1_000_003, 100_007))):
        ledger.add(datetime(2026, 1, day, 9, tzinfo=UTC), "m", "extract", used)
    report = activity_report(workspace, "2026-01-31")
    times = {"answers": 100, "p50_ms": 9.3, "p95_ms": 87.0, "p99_ms": 87.0}
    assert report == {
        "since": "2026-01-31",
        "counts": NOTHING | {"turns": 320, "nothing found": 4},
        "answers": [{"what": "prompt", **times}, {"what": "recall", **times}],
        "tokens": 1_100_010,
        "price": None,  # nobody knows what this model costs
    }
    llm = replace(workspace.settings.llm, prices={"m": TokenPrice(2.0, 10.0)})
    monkeypatch.setattr(workspace, "settings", replace(workspace.settings, llm=llm))
    assert activity_report(workspace, "2026-01-31") == report | {"price": 3.0001}
