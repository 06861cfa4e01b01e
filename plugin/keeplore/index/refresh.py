"""Keeping the text of an index in line with its files: all at once, or as much as a moment
allows.

First a plan, then one transaction for each batch.
"""

from __future__ import annotations

import contextlib
import math
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from keeplore.errors import IndexUnavailable, RepositoryError
from keeplore.index import file_rows, sql
from keeplore.index.database import IndexDatabase
from keeplore.index.file_rows import IndexedFile, KnownFile, ParsedFile, TextSource
from keeplore.index.graph import graph_rows
from keeplore.index.graph.graph_index import EntityGraph
from keeplore.index.rows import RefreshResult
from keeplore.index.vectors import block_files
from keeplore.text.counts import counted
from keeplore.text.dates import now

# read and stored in one transaction; what is stored is found at once and survives a kill
FILES_AT_ONCE = 200
# of looking for names that go with a refresh, for which somebody may wait; the worker does the rest
LINK_STEPS = 2
# a look at the files that takes longer is left out where changes are told of
DEAR_S = 0.25
# for how long a look at the files is gone on with; at 100,000 files one takes seconds
PLAN_S = 20.0
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class RefreshPlan:
    to_read: tuple[IndexedFile, ...]
    gone: tuple[str, ...]


def plan(known: Mapping[str, KnownFile], seen: Iterable[IndexedFile]) -> RefreshPlan:
    """What has to be read and what to be dropped so that the index is that of the files seen."""
    files = {file.path: file for file in seen}
    to_read = [
        file
        for path, file in files.items()
        if path not in known or not known[path].is_settled_as(file)
    ]
    gone = tuple(path for path in known if path not in files)
    return RefreshPlan(tuple(sorted(to_read, key=_urgency)), gone)


def _urgency(file: IndexedFile) -> tuple[bool, int]:
    """Conversations come last, and of all the newest first, by the date that their names begin
    with.

    There may be a hundred thousand, and whoever asks meanwhile mostly asks about what was said
    lately or is a rule.
    """
    name = file.path.rpartition("/")[2]
    day = name[:4] + name[5:7] + name[8:10]
    return "/conversations/" in file.path, -int(
        day
    ) if day.isdecimal() and day.isascii() else 0


def lag_note(lag: int, error: Exception) -> str:
    """What to tell of an index that is ``lag`` files behind since a refresh failed; "" for none."""
    if not lag:
        return ""
    return f"the index is {counted(lag, 'file')} behind the text: {error}"


