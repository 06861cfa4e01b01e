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
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from keeplore.errors import IndexUnavailable, disk_message, is_in_the_way
from keeplore.index import schema, schema_upgrade
from keeplore_hooks import durable

WAIT_S = 20.0  # for another writer; it holds the lock for one batch at a time
POLL_S = 0.02
ATTEMPTS = 3  # at a file that turns out to be damaged or deleted
BUSY_MS = 5000
LOG = 1024 * 1024  # bytes of the log that stay on the disk
READERS = 3  # connections that are kept open
README = """Keeplore's search index of one workspace, made from the text there.
Safe to delete at any time; it comes back.
"""
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
_P = ParamSpec("_P")
_T = TypeVar("_T")


class IndexDatabase:
    """The database of an index directory. Safe to use from several threads; several processes may
    use the directory at once.
    """

    def __init__(self, directory: Path, wait_s: float = WAIT_S) -> None:
        self.directory = directory
        self.file = directory / "index.sqlite3"
        self._lock_file = directory / "writer.lock"
        self._before = directory / schema_upgrade.NAME
        # there while a writer is at work, and after one was killed
        self._marker = directory / "writing"
        self._wait_s = wait_s
        self._mutex = threading.RLock()
        self._readers: list[
            sqlite3.Connection
        ] = []  # that nobody uses just now, all of the file of this identity
        self._identity: tuple[int, int] | None = None

    def read(
        self,
        ask: Callable[Concatenate[sqlite3.Connection, _P], _T],
        *args: _P.args,
        **kwargs: _P.kwargs,
    ) -> _T:
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
                        return ask(connection, *args, **kwargs)
                    finally:
                        connection.rollback()
            except (sqlite3.DatabaseError, UnicodeDecodeError) as e:
                self.close()
                self._mend(e, seen)
        raise self._unavailable("it is damaged again and again")

    def write(
        self,
        act: Callable[Concatenate[sqlite3.Connection, _P], _T],
        *args: _P.args,
        **kwargs: _P.kwargs,
    ) -> _T:
        """Run ``act`` in one transaction of the one writer; a damaged file is begun anew and
        ``act`` runs again.

        ``act`` must be able to run twice. Raises IndexUnavailable, and what ``act`` raises.
        """
        return self.write_within(
            None, lambda connection: act(connection, *args, **kwargs)
        )

    def write_within(
        self, wait_s: float | None, act: Callable[[sqlite3.Connection], _T]
    ) -> _T:
        """``write``, where another writer is waited for ``wait_s``, or as long as was said once."""
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
        """The size of all files in the directory."""
        with contextlib.suppress(FileNotFoundError):
            return sum(
                entry.stat().st_size
                for entry in os.scandir(self.directory)
                if entry.is_file()
            )
        return 0

    def discard(self) -> None:
        """Delete the file, so that all is made anew from the text. Raises IndexUnavailable."""
        self.close()
        with self.locked():
            self._unlink()
            schema_upgrade.unlink(self._before)

    def vacuum(self) -> None:
        """Write the file anew, so that neither its free pages nor its log hold what was deleted.

        Raises IndexUnavailable.
        """
        self.close()
        try:
            with (
                self.locked(),
                contextlib.closing(
                    sqlite3.connect(self.file, isolation_level=None)
                ) as connection,
            ):
                connection.execute(f"PRAGMA busy_timeout={BUSY_MS}")
                connection.execute("VACUUM")
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except (sqlite3.Error, OSError) as e:
            raise self._unavailable(e) from e

    def close(self) -> None:
        with self._mutex:
            for connection in self._readers:
                connection.close()
            self._readers, self._identity = [], None

    @contextlib.contextmanager
    def _reader(self) -> Iterator[sqlite3.Connection]:
        """A connection for one who reads: whoever looks something up does not wait for whoever goes
        over everything.
        """
        connection, identity = self._take_connection()
        try:
            yield connection
        except BaseException:
            connection.close()
            raise
        with self._mutex:
            if identity == self._identity and len(self._readers) < READERS:
                self._readers.append(connection)
            else:  # the file is another one by now
                connection.close()

    def _take_connection(self) -> tuple[sqlite3.Connection, tuple[int, int] | None]:
        """A connection that reads the file as it is now, and which file that is."""
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
        return self._open_read_only(), identity

    def _open_read_only(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"{self.file.absolute().as_uri()}?mode=ro",
            uri=True,
            isolation_level=None,
            check_same_thread=False,
        )
        connection.execute(f"PRAGMA busy_timeout={BUSY_MS}")
        found = schema.version_of(connection)
        if found != schema.VERSION:
            connection.close()
            raise schema_upgrade.other_schema(found, schema.VERSION)
        return connection

    def _write_locked(self, act: Callable[[sqlite3.Connection], _T]) -> _T:
        is_new = not self.file.exists()
        with contextlib.closing(
            sqlite3.connect(self.file, isolation_level=None)
        ) as connection:
            connection.execute(f"PRAGMA busy_timeout={BUSY_MS}")
            if is_new:
                schema.create(connection)
            else:
                self._check(connection)
            self._take_over(connection)
            durable.write(self._marker, b"")
            try:
                result = _transaction(connection, act)
            except BaseException:
                self._marker.unlink(missing_ok=True)
                raise
        self._marker.unlink(missing_ok=True)
        return result

    def _take_over(self, connection: sqlite3.Connection) -> None:
        """Take over what an older form of the database left."""
        if self._before.exists():
            # only a saving: they can be made again
            with contextlib.suppress(sqlite3.Error):
                schema_upgrade.take_over(connection, self._before)
            schema_upgrade.unlink(self._before)

    def _check(self, connection: sqlite3.Connection) -> None:
        """Raise sqlite3.DatabaseError for a file that must be begun anew."""
        found = schema.version_of(connection)
        if found != schema.VERSION:
            raise schema_upgrade.other_schema(found, schema.VERSION)
        if self._marker.exists():
            result = connection.execute("PRAGMA quick_check(1)").fetchone()
            if result != ("ok",):
                raise sqlite3.DatabaseError("a killed writer left it damaged")

    def _mend(
        self,
        error: sqlite3.DatabaseError | UnicodeDecodeError,
        seen: tuple[int, int] | None,
    ) -> None:
        """Delete the file ``seen`` where ``error`` says that it is damaged or foreign. Raises
        IndexUnavailable.
        """
        if (
            getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
        ) in _NOT_DAMAGE:
            raise self._unavailable(error) from error
        try:
            with self.locked():
                if _identity(self.file) != seen:  # someone else has mended it meanwhile
                    return
                if (
                    isinstance(error, schema_upgrade.OlderSchema)
                    and not self._marker.exists()
                ):
                    schema_upgrade.set_aside(self.file, self._before)
                self._unlink()
        except OSError as e:
            raise self._unavailable(e) from e

    def _unlink(self) -> None:
        """Remove the database with what belongs to it."""
        schema_upgrade.unlink(self.file)
        self._marker.unlink(missing_ok=True)

    def _unavailable(self, reason: object) -> IndexUnavailable:
        what = f"the search index in {self.directory} cannot be used"
        if way := self._in_the_way(reason):
            return IndexUnavailable(f"{what}: {way}", "Move it away")
        why = disk_message(reason) if isinstance(reason, OSError) else reason
        return IndexUnavailable(
            f"{what}: {why}",
            "Check free space and rights there; it may be deleted, and is made again from the "
            "workspace",
        )

    def _in_the_way(self, reason: object) -> str:
        """What of another kind stands where the index has a file or folder, "" for nothing."""
        for place in (self.directory, *self.directory.parents):
            if place.is_file():
                return f"{place} is no folder"
        if self.file.is_dir():
            return f"{self.file} is no file"
        if isinstance(reason, OSError) and is_in_the_way(reason):
            return disk_message(reason)
        return ""

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
                if _identity(self._lock_file) == _file_identity(os.fstat(handle)):
                    return handle
                os.close(handle)
            if time.monotonic() > until:
                raise IndexUnavailable(
                    f"another process is writing the search index in {self.directory}",
                    "Try again in a minute",
                )
            time.sleep(POLL_S)

    def _open_lock(self) -> int:
        durable.make_private(self.directory)
        note = self.directory / "README"
        if not note.exists():
            note.write_text(README, encoding="utf-8")
        return os.open(self._lock_file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _transaction(
    connection: sqlite3.Connection, act: Callable[[sqlite3.Connection], _T]
) -> _T:
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.execute(f"PRAGMA journal_size_limit={LOG}")
    connection.execute("BEGIN IMMEDIATE")
    try:
        result = act(connection)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.rollback()
        raise
    return result


def _identity(file: Path) -> tuple[int, int] | None:
    try:
        return _file_identity(file.stat())
    except OSError:
        return None


def _file_identity(stat: os.stat_result) -> tuple[int, int]:
    return stat.st_dev, stat.st_ino
