"""A SQLite file of this machine's state."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import pytest

from keeplore.config.state_database import StateDatabase, version_of
from keeplore.errors import KeeploreError

TABLES = ("CREATE TABLE seen (name TEXT)",)


def test_a_transaction_is_kept_whole_or_not_at_all(tmp_path: Path) -> None:
    database = StateDatabase(tmp_path / "state" / "a b?.sqlite3", TABLES)
    assert version_of(database.file) == 0
    with database.transaction() as connection:
        connection.execute("INSERT INTO seen VALUES ('one')")
        assert connection.execute("PRAGMA synchronous").fetchone()[0] == 3
        assert connection.execute("PRAGMA journal_mode").fetchone()[0] == "delete"
    with contextlib.suppress(RuntimeError), database.transaction() as connection:
        connection.execute("INSERT INTO seen VALUES ('two')")
        raise RuntimeError
    with database.transaction() as connection:
        rows = connection.execute("SELECT name FROM seen").fetchall()
    assert [row["name"] for row in rows] == ["one"]
    assert version_of(database.file) == 1
    assert database.file.stat().st_mode & 0o777 == 0o600
    assert database.file.parent.stat().st_mode & 0o777 == 0o700


def test_one_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    database = StateDatabase(tmp_path / "jobs.sqlite3", TABLES)
    with sqlite3.connect(database.file) as connection:
        connection.execute("PRAGMA user_version=7")
    connection.close()
    with pytest.raises(KeeploreError) as refused, database.transaction():
        pass
    assert refused.value.message == f"{database.file} is of a newer Keeplore"
    assert refused.value.remedy == "Run `keeplore upgrade`"
    assert version_of(database.file) == 7


def test_what_is_no_database_says_what_to_do(tmp_path: Path) -> None:
    database = StateDatabase(tmp_path / "jobs.sqlite3", TABLES)
    database.file.write_text("no database at all, but long enough for one\n" * 30)
    with pytest.raises(KeeploreError) as refused, database.transaction():
        pass
    assert refused.value.message == (
        f"{database.file} cannot be used: file is not a database"
    )
    assert refused.value.remedy == (
        "Check the free space and the rights there; where it is damaged, move it away"
    )
    assert version_of(database.file) == 0


def test_a_place_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    database = StateDatabase(tmp_path / "jobs.sqlite3", TABLES)
    database.file.mkdir()
    with pytest.raises(KeeploreError) as refused, database.transaction():
        pass
    assert refused.value.message == f"{database.file} cannot be opened: Is a directory"
    assert refused.value.remedy == "Check the rights there"