class IndexUpdater:
    """Brings the index into step with the files. One thread of a process does so at a time: the
    others would read the same files again.
    """

    def __init__(
        self, database: IndexDatabase, store: TextSource, graph: EntityGraph
    ) -> None:
        self._database = database
        self._store = store
        self._graph = graph
        self._turn = threading.RLock()
        # of the look at ``_looked_at``, where there was no time for all
        self._unread: list[IndexedFile] = []
        self._looked_at = -math.inf
        self._look_s = 0.0  # of processor time, that the last look took
        self.behind = ""  # see ``Index.behind``
        # and has heard of none
        self.hears_of_changes: Callable[[], bool] = lambda: False

    def is_in_step(self) -> bool:
        """Whether a look at the files may be left out, since it takes long and would show nothing.

        Only a worker can say so, which is told of changes. What git brings is seen all the same.
        """
        if self._look_s < DEAR_S or self._unread or not self.hears_of_changes():
            return False
        return self._commit() == self._database.read(sql.meta, "commit")

    def catch_up(
        self, progress: Progress | None, wait_s: float | None, within_s: float | None
    ) -> RefreshResult:
        """See ``Index.refresh``."""
        until = math.inf if within_s is None else time.monotonic() + within_s
        if not self._turn.acquire(timeout=-1 if within_s is None else within_s):
            return RefreshResult(0, 0, max(1, len(self._unread)))
        try:
            before = RefreshResult(0, 0)
            is_fresh = time.monotonic() - self._looked_at < PLAN_S
            if self._unread and within_s is not None and is_fresh:
                going_on = RefreshPlan(tuple(self._unread), ())
                before = self._store_batches(going_on, progress, wait_s, until)
            if before.left:
                return before
            done = self._refresh(progress, wait_s, until)
            return RefreshResult(before.changed + done.changed, done.removed, done.left)
        finally:
            self._turn.release()

    def catch_up_for_reading(self) -> None:
        """See ``Index.refresh_for_reading``."""
        try:
            self.catch_up(None, None, None)
            self.behind = ""
        except IndexUnavailable as e:
            self.behind = lag_note(self.lag(), e)

    def lag(self) -> int:
        """See ``Index.lag``."""
        known = self._database.read(file_rows.known_files)
        seen = {file.path: file for file in self._store.indexed()}
        same = [
            path
            for path in known.keys() & seen.keys()
            if known[path].is_same(seen[path])
        ]
        return len(known.keys() | seen.keys()) - len(same)

    def _refresh(
        self, progress: Progress | None, wait_s: float | None, until: float
    ) -> RefreshResult:
        """Look at all files, and store what has changed."""
        commit = self._commit()
        began_s = time.thread_time()
        to_do = plan(self._database.read(file_rows.known_files), self._store.indexed())
        self._looked_at, self._look_s = time.monotonic(), time.thread_time() - began_s
        done = self._store_batches(to_do, progress, wait_s, until)
        if not done.left:
            self._finish_refresh(
                commit, wait_s, is_new=bool(to_do.to_read or to_do.gone)
            )
        return done

    def _store_batches(
        self,
        to_do: RefreshPlan,
        progress: Progress | None,
        wait_s: float | None,
        until: float,
    ) -> RefreshResult:
        """Batch after batch, one at least; what is gone goes with the first."""
        changed, gone = 0, to_do.gone
        self._unread = list(to_do.to_read)
        while self._unread or gone:
            batch = self._unread[:FILES_AT_ONCE]
            store = partial(_store, items=self._parsed(batch), gone=gone)
            changed += self._database.write_within(wait_s, store)
            gone = ()
            del self._unread[: len(batch)]
            if progress and batch:
                progress(len(to_do.to_read) - len(self._unread), len(to_do.to_read))
            if time.monotonic() >= until:
                break
        return RefreshResult(changed, len(to_do.gone), len(self._unread))

    def _parsed(self, batch: Sequence[IndexedFile]) -> list[ParsedFile]:
        """What the files hold, those left out that are gone by now."""
        now_ns = time.time_ns()
        parsed = (file_rows.parse(self._store, file, now_ns) for file in batch)
        return [item for item in parsed if item]

    def _finish_refresh(
        self, commit: str, wait_s: float | None, *, is_new: bool
    ) -> None:
        known = self._database.read(sql.meta, "commit")
        if is_new or known != commit or not self._database.read(sql.meta, "updated_at"):
            self._database.write_within(wait_s, partial(_note_state, commit=commit))
        # the texts are stored; the rest is done with the next look
        with contextlib.suppress(IndexUnavailable):
            self._graph.link(LINK_STEPS)

    def _commit(self) -> str:
        try:
            return self._store.head()
        except RepositoryError:
            # the text is on disk whatever git says; the stamp then names no commit
            return ""


def _store(
    connection: sqlite3.Connection, items: Sequence[ParsedFile], gone: Sequence[str]
) -> int:
    """Store one batch, and return how many memories changed. What is gone goes with the first
    batch, so that a renamed file is never missing.
    """
    for path in gone:
        file_rows.drop(connection, path)
    last = sql.last_passage(connection)
    changed = sum(file_rows.put(connection, item) for item in items)
    if changed:
        block_files.add_moved(connection, last)
    if changed or gone:
        sql.raise_version(connection)
    return changed


def _note_state(connection: sqlite3.Connection, commit: str) -> None:
    graph_rows.drop_unused(connection)
    sql.set_meta(connection, "commit", commit)
    sql.set_meta(connection, "updated_at", now())
