"""Keeping the text of an index in line with its files: all at once, or as much as a moment
allows.
"""

from __future__ import annotations

import contextlib
import math
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial

from keeplore.errors import IndexUnavailable, RepositoryError
from keeplore.index import queries, refresh
from keeplore.index.database import IndexDatabase
from keeplore.index.graph import graph_tables
from keeplore.index.graph.graph_index import EntityGraph
from keeplore.index.rows import RefreshResult
from keeplore.index.vectors import block_files

FILES_AT_ONCE = (
    200  # read and stored in one transaction; what is stored is found at once and survives a kill
)
# of looking for names that go with a refresh, for which somebody may wait; the worker does the rest
LINK_STEPS = 2
DEAR_S = 0.25  # a look at the files that takes longer is left out where changes are told of
PLAN_S = (
    20.0  # for how long a look at the files is gone on with; at 100,000 files one takes seconds
)
Progress = Callable[[int, int], None]


class IndexUpdater:
    """One thread of a process refreshes at a time: the others would read the same files again."""

    def __init__(
        self, database: IndexDatabase, store: refresh.TextSource, graph: EntityGraph
    ) -> None:
        self._database = database
        self._store = store
        self._graph = graph
        self._turn = threading.RLock()
        self._unread: list[
            refresh.IndexedFile
        ] = []  # of the look at ``_looked_at``, where there was no time for all
        self._looked_at = -math.inf
        self._look_s = 0.0  # of processor time, that the last look took
        self.hears_of_changes: Callable[[], bool] = lambda: False  # and has heard of none

    def is_in_step(self) -> bool:
        """Whether a look at the files may be left out, since it takes long and would show nothing.

        Only a worker can say so, which is told of changes. What git brings is seen all the same.
        """
        if self._look_s < DEAR_S or self._unread or not self.hears_of_changes():
            return False
        return self._commit() == self._database.read(lambda c: queries.meta(c, "commit"))

    def catch_up(
        self, progress: Progress | None, wait_s: float | None, within_s: float | None
    ) -> RefreshResult:
        """See ``Index.refresh``."""
        until = math.inf if within_s is None else time.monotonic() + within_s
        if not self._turn.acquire(timeout=-1 if within_s is None else within_s):
            return RefreshResult(0, 0, max(1, len(self._unread)))
        try:
            before = RefreshResult(0, 0)
            if (
                self._unread
                and within_s is not None
                and time.monotonic() - self._looked_at < PLAN_S
            ):
                before = self._stored(self._unread, (), progress, wait_s, until)
                if before.left:
                    return before
            commit = self._commit()
            began_s = time.thread_time()
            plan = refresh.plan(self._database.read(refresh.known_files), self._store.indexed())
            self._looked_at, self._look_s = time.monotonic(), time.thread_time() - began_s
            done = self._stored(plan.to_read, plan.gone, progress, wait_s, until)
            if not done.left:
                self._finish(commit, wait_s, is_new=bool(plan.to_read or plan.gone))
            return RefreshResult(before.changed + done.changed, len(plan.gone), done.left)
        finally:
            self._turn.release()

    def _stored(
        self,
        to_do: Sequence[refresh.IndexedFile],
        gone: Sequence[str],
        progress: Progress | None,
        wait_s: float | None,
        until: float,
    ) -> RefreshResult:
        """Batch after batch, one at least."""
        changed, removed = 0, len(gone)
        self._unread = list(to_do)
        while self._unread:
            batch, now_ns = self._unread[:FILES_AT_ONCE], time.time_ns()
            items = [item for file in batch if (item := refresh.read(self._store, file, now_ns))]
            changed += self._database.write(partial(_store, items=items, gone=gone), wait_s)
            gone = ()
            del self._unread[: len(batch)]
            if progress:
                progress(len(to_do) - len(self._unread), len(to_do))
            if time.monotonic() >= until:
                break
        if gone:
            self._database.write(partial(_store, items=(), gone=gone), wait_s)
        return RefreshResult(changed, removed, len(self._unread))

    def _finish(self, commit: str, wait_s: float | None, *, is_new: bool) -> None:
        known, at = self._database.read(
            lambda c: (queries.meta(c, "commit"), queries.meta(c, "updated_at"))
        )
        if is_new or not at or known != commit:
            self._database.write(partial(_stamp, commit=commit), wait_s)
        with contextlib.suppress(
            IndexUnavailable
        ):  # the texts are stored; the rest is done with the next look
            self._graph.link(LINK_STEPS)

    def _commit(self) -> str:
        try:
            return self._store.head()
        except (
            RepositoryError
        ):  # the text is on disk whatever git says; the stamp then names no commit
            return ""


def _store(
    connection: sqlite3.Connection, items: Sequence[refresh.ParsedFile], gone: Sequence[str]
) -> int:
    """One batch: what is gone goes with the first, so that a renamed file is never missing."""
    for path in gone:
        refresh.drop(connection, path)
    last = queries.last_passage(connection)
    changed = sum(refresh.put(connection, item) for item in items)
    if changed:
        block_files.place_new(connection, last)
    if changed or gone:
        queries.raise_version(connection)
    return changed


def _stamp(connection: sqlite3.Connection, commit: str) -> None:
    graph_tables.drop_unused(connection)
    queries.set_meta(connection, "commit", commit)
    queries.set_meta(connection, "updated_at", datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))
