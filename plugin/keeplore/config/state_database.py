"""A SQLite file in the state directory: several processes use it at once, and a kill costs nothing
that was written.

It keeps a rollback journal and no WAL: SQLite before 3.51.3 can damage a WAL that two processes
write.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

from keeplore.errors import KeeploreError
from keeplore_hooks import durable

WAIT_S = 20.0  # for another process; a transaction here takes milliseconds
VERSION = 1  # of the tables


class StateDatabase:
    """``tables`` are the statements that make them. Opened for each transaction: threads and forks
    share nothing.
    """

    def __init__(self, file: Path, tables: Sequence[str]) -> None:
        self.file = file
        self._tables = tables

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """A transaction that excludes every other: all of it is on disk at its end, nothing after
        an error.

        Raises KeeploreError where the file cannot be used.
        """
        try:
            with contextlib.closing(self._connect()) as connection:
                connection.execute("BEGIN IMMEDIATE")
                self._create_tables(connection)
                yield connection
                connection.execute("COMMIT")
        except sqlite3.Error as e:
            raise KeeploreError(
                f"{self.file} cannot be used: {e}",
                "Check the free space and the rights there; where it is damaged, move it away",
            ) from e

    def _connect(self) -> sqlite3.Connection:
        try:
            durable.make_private(self.file.parent)
            os.close(os.open(self.file, os.O_RDWR | os.O_CREAT, 0o600))
        except OSError as e:
            raise KeeploreError(
                f"{self.file} cannot be opened: {e.strerror}", "Check the rights there"
            ) from e
        connection = sqlite3.connect(self.file, timeout=WAIT_S, isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode=DELETE")
            # the directory too, else a power cut undoes a commit
            connection.execute("PRAGMA synchronous=EXTRA")
            connection.row_factory = sqlite3.Row
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _create_tables(self, connection: sqlite3.Connection) -> None:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version > VERSION:
            raise KeeploreError(
                f"{self.file} is of a newer Keeplore", "Run `keeplore upgrade`"
            )
        if version < VERSION:
            for statement in self._tables:
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version={VERSION}")


def version_of(file: Path) -> int:
    """The version of a SQLite file's tables, 0 where it cannot be read."""
    with contextlib.suppress(sqlite3.Error, OSError):
        uri = f"{file.absolute().as_uri()}?mode=ro"
        with contextlib.closing(sqlite3.connect(uri, uri=True)) as connection:
            return int(connection.execute("PRAGMA user_version").fetchone()[0])
    return 0
