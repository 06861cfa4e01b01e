"""When the tasks of a worker are due: soon after a change, not at each of many, and never too late.

The clock of these tests stands still; a task is asked at moments of their own.
"""

import math
import time
from types import SimpleNamespace

import pytest

from keeplore.config.settings import SyncSettings
from keeplore.errors import RepositoryBusy
from keeplore.index.rows import RefreshResult
from keeplore.worker.tasks import brief_task, git_tasks, vector_tasks
from keeplore.worker.tasks.brief_task import BriefTask
from keeplore.worker.tasks.git_tasks import CommitTask, SyncTask
from keeplore.worker.tasks.index_task import IndexTask, WatchTask
from keeplore.worker.tasks.manifest_task import ManifestTask
from keeplore.worker.tasks.queue_tasks import JobTask
from keeplore.worker.tasks.session_tasks import SaveTask, SweepTask
from keeplore.worker.tasks.spool_task import SpoolTask
from keeplore.worker.tasks.tidy_task import TidyTask
from keeplore.worker.tasks.vector_tasks import ModelTask, VectorTask
from keeplore.workspace.lifecycle import sync_workspace


def registry_of(*workspaces):
    return SimpleNamespace(opened=lambda: [*workspaces], searched=lambda: [*workspaces])


@pytest.fixture
def refreshed(monkeypatch):
    """Moments at which briefs were made."""
    moments = []

    class Maker:
        def __init__(self, registry):
            self.registry = registry

        def refresh(self):
            moments.append(time.monotonic())

    monkeypatch.setattr(brief_task, "BriefMaker", Maker)
    return moments


def test_briefs_are_made_a_second_after_the_last_change_and_five_after_the_first(
    clock, refreshed
):
    task = BriefTask(registry_of())
    assert (task.run(1000.9), refreshed) == (1001.0, [])
    assert (task.run(1001.0), refreshed) == (math.inf, [1000.0])
    for clock.now in (1010.0, 1010.5, 1013.0, 1014.6):
        task.request()
    assert task.run(1014.9) == 1015.0
    assert (task.run(1015.0), len(refreshed)) == (math.inf, 2)
    clock.now = 1020.0
    task.request()
    assert task.run(1020.0) == 1021.0
    task.close()
    assert len(refreshed) == 3


class Committed:
    """A workspace that has something new to commit, or in which git is busy."""

    name = "memory"

    def __init__(self, what):
        self.what, self.commits = what, 0

    def commit(self):
        self.commits += 1
        if isinstance(self.what, Exception):
            raise self.what
        return self.what


def commit_task(workspace):
    """The task, the workspaces whose sync was asked for, and what was told of commits."""
    synced, done = [], []
    sync = SimpleNamespace(request=synced.append)
    task = CommitTask(registry_of(workspace), sync, lambda: done.append(True))
    return task, synced, done


def test_a_commit_is_made_two_seconds_after_the_last_change_and_thirty_after_the_first(
    clock,
):
    workspace = Committed(what=True)
    task, synced, done = commit_task(workspace)
    assert task.is_behind
    assert (task.run(1001.9), workspace.commits) == (1002.0, 0)
    assert (task.run(1002.0), workspace.commits) == (math.inf, 1)
    assert (synced, done, task.is_behind) == ([workspace], [True], False)
    for clock.now in (2000.0, 2015.0, 2029.0):
        task.request()
    assert task.run(2029.9) == 2030.0
    assert (task.run(2030.0), workspace.commits) == (math.inf, 2)


def test_nothing_new_is_neither_synced_nor_told(clock):
    task, synced, done = commit_task(Committed(what=False))
    task.run(1002.0)
    assert (synced, done, task.is_behind) == ([], [], False)


@pytest.mark.parametrize(("is_healed", "pause_s"), [(False, 60.0), (True, 0.0)])
def test_a_commit_is_tried_again_once_git_may_be_free(
    clock, monkeypatch, is_healed, pause_s
):
    asked = []
    monkeypatch.setattr(
        sync_workspace, "repair_merges", lambda *given: asked.append(given) or is_healed
    )
    workspace = Committed(what=RepositoryBusy("a rebase is going on", "Wait"))
    task, synced, done = commit_task(workspace)
    assert task.run(1002.0) == 1000.0 + pause_s
    assert (asked, synced, done, task.is_behind) == (
        [(workspace, git_tasks.BUSY_S)],
        [],
        [],
        False,
    )
    workspace.what = True
    task.run(1000.0 + pause_s)
    assert (workspace.commits, synced) == (2, [workspace])


