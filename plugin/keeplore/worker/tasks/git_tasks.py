"""Committing what was written, and exchanging it with the remotes."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from keeplore.config.settings import SyncSettings
from keeplore.errors import KeeploreError, RepositoryBusy
from keeplore.text.dates import now
from keeplore.worker.tasks.base import NEVER, for_each, in_thread
from keeplore.workspace.registry import Registry
from keeplore.workspace.workspace import Workspace

LOG = logging.getLogger(__name__)
COMMIT_DELAY_S = 2.0  # after the last change; a busy session makes few commits
COMMIT_LATEST_S = 30.0  # after the first one
# after git was busy with something of the user's, who has left it for dead when nothing moved so
# long
BUSY_S = 60.0
SYNC_DELAY_S = 3.0  # after a commit
SYNC_LEAST_S = 30.0  # between two that only look for news
SYNC_BACKOFF_S = (30.0, 1800.0)  # after a failure: first and longest pause
SYNC_ENDS_S = 2.0  # at the end


class SyncTask:
    """Exchanges the workspaces with their remotes in a thread: after a commit, now and then, and
    when somebody begins to work.

    From that thread ``merged`` is called after files have changed, and ``wake`` at the end.
    """

    name = "sync"

    def __init__(
        self, registry: Registry, on_merge: Callable[[], None], wake: Callable[[], None]
    ) -> None:
        self._registry = registry
        self._on_merge = on_merge
        self._wake = wake
        self._synced_at = time.monotonic()
        # a worker that was killed may have left what is not pushed
        self._due_at = self._synced_at + SYNC_DELAY_S  # 0.0 for no news
        self._pause_s = SYNC_BACKOFF_S[0]
        # while the worker lives, which is while people work: until news are looked for again
        self._every_s = SyncSettings().every_minutes * 60.0
        self._has_failed = False
        self._thread: threading.Thread | None = None
        self.is_running = False
        self.last = ""  # when, of which workspace, and what came of it

    @property
    def is_due(self) -> bool:
        """Whether there is something to push; a remote that cannot be reached is not waited for."""
        return bool(self._due_at) and not self._has_failed

    def request(self, workspace: Workspace) -> None:
        """Ask for a sync of a workspace, which has a new commit."""
        if workspace.settings.syncs_itself and workspace.store.remote():
            self._due_at = time.monotonic() + SYNC_DELAY_S
            # a remote that does not answer is not asked again at every turn
            if self._has_failed:
                self._due_at = max(self._due_at, self._synced_at + SYNC_BACKOFF_S[0])

    def request_news(self) -> None:
        """Have the next sync run at once, unless one ran a moment ago: somebody begins to work here
        and wants what other machines wrote.
        """
        moment = time.monotonic()
        if not self._due_at and moment - self._synced_at > SYNC_LEAST_S:
            self._due_at = moment

    def run(self, now: float) -> float:
        if self.is_running:
            return NEVER  # its end wakes the worker
        due_at = self._due_at or self._synced_at + self._every_s
        if now < due_at:
            return due_at
        self._due_at, self._synced_at, self.is_running = 0.0, now, True
        self._thread = in_thread("sync", self.exchange_all)
        return NEVER

    def close(self) -> None:
        if self._thread is not None:
            self._thread.join(SYNC_ENDS_S)

    def exchange_all(self) -> None:
        """Exchange every open workspace with its remote; never raises."""
        try:
            opened = self._registry.opened()
            settings = [workspace.settings.sync for workspace in opened]
            minutes = [one.every_minutes for one in settings if one.automatic]
            self._every_s = min(minutes, default=SyncSettings().every_minutes) * 60.0
            exchanged = [self._exchange(workspace) for workspace in opened]
            self._has_failed = not all(exchanged)
            if self._has_failed:
                self._due_at = time.monotonic() + self._pause_s
                self._pause_s = min(self._pause_s * 2, SYNC_BACKOFF_S[1])
            else:
                self._pause_s = SYNC_BACKOFF_S[0]
        finally:
            self.is_running = False
            self._wake()

    def _exchange(self, workspace: Workspace) -> bool:
        """Exchange a workspace with its remote, where it has one. False where that failed."""
        try:
            if workspace.settings.syncs_itself and workspace.store.remote():
                # here, because few workers ever need it
                from keeplore.workspace.lifecycle.sync_workspace import synchronise

                result = synchronise(workspace, quiet_s=BUSY_S)
                self.last = f"{now()} {workspace.name}: {result.note}"
                if result.merged:
                    self._on_merge()
        except Exception as e:
            # nobody waits for this thread: what ends it would go unseen
            self.last = f"{now()} {workspace.name}: {e}"
            is_ours = not isinstance(e, KeeploreError)
            LOG.warning("sync of %s: %s", workspace.name, e, exc_info=is_ours)
            return False
        return True


class CommitTask:
    """Commits a while after the last change, and again after git was busy; ``done`` is called after
    a commit.
    """

    name = "committing"

    def __init__(
        self, registry: Registry, sync: SyncTask, on_done: Callable[[], None]
    ) -> None:
        self._registry = registry
        self._sync = sync
        self._on_done = on_done
        # a worker that was killed may have left text that is not committed
        self._changed_at = self._first_change_at = time.monotonic()  # 0.0 for no change
        self._again_at = 0.0

    @property
    def is_behind(self) -> bool:
        return bool(self._changed_at)

    def request(self) -> None:
        """Text of a workspace has changed."""
        self._changed_at = time.monotonic()
        self._first_change_at = self._first_change_at or self._changed_at

    def run(self, now: float) -> float:
        is_changed, is_again = now >= self._change_due_at(), 0.0 < self._again_at <= now
        if is_changed:
            self._changed_at = self._first_change_at = 0.0
        if is_again:
            self._again_at = 0.0
        if is_changed or is_again:
            self.commit_all()
        return min(self._change_due_at(), self._again_at or NEVER)

    def commit_all(self) -> None:
        for_each(self._registry.opened(), self.commit)

    def commit(self, workspace: Workspace) -> None:
        try:
            is_new = workspace.commit()
        except RepositoryBusy as e:
            LOG.info("%s: %s", workspace.name, e)
            self._again_at = time.monotonic() + BUSY_S
            # here, because few workers ever need it
            from keeplore.workspace.lifecycle.sync_workspace import repair_merges

            if repair_merges(workspace, BUSY_S):
                self._again_at = time.monotonic()
            return
        if is_new:
            self._sync.request(workspace)
            self._on_done()

    def _change_due_at(self) -> float:
        if not self._changed_at:
            return NEVER
        return min(
            self._changed_at + COMMIT_DELAY_S, self._first_change_at + COMMIT_LATEST_S
        )
