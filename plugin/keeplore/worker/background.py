"""What the worker does when the spool is empty: index, commit, sync, vectors, each when it is
due.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from keeplore.config.home_settings import home_settings
from keeplore.errors import KeeploreError, problem_message
from keeplore.worker.tasks.base import Task
from keeplore.worker.tasks.brief_task import BriefTask
from keeplore.worker.tasks.git_tasks import CommitTask, SyncTask
from keeplore.worker.tasks.index_task import IndexTask, WatchTask
from keeplore.worker.tasks.manifest_task import ManifestTask
from keeplore.worker.tasks.queue_tasks import ingest_task, refine_task
from keeplore.worker.tasks.tidy_task import TidyTask
from keeplore.worker.tasks.vector_tasks import ModelTask, VectorTask
from keeplore.workspace.importing.intake import IntakeResult
from keeplore.workspace.registry import Registry
from keeplore.workspace.workspace import Workspace

LOG = logging.getLogger(__name__)


class BackgroundTasks:
    """The tasks that keep the workspaces in step, and what tells them that there is something to
    do.

    ``follow`` is told which workspaces are open, and says why changes of their files go unnoticed,
    "" where none does; ``wake`` is called from another thread when there is something to do.
    """

    def __init__(
        self,
        registry: Registry,
        follow: Callable[[list[Workspace]], str],
        wake: Callable[[], None],
        is_rested: Callable[[], bool],
    ) -> None:
        self._registry = registry
        self._wake = wake
        self._written = 0  # files that this knows of
        self.vectors = VectorTask(registry, lambda: not self.index.has_unread, wake)
        self.briefs = BriefTask(registry)
        self.index = IndexTask(
            registry,
            self._after_refresh,
            home_settings(registry.places).worker.look_seconds,
        )
        self.sync = SyncTask(registry, self.index.request, wake)
        self.commits = CommitTask(registry, self.sync, self.briefs.request)
        self.model = ModelTask(registry, is_rested, wake)
        self._jobs = (
            ingest_task(registry, self._after_writing),
            refine_task(registry, self._after_refining),
            TidyTask(registry, is_rested, self._after_writing),
        )
        self._manifests = ManifestTask(registry, self._after_writing)
        self.tasks: tuple[Task, ...] = (
            WatchTask(registry, follow, self.index, self._is_in_step),
            *self._jobs,
            self._manifests,
            self.index,
            self.commits,
            self.sync,
            self.briefs,
            self.vectors,
        )

    @property
    def is_behind(self) -> bool:
        """Whether there is work that a worker should stay for; a remote that cannot be reached is
        none.
        """
        return (
            self.commits.is_behind
            or self.index.is_behind
            or self.vectors.is_behind
            or any(task.is_running for task in self._jobs)
            or self._manifests.is_behind
            or self.sync.is_due
        )

    def open(self) -> None:
        """Open the workspaces of this machine, so that they are kept in step before anybody asks
        for them.
        """
        for name in self._registry.machine.workspaces:
            try:
                self._registry.named(name)
            except (KeeploreError, OSError) as e:
                LOG.warning("%s: %s", name, problem_message(e))
        self._registry.code_repositories()

    def look_for_changes(self) -> None:
        """Look whether the workspaces have text that is not indexed and committed yet."""
        written = self._registry.change_count()
        if written != self._written:
            self._written = written
            self.request_commit()
        elif self.index.unwatched:
            self.index.request()

    def request_commit(self) -> None:
        """Ask for what was written to be indexed and committed in a while."""
        self.commits.request()
        self.index.request()

    def note_taken(self, result: IntakeResult) -> None:
        """Note that something happened in a project, whose manifests are read when a session
        ends.
        """
        self._manifests.note_place(
            result.directory, is_due=result.has_begun or result.has_ended
        )
        if result.has_begun:
            self.sync.request_news()

    def status(self) -> dict[str, Any]:
        return {
            "is_behind": self.is_behind,
            "last_sync": self.sync.last,
            "is_model_loaded": self.model.is_loaded,
            "unwatched": self.index.unwatched,
        }

    def close(self) -> None:
        """Commit what is on disk; a job or sync that runs is given a moment, a model that is being
        loaded the time it takes.
        """
        for jobs in self._jobs:
            jobs.close()
        self._manifests.close()
        self.commits.commit_all()
        self.briefs.close()
        for task in (self.sync, self.model, self.vectors):
            task.close()

    def _is_in_step(self) -> bool:
        """Whether changes are being watched and every change that was noticed is indexed."""
        is_waiting = self.index.is_behind or self.commits.is_behind
        is_known = self._registry.change_count() == self._written
        return is_known and not (self.index.unwatched or is_waiting)

    def _after_refresh(self) -> None:
        self.vectors.request()
        self.briefs.request()

    def _after_refining(self) -> None:
        self.sync.request_news()  # what is committed now can be pushed
        self._after_writing()

    def _after_writing(self) -> None:
        self.request_commit()
        self._wake()
