"""The SQLite file of an index: opening it, one writer at a time, and starting over when it is
damaged or too old.

Everything in it is made from the workspace, so whatever is wrong with the file is mended by
deleting it. Writing takes an flock on a file that is never unlinked, with a connection that lives
no longer than the lock: SQLite before 3.51.3 can damage a WAL that two connections write or
checkpoint. Readers open the file read-only, which never checkpoints.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from keeplore.errors import IndexUnavailable
from keeplore.index.graph import feedback_weights, graph_tables
from keeplore.index.vectors import vector_migration
from keeplore_hooks import durable

SCHEMA = 8
WAIT_S = 20.0  # for another writer; it holds the lock for one batch at a time
POLL_S = 0.02
ATTEMPTS = 3  # at a file that turns out to be damaged or deleted
BUSY_MS = 5000
# bytes: ten vectors of the packaged model, where SQLite's own 4096 hold four and waste the rest
PAGE = 8192
LOG = 1024 * 1024  # bytes of the log that stay on the disk
READERS = 3  # connections that are kept open
README = """Keeplore's search index of one workspace, made from the text there.
Safe to delete at any time; it comes back.
"""
# A word of the title says most about a passage, one that only a neighbour used says least.
FTS_WEIGHTS = {"title": 3.0, "head": 1.5, "body": 1.0, "context": 0.25, "extra": 0.5}
TOKENIZER = "porter unicode61 remove_diacritics 2"
# Errors that say nothing about the file's contents: deleting it would not help.
_NOT_DAMAGE = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_INTERRUPT,
    }
)
_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE files (
    path TEXT PRIMARY KEY, mtime_ns INTEGER, size INTEGER, inode INTEGER, is_settled INTEGER,
    content BLOB, problem TEXT
) WITHOUT ROWID;
CREATE TABLE scopes (id INTEGER PRIMARY KEY, scope TEXT, project TEXT, UNIQUE (scope, project));
CREATE TABLE memories (
    key INTEGER PRIMARY KEY, path TEXT UNIQUE, id TEXT, scope_id INTEGER REFERENCES scopes, title TEXT, kind TEXT,
    category TEXT, created_at TEXT, updated_at TEXT, permanent INTEGER, trust TEXT, session TEXT, host TEXT,
    is_open INTEGER, is_archived INTEGER, says BLOB
);
CREATE INDEX memories_id ON memories (id);
CREATE INDEX memories_updated ON memories (updated_at);
CREATE INDEX memories_says ON memories (says);
CREATE TABLE links (
    memory INTEGER REFERENCES memories, relationship TEXT, target TEXT, PRIMARY KEY (memory, relationship, target)
) WITHOUT ROWID;
CREATE INDEX links_target ON links (target);
CREATE INDEX links_superseding ON links (memory, target) WHERE relationship = 'supersedes';
CREATE TABLE turns (turn TEXT, memory INTEGER REFERENCES memories, PRIMARY KEY (turn, memory)) WITHOUT ROWID;
CREATE INDEX turns_memory ON turns (memory);
-- ids are never used twice: vectors in memory and in the graph file are kept by them
CREATE TABLE passages (
    id INTEGER PRIMARY KEY AUTOINCREMENT, memory INTEGER REFERENCES memories, scope_id INTEGER, hash BLOB,
    kind TEXT, turn TEXT, at TEXT, title TEXT, head TEXT, body TEXT, context TEXT, extra TEXT,
    scope_word TEXT GENERATED ALWAYS AS ('zs' || scope_id)
);
CREATE INDEX passages_memory ON passages (memory);
CREATE INDEX passages_hash ON passages (hash);
CREATE INDEX passages_scope ON passages (scope_id);
CREATE VIRTUAL TABLE passages_fts USING fts5(
    {columns}, scope_word,
    content='passages', content_rowid='id', tokenize='{tokenizer}'
);
CREATE TRIGGER passages_added AFTER INSERT ON passages BEGIN
    INSERT INTO passages_fts(rowid, title, head, body, context, extra, scope_word)
    VALUES (new.id, new.title, new.head, new.body, new.context, new.extra, new.scope_word);
END;
CREATE TRIGGER passages_removed AFTER DELETE ON passages BEGIN
    INSERT INTO passages_fts(passages_fts, rowid, title, head, body, context, extra, scope_word)
    VALUES ('delete', old.id, old.title, old.head, old.body, old.context, old.extra, old.scope_word);
END;
-- what this machine has put on a shared engine or seen there; empty without one
CREATE TABLE points (
    passage INTEGER, place TEXT, point BLOB, has_vector INTEGER, PRIMARY KEY (passage, place)
) WITHOUT ROWID;
CREATE INDEX points_point ON points (point);
CREATE INDEX points_bare ON points (place) WHERE NOT has_vector;
-- settled: passages up to this one have their vectors; is_placed: their vectors are in the blocks
CREATE TABLE models (
    id INTEGER PRIMARY KEY, fingerprint TEXT UNIQUE, settled INTEGER DEFAULT 0, is_placed INTEGER DEFAULT 1
);
-- sum: of hash and vector as they were made, so that a change on the disk is seen
CREATE TABLE embeddings (
    model INTEGER REFERENCES models, hash BLOB, vector BLOB, sum INTEGER, UNIQUE (model, hash)
);
CREATE TRIGGER embeddings_removed AFTER DELETE ON embeddings BEGIN
    UPDATE models SET settled = 0, is_placed = 0 WHERE id = old.model;
END;
-- the vectors of a scope, side by side in files: how many rows count, and how many of those are of passages gone
CREATE TABLE blocks (
    scope_id INTEGER, model INTEGER, name TEXT, width INTEGER, rows INTEGER, gone INTEGER,
    PRIMARY KEY (scope_id, model)
) WITHOUT ROWID;
"""

