"""Starting, stopping and telling a worker, from a program beside it."""

import contextlib
import os
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from keeplore.errors import KeeploreError, RepositoryError
from keeplore.worker import after_writing, start, stop
from keeplore.worker.single_instance import is_lost, only_one
from keeplore.workspace import brief_maker


@pytest.fixture
def slept(monkeypatch):
    """The pauses that were made; the clock moves with them."""
    pauses = []
    monkeypatch.setattr(time, "sleep", pauses.append)
    monkeypatch.setattr(time, "monotonic", lambda: 1000.0 + sum(pauses))
    return pauses


def test_one_process_holds_the_lock_and_another_does_not_wait_for_it(tmp_path, slept):
    with only_one(tmp_path) as first:
        assert first is not None
        with only_one(tmp_path) as second:
            assert second is None
    with only_one(tmp_path) as third:
        assert third is not None
    assert slept == []


def test_one_that_is_leaving_is_waited_for_but_not_for_ever(tmp_path, slept):
    with only_one(tmp_path), only_one(tmp_path, lambda: True) as second:
        assert second is None
    assert set(slept) == {0.05}
    assert sum(slept) == pytest.approx(10.0, abs=0.06)


def test_the_lock_is_taken_as_soon_as_the_other_has_left(tmp_path, slept):
    with contextlib.ExitStack() as stack:
        stack.enter_context(only_one(tmp_path))

        def is_leaving():
            if len(slept) == 3:
                stack.close()
            return True

        with only_one(tmp_path, is_leaving) as second:
            assert second is not None
    assert slept == [0.05] * 4


def test_a_lock_is_lost_once_its_file_is_another_or_gone(tmp_path):
    with only_one(tmp_path) as lock:
        assert not is_lost(tmp_path, lock)
        (tmp_path / "worker.lock").rename(tmp_path / "aside")
        assert is_lost(tmp_path, lock)
        (tmp_path / "worker.lock").touch()
        assert is_lost(tmp_path, lock)


@pytest.fixture
def asked(monkeypatch):
    """What a worker was asked, and with ``answer`` what it says."""
    asked = SimpleNamespace(requests=[], answer=None)

    def ask(state, operation, timeout_s):
        asked.requests.append((state, operation, timeout_s))
        return asked.answer

    for module in (stop, after_writing):
        monkeypatch.setattr(module, "ask", ask)
    return asked


def test_a_worker_is_told_to_stop_and_none_starts_meanwhile(tmp_path, slept, asked):
    with stop.without_worker(tmp_path), only_one(tmp_path) as lock:
        assert lock is None
    assert asked.requests == [(tmp_path, "stop", 2.0)]
    assert slept == []


def test_a_worker_that_does_not_leave_is_told_of_with_where_its_id_is(
    tmp_path, slept, asked
):
    with (
        only_one(tmp_path),
        pytest.raises(KeeploreError) as caught,
        stop.without_worker(tmp_path),
    ):
        pass
    assert caught.value.message == "the worker does not leave"
    pid = tmp_path / "worker.pid"
    assert caught.value.remedy == f"End it by hand: its id is in {pid}"
    assert set(slept) == {0.1}
    assert sum(slept) == pytest.approx(30.0, abs=0.2)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (None, ""),
        (
            RepositoryError("git is busy", "Wait"),
            "it is on disk and not committed yet: git is busy. Wait",
        ),
        (
            RepositoryError("git is busy", ""),
            "it is on disk and not committed yet: git is busy. It is tried again",
        ),
    ],
)
def test_why_something_is_not_committed_is_told_with_what_follows(error, told):
    messages = []

    def commit(message):
        messages.append(message)
        if error:
            raise error

    workspace = SimpleNamespace(commit=commit)
    assert after_writing.commit_written(workspace, "Remember it") == told
    assert messages == ["Remember it"]


@pytest.mark.parametrize("error", [None, KeeploreError("no", ""), OSError("no")])
def test_without_a_worker_the_next_sessions_briefs_are_made_here(
    monkeypatch, tmp_path, asked, error
):
    made = []

    def refresh_briefs(places, most):
        made.append((places, most))
        if error:
            raise error

    monkeypatch.setattr(brief_maker, "refresh_briefs", refresh_briefs)
    places = SimpleNamespace(state=tmp_path)
    assert not after_writing.tell_worker(places)
    assert made == [(places, 2)]
    asked.answer = {}
    assert after_writing.tell_worker(places)
    assert len(made) == 1
    assert asked.requests == [(tmp_path, "changed", 1.0)] * 2


def test_a_worker_is_started_on_its_own(monkeypatch, tmp_path):
    begun = []
    monkeypatch.setattr(
        subprocess, "Popen", lambda *given, **named: begun.append((given, named))
    )
    start.start(tmp_path)
    nowhere = subprocess.DEVNULL
    streams = {"stdin": nowhere, "stdout": nowhere, "stderr": nowhere}
    command = (sys.executable, "-m", "keeplore.worker")
    assert begun == [
        ((command,), {"cwd": tmp_path, **streams, "start_new_session": True})
    ]


def test_none_is_started_where_the_system_refuses(monkeypatch, tmp_path):
    def refuse(*_, **__):
        raise OSError(os.strerror(11))

    monkeypatch.setattr(subprocess, "Popen", refuse)
    assert start.start(tmp_path) is None