def sync_task(*, syncs_itself=True, remote="origin"):
    workspace = SimpleNamespace(
        settings=SimpleNamespace(syncs_itself=syncs_itself),
        store=SimpleNamespace(remote=lambda: remote),
    )
    task = SyncTask(registry_of(workspace), lambda: None, lambda: None)
    return task, workspace


def without_thread(monkeypatch):
    """Starts no thread; returns the names of those that would have been started."""
    started = []
    monkeypatch.setattr(
        git_tasks, "in_thread", lambda name, act: started.append((name, act))
    )
    return started


def test_a_sync_runs_three_seconds_after_a_commit_and_every_five_minutes(
    clock, monkeypatch
):
    started = without_thread(monkeypatch)
    task, workspace = sync_task()
    assert task.is_due  # a worker that was killed may have left what is not pushed
    assert (task.run(1002.9), started) == (1003.0, [])
    assert (task.run(1003.0), task.is_running, task.is_due) == (math.inf, True, False)
    assert started == [("sync", task.exchange_all)]
    assert (task.run(5000.0), len(started)) == (math.inf, 1)  # one at a time
    task.is_running = False
    assert task.run(1004.0) == 1303.0
    clock.now = 1100.0
    task.request(workspace)
    assert (task.run(1100.0), task.is_due) == (1103.0, True)


@pytest.mark.parametrize(
    "without", [{"syncs_itself": False}, {"remote": ""}], ids=["setting", "remote"]
)
def test_no_sync_is_due_where_there_is_none_to_be(clock, monkeypatch, without):
    without_thread(monkeypatch)
    task, workspace = sync_task(**without)
    task.run(1003.0)
    task.request(workspace)
    assert not task.is_due


def test_news_are_asked_for_at_once_unless_that_was_done_a_moment_ago(
    clock, monkeypatch
):
    without_thread(monkeypatch)
    task, _ = sync_task()
    task.request_news()
    assert task.run(1000.0) == 1003.0  # it is due anyway
    task.run(1003.0)
    task.is_running = False
    clock.now = 1033.0
    task.request_news()
    assert not task.is_due
    clock.now = 1033.1
    task.request_news()
    assert task.is_due
    task.run(1033.1)
    assert task.is_running


class Indexed:
    """A workspace whose index gives these results one after the other, then nothing new."""

    name = "memory"

    def __init__(self, *results):
        self.results, self.asked = [*results], []
        self.index = self

    def refresh(self, within_s):
        self.asked.append(within_s)
        return self.results.pop(0) if self.results else RefreshResult(0, 0)


def index_task(workspace, look_s=30.0):
    done = []
    return IndexTask(registry_of(workspace), lambda: done.append(True), look_s), done


def test_text_is_looked_at_at_once_and_then_every_five_minutes_where_changes_are_told(
    clock,
):
    workspace = Indexed()
    task, done = index_task(workspace)
    assert task.is_behind
    assert (task.run(1000.0), workspace.asked, done) == (1300.0, [2.0], [True])
    assert not task.is_behind
    assert (task.run(1299.9), len(done)) == (1300.0, 1)
    clock.now = 1300.0
    assert (task.run(1300.0), len(done)) == (1600.0, 2)
    task.request()
    assert (task.is_behind, task.run(1300.0), len(done)) == (True, 1600.0, 3)


@pytest.mark.parametrize(
    ("look_s", "took_s", "pause_s"),
    [(30.0, 0.0, 30.0), (30.0, 0.5, 50.0), (30.0, 9.0, 300.0), (600.0, 0.0, 300.0)],
)
def test_where_no_changes_are_told_it_looks_as_often_as_set_but_not_all_the_time(
    clock, monkeypatch, look_s, took_s, pause_s
):
    moments = iter([10.0, 10.0 + took_s])
    monkeypatch.setattr(time, "thread_time", lambda: next(moments))
    task, _ = index_task(Indexed(), look_s)
    task.unwatched = "too many files"
    assert task.run(1000.0) == 1000.0 + pause_s


