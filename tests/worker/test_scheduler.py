"""The tasks of a worker run one after the other, and none keeps another from running."""

import logging
import math
import threading
import time
from types import SimpleNamespace

import pytest

from keeplore.errors import ConfigError
from keeplore.worker.scheduler import Scheduler
from keeplore.worker.tasks.base import for_each, in_thread


class Task:
    """Wants to run again at a moment, or fails; ``runs`` are the moments at which it ran."""

    def __init__(self, name, again_at):
        self.name, self.again_at, self.runs = name, again_at, []

    def run(self, now):
        self.runs.append(now)
        if isinstance(self.again_at, Exception):
            raise self.again_at
        return self.again_at


@pytest.fixture
def now(monkeypatch):
    monkeypatch.setattr(time, "monotonic", lambda: 1000.0)
    return 1000.0


@pytest.mark.parametrize(
    ("again_at", "pause_s"),
    [
        ((1030.0, 1020.0, math.inf), 20.0),
        ((math.inf, math.inf), math.inf),
        ((1000.0, 1030.0), 0.05),  # never a loop without a pause
        ((990.0,), 0.05),
        ((1030.0, 0.0), 0.0),  # more is to be done at once
    ],
)
def test_the_pause_lasts_until_the_first_task_is_due(now, again_at, pause_s):
    tasks = [Task(str(number), moment) for number, moment in enumerate(again_at)]
    assert Scheduler(tasks).run() == pause_s
    assert [task.runs for task in tasks] == [[now]] * len(tasks)


def test_a_task_that_fails_is_told_and_tried_again_and_the_next_one_runs(now, caplog):
    broken, whole = Task("indexing", ValueError("no")), Task("briefs", math.inf)
    assert Scheduler((broken, whole)).run() == 5.0
    assert whole.runs == [now]
    [record] = caplog.records
    assert (record.levelname, record.getMessage()) == ("ERROR", "indexing failed")
    assert record.exc_info[1] is broken.again_at


def test_a_thread_of_a_task_has_its_name_and_lets_the_process_end():
    done = threading.Event()
    given = []
    thread = in_thread(
        "sync", lambda *words: (given.extend(words), done.wait(60)), 1, 2
    )
    try:
        assert (thread.name, thread.daemon, thread.is_alive()) == (
            "keeplore-sync",
            True,
            True,
        )
    finally:
        done.set()
        thread.join(60)
    assert given == [1, 2]


def test_a_workspace_in_which_a_task_fails_is_told_and_keeps_no_other_waiting(caplog):
    def act(workspace):
        if isinstance(workspace.deed, Exception):
            raise workspace.deed
        return workspace.deed

    deeds = {
        "one": 1,
        "two": ConfigError("it is broken", "Mend it"),
        "three": PermissionError(13, "Permission denied", "/three"),
        "four": 4,
    }
    workspaces = [SimpleNamespace(name=name, deed=deed) for name, deed in deeds.items()]
    assert for_each(workspaces, act) == [1, 4]
    assert [(one.levelno, one.getMessage()) for one in caplog.records] == [
        (logging.WARNING, "two: it is broken. Mend it"),
        (logging.WARNING, "three: /three: Permission denied"),
    ]
    bug = SimpleNamespace(name="five", deed=ZeroDivisionError())
    with pytest.raises(ZeroDivisionError):
        for_each([bug], act)
