"""How a worker's process begins and ends, without one: its log, its signals, its successor."""

import contextlib
import logging
import logging.handlers
import os
import signal
import sys
from types import SimpleNamespace

import pytest

from keeplore.config import installation
from keeplore.config.installation import Installation
from keeplore.config.places import Places
from keeplore.worker import __main__ as program
from keeplore.worker import lifetime, loop


class Worker:
    """Ends as it is told to: with a successor, with an error, or in order."""

    made: list  # of the test that runs
    error = None
    wants_successor = False

    def __init__(self, places, *, idle_exit_s, is_rested):
        self.given = (places, idle_exit_s, is_rested)
        self.has_stopped = False
        self.made.append(self)

    def run(self):
        if self.error:
            raise self.error

    def stop(self):
        self.has_stopped = True


@pytest.fixture
def process(monkeypatch):
    """What is done to the process that this is not: signals by number, the mask, the successor."""
    done = SimpleNamespace(signals={}, masks=[], successors=[], sessions=[])
    monkeypatch.setattr(os, "umask", done.masks.append)
    monkeypatch.setattr(os, "setsid", lambda: done.sessions.append(True))
    monkeypatch.setattr(signal, "signal", done.signals.__setitem__)
    monkeypatch.setattr(program, "_become_successor", done.successors.append)
    monkeypatch.setattr(program, "_open_log", lambda _: None)
    monkeypatch.setattr(lifetime, "idle_exit_s", lambda _: 900.0)
    monkeypatch.setattr(sys, "argv", ["keeplore.worker"])
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "4")
    monkeypatch.setattr(loop, "Worker", Worker)
    monkeypatch.setattr(Worker, "made", [], raising=False)
    return done


def places():
    return Places.from_environment(os.environ)


@pytest.mark.parametrize("is_rested", [False, True])
def test_a_worker_works_apart_from_the_terminal_until_it_is_told_to_end(
    process, monkeypatch, is_rested
):
    monkeypatch.setattr(sys, "argv", ["worker", *["--rested"] * is_rested])
    monkeypatch.delenv("OPENBLAS_NUM_THREADS")
    assert program.main() == 0
    [worker] = Worker.made
    assert worker.given == (places(), 900.0, is_rested)
    assert (process.masks, process.sessions) == ([0o077], [True])
    assert set(process.signals) == {signal.SIGTERM, signal.SIGINT}
    assert (worker.has_stopped, process.successors) == (False, [])
    process.signals[signal.SIGTERM](signal.SIGTERM, None)
    assert worker.has_stopped
    # several threads would wait for one another
    assert os.environ["OPENBLAS_NUM_THREADS"] == "1"


def test_a_number_of_threads_that_a_person_has_set_stays(process):
    program.main()
    assert os.environ["OPENBLAS_NUM_THREADS"] == "4"


def test_one_that_wants_a_successor_becomes_it(process, monkeypatch):
    monkeypatch.setattr(Worker, "wants_successor", True)
    assert program.main() == 0
    assert process.successors == [places()]


def test_what_ends_it_is_written_down(process, monkeypatch, caplog):
    monkeypatch.setattr(Worker, "error", ValueError("it broke"))
    monkeypatch.setattr(Worker, "wants_successor", True)
    assert program.main() == 3
    assert process.successors == []
    [record] = caplog.records
    assert (record.name, record.getMessage()) == ("keeplore", "the worker ended")
    assert record.exc_info[1] is Worker.error


def test_a_process_that_leads_a_session_already_goes_on(process, monkeypatch):
    def refuse():
        raise PermissionError

    monkeypatch.setattr(os, "setsid", refuse)
    assert program.main() == 0


def test_the_log_stays_below_four_megabytes(monkeypatch):
    given = {}
    monkeypatch.setattr(logging, "basicConfig", lambda **named: given.update(named))
    places().create()
    program._open_log(places())
    [handler] = given["handlers"]
    with contextlib.closing(handler):
        assert given["level"] == logging.INFO
        assert isinstance(handler, logging.handlers.RotatingFileHandler)
        assert (handler.maxBytes, handler.backupCount) == (1_000_000, 3)
        assert handler.baseFilename == str(places().state / "worker.log")
        assert handler.encoding == "utf-8"
        record = logging.LogRecord("keeplore.x", 30, "", 1, "it is %s", ("odd",), None)
        written = handler.format(record)
        assert written.endswith(f" {os.getpid()} WARNING keeplore.x: it is odd")


@pytest.mark.parametrize(
    ("known", "python"),
    [
        (Installation("/bin/sh", "9.9"), "/bin/sh"),
        (Installation("/nowhere/python", "9.9"), sys.executable),
        (None, sys.executable),
    ],
)
def test_the_successor_is_of_the_installation_that_is_registered(
    monkeypatch, known, python
):
    begun = []
    monkeypatch.setattr(installation, "registered", lambda _: known)
    monkeypatch.setattr(logging, "shutdown", lambda: begun.append("log"))
    monkeypatch.setattr(os, "execv", lambda *given: begun.append(given))
    program._become_successor(places())
    command = [python, "-m", "keeplore.worker", "--rested"]
    assert begun == ["log", (python, command)]
