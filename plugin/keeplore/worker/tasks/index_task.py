"""Bringing the indexes in step with the text."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from keeplore.index.rows import RefreshResult
from keeplore.worker.tasks.base import NEVER, for_each
from keeplore.workspace.registry import Registry
from keeplore.workspace.workspace import Workspace

LOG = logging.getLogger(__name__)
# after the last change that the watch tells of; a pull or a checkout makes many at once
INDEX_DELAY_S = 0.4
INDEX_STEP_S = 2.0  # of reading text at once; after a clone it is minutes in all
INDEX_LATEST_S = 10.0  # after the first one
# between two looks where the watch tells of changes; a system that has too much to tell drops some
LOOK_WATCHED_S = 300.0
LOOK_SHARE = 100  # times what a look takes; so looking never takes more than a hundredth of a core


class IndexTask:
    """Reads what has changed: a moment after each change, and now and then in any case.

    ``done`` is called after each look at the files; ``look_s`` lie between two where nobody tells
    of changes.
    """

    name = "indexing"

    def __init__(
        self, registry: Registry, on_done: Callable[[], None], look_s: float
    ) -> None:
        self._registry = registry
        self._look_s = look_s
        self._on_done = on_done
        self._due_at = self._looked_at = time.monotonic()  # 0.0 for no change
        self._latest_at = 0.0
        self._look_took_s = 0.0
        self._is_looking = False
        # text that there was no time for, which comes before vectors
        self.has_unread = False
        self.unwatched = ""  # why changes of files go unnoticed, "" where none does

    @property
    def is_behind(self) -> bool:
        return bool(self._due_at) or self._is_looking or self.has_unread

    def request(self) -> None:
        """Ask for a look at once: something of our own has changed."""
        self._due_at = time.monotonic()

    def note_text(self) -> bool:
        """Take that files have changed, perhaps by another hand. Thread-safe. Returns False where
        that is known already, and indexing only put off until nothing more changes.
        """
        moment, due_at = time.monotonic(), self._due_at
        if not due_at:
            self._latest_at = moment + INDEX_LATEST_S
        elif not self._latest_at:
            return False  # something of our own
        self._due_at = min(moment + INDEX_DELAY_S, self._latest_at)
        return not due_at

    def run(self, now: float) -> float:
        if now >= self._next_at():
            self._is_looking = True
            try:
                self._refresh_workspaces()
            finally:
                self._is_looking = False
        return self._next_at()

    def _next_at(self) -> float:
        pause_s = LOOK_WATCHED_S
        if self.unwatched:
            pause_s = min(
                max(self._look_s, LOOK_SHARE * self._look_took_s), LOOK_WATCHED_S
            )
        look_at = self._looked_at + pause_s
        return min(self._due_at, look_at) if self._due_at else look_at

    def _refresh_workspaces(self) -> None:
        self._due_at = self._latest_at = 0.0
        began_s = time.thread_time()
        refreshed = for_each(self._registry.searched(), _refresh)
        if not any(
            result.changed or result.removed or result.left for result in refreshed
        ):
            self._look_took_s = time.thread_time() - began_s
        self._looked_at = time.monotonic()
        self.has_unread = any(result.left for result in refreshed)
        if self.has_unread:  # what hosts have told meanwhile is taken in between
            self._due_at = self._looked_at
        self._on_done()


def _refresh(workspace: Workspace) -> RefreshResult:
    """Bring a workspace's index in step with its files, or nearer to it."""
    done = workspace.index.refresh(within_s=INDEX_STEP_S)
    if done.changed or done.removed:
        LOG.info(
            "%s: %d files indexed, %d gone", workspace.name, done.changed, done.removed
        )
    return done


class WatchTask:
    """Has changes of the open workspaces told, and lets their indexes trust in that.

    ``follow`` is told which workspaces are open, and says why changes of their files go unnoticed.
    """

    name = "watching"

    def __init__(
        self,
        registry: Registry,
        follow: Callable[[list[Workspace]], str],
        index: IndexTask,
        is_in_step: Callable[[], bool],
    ) -> None:
        self._registry = registry
        self._follow = follow
        self._index = index
        self._is_in_step = is_in_step

    def run(self, _now: float) -> float:
        opened = self._registry.searched()
        self._index.unwatched = self._follow(opened)
        for workspace in opened:
            workspace.index.listen(self._is_in_step)
        return NEVER
