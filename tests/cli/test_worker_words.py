"""What ``keeplore worker status`` says, word for word."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, ClassVar

import pytest
from click.testing import CliRunner

from keeplore import __version__
from keeplore.cli.commands.machine import worker_
from keeplore.cli.disk_errors import HELD
from keeplore.config.places import Places
from keeplore.errors import StoreError
from keeplore.worker import loop
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


def logged(places: Places, *options: str) -> list[str]:
    done = CliRunner().invoke(worker_.logs, options, obj=places)
    assert done.exit_code == 0, done.output
    return done.output.splitlines()


def test_the_end_of_the_log_is_printed_and_cannot_speak_to_the_terminal(
    home: Path,
) -> None:
    places = Places.from_environment(os.environ)
    places.create()
    assert logged(places) == ["note: no worker has written a log yet"]
    log = places.state / "worker.log"
    log.write_bytes(b"".join(b"line %d\n" % number for number in range(60)))
    assert logged(places) == [f"line {number}" for number in range(10, 60)]
    assert logged(places, "-n", "2") == ["line 58", "line 59"]
    log.write_bytes(b"one\x1b[2J\n\xff\n")
    first, second = logged(places)
    assert "\x1b" not in first and second == "\ufffd"


def test_of_a_long_log_only_the_end_is_read(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = Places.from_environment(os.environ)
    places.create()
    monkeypatch.setattr(worker_, "MAX_TAIL", 8)
    (places.state / "worker.log").write_text("first\nsecond\nthird\n")
    assert logged(places) == ["d", "third"]


@pytest.mark.parametrize(
    ("answer", "said"),
    [(None, "No worker runs."), ({}, "The worker is leaving.")],
)
def test_a_worker_is_told_to_leave(
    home: Path, monkeypatch: pytest.MonkeyPatch, answer: Any, said: str
) -> None:
    places = Places.from_environment(os.environ)
    asked: list[Any] = []

    def ask(state: Path, operation: str, **_: float) -> Any:
        asked.append((state, operation))
        return answer

    monkeypatch.setattr(worker_, "ask", ask)
    done = CliRunner().invoke(worker_.stop, obj=places)
    assert (done.exit_code, done.output) == (0, f"{said}\n")
    assert asked == [(places.state, "stop")]


class Worker:
    """Takes one event and sets one aside, unless another worker runs."""

    is_first = True
    waits_for: ClassVar[dict[str, int]] = {}

    def __init__(self, places: Places, *, idle_exit_s: float) -> None:
        assert idle_exit_s == worker_.DONE_S
        self.spool = Spool(places.spool)

    def run(self) -> bool:
        if self.is_first:
            one, other, *_ = (self.spool.claim(one) for one in self.spool.pending())
            assert one and other
            self.spool.acknowledge(one)
            self.spool.quarantine(other, "no JSON")
        return self.is_first

    def held(self) -> dict[str, int]:
        return self.waits_for


@pytest.mark.parametrize(
    ("is_first", "waits_for", "code", "said"),
    [
        (True, {}, 0, "Done; 1 wait, 1 could not be read."),
        (
            False,
            {},
            1,
            "Another worker already runs: see `keeplore worker status`.",
        ),
        (True, {"it is full": 1}, 1, "Done; 1 wait, 1 could not be read."),
    ],
    ids=["done", "another", "held"],
)
def test_work_in_the_foreground_is_summed_up(
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    is_first: bool,
    waits_for: dict[str, int],
    code: int,
    said: str,
) -> None:
    places = Places.from_environment(os.environ)
    places.create()
    for number in range(3):
        Spool(places.spool).add("codex", "Stop", b"%d" % number)
    monkeypatch.setattr(loop, "Worker", Worker)
    monkeypatch.setattr(Worker, "is_first", is_first)
    monkeypatch.setattr(Worker, "waits_for", waits_for)
    done = CliRunner().invoke(worker_.run, obj=places)
    assert (done.exit_code, done.output.splitlines()) == (
        code,
        ["3 host events wait.", said],
    )
    if waits_for:
        assert isinstance(done.exception, StoreError)
        assert done.exception.message == "1 host event cannot be written: it is full"
        assert done.exception.remedy == HELD
