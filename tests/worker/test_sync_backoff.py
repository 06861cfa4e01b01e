"""When the worker asks a remote again that did not answer."""

import os
import subprocess
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sample_note import note

from keeplore.config.places import Places
from keeplore.config.setting_layers import set_own
from keeplore.config.settings import SyncSettings
from keeplore.errors import RemoteError
from keeplore.worker.background import BackgroundTasks
from keeplore.worker.tasks.git_tasks import SYNC_BACKOFF_S, SYNC_DELAY_S, SyncTask
from keeplore.workspace import Registry
from keeplore.workspace.lifecycle.setup import initialise


def test_turns_do_not_make_it_ask_a_remote_in_vain_again_and_again_and_one_that_is_back_gets_all(
    tmp_path: Path,
):
    places, remote = Places.from_environment(os.environ), tmp_path / "remote.git"
    initialise(places, tmp_path / "memory")
    subprocess.run(
        ["git", "remote", "add", "origin", str(remote)],
        cwd=tmp_path / "memory",
        check=True,
    )
    with Registry(places) as registry:
        workspace = registry.named("memory")
        background = BackgroundTasks(registry, lambda _: "", lambda: None, lambda: True)
        sync, commits = background.sync, background.commits
        sync.exchange_all()
        workspace.store.save(note("Offline"))
        commits.commit(workspace)
        assert sync._due_at >= sync._synced_at + SYNC_BACKOFF_S[0]
        subprocess.run(
            ["git", "init", "-q", "--bare", "-b", "main", str(remote)], check=True
        )
        sync.exchange_all()
        workspace.store.save(note("Online"))
        commits.commit(workspace)
        assert sync._due_at <= time.monotonic() + SYNC_DELAY_S
        sync.exchange_all()
    listed = subprocess.run(
        ["git", "ls-tree", "-r", "--name-only", "main"],
        cwd=remote,
        capture_output=True,
        check=True,
    )
    assert b"offline" in listed.stdout and b"online" in listed.stdout


def test_each_failure_in_a_row_doubles_the_pause_up_to_its_limit(tmp_path: Path):
    places = Places.from_environment(os.environ)
    initialise(places, tmp_path / "memory")
    subprocess.run(
        ["git", "remote", "add", "origin", str(tmp_path / "nowhere.git")],
        cwd=tmp_path / "memory",
        check=True,
    )
    least, most = SYNC_BACKOFF_S
    with Registry(places) as registry:
        registry.named("memory")
        background = BackgroundTasks(registry, lambda _: "", lambda: None, lambda: True)
        sync = background.sync
        pauses = []
        for _ in range(3):
            pauses.append(sync._pause_s)
            sync.exchange_all()
        sync._pause_s = most * 0.75
        sync.exchange_all()
    assert pauses == [least, 2 * least, 4 * least]
    assert sync._pause_s == most


def test_news_are_looked_for_as_often_as_this_machine_says(tmp_path: Path):
    places = Places.from_environment(os.environ)
    initialise(places, tmp_path / "memory")
    set_own(places.state, tmp_path / "memory", "sync.every_minutes", 60)
    with Registry(places) as registry:
        registry.named("memory")
        sync = BackgroundTasks(registry, lambda _: "", lambda: None, lambda: True).sync
        sync.exchange_all()
        sync._due_at = 0.0
        assert sync.run(sync._synced_at + 5 * 60.0) == sync._synced_at + 60 * 60.0
        set_own(places.state, tmp_path / "memory", "sync.automatic", value=False)
        sync.exchange_all()
        assert sync.run(sync._synced_at + 1.0) == sync._synced_at + 5 * 60.0


@pytest.mark.parametrize(
    ("failure", "has_traceback"),
    [(RemoteError("it is away", "Wait"), False), (ZeroDivisionError("by zero"), True)],
)
def test_what_ends_a_sync_is_told_with_its_traceback_where_it_is_a_bug_of_ours(
    caplog: pytest.LogCaptureFixture, failure: Exception, has_traceback: bool
) -> None:
    def remote() -> str:
        raise failure

    settings = SimpleNamespace(sync=SyncSettings(), syncs_itself=True)
    store = SimpleNamespace(remote=remote)
    workspace = SimpleNamespace(name="memory", settings=settings, store=store)
    registry: Any = SimpleNamespace(opened=lambda: [workspace])
    woken: list[bool] = []
    sync = SyncTask(registry, lambda: None, lambda: woken.append(sync.is_running))
    sync.exchange_all()
    [record] = [one for one in caplog.records if one.name.startswith("keeplore")]
    assert record.getMessage() == f"sync of memory: {failure}"
    assert bool(record.exc_info) == has_traceback
    assert sync.last.endswith(f"Z memory: {failure}") and woken == [False]
