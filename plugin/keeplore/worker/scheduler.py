"""What the worker does when the spool is empty: index, commit, vectors, sync, each when it
is due.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from keeplore.errors import KeeploreError, RepositoryBusy
from keeplore.index.rows import RefreshResult
from keeplore.text.dates import now
from keeplore.worker.job_runner import JobRunner
from keeplore.worker.manifest_scan import ManifestScan
from keeplore.workspace.importing.intake import IntakeResult
from keeplore.workspace.registry import Registry
from keeplore.workspace.workspace import Workspace
from keeplore.workspace.writing.ingest_jobs import IngestQueue

_T = TypeVar("_T")
LOG = logging.getLogger(__name__)
INDEX_DELAY_S = (
    0.4  # after the last change that the watch tells of; a pull or a checkout makes many at once
)
INDEX_STEP_S = 2.0  # of reading text at once; after a clone it is minutes in all
INDEX_LATEST_S = 10.0  # after the first one
LOOK_S = 10.0  # between two looks at files whose changes nobody tells of
LOOK_WATCHED_S = 300.0  # where somebody does; a system that has too much to tell drops some
LOOK_SHARE = 100  # times what a look takes; so looking never takes more than a hundredth of a core
COMMIT_DELAY_S = 2.0  # after the last change; a busy session makes few commits
COMMIT_LATEST_S = 30.0  # after the first one
SYNC_DELAY_S = 3.0  # after a commit
SYNC_EVERY_S = (
    300.0  # while the worker lives, which is while people work: what other machines wrote
)
SYNC_LEAST_S = 30.0  # between two that only look for news
SYNC_BACKOFF_S = (30.0, 1800.0)  # after a failure: first and longest pause
VECTORS_A_STEP = 8  # so that a new event waits for one small batch at most
SYNC_ENDS_S, WARM_ENDS_S = 2.0, 20.0  # at the end
WARM_AGAIN_S = 60.0  # a model that cannot be loaded is tried again after so long
# after git was busy with something of the user's, who has left it for dead when nothing moved so
# long
BUSY_S = 60.0


class Background:
    """Stepped by the worker's one loop; only the network and the model's loading run in threads of
    their own.

    ``follow`` is told which workspaces are open, and says why changes of their files go unnoticed,
    "" where none does; ``wake`` is called from another thread when there is something to do.
    """

    def __init__(
        self, registry: Registry, follow: Callable[[list[Workspace]], str], wake: Callable[[], None]
    ) -> None:
        self._registry = registry
        self._follow = follow
        self._wake = wake
        # a worker that was killed may have left text that is neither committed nor pushed
        moment = time.monotonic()
        self._changed_at = self._first_change_at = moment
        self._written = 0  # files that this knows of
        self._index_due_at = moment
        self._index_latest_at = 0.0
        self._looked_at = moment
        self._look_took_s = 0.0
        self._are_vectors_due = True
        self._is_looking = False
        self._has_unread = False  # text that there was no time for, which comes before vectors
        self._unwatched = ""
        self._sync_due_at = moment + SYNC_DELAY_S
        self._synced_at = moment
        self._sync_pause_s = SYNC_BACKOFF_S[0]
        self._has_sync_failed = False
        self._sync_thread: threading.Thread | None = None
        self._is_syncing = False
        self._warm_thread: threading.Thread | None = None
        self._known: list[Workspace] = []
        self._askers: dict[Workspace, threading.Thread] = {}  # they wait for vectors of servers
        self._is_leaving = threading.Event()
        self._warm_again_at = 0.0
        self._commit_again_at = 0.0
        self._last_sync = ""
        jobs = IngestQueue(registry)
        self._ingesting = JobRunner(
            "keeplore-ingest", registry.places.jobs, jobs.step, jobs.due_s, self._has_written
        )
        self._inventory = ManifestScan(registry, self._has_written)

    @property
    def is_behind(self) -> bool:
        """Whether there is work that a worker should stay for; a remote that cannot be reached is
        none.
        """
        is_sync_due = self._sync_due_at and not self._has_sync_failed
        is_asking = any(thread.is_alive() for thread in self._askers.values())
        is_working = (
            is_asking or self._is_looking or self._ingesting.is_running or self._inventory.is_behind
        )
        return bool(
            self._changed_at
            or self._index_due_at
            or self._are_vectors_due
            or is_working
            or is_sync_due
        )

    @property
    def is_syncing(self) -> bool:
        return self._is_syncing

    @property
    def is_model_loaded(self) -> bool:
        return any(workspace.models.are_loaded for workspace in self._registry.opened())

    def note_change(self) -> None:
        """Look whether the workspaces have text that is not indexed and committed yet."""
        written = self._registry.written()
        if written != self._written:
            self._written = written
            self.change()
        elif self._unwatched:
            self._index_due_at = time.monotonic()

    def change(self) -> None:
        """The text of a workspace has changed: index and commit it in a while."""
        self._changed_at = time.monotonic()
        self._first_change_at = self._first_change_at or self._changed_at
        self._index_due_at = self._changed_at

    def note_text(self) -> bool:
        """Files have changed, perhaps by another hand, which commits when it wants to. Thread-safe.

        Returns False where that is known already, and indexing only put off until nothing more
        changes.
        """
        moment, due_at = time.monotonic(), self._index_due_at
        if not due_at:
            self._index_latest_at = moment + INDEX_LATEST_S
        elif not self._index_latest_at:
            return False  # something of our own, which does not wait
        self._index_due_at = min(moment + INDEX_DELAY_S, self._index_latest_at)
        return not due_at

    def note_taken(self, taken: IntakeResult) -> None:
        """Something happened in a project: look what it is made of, at a session's ends."""
        self._inventory.note(taken.directory, is_due=taken.has_begun or taken.has_ended)

    def fetch(self) -> None:
        """Somebody begins to work here: what other machines wrote is wanted now. A moment ago is
        soon enough.
        """
        moment = time.monotonic()
        if not self._sync_due_at and moment - self._synced_at > SYNC_LEAST_S:
            self._sync_due_at = moment

    def open(self) -> None:
        """Open the workspaces of this machine, so that they are kept in step before anybody asks
        for them.
        """
        for name in self._registry.machine.workspaces:
            try:
                self._registry.named(name)
            except (KeeploreError, OSError) as e:
                LOG.warning("%s: %s", name, e)

    def warm_up(self) -> None:
        """Load the models beside everything else, unless they are there or on their way."""
        moment = time.monotonic()
        waiting = [workspace for workspace in self._registry.opened() if not workspace.is_warm]
        if waiting and moment >= self._warm_again_at:
            self._warm_again_at = moment + WARM_AGAIN_S
            self._warm_thread = threading.Thread(
                target=_each, args=(waiting, Workspace.warm_up), name="keeplore-warm", daemon=True
            )
            self._warm_thread.start()

    def step(self) -> float:
        """Do what is due. Returns for how many seconds nothing will be; 0.0 where more waits."""
        opened = self._registry.opened()
        if opened != self._known:  # one may have another embedding model now
            self._known, self._are_vectors_due = opened, True
        self._unwatched = self._follow(opened)
        for workspace in opened:
            workspace.index.listen(self._has_heard_of_all)
        self._ingesting.look()
        self._inventory.look()
        moment = time.monotonic()
        if (self._index_due_at and moment >= self._index_due_at) or moment >= self._next_look_at():
            self._look()
        if self._commit_again_at and moment >= self._commit_again_at:
            self._commit_again_at = 0.0
            _each(self._registry.opened(), self._commit)
        if self._changed_at and (
            moment - self._changed_at >= COMMIT_DELAY_S
            or moment - self._first_change_at >= COMMIT_LATEST_S
        ):
            self._changed_at = self._first_change_at = 0.0
            _each(self._registry.opened(), self._commit)
        if moment >= self._next_sync_at() and not self._is_syncing:
            self._sync_due_at, self._synced_at, self._is_syncing = 0.0, moment, True
            self._sync_thread = threading.Thread(
                target=self._sync, name="keeplore-sync", daemon=True
            )
            self._sync_thread.start()
        if self._are_vectors_due and not self._has_unread:
            self._are_vectors_due = any(_each(opened, self._embed))
        return 0.0 if self._are_vectors_due else self._pause_s()

    def status(self) -> dict[str, Any]:
        return {
            "is_behind": self.is_behind,
            "last_sync": self._last_sync,
            "is_model_loaded": self.is_model_loaded,
            "unwatched": self._unwatched,
        }

    def close(self) -> None:
        """Commit what is on disk; a sync that runs is given a moment, a model that is being loaded
        the time it takes.

        Its libraries abort a process that ends meanwhile.
        """
        self._inventory.close()
        _each(self._registry.opened(), self._commit)
        self._is_leaving.set()
        askers = [(thread, SYNC_ENDS_S) for thread in self._askers.values()]
        for thread, seconds in (
            (self._sync_thread, SYNC_ENDS_S),
            (self._warm_thread, WARM_ENDS_S),
            *askers,
        ):
            if thread is not None:
                thread.join(seconds)

    def _has_heard_of_all(self) -> bool:
        """Whether changes are told of, and nothing that was told of waits to be indexed."""
        is_waiting = self._index_due_at or self._changed_at or self._is_looking or self._has_unread
        return not (self._unwatched or is_waiting or self._registry.written() != self._written)

    def _look(self) -> None:
        """Index what has changed in the files."""
        self._is_looking = True
        try:
            self._look_now()
        finally:
            self._is_looking = False

    def _look_now(self) -> None:
        self._index_due_at = self._index_latest_at = 0.0
        began_s = time.thread_time()
        done = _each(self._registry.opened(), _index)
        if not any(one.changed or one.removed or one.left for one in done):
            self._look_took_s = time.thread_time() - began_s
        self._looked_at = time.monotonic()
        self._are_vectors_due = True  # also where a command has indexed what changed
        self._has_unread = any(one.left for one in done)
        if self._has_unread:  # what hosts have told meanwhile is taken in between
            self._index_due_at = self._looked_at

    def _next_look_at(self) -> float:
        if not self._unwatched:
            return self._looked_at + LOOK_WATCHED_S
        return self._looked_at + min(max(LOOK_S, LOOK_SHARE * self._look_took_s), LOOK_WATCHED_S)

    def _next_sync_at(self) -> float:
        return self._sync_due_at or self._synced_at + SYNC_EVERY_S

    def _pause_s(self) -> float:
        commit_at = self._changed_at and self._changed_at + COMMIT_DELAY_S
        sync_at, look_at = self._next_sync_at(), self._next_look_at()
        job_at = self._ingesting.due_at
        due = [
            at
            for at in (
                self._index_due_at,
                commit_at,
                self._commit_again_at,
                sync_at,
                look_at,
                job_at,
            )
            if at
        ]
        return max(min(due) - time.monotonic(), 0.05)

    def _has_written(self) -> None:
        self.change()
        self._wake()

    def _commit(self, workspace: Workspace) -> None:
        try:
            is_new = workspace.commit()
        except RepositoryBusy as e:
            LOG.info("%s: %s", workspace.name, e)
            self._commit_again_at = time.monotonic() + BUSY_S
            # here, because a prompt may wait for this module
            from keeplore.workspace.lifecycle.synchronise import heal

            if heal(workspace, BUSY_S):
                self._commit_again_at = time.monotonic()
            return
        if is_new and workspace.settings.sync.automatic and workspace.store.remote():
            due_at = time.monotonic() + SYNC_DELAY_S
            # a remote that does not answer is not asked again at every turn
            self._sync_due_at = (
                max(due_at, self._synced_at + SYNC_BACKOFF_S[0])
                if self._has_sync_failed
                else due_at
            )

    def _embed(self, workspace: Workspace) -> int:
        """How much of graph and vectors is left to be made here; a server is waited for in a thread
        of its own.
        """
        unlinked = workspace.index.graph.link(1)
        if not (workspace.embedder.is_remote or workspace.index.is_remote):
            return workspace.index.embed_pending(VECTORS_A_STEP) or unlinked
        self._askers = {of: thread for of, thread in self._askers.items() if thread.is_alive()}
        if workspace not in self._askers:
            asker = threading.Thread(
                target=self._ask, args=(workspace,), name="keeplore-vectors", daemon=True
            )
            self._askers[workspace] = asker
            asker.start()
        return unlinked

    def _ask(self, workspace: Workspace) -> None:
        def is_at_work(_: Workspace) -> bool:
            left = workspace.index.embed_pending(max(workspace.embedder.batch, VECTORS_A_STEP))
            return left > 0 and workspace in self._known and not self._is_leaving.is_set()

        while any(_each([workspace], is_at_work)):
            pass
        self._wake()

    def _sync(self) -> None:
        try:
            exchanged = [self._exchanged(workspace) for workspace in self._registry.opened()]
            has_failed = not all(exchanged)
            self._has_sync_failed = has_failed
            if has_failed:
                self._sync_due_at = time.monotonic() + self._sync_pause_s
            self._sync_pause_s = (
                min(self._sync_pause_s * 2, SYNC_BACKOFF_S[1]) if has_failed else SYNC_BACKOFF_S[0]
            )
        finally:
            self._is_syncing = False
            self._wake()

    def _exchanged(self, workspace: Workspace) -> bool:
        """Exchange a workspace with its remote, where it has one. False where that failed."""
        try:
            if workspace.settings.sync.automatic and workspace.store.remote():
                # here, as above
                from keeplore.workspace.lifecycle.synchronise import synchronise

                result = synchronise(workspace, quiet_s=BUSY_S)
                self._last_sync = f"{now()} {workspace.name}: {result.note}"
                if result.merged:
                    self._index_due_at = time.monotonic()
        except Exception as e:  # nobody waits for this thread: what ends it would go unseen
            self._last_sync = f"{now()} {workspace.name}: {e}"
            LOG.warning(
                "sync of %s: %s", workspace.name, e, exc_info=not isinstance(e, KeeploreError)
            )
            return False
        return True


def _each(workspaces: Iterable[Workspace], act: Callable[[Workspace], _T]) -> list[_T]:
    """What it gave in each; one in which it failed does not keep it from the others."""
    given = []
    for workspace in workspaces:
        try:
            given.append(act(workspace))
        except (KeeploreError, OSError) as e:
            LOG.warning("%s: %s", workspace.name, e)
    return given


def _index(workspace: Workspace) -> RefreshResult:
    """Bring a workspace's index in step with its files, or nearer to it."""
    done = workspace.index.refresh(within_s=INDEX_STEP_S)
    if done.changed or done.removed:
        LOG.info("%s: %d files indexed, %d gone", workspace.name, done.changed, done.removed)
    return done
