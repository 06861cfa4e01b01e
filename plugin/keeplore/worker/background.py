"""What the worker does when the spool is empty: index, commit, vectors, sync, each when it is due."""

from __future__ import annotations

import logging
import threading
import time
from typing import Any

from keeplore.errors import KeeploreError, ModelUnavailable, RepositoryBusy
from keeplore.workspace.registry import Registry
from keeplore.workspace.workspace import Workspace, now

LOG = logging.getLogger(__name__)
COMMIT_DELAY_S = 2.0  # after the last change; a busy session makes few commits
COMMIT_LATEST_S = 30.0  # after the first one
SYNC_DELAY_S = 3.0  # after a commit
SYNC_BACKOFF_S = (30.0, 1800.0)  # after a failure: first and longest pause
VECTORS_A_STEP = 8  # so that a new event waits for one small batch at most
NEVER_S = 3600.0
WARMING_S = 0.1  # between looks while workspaces are being opened
BUSY_S = 60.0  # after git was busy with something of the user's


class Background:
    """Stepped by the worker's one loop; only the network runs in a thread of its own."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        # a worker that was killed may have left text that is neither committed nor pushed
        self._changed_at = self._first_change_at = time.monotonic()
        self._written = 0  # files that this knows of
        self._is_index_due = True
        self._are_vectors_due = True
        self._sync_due_at = time.monotonic() + SYNC_DELAY_S
        self._sync_pause_s = SYNC_BACKOFF_S[0]
        self._has_sync_failed = False
        self._sync_thread: threading.Thread | None = None
        self._is_warm = threading.Event()
        self._commit_again_at = 0.0
        self._last_sync = ""

    @property
    def is_behind(self) -> bool:
        """Whether there is work that a worker should stay for; a remote that cannot be reached is none."""
        is_sync_due = self._sync_due_at and not self._has_sync_failed
        return bool(self._changed_at or self._is_index_due or self._are_vectors_due or is_sync_due)

    def note_change(self) -> None:
        """Look whether the workspaces have text that is not indexed and committed yet."""
        written = self._registry.written()
        if written == self._written:
            return
        self._written = written
        self.change()

    def change(self) -> None:
        """The text of a workspace has changed: index and commit it in a while."""
        self._changed_at = time.monotonic()
        self._first_change_at = self._first_change_at or self._changed_at
        self._is_index_due = self._are_vectors_due = True

    def warm_up(self) -> None:
        """Load the model before the first question, beside everything else."""

        def load() -> None:
            for name in self._registry.machine.workspaces:
                try:
                    workspace = self._registry.named(name)
                    if workspace.embedder is not None:
                        workspace.embedder.embed(["warm"])
                except (KeeploreError, OSError) as e:
                    LOG.warning("%s: %s", name, e)
            self._is_warm.set()

        threading.Thread(target=load, name="keeplore-warm", daemon=True).start()

    def step(self) -> float:
        """Do what is due. Returns for how many seconds nothing will be; 0.0 where more waits."""
        if self._registry.machine.workspaces and not self._registry.opened() and not self._is_warm.is_set():
            return WARMING_S
        if self._is_index_due:
            self._is_index_due = False
            self._each(lambda workspace: workspace.index.refresh())
        moment = time.monotonic()
        if self._commit_again_at and moment >= self._commit_again_at:
            self._commit_again_at = 0.0
            self._each(self._commit)
        if self._changed_at and (
            moment - self._changed_at >= COMMIT_DELAY_S or moment - self._first_change_at >= COMMIT_LATEST_S
        ):
            self._changed_at = self._first_change_at = 0.0
            self._each(self._commit)
        if self._sync_due_at and moment >= self._sync_due_at and not self._is_syncing():
            self._sync_due_at = 0.0
            self._sync_thread = threading.Thread(target=self._sync, name="keeplore-sync", daemon=True)
            self._sync_thread.start()
        if self._are_vectors_due:
            left = [self._vectors(workspace) for workspace in self._registry.opened()]
            self._are_vectors_due = any(left)
            return 0.0 if self._are_vectors_due else self._pause_s()
        return self._pause_s()

    def status(self) -> dict[str, Any]:
        return {"is_behind": self.is_behind, "last_sync": self._last_sync}

    def close(self) -> None:
        """Commit what is on disk; a sync that runs is given a moment."""
        self._each(self._commit)
        if self._sync_thread is not None:
            self._sync_thread.join(2.0)

    def _pause_s(self) -> float:
        commit_at = self._changed_at and self._changed_at + COMMIT_DELAY_S
        due = [at for at in (commit_at, self._commit_again_at, self._sync_due_at) if at]
        return max(min(due) - time.monotonic(), 0.05) if due else NEVER_S

    def _each(self, act: Any) -> None:
        for workspace in self._registry.opened():
            try:
                act(workspace)
            except (KeeploreError, OSError) as e:
                LOG.warning("%s: %s", workspace.name, e)

    def _commit(self, workspace: Workspace) -> None:
        try:
            is_new = workspace.commit()
        except RepositoryBusy as e:
            LOG.info("%s: %s", workspace.name, e)
            self._commit_again_at = time.monotonic() + BUSY_S
            return
        if is_new and workspace.settings.sync.automatic and workspace.store.remote():
            self._sync_due_at = time.monotonic() + SYNC_DELAY_S

    def _vectors(self, workspace: Workspace) -> int:
        try:
            return workspace.index.embed_pending(VECTORS_A_STEP)
        except (ModelUnavailable, KeeploreError, OSError) as e:
            LOG.warning("%s: %s", workspace.name, e)
            return 0

    def _is_syncing(self) -> bool:
        return self._sync_thread is not None and self._sync_thread.is_alive()

    def _sync(self) -> None:
        has_failed = False
        for workspace in self._registry.opened():
            try:
                if not (workspace.settings.sync.automatic and workspace.store.remote()):
                    continue
                result = workspace.synchronise()
                self._last_sync = f"{now()} {workspace.name}: {result.note}"
                if result.merged:
                    self._is_index_due = self._are_vectors_due = True
            except Exception as e:  # nobody waits for this thread: what ends it would go unseen
                self._last_sync = f"{now()} {workspace.name}: {e}"
                LOG.warning("sync of %s: %s", workspace.name, e, exc_info=not isinstance(e, KeeploreError))
                has_failed = True
        self._has_sync_failed = has_failed
        if has_failed:
            self._sync_due_at = time.monotonic() + self._sync_pause_s
            self._sync_pause_s = min(self._sync_pause_s * 2, SYNC_BACKOFF_S[1])
        else:
            self._sync_pause_s = SYNC_BACKOFF_S[0]