@pytest.mark.parametrize(
    "result",
    [RefreshResult(1, 0), RefreshResult(0, 1), RefreshResult(0, 0, left=1)],
)
def test_a_look_that_found_something_says_nothing_of_what_looking_takes(
    clock, monkeypatch, result
):
    moments = iter([10.0, 19.0])
    monkeypatch.setattr(time, "thread_time", lambda: next(moments))
    task, _ = index_task(Indexed(result))
    task.unwatched = "too many files"
    assert task.run(1000.0) == (1000.0 if result.left else 1030.0)


def test_text_that_there_was_no_time_for_is_read_at_the_next_round(clock):
    workspace = Indexed(RefreshResult(3, 0, left=2))
    task, _ = index_task(workspace)
    assert task.run(1000.0) == 1000.0
    assert (task.has_unread, task.is_behind) == (True, True)
    assert task.run(1000.0) == 1300.0
    assert (task.has_unread, task.is_behind) == (False, False)


def test_changes_by_another_hand_are_read_once_no_more_follow_but_not_too_late(clock):
    task, _ = index_task(Indexed())
    task.run(1000.0)
    assert task.note_text()
    assert task.run(1000.0) == 1000.4
    for clock.now in (1000.3, 1005.0, 1009.8):
        assert not task.note_text()
    assert task.run(1009.9) == 1010.0
    clock.now = 1010.0
    assert task.run(1010.0) == 1310.0
    assert task.note_text()
    assert task.run(1010.0) == 1010.4


def test_a_change_of_our_own_is_not_put_off_by_one_of_another_hand(clock):
    task, _ = index_task(Indexed())
    assert not task.note_text()  # the first look is due
    assert task.run(1000.0) == 1300.0


def tidied(tmp_path, *, nightly=True, frozen=False):
    return SimpleNamespace(
        name="memory",
        places=SimpleNamespace(state=tmp_path),
        settings=SimpleNamespace(tidy=SimpleNamespace(nightly=nightly), frozen=frozen),
    )


def test_tidying_waits_until_nobody_works(tmp_path):
    task = TidyTask(registry_of(tidied(tmp_path)), lambda: False, lambda: None)
    assert task.run(1000.0) == 1060.0
    assert not task.is_running
    task.close()


@pytest.mark.parametrize("without", [{"nightly": False}, {"frozen": True}])
def test_nothing_is_tidied_where_the_workspace_does_not_say_so(tmp_path, without):
    workspace = tidied(tmp_path, **without)
    task = TidyTask(registry_of(workspace), lambda: True, lambda: None)
    assert task.run(1000.0) == math.inf
    assert not task.is_running


class Jobs:
    """Jobs that are due in so many seconds."""

    def __init__(self, due_s):
        self.due_s, self.asked = due_s, 0

    def next_due_s(self):
        self.asked += 1
        return self.due_s

    def step(self):
        return None


@pytest.mark.parametrize(
    ("due_s", "again_at"), [(None, math.inf), (0.5, 1000.5), (70.0, 1070.0)]
)
def test_a_queue_is_asked_again_where_it_has_changed_or_a_job_is_due(
    tmp_path, due_s, again_at
):
    file, jobs = tmp_path / "jobs.db", Jobs(due_s)
    task = JobTask("ingesting", file, lambda: jobs, lambda: None)
    assert (task.run(1000.0), jobs.asked) == (math.inf, 0)  # there is no queue
    file.write_text("one")
    assert (task.run(1000.0), jobs.asked) == (again_at, 1)
    assert (task.run(1000.1), jobs.asked) == (again_at, 1)
    file.write_text("another")
    task.run(1000.2)
    assert (jobs.asked, task.is_running) == (2, False)
    if due_s:
        task.run(1000.2 + due_s)
        assert jobs.asked == 3


def test_a_queue_that_cannot_be_read_now_is_asked_again(tmp_path):
    file = tmp_path / "jobs.db"
    file.write_text("one")
    readers = [None, Jobs(None)]
    task = JobTask("refining", file, lambda: readers.pop(0), lambda: None)
    assert [task.run(1000.0), task.run(1001.0)] == [math.inf, math.inf]
    assert readers == []


