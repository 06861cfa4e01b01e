"""What ``keeplore worker status`` says, word for word."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from keeplore import __version__
from keeplore.cli.commands.machine import worker_
from keeplore.config.places import Places
from keeplore_hooks.spool import Spool

WHOLE: dict[str, Any] = {
    "version": __version__,
    "pid": 77,
    "uptime_s": 60,
    "is_model_loaded": True,
    "memory_mb": 120,
    "spool": {"new": 2, "claimed": 1, "dead": 4},
    "workspaces": ["memory", "team"],
    "last_sync": "2026-02-09T14:00:30Z memory: nothing new",
    "held": {},
    "faults": [],
}
OTHER = (
    f"It is of another version than this program, {__version__}; it leaves when it has "
    "nothing to do."
)


def test_a_worker_is_told_of_with_what_it_does(
    capsys: pytest.CaptureFixture[str],
) -> None:
    worker_._tell_status(WHOLE)
    assert capsys.readouterr().out.splitlines() == [
        f"worker {__version__}, process 77, for 60 seconds",
        "memory: 120 MB, embedding model loaded",
        "spool: 3 waiting, 4 unreadable",
        "workspaces: memory, team",
        "last sync: 2026-02-09 14:00 memory: nothing new",
    ]


def test_what_goes_wrong_with_it_is_told_behind_that(
    capsys: pytest.CaptureFixture[str],
) -> None:
    wrong = {
        "unwatched": "too many files",
        "held": {"/memory: Permission denied": 2},
        "faults": ["one", "two"],
        "version": "0.0.1",
    }
    worker_._tell_status(WHOLE | wrong)
    assert capsys.readouterr().out.splitlines()[4:] == [
        "changes of files: looked for every few seconds, since too many files",
        "last sync: 2026-02-09 14:00 memory: nothing new",
        "2 host events cannot be written: /memory: Permission denied",
        "went wrong: one",
        "went wrong: two",
        OTHER,
    ]


def test_a_worker_of_another_version_may_say_less(
    capsys: pytest.CaptureFixture[str],
) -> None:
    worker_._tell_status({})
    assert capsys.readouterr().out.splitlines() == [
        "worker ?, process ?, for 0 seconds",
        "memory: ? MB, embedding model not loaded",
        "spool: 0 waiting, 0 unreadable",
        "workspaces: none opened yet",
        "last sync: none yet",
        OTHER,
    ]


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (0, "0 seconds"),
        (119, "119 seconds"),
        (120, "2 minutes"),
        (7199, "119 minutes"),
        (7200, "2 hours"),
        (10_799, "2 hours"),
    ],
)
def test_how_long_it_runs_is_told_in_minutes_and_hours(seconds: int, told: str) -> None:
    assert worker_._span(seconds) == told


def test_without_a_worker_it_is_told_what_waits(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    places = Places.from_environment(os.environ)
    places.create()
    worker_._tell_of_none(places)
    none = "No worker runs. The next host event starts one."
    assert capsys.readouterr().out == f"{none}\n"
    Spool(places.spool).add("codex", "Stop", b"{}")
    (places.state / "worker.tries").write_text("3")
    worker_._tell_of_none(places)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"{none} 1 wait; `keeplore worker run` reads them now."
    assert lines[1].startswith("3 workers were started in vain, ")
