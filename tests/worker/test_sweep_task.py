"""When the worker looks for sessions that ended without a word, and what it says of them."""

import math
import time

import pytest

from keeplore.worker.tasks.session_tasks import SweepTask


class Intake:
    """A sweep for each of these results, and so many seconds until the next session ends."""

    def __init__(self, *results, next_end_s=math.inf):
        self.results, self.next_end_s = [*results], next_end_s

    def sweep(self):
        found = self.results.pop(0)
        if isinstance(found, Exception):
            raise found
        return found


@pytest.fixture
def now(monkeypatch):
    monkeypatch.setattr(time, "monotonic", lambda: 1000.0)
    return 1000.0


def test_it_looks_at_once_and_then_not_before_something_happens(now, caplog):
    swept = []
    task = SweepTask(Intake((), ()), lambda: swept.append(True))
    assert (task.run(now), len(swept)) == (math.inf, 1)
    assert (task.run(now + 1e6), len(swept)) == (math.inf, 1)
    task.note_event(2e6)
    assert (task.run(2e6), len(swept)) == (2e6 + 60, 1)
    # a later event puts it off no further
    task.note_event(2e6 + 30)
    assert (task.run(2e6 + 59), len(swept)) == (2e6 + 60, 1)
    assert (task.run(2e6 + 60), len(swept)) == (math.inf, 2)
    assert caplog.records == []


def test_a_session_that_begins_has_it_looked_at_once(now):
    task = SweepTask(Intake((), ()), lambda: None)
    task.run(now)
    task.note_event(now + 1, has_begun=True)
    assert task.run(now) == now + 1
    assert task.run(now + 1) == math.inf


def test_it_looks_again_when_the_next_session_ends(now):
    intake = Intake((), (), next_end_s=90.0)
    task = SweepTask(intake, lambda: None)
    assert task.run(now) == now + 90
    intake.next_end_s = math.inf
    assert not task.is_awaited
    assert task.run(now + 90) == math.inf


@pytest.mark.parametrize(
    ("next_end_s", "is_awaited"), [(0.0, True), (90.0, True), (math.inf, False)]
)
def test_it_is_awaited_while_a_session_is_about_to_end(now, next_end_s, is_awaited):
    task = SweepTask(Intake(next_end_s=next_end_s), lambda: None)
    assert task.is_awaited is is_awaited


def test_what_could_not_be_swept_is_told_and_looked_for_again(now, caplog):
    problems = (("a.jsonl", "it is locked"), ("b.jsonl", "it is gone"))
    task = SweepTask(Intake(problems, (), next_end_s=5.0), lambda: None)
    assert task.run(now) == now + 60
    told = [(one.levelname, one.getMessage()) for one in caplog.records]
    assert told == [
        ("WARNING", "a.jsonl was not swept: it is locked"),
        ("WARNING", "b.jsonl was not swept: it is gone"),
    ]
    assert task.run(now + 60) == now + 65


def test_after_a_failure_it_tells_what_it_wrote_and_looks_again(now):
    swept = []
    task = SweepTask(Intake(OSError("full"), ()), lambda: swept.append(True))
    with pytest.raises(OSError, match="full"):
        task.run(now)
    assert swept == [True]
    assert task.run(now + 59) == now + 60
    assert (task.run(now + 60), swept) == (math.inf, [True, True])
