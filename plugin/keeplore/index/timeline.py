"""Memories in the order of time, a page at a time, and how many there are of each day and sort.

A page begins behind the last memory of the one before, so that what is far back costs no more than
what is new, and nothing is told twice while memory grows.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from keeplore.index.database import IndexDatabase
from keeplore.index.memory_queries import memory_rows
from keeplore.index.rows import EVERYWHERE, MemoryRow
from keeplore.index.sql import in_list, rows_in, scope_ids
from keeplore.memory.model import Trust
from keeplore_hooks.contracts import ScopeFilter

AT_ONCE = 200  # rows that are looked through for a page
GIST_CHARS = 240
# above every moment
_END = "~"
_QUESTION = (
    "EXISTS (SELECT 1 FROM passages p WHERE p.memory = m.key AND p.kind = 'statement'"
    " AND (p.body LIKE '%?%' OR p.body LIKE '%？%'))"
)
_BY_DOUBTED = (
    "(m.trust = 'foreign' OR m.machine IN (SELECT value FROM json_each(?))"
    " OR m.path IN (SELECT value FROM json_each(?)))"
)
_CURRENT = (
    "NOT EXISTS (SELECT 1 FROM links l WHERE l.target = m.id"
    " AND l.relationship = 'supersedes')"
)
_FACETS = {
    "kind": "m.kind",
    "category": "m.category",
    "project": "s.project",
    "host": "m.host",
    "machine": "m.machine",
    "trust": "m.trust",
}


@dataclass(frozen=True, slots=True)
class DoubtedWriters:
    """Who is not believed: all that these machines wrote ("" where none is named), and the files at
    these paths.
    """

    machines: tuple[str, ...]
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TimelineFilter:
    """Which memories are told; what is left empty does not choose.

    ``may_ask`` keeps conversations in whose head a question stands. Where there are ``doubted``
    writers, what they wrote has the trust ``foreign`` and no other.
    """

    allowed: ScopeFilter = EVERYWHERE
    kind: str = ""
    category: str = ""
    host: str = ""
    machine: str = ""
    trust: str = ""
    doubted: DoubtedWriters | None = None
    permanent: bool = False
    may_ask: bool = False
    until: str = ""  # RFC 3339, UTC: nothing later


@dataclass(frozen=True, slots=True)
class TimelinePage:
    """The newest first; ``next`` is the cursor of the next page, "" at the end."""

    rows: tuple[MemoryRow, ...]
    next: str


@dataclass(frozen=True, slots=True)
class WriterRow:
    """A machine and host in a project, "" outside of projects: how many memories, and when the
    last one.
    """

    project: str
    machine: str
    host: str
    memories: int
    last: str


class Timeline:
    """The timeline of one index; archived memories and earlier versions are left out. Raises
    IndexUnavailable.
    """

    def __init__(self, database: IndexDatabase) -> None:
        self._database = database

    def page(
        self,
        wanted: TimelineFilter,
        after: str = "",
        limit: int = 50,
        keep: Callable[[MemoryRow], bool] = lambda _: True,
    ) -> TimelinePage:
        """The memories behind a cursor that fit and are to be kept."""
        kept: list[MemoryRow] = []
        cursor = after
        while len(kept) < limit:
            rows, cursor = self._database.read(_page, wanted, cursor)
            kept += filter(keep, rows)
            if not cursor:
                break
        if len(kept) > limit:
            cursor = _cursor(kept[limit - 1])
        return TimelinePage(tuple(kept[:limit]), cursor)

    def days(self, wanted: TimelineFilter, since: str) -> dict[str, int]:
        """How many memories fit, by day (YYYY-MM-DD) of this place; ``since`` a moment in UTC."""
        return self._database.read(_days, wanted, since)

    def facets(self) -> dict[str, dict[str, int]]:
        """Field (kind, category and so on) → value → how many memories have it, the most frequent
        first.
        """
        return self._database.read(_facets)

    def writers(self) -> list[WriterRow]:
        """Who wrote how much of which project, the last one first."""
        return self._database.read(_writers)

    def gists(self, ids: Sequence[str]) -> dict[str, str]:
        """Memory → a sentence for it: what it decides, else the first thing it says."""
        return self._database.read(_gists, ids)


def _page(
    connection: sqlite3.Connection, wanted: TimelineFilter, after: str
) -> tuple[list[MemoryRow], str]:
    """The next rows and the cursor behind them, "" where there are no more."""
    condition, values = _filter_condition(connection, wanted)
    at, _, id_ = after.partition(" ")
    at = at or wanted.until or _END
    found = connection.execute(
        f"SELECT m.id, m.updated_at FROM memories m WHERE {condition} AND m.updated_at <= ?"
        " AND (m.updated_at < ? OR m.id > ?) ORDER BY m.updated_at DESC, m.id LIMIT ?",
        (*values, at, at, id_, AT_ONCE),
    ).fetchall()
    ids = list(dict.fromkeys(id_ for id_, _ in found))
    known = memory_rows(connection, ids)
    rows = [known[id_] for id_ in ids if _is_current(known.get(id_))]
    is_last = len(found) < AT_ONCE
    return rows, "" if is_last else f"{found[-1][1]} {found[-1][0]}"


def _is_current(row: MemoryRow | None) -> bool:
    return row is not None and not (row.superseded_by or row.is_archived)


def _cursor(row: MemoryRow) -> str:
    return f"{row.updated_at} {row.id}"


def _days(
    connection: sqlite3.Connection, wanted: TimelineFilter, since: str
) -> dict[str, int]:
    condition, values = _filter_condition(connection, wanted)
    rows = connection.execute(
        "SELECT date(m.updated_at, 'localtime'), count(*) FROM memories m"
        f" WHERE {condition} AND {_CURRENT} AND m.updated_at >= ? GROUP BY 1 ORDER BY 1",
        (*values, since),
    )
    return {day: count for day, count in rows if day}  # else it has no time


def _facets(connection: sqlite3.Connection) -> dict[str, dict[str, int]]:
    found = {}
    for name, column in _FACETS.items():
        rows = connection.execute(
            f"SELECT {column}, count(*) FROM memories m JOIN scopes s ON s.id = m.scope_id"
            f" WHERE NOT m.is_archived AND {_CURRENT} AND {column} != ''"
            " GROUP BY 1 ORDER BY 2 DESC, 1"
        )
        found[name] = dict(rows.fetchall())
    return found


def _writers(connection: sqlite3.Connection) -> list[WriterRow]:
    rows = connection.execute(
        "SELECT s.project, m.machine, m.host, count(*), max(m.updated_at) FROM memories m"
        f" JOIN scopes s ON s.id = m.scope_id WHERE NOT m.is_archived AND {_CURRENT}"
        " GROUP BY 1, 2, 3 ORDER BY 5 DESC, 1, 2, 3"
    )
    return [WriterRow(*row) for row in rows]


def _filter_condition(
    connection: sqlite3.Connection, wanted: TimelineFilter
) -> tuple[str, tuple[str, ...]]:
    """A condition on ``memories m``, and the values for its placeholders."""
    chosen: Mapping[str, str] = {
        "m.kind": wanted.kind,
        "m.category": wanted.category,
        "m.host": wanted.host,
        "m.machine": wanted.machine,
    }
    parts = ["NOT m.is_archived"]
    values = [*filter(None, chosen.values())]
    if wanted.allowed.scopes:
        parts.append(in_list("m.scope_id", scope_ids(connection, wanted.allowed)))
    if wanted.permanent:
        parts.append("m.permanent")
    if wanted.may_ask:
        parts.append(_QUESTION)
    parts += [f"{column} = ?" for column, value in chosen.items() if value]
    if wanted.trust and wanted.doubted:
        is_foreign = wanted.trust == Trust.FOREIGN
        parts.append(
            _BY_DOUBTED if is_foreign else f"m.trust = ? AND NOT {_BY_DOUBTED}"
        )
        values += [] if is_foreign else [wanted.trust]
        values += map(json.dumps, (wanted.doubted.machines, wanted.doubted.paths))
    elif wanted.trust:
        parts.append("m.trust = ?")
        values.append(wanted.trust)
    return " AND ".join(parts), tuple(values)


def _gists(connection: sqlite3.Connection, ids: Sequence[str]) -> dict[str, str]:
    rows = rows_in(
        connection,
        f"SELECT m.id, substr(p.head || p.body, 1, {GIST_CHARS}) FROM passages p"
        " JOIN memories m ON m.key = p.memory"
        " WHERE m.id IN ({placeholders}) AND p.kind != 'exchange' AND p.head || p.body != ''"
        " ORDER BY p.kind = 'decision', p.id DESC",
        ids,
    )
    return dict(rows)