class Loaded:
    """A workspace that was searched, with a model that cannot be loaded."""

    name = "memory"

    def __init__(self, *, is_warm=False, are_loaded=False):
        self.is_warm = is_warm
        self.models = SimpleNamespace(are_loaded=are_loaded)


def model_task(monkeypatch, *workspaces, is_rested=False):
    """The task, and the workspaces whose models it set out to load, time by time."""
    loaded = []
    monkeypatch.setattr(
        vector_tasks, "in_thread", lambda _name, _act, cold: loaded.append(cold)
    )
    task = ModelTask(registry_of(*workspaces), lambda: is_rested, lambda: None)
    return task, loaded


def test_a_model_that_cannot_be_loaded_is_tried_again_after_a_minute(
    clock, monkeypatch
):
    cold = Loaded()
    task, loaded = model_task(monkeypatch, Loaded(is_warm=True), cold)
    for moment in (1000.0, 1059.9, 1060.0):
        assert task.run(moment) == math.inf
    assert loaded == [[cold], [cold]]


@pytest.mark.parametrize(("is_warm", "is_rested"), [(True, False), (False, True)])
def test_a_model_is_not_loaded_that_is_there_or_that_nobody_needs(
    clock, monkeypatch, is_warm, is_rested
):
    task, loaded = model_task(monkeypatch, Loaded(is_warm=is_warm), is_rested=is_rested)
    assert (task.run(1000.0), loaded) == (math.inf, [])


@pytest.mark.parametrize("are_loaded", [True, False])
def test_one_model_in_memory_is_enough_to_be_told_of(monkeypatch, are_loaded):
    task, _ = model_task(monkeypatch, Loaded(), Loaded(are_loaded=are_loaded))
    assert task.is_loaded is are_loaded


class Passages:
    """A workspace with so many passages that have no vector, and so many without links."""

    name = "memory"

    def __init__(self, vectors=0, links=0, *, is_remote=False, batch=1):
        self.left, self.unlinked, self.steps = vectors, links, []
        self.embedder = SimpleNamespace(is_remote=is_remote, batch=batch)
        self.index = SimpleNamespace(
            graph=self, embed_pending=self.embed_pending, is_remote=False
        )

    def link(self, count):
        self.unlinked = max(self.unlinked - count, 0)
        return self.unlinked

    def embed_pending(self, count):
        self.steps.append(count)
        self.left = max(self.left - count, 0)
        return self.left


def test_vectors_are_made_in_small_steps_until_all_are_there():
    workspace = Passages(vectors=20)
    task = VectorTask(registry_of(workspace), lambda: True, lambda: None)
    assert [task.run(0.0), task.run(0.0), task.is_behind] == [0.0, 0.0, True]
    assert [task.run(0.0), task.run(0.0), task.is_behind] == [math.inf, math.inf, False]
    assert workspace.steps == [8, 8, 8]
    task.request()
    assert (task.is_behind, task.run(0.0), len(workspace.steps)) == (True, math.inf, 4)


def test_links_are_work_too():
    task = VectorTask(registry_of(Passages(links=2)), lambda: True, lambda: None)
    assert [task.run(0.0), task.run(0.0)] == [0.0, math.inf]


def test_vectors_wait_for_what_goes_before_and_for_every_workspace_that_is_opened():
    may_run, workspaces = [], [Passages(), Passages()]
    opened = workspaces[:1]
    registry = SimpleNamespace(searched=lambda: [*opened])
    task = VectorTask(registry, lambda: bool(may_run), lambda: None)
    assert (task.run(0.0), task.is_behind) == (0.0, True)
    may_run.append(True)
    assert task.run(0.0) == math.inf
    opened.append(workspaces[1])
    assert task.run(0.0) == math.inf
    assert [one.steps for one in workspaces] == [[8, 8], [8]]


@pytest.mark.parametrize(("batch", "step"), [(3, 8), (32, 32)])
def test_a_server_is_asked_for_whole_batches_until_none_is_left(batch, step):
    woken = []
    workspace = Passages(vectors=2 * step + 1, is_remote=True, batch=batch)
    task = VectorTask(registry_of(workspace), lambda: True, lambda: woken.append(True))
    assert task.run(0.0) == math.inf
    task._threads[workspace].join(60)
    assert (workspace.steps, woken) == ([step] * 3, [True])
    assert not task.is_behind


