"""What the queries of an index share: lists of values, scopes, what is noted of the database."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

from keeplore_hooks.contracts import ScopeFilter

ASK_AT_ONCE = 500  # parameters of a statement; old SQLite allows 999


def value(
    connection: sqlite3.Connection, sql: str, parameters: Sequence[object] = ()
) -> Any:
    """The first column of the first row, None without one."""
    row = connection.execute(sql, parameters).fetchone()
    return row[0] if row else None


def column(
    connection: sqlite3.Connection, sql: str, parameters: Sequence[object] = ()
) -> list[Any]:
    """The first column of all rows."""
    return [row[0] for row in connection.execute(sql, parameters)]


def rows_in(
    connection: sqlite3.Connection, sql: str, values: Sequence[object], *more: object
) -> Iterator[Any]:
    """The rows of a statement over many values, run in batches as large as SQLite allows.

    ``{placeholders}`` in it stands for a ``?`` for each value; ``more`` are the parameters after
    these.
    """
    for start in range(0, len(values), ASK_AT_ONCE):
        chunk = values[start : start + ASK_AT_ONCE]
        yield from connection.execute(
            sql.replace("{placeholders}", placeholders(chunk)), (*chunk, *more)
        )


def placeholders(items: Sequence[object]) -> str:
    """A ``?`` for each item, to stand within ``IN ()``."""
    return ", ".join("?" * len(items))


def in_list(name: str, ids: Sequence[int] | None) -> str:
    """The condition that a column is one of these integers; ``1``, always true, for None."""
    return "1" if ids is None else f"{name} IN ({', '.join(map(str, ids))})"


def escaped_like(text: str) -> str:
    """The pattern of ``LIKE ? ESCAPE '\\'`` that matches just this text."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def scope_ids(connection: sqlite3.Connection, allowed: ScopeFilter) -> list[int] | None:
    """The scopes of the index that are allowed; None for all of them."""
    if not allowed.scopes:
        return None
    wanted = set(allowed.scopes)
    rows = connection.execute("SELECT id, scope, project FROM scopes")
    return [id_ for id_, scope, project in rows if (scope, project) in wanted]


def meta(connection: sqlite3.Connection, key: str) -> str:
    """What is noted of the whole database under a key, "" for nothing."""
    return str(value(connection, "SELECT value FROM meta WHERE key = ?", (key,)) or "")


def set_meta(connection: sqlite3.Connection, key: str, text: str) -> None:
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, text))


def raise_version(connection: sqlite3.Connection) -> None:
    """Tell whoever keeps vectors in memory that passages or vectors have changed."""
    set_meta(connection, "version", str(int(meta(connection, "version") or 0) + 1))


def state(connection: sqlite3.Connection) -> tuple[str, int]:
    """The id of this database, and the version of its passages and vectors."""
    return meta(connection, "database"), int(meta(connection, "version") or 0)


def count_passages(connection: sqlite3.Connection) -> int:
    return int(value(connection, "SELECT count(*) FROM passages"))


def last_passage(connection: sqlite3.Connection) -> int:
    """The highest id of a passage, 0 without one."""
    return int(value(connection, "SELECT coalesce(max(id), 0) FROM passages"))


def vector_sum(hash_: bytes, vector: bytes) -> int:
    """A checksum by which a vector is recognised that changed on disk or stands with another text's
    hash.
    """
    return zlib.crc32(hash_ + vector)
