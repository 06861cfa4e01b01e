"""What a worker does with what hosts and commands tell it, one thing at a time."""

import json
import os
import time
from types import SimpleNamespace

import pytest

from keeplore import __version__
from keeplore.config.places import Places
from keeplore.worker import loop
from keeplore.worker.loop import Worker
from keeplore.worker.tasks.session_tasks import SWEEP_S, SweepTask
from keeplore.workspace.importing.intake import IntakeResult
from keeplore_hooks.spool import Spool


class Handler:
    """Answers with the name of what was asked."""

    def status(self):
        return b"status"

    def recall(self, payload):
        return b"recall " + payload

    def mcp(self, payload):
        return b"mcp " + payload

    def answer(self, host, event, payload):
        return f"{host} {event} ".encode() + payload


class Background:
    """Writes down what it is told."""

    def __init__(self, *, is_text_new=True):
        self.told = []
        self.index = SimpleNamespace(note_text=lambda: is_text_new)

    def request_commit(self):
        self.told.append("commit")

    def look_for_changes(self):
        self.told.append("look")

    def note_taken(self, result):
        self.told.append(result)


@pytest.fixture
def worker():
    places = Places.from_environment(os.environ)
    places.create()
    worker = Worker(places)
    worker._background = Background()
    return worker


@pytest.mark.parametrize(
    ("operation", "arguments", "answer"),
    [
        ("answer", [__version__, "codex", "Stop"], b"codex Stop {}"),
        ("answer", [__version__, "codex"], b""),
        ("answer", [__version__, "codex", "Stop", "more"], b""),
        ("recall", [__version__], b"recall {}"),
        ("mcp", [__version__], b"mcp {}"),
    ],
)
def test_what_is_asked_is_answered_and_counts_as_work(
    worker, operation, arguments, answer
):
    assert worker._handle(Handler(), operation, arguments, b"{}") == answer
    assert worker._has_answered.is_set()
    assert not worker._wake.is_set()
    assert not worker._stopping.is_set()


def test_the_first_question_wakes_a_rested_worker():
    worker = Worker(Places.from_environment(os.environ), is_rested=True)
    for _ in range(2):
        worker._handle(Handler(), "recall", [__version__], b"{}")
        assert (worker._wake.is_set(), worker.lifetime.is_rested) == (True, False)
    worker._wake.clear()
    worker._handle(Handler(), "recall", [__version__], b"{}")
    assert not worker._wake.is_set()


@pytest.mark.parametrize(
    ("operation", "is_stopping", "told"),
    [("status", False, []), ("stop", True, []), ("changed", False, ["commit"])],
)
def test_a_command_is_told_how_the_worker_is(worker, operation, is_stopping, told):
    assert worker._handle(Handler(), operation, [__version__], b"") == b"status"
    assert worker._stopping.is_set() is is_stopping
    assert worker._background.told == told
    assert worker._wake.is_set() is (operation != "status")
    assert not worker.lifetime.is_superseded
    assert not worker._has_answered.is_set()


def test_a_newer_program_has_this_one_make_room(worker):
    worker._handle(Handler(), "status", ["999.0.0"], b"")
    assert worker.lifetime.is_superseded
    assert worker._wake.is_set()


@pytest.mark.parametrize(
    ("is_busy", "is_claimed", "is_caught_up"),
    [(False, True, True), (True, True, False), (False, False, False)],
)
def test_a_command_waits_no_longer_than_it_may_for_what_was_said(
    worker, monkeypatch, is_busy, is_claimed, is_caught_up
):
    moments = iter(range(100))
    monkeypatch.setattr(time, "monotonic", lambda: float(next(moments)))
    slept = []
    monkeypatch.setattr(time, "sleep", slept.append)
    spool = Spool(worker._places.spool)
    spool.add("codex", "Stop", b"{}")
    if is_claimed:
        spool.claim(next(iter(spool.pending())))
    worker._is_busy = is_busy
    told = worker._handle(Handler(), "catch-up", [__version__], b"")
    assert json.loads(told) == {"is_caught_up": is_caught_up}
    assert len(slept) == (0 if is_caught_up else loop.CATCH_UP_S)


@pytest.mark.parametrize(("has_begun", "due_in_s"), [(True, 0.0), (False, SWEEP_S)])
def test_what_an_entry_led_to_is_counted_and_its_session_looked_after(
    worker, monkeypatch, has_begun, due_in_s
):
    monkeypatch.setattr(time, "monotonic", lambda: 1000.0)
    intake = SimpleNamespace(sweep=lambda: (), next_end_s=float("inf"))
    sweep = SweepTask(intake, lambda: None)
    sweep.run(1000.0)
    counted = []
    activity = SimpleNamespace(count=lambda *given: counted.append(given))
    result = IntakeResult(turns=2, has_begun=has_begun)
    worker._note_taken(result, sweep, activity)
    assert counted == [("turns", 2), ("sessions", has_begun)]
    assert sweep.run(999.0) == 1000.0 + due_in_s
    assert worker._background.told == [result]


def test_what_was_taken_counts_as_work_once(worker, monkeypatch):
    worker.lifetime.is_rested = True
    worker._note_work(worker._background)
    assert (worker._background.told, worker.lifetime.is_rested) == ([], True)
    worker._has_taken = True
    for _ in range(2):
        worker._note_work(worker._background)
    assert (worker._background.told, worker.lifetime.is_rested) == (["look"], False)


@pytest.mark.parametrize("is_new", [True, False])
def test_text_that_changes_in_a_storm_wakes_it_once(worker, is_new):
    worker._background = Background(is_text_new=is_new)
    worker._note_text()
    assert worker._wake.is_set() is is_new


def test_a_new_file_in_the_spool_wakes_it_but_not_one_that_it_put_back(worker):
    worker._inbox = SimpleNamespace(waiting={"one": ""})
    worker._note_spooled("one")
    assert not worker._wake.is_set()
    worker._note_spooled("two")
    assert worker._wake.is_set()


def test_what_events_wait_for_is_counted_without_those_that_wait_for_a_workspace(
    worker,
):
    assert worker.held() == {}
    waiting = {"one": "", "two": "it is full", "three": "it is full"}
    worker._inbox = SimpleNamespace(waiting=waiting)
    assert worker.held() == {"it is full": 2}


def test_a_worker_that_has_only_just_been_started_says_so(worker, monkeypatch):
    monkeypatch.setattr(loop, "BEGIN_S", 0.0)
    with pytest.raises(TimeoutError, match="only just been started"):
        worker._status(None, None, None)


def test_a_worker_that_ended_in_order_keeps_nobody_from_starting_the_next(worker):
    state = worker._places.state
    for name in ("worker.start-1", "worker.start-2", "worker.tries", "worker.log"):
        (state / name).write_text("1")
    worker._allow_restart()
    assert not list(state.glob("worker.start-*"))
    assert (state / "worker.tries").exists()
    worker._forget_failed_starts()
    assert sorted(path.name for path in state.glob("worker.*")) == ["worker.log"]