def test_a_server_is_asked_no_more_by_a_worker_that_leaves():
    workspace = Passages(vectors=100, is_remote=True)
    task = VectorTask(registry_of(workspace), lambda: True, lambda: None)
    task.close()
    task.run(0.0)
    task._threads[workspace].join(60)
    assert workspace.steps == [8]


class Thread:
    """A thread that somebody waits for; ``waits`` are the seconds."""

    def __init__(self):
        self.waits = []

    def join(self, seconds):
        self.waits.append(seconds)


def test_a_worker_that_leaves_waits_for_threads_only_so_long(clock, tmp_path):
    sync, _ = sync_task()
    jobs = JobTask("ingesting", tmp_path / "jobs.db", lambda: None, lambda: None)
    tidy = TidyTask(registry_of(), lambda: True, lambda: None)
    model = ModelTask(registry_of(), lambda: True, lambda: None)
    for task, seconds in ((sync, 2.0), (jobs, 2.0), (tidy, 2.0), (model, 20.0)):
        task.close()  # without a thread there is nothing to wait for
        task._thread = Thread()
        task.close()
        assert task._thread.waits == [seconds], task.name
    vectors = VectorTask(registry_of(), lambda: True, lambda: None)
    threads = [Thread(), Thread()]
    vectors._threads = dict(enumerate(threads))
    vectors.close()
    assert [thread.waits for thread in threads] == [[2.0], [2.0]]


def test_what_fails_is_told_by_the_name_of_its_task():
    named = {
        BriefTask: "briefs",
        CommitTask: "committing",
        SyncTask: "sync",
        IndexTask: "indexing",
        WatchTask: "watching",
        TidyTask: "tidying",
        VectorTask: "making vectors",
        ModelTask: "loading the model",
        SweepTask: "sweep",
        SaveTask: "what was shown",
        SpoolTask: "taking host events",
        ManifestTask: "looking at manifests",
    }
    assert {task: task.name for task in named} == named


@pytest.mark.parametrize("merged", [0, 2])
def test_files_that_a_sync_has_changed_are_told_and_what_came_of_it(
    clock, monkeypatch, merged
):
    asked = []

    def synchronise(workspace, quiet_s):
        asked.append((workspace.name, quiet_s))
        return SimpleNamespace(note="1 commit fetched", merged=merged)

    monkeypatch.setattr(sync_workspace, "synchronise", synchronise)
    _, workspace = sync_task()
    workspace.name = "memory"
    workspace.settings.sync = SyncSettings()
    told = []
    task = SyncTask(
        registry_of(workspace),
        lambda: told.append("merged"),
        lambda: told.append("end"),
    )
    assert task.last == ""
    task.exchange_all()
    assert asked == [("memory", git_tasks.BUSY_S)]
    assert told == (["merged", "end"] if merged else ["end"])
    assert task.last.endswith("Z memory: 1 commit fetched")
    assert not task._has_failed


@pytest.mark.parametrize(
    "without", [{"syncs_itself": False}, {"remote": ""}], ids=["setting", "remote"]
)
def test_a_workspace_without_a_remote_is_exchanged_with_none(
    clock, monkeypatch, without
):
    monkeypatch.delattr(sync_workspace, "synchronise")
    task, workspace = sync_task(**without)
    workspace.settings.sync = SyncSettings()
    task.exchange_all()
    assert (task.last, task._has_failed) == ("", False)


@pytest.mark.parametrize(
    ("minutes", "every_s"), [((), 300.0), ((7, 3), 180.0), ((None, 9), 540.0)]
)
def test_news_are_looked_for_as_often_as_the_most_eager_workspace_says(
    clock, monkeypatch, minutes, every_s
):
    without_thread(monkeypatch)
    workspaces = []
    for number in minutes:
        _, workspace = sync_task(syncs_itself=False)
        workspace.settings.sync = SyncSettings(number is not None, number or 1)
        workspaces.append(workspace)
    task = SyncTask(registry_of(*workspaces), lambda: None, lambda: None)
    task.exchange_all()
    task._due_at = 0.0
    assert task.run(1000.0) == 1000.0 + every_s
