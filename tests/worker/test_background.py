"""What tells a worker's tasks that there is something to do, and what it stays for."""

import os
from types import SimpleNamespace

import pytest

from keeplore.config.places import Places
from keeplore.worker.background import BackgroundTasks
from keeplore.worker.tasks import manifest_task
from keeplore.worker.tasks.manifest_task import ManifestTask
from keeplore.workspace import Registry
from keeplore.workspace.importing.intake import IntakeResult


class Told:
    """Stands for a task: writes down what it is asked, and is as it was made."""

    def __init__(self, calls, name, **state):
        self._calls, self._name = calls, name
        self.__dict__.update(state)

    def __getattr__(self, asked):
        if asked.startswith("__"):
            raise AttributeError(asked)
        return lambda *given, **named: self._calls.append(
            (f"{self._name}.{asked}", *given, *named.values())
        )


REST = {
    "commits": {"is_behind": False},
    "index": {"is_behind": False, "unwatched": ""},
    "vectors": {"is_behind": False},
    "sync": {"is_due": False, "last": "now"},
    "_manifests": {"is_behind": False},
    "briefs": {},
    "model": {"is_loaded": True},
}


@pytest.fixture
def background():
    """The tasks of a worker that rests, each replaced; what they are asked, in ``calls``."""
    with Registry(Places.from_environment(os.environ)) as registry:
        calls = []
        tasks = BackgroundTasks(
            registry, lambda _: "", lambda: calls.append(("wake",)), lambda: True
        )
        for name, state in REST.items():
            setattr(tasks, name, Told(calls, name.strip("_"), **state))
        tasks._jobs = (SimpleNamespace(is_running=False, close=lambda: None),)
        tasks._registry = SimpleNamespace(change_count=lambda: tasks.count)
        tasks.count, tasks.calls = 0, calls
        yield tasks


def test_a_worker_that_rests_says_how_it_is(background):
    assert background.status() == {
        "is_behind": False,
        "last_sync": "now",
        "is_model_loaded": True,
        "unwatched": "",
    }


@pytest.mark.parametrize(
    ("task", "state"),
    [
        ("commits", "is_behind"),
        ("index", "is_behind"),
        ("vectors", "is_behind"),
        ("_manifests", "is_behind"),
        ("sync", "is_due"),
    ],
)
def test_a_worker_stays_for_the_work_of_each_task(background, task, state):
    setattr(getattr(background, task), state, True)
    assert background.is_behind


def test_a_worker_stays_for_a_job_that_runs(background):
    background._jobs = (*background._jobs, SimpleNamespace(is_running=True))
    assert background.is_behind


def test_files_that_were_written_are_committed_and_indexed_once(background):
    background.look_for_changes()
    assert background.calls == []
    background.count = 3
    for _ in range(2):
        background.look_for_changes()
    assert background.calls == [("commits.request",), ("index.request",)]


def test_where_nobody_tells_of_changes_they_are_looked_for(background):
    background.index.unwatched = "too many files"
    background.look_for_changes()
    assert background.calls == [("index.request",)]


@pytest.mark.parametrize(
    ("has_begun", "has_ended", "calls"),
    [
        (True, False, [("manifests.note_place", "/x", True), ("sync.request_news",)]),
        (False, True, [("manifests.note_place", "/x", True)]),
        (False, False, [("manifests.note_place", "/x", False)]),
    ],
)
def test_a_session_that_begins_asks_for_news_and_its_manifests_are_read_at_both_ends(
    background, has_begun, has_ended, calls
):
    result = IntakeResult(has_begun=has_begun, has_ended=has_ended, directory="/x")
    background.note_taken(result)
    assert background.calls == calls


@pytest.mark.parametrize(
    ("changed", "is_in_step"),
    [
        ({}, True),
        ({"count": 1}, False),
        ({"index.is_behind": True}, False),
        ({"commits.is_behind": True}, False),
        ({"index.unwatched": "too many files"}, False),
    ],
)
def test_an_index_is_trusted_while_every_change_is_known(
    background, changed, is_in_step
):
    for name, value in changed.items():
        task, _, state = name.rpartition(".")
        setattr(getattr(background, task) if task else background, state, value)
    assert background._is_in_step() is is_in_step


def test_what_follows_from_each_step_is_asked_for(background):
    background._after_refresh()
    assert background.calls == [("vectors.request",), ("briefs.request",)]
    background.calls.clear()
    background._after_refining()
    written = [("commits.request",), ("index.request",), ("wake",)]
    assert background.calls == [("sync.request_news",), *written]


def test_at_the_end_all_is_committed_before_briefs_are_made(background):
    closed = background.calls
    background._jobs = (Told(closed, "jobs"),)
    background.close()
    assert closed == [
        ("jobs.close",),
        ("manifests.close",),
        ("commits.commit_all",),
        ("briefs.close",),
        ("sync.close",),
        ("model.close",),
        ("vectors.close",),
    ]


@pytest.fixture
def manifests(monkeypatch):
    """A task that starts no thread, and what it took of which directory."""
    begun, taken = [], []
    monkeypatch.setattr(
        manifest_task, "in_thread", lambda name, act: begun.append((name, act))
    )
    monkeypatch.setattr(manifest_task, "is_known", lambda _, place: place.name != "new")
    registry = SimpleNamespace(for_directory=lambda place: place)
    written = []
    task = ManifestTask(registry, lambda: written.append(True))

    def take(workspace, directory):
        taken.append(directory.name)
        if directory.name == "bad":
            raise OSError(13, "Permission denied", "/bad")
        if directory.name == "bug":
            raise ZeroDivisionError
        return directory.name == "changed"

    task._manifests = SimpleNamespace(take=take)
    return SimpleNamespace(task=task, begun=begun, taken=taken, written=written)


def test_manifests_are_read_in_one_thread_until_no_directory_waits(manifests, caplog):
    task = manifests.task
    task.run(0.0)
    assert (manifests.begun, task.is_behind) == ([], False)
    for place in ("/bad", "/bug", "/new", "/same", "/changed", "/changed", ""):
        task.note_place(place, is_due=True)
    assert task.is_behind
    for _ in range(2):
        assert task.run(0.0) == float("inf")
    [(name, act)] = manifests.begun
    assert name == "manifests"
    act()
    assert manifests.taken == ["bad", "bug", "same", "changed"]
    assert (manifests.written, task.is_behind) == ([True], False)
    assert [(one.levelname, one.getMessage()) for one in caplog.records] == [
        ("WARNING", "what /bad is made of: [Errno 13] Permission denied: '/bad'"),
        ("ERROR", "what /bug is made of"),
    ]


def test_a_directory_is_read_once_and_again_at_the_ends_of_a_session(manifests):
    task = manifests.task
    for place in ("/same", "/new"):
        task.note_place(place, is_due=False)
    task._scan_waiting()
    assert manifests.taken == ["same"]
    task.note_place("/same", is_due=False)
    assert not task.is_behind
    task.note_place("/new", is_due=False)  # its entry may have come meanwhile
    assert task.is_behind
    task.note_place("/same", is_due=True)
    task._scan_waiting()
    assert manifests.taken == ["same", "same"]