_T = TypeVar("_T")


class IndexDatabase:
    """One index directory. Safe to use from several threads; several processes may use the
    directory at once.
    """

    def __init__(self, directory: Path, wait_s: float = WAIT_S) -> None:
        self.directory = directory
        self.file = directory / "index.sqlite3"
        self._lock_file = directory / "writer.lock"
        self._before = directory / vector_migration.NAME
        self._marker = (
            directory / "writing"
        )  # there while a writer is at work, and after one was killed
        self._wait_s = wait_s
        self._mutex = threading.RLock()
        self._readers: list[
            sqlite3.Connection
        ] = []  # that nobody uses just now, all of the file of this identity
        self._identity: tuple[int, int] | None = None

    def read(self, ask: Callable[[sqlite3.Connection], _T]) -> _T:
        """What ``ask`` returns for a connection on one consistent state; a damaged or deleted file
        is begun anew.

        Raises IndexUnavailable.
        """
        for _ in range(ATTEMPTS):
            seen = _identity(self.file)
            try:
                with self._reader() as connection:
                    connection.execute("BEGIN")
                    try:
                        return ask(connection)
                    finally:
                        connection.rollback()
            except (sqlite3.DatabaseError, UnicodeDecodeError) as e:
                self.close()
                self._mend(e, seen)
        raise self._unavailable("it is damaged again and again")

    def write(self, act: Callable[[sqlite3.Connection], _T], wait_s: float | None = None) -> _T:
        """Run ``act`` in one transaction of the one writer; a damaged file is begun anew and
        ``act`` runs again.

        ``act`` must be able to run twice. Another writer is waited for ``wait_s``, or as long as
        was said once. Raises IndexUnavailable, and what ``act`` raises.
        """
        for _ in range(ATTEMPTS):
            seen = _identity(self.file)
            try:
                with self.locked(wait_s):
                    return self._write_locked(act)
            except (sqlite3.DatabaseError, UnicodeDecodeError) as e:
                self._mend(e, seen)
            except FileNotFoundError:  # the directory was deleted under our feet
                continue
            except OSError as e:
                raise self._unavailable(e) from e
        raise self._unavailable("it is damaged again and again")

    def was_interrupted(self) -> bool:
        """Whether a writer was killed; the next one checks the file first."""
        if not self._marker.exists():
            return False
        try:
            with self.locked(0.0):
                return self._marker.exists()
        except IndexUnavailable:  # it is at work
            return False

    def size_bytes(self) -> int:
        """Of all files in the directory."""
        with contextlib.suppress(FileNotFoundError):
            return sum(
                entry.stat().st_size for entry in os.scandir(self.directory) if entry.is_file()
            )
        return 0

    def discard(self) -> None:
        """Delete the file, so that all is made anew from the text. Raises IndexUnavailable."""
        self.close()
        with self.locked():
            self._unlink()
            vector_migration.unlink(self._before)

    def vacuum(self) -> None:
        """Write the file anew, so that neither its free pages nor its log hold what was deleted.

        Raises IndexUnavailable.
        """
        self.close()
        try:
            with (
                self.locked(),
                contextlib.closing(sqlite3.connect(self.file, isolation_level=None)) as connection,
            ):
                connection.execute(f"PRAGMA busy_timeout={BUSY_MS}")
                connection.execute("VACUUM")
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except (sqlite3.Error, OSError) as e:
            raise self._unavailable(e) from e

    def close(self) -> None:
        with self._mutex:
            for connection in self._readers:
                _close(connection)
            self._readers, self._identity = [], None

    @contextlib.contextmanager
    def _reader(self) -> Iterator[sqlite3.Connection]:
        """A connection for one who reads: whoever looks something up does not wait for whoever goes
        over everything.
        """
        connection, identity = self._taken()
        try:
            yield connection
        except BaseException:
            _close(connection)
            raise
        with self._mutex:
            if identity == self._identity and len(self._readers) < READERS:
                self._readers.append(connection)
            else:  # the file is another one by now
                _close(connection)

    def _taken(self) -> tuple[sqlite3.Connection, tuple[int, int] | None]:
        identity = _identity(self.file)
        if identity is None:
            self.write(lambda _: None)
            identity = _identity(self.file)
        with self._mutex:
            if identity != self._identity:
                self.close()
                self._identity = identity
            if self._readers:
                return self._readers.pop(), identity
        return self._opened(), identity

    def _opened(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"{self.file.absolute().as_uri()}?mode=ro",
            uri=True,
            isolation_level=None,
            check_same_thread=False,
        )
        connection.execute(f"PRAGMA busy_timeout={BUSY_MS}")
        if _schema(connection) != SCHEMA:
            with contextlib.closing(connection):
                raise vector_migration.other_schema(_schema(connection), SCHEMA)
        return connection

    def _write_locked(self, act: Callable[[sqlite3.Connection], _T]) -> _T:
        is_new = not self.file.exists()
        with contextlib.closing(sqlite3.connect(self.file, isolation_level=None)) as connection:
            connection.execute(f"PRAGMA busy_timeout={BUSY_MS}")
            if is_new:
                _create(connection)
            elif _schema(connection) != SCHEMA:
                raise vector_migration.other_schema(_schema(connection), SCHEMA)
            elif self._marker.exists() and connection.execute(
                "PRAGMA quick_check(1)"
            ).fetchone() != ("ok",):
                raise sqlite3.DatabaseError("a killed writer left it damaged")
            if self._before.exists():
                with contextlib.suppress(
                    sqlite3.Error
                ):  # it is only a saving: they can be made again
                    vector_migration.take_over(connection, self._before)
                vector_migration.unlink(self._before)
            durable.write(self._marker, b"")
            connection.execute("PRAGMA synchronous=NORMAL")
            connection.execute(f"PRAGMA journal_size_limit={LOG}")
            connection.execute("BEGIN IMMEDIATE")
            try:
                result = act(connection)
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.rollback()
                self._marker.unlink(missing_ok=True)
                raise
        self._marker.unlink(missing_ok=True)
        return result

    def _mend(
        self, error: sqlite3.DatabaseError | UnicodeDecodeError, seen: tuple[int, int] | None
    ) -> None:
        """Delete the file ``seen`` where ``error`` says that it is damaged or foreign. Raises
        IndexUnavailable.
        """
        if (getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF) in _NOT_DAMAGE:
            raise self._unavailable(error) from error
        try:
            with self.locked():
                if _identity(self.file) != seen:  # someone else has mended it meanwhile
                    return
                if isinstance(error, vector_migration.OlderSchema) and not self._marker.exists():
                    vector_migration.set_aside(self.file, self._before)
                self._unlink()
        except OSError as e:
            raise self._unavailable(e) from e

    def _unlink(self) -> None:
        vector_migration.unlink(self.file)
        self._marker.unlink(missing_ok=True)

    def _unavailable(self, reason: object) -> IndexUnavailable:
        return IndexUnavailable(
            f"the search index in {self.directory} cannot be used: {reason}",
            "Check free space and rights there; it may be deleted, and is made again from the "
            "workspace",
        )

    @contextlib.contextmanager
    def locked(self, wait_s: float | None = None) -> Iterator[None]:
        """Hold the right to write. Raises IndexUnavailable when another writer keeps it."""
        handle = self._acquire(self._wait_s if wait_s is None else wait_s)
        try:
            yield
        finally:
            os.close(handle)

    def _acquire(self, wait_s: float) -> int:
        import fcntl  # here, because Windows has none and must still be able to import the package

        until = time.monotonic() + wait_s
        while True:
            handle = self._open_lock()
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(handle)
            else:
                # the directory may have been deleted between opening and locking
                if _identity(self._lock_file) == _of(os.fstat(handle)):
                    return handle
                os.close(handle)
            if time.monotonic() > until:
                raise IndexUnavailable(
                    f"another process is writing the search index in {self.directory}",
                    "Try again in a minute",
                )
            time.sleep(POLL_S)

    def _open_lock(self) -> int:
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        note = self.directory / "README"
        if not note.exists():
            note.write_text(README, encoding="utf-8")
        return os.open(self._lock_file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _create(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA journal_mode=WAL")
    made = (
        (_TABLES + graph_tables.TABLES + feedback_weights.TABLES)
        .replace("{columns}", ", ".join(FTS_WEIGHTS))
        .replace("{tokenizer}", TOKENIZER)
    )
    connection.executescript("BEGIN;" + made)
    # the word of the scope keeps a search within a project from scoring those of all others, and
    # says nothing itself
    weights = ", ".join(str(weight) for weight in (*FTS_WEIGHTS.values(), 0.0))
    connection.execute(
        "INSERT INTO passages_fts(passages_fts, rank) VALUES ('rank', ?)", (f"bm25({weights})",)
    )
    # names this very file: passage ids of another one mean other passages
    connection.execute("INSERT INTO meta VALUES ('database', ?)", (secrets.token_hex(8),))
    connection.execute(f"PRAGMA user_version={SCHEMA}")
    connection.execute("COMMIT")


def _close(connection: sqlite3.Connection) -> None:
    with contextlib.suppress(sqlite3.Error):
        connection.close()


def _schema(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _identity(file: Path) -> tuple[int, int] | None:
    try:
        return _of(file.stat())
    except OSError:
        return None


def _of(stat: os.stat_result) -> tuple[int, int]:
    return stat.st_dev, stat.st_ino
