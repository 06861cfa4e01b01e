"""Where OpenCode keeps sessions: a SQLite database, before 1.2 a folder of JSON files, and files
that it exported.

A session in a database is named by a path that does not exist, ``<database>/<session>``. Every
method raises OSError for what is not there or cannot be read.
"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from keeplore_hooks.hosts import jsonl
from keeplore_hooks.hosts.base import Recorded, recorded_at
from keeplore_hooks.hosts.jsonl import (
    Json,
    Problems,
    digest,
    load,
    mapping,
    mappings,
    open_regular,
    text,
)
from keeplore_hooks.hosts.opencode.opencode_messages import (
    OpenCodeTurnReader,
    created_at,
    message_id,
    role_of,
    utc_moment,
)
from keeplore_hooks.hosts.opencode.opencode_rows import message_of

DATABASE, STORAGE = ".db", "storage"
# versions that are not releases write beside the release's own
_DATABASES = "opencode*.db"
_PROGRAM = OpenCodeTurnReader.program
_ID = re.compile(r"[A-Za-z]{1,10}_[\w-]{1,100}")
_BUSY_S = 5.0
_SIZE_LIMIT = jsonl.LINE_LIMIT  # bytes of one JSON file
_Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class StoredSession:
    """A session with its messages in order of time, in the form of an export."""

    session: Json  # {id, directory, parentID, time: {created, updated}} and more
    messages: list[Json]


def read(path: Path, problems: Problems) -> StoredSession:
    """The session that ``path`` names: one in a database, one in a folder of JSON files, or an
    export.
    """
    if path.parent.suffix == DATABASE:
        with closing(_open(path.parent)) as connection:
            return _from_tables(connection, path.name, problems)
    data = _load(path)
    if "messages" in data and "info" in data:
        messages = sorted(mappings(data, "messages"), key=created_at)
        return StoredSession(mapping(data, "info"), messages)
    if STORAGE not in path.parts or "id" not in data:
        problems.add_unknown(
            f"{path.name} is no session of a form that is known here", _PROGRAM
        )
        return StoredSession({}, [])
    messages = sorted(_in_files(path, text(data, "id"), problems), key=created_at)
    return StoredSession(data, messages)


def state_digest(path: Path) -> str:
    """Changes whenever the session changes."""
    if path.parent.suffix == DATABASE:
        with closing(_open(path.parent)) as connection:
            return _rows_digest(connection, path.name)
    files = [path]
    for message in _message_files(path, path.stem):
        files += [message, *_part_files(message)]
    stats = ((file.name, file.stat()) for file in files)
    return digest(
        *(f"{name} {stat.st_mtime_ns} {stat.st_size}" for name, stat in stats)
    )


def locate(base: Path, session: str) -> Path | None:
    """The path that names a session of this data directory."""
    if not _ID.fullmatch(session):
        return None
    for database in _databases(base):
        with closing(_open(database)) as connection:
            if _session_rows(connection, session):
                return database / session
    return next(iter(sorted(base.glob(f"{STORAGE}/session/*/{session}.json"))), None)


def recorded(base: Path) -> Iterator[Recorded]:
    """The sessions of a data directory, or of a folder of exports, without those of subagents."""
    known: set[str] = set()
    databases = _databases(base)
    for database in databases:
        try:
            with closing(_open(database)) as connection:
                found = list(_in_tables(connection, database))
        except OSError:
            continue  # it went away, or is no database
        yield from (session for session in found if session.session not in known)
        known.update(session.session for session in found)
    files = sorted(base.glob(f"{STORAGE}/session/*/*.json"))
    for session in recorded_at(files, _in_folder):
        if session.session not in known:  # else OpenCode moved it and left the file
            yield session
    if not databases and not (base / STORAGE).is_dir():
        yield from recorded_at(
            sorted((*base.glob("*.json"), *base.glob("*.jsonl"))), _exported
        )


# SQLite


def _databases(base: Path) -> list[Path]:
    return [path for path in sorted(base.glob(_DATABASES)) if path.is_file()]


def _open(path: Path) -> sqlite3.Connection:
    """Open a database that another program may be writing to, for reading alone."""
    open_regular(path).close()
    address = f"file:{quote(str(path))}?mode=ro"
    # a database of a read-only folder has no place for the files beside it
    for more in ("", "&immutable=1"):
        if more and path.with_name(path.name + "-wal").exists():
            break
        connection = sqlite3.connect(address + more, uri=True, timeout=_BUSY_S)
        try:
            connection.execute("PRAGMA query_only = ON")
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.Error:
            connection.close()
            continue
        connection.row_factory = sqlite3.Row
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        return connection
    raise OSError(f"not a database that can be read: {path}")


def _tables(connection: sqlite3.Connection) -> set[str]:
    return {
        row["name"]
        for row in _query(
            connection, "SELECT name FROM sqlite_master WHERE type = 'table'"
        )
    }


def _session_tables(connection: sqlite3.Connection) -> list[str]:
    """Version 2 keeps the table of version 1 for what it has not moved."""
    tables = _tables(connection)
    return [table for table in ("session_v2", "session") if table in tables]


def _session_rows(connection: sqlite3.Connection, session: str) -> list[_Row]:
    return [
        row
        for table in _session_tables(connection)
        for row in _rows(
            connection,
            table,
            "id",
            session,
        )
    ]


def _query(connection: sqlite3.Connection, query: str, *values: str) -> list[_Row]:
    try:
        return [dict(row) for row in connection.execute(query, values)]
    except (sqlite3.Error, OverflowError) as e:
        raise OSError(f"the database cannot be read: {e}") from e


def _rows(
    connection: sqlite3.Connection,
    table: str,
    column: str,
    value: str,
) -> list[_Row]:
    # names of tables and columns are constants of this module
    return _query(connection, f"SELECT * FROM {table} WHERE {column} = ?", value)  # noqa: S608


def _from_tables(
    connection: sqlite3.Connection,
    session: str,
    problems: Problems,
) -> StoredSession:
    """A session and its messages in order, from the tables of either form."""
    tables = _tables(connection)
    rows = _session_rows(connection, session)
    has_first, has_second = {"message", "part"} <= tables, "session_message" in tables
    if not rows or not (has_first or has_second):
        problems.add_unknown(
            f"the session {session} is in no table that is known here", _PROGRAM
        )
        return StoredSession({}, [])
    first = _first_form(connection, session, problems) if has_first else ()
    messages = sorted(first, key=created_at)
    if has_second:
        second = list(_session_messages(connection, session, problems))
        messages += _later_messages(messages, second)
    return StoredSession(_session(rows[0]), messages)


def _later_messages(first: list[Json], second: list[Json]) -> Iterator[Json]:
    """What the second table has from the person's first later message on: version 1 wrote some of
    its own messages into it too, under other ids.
    """
    known = set(map(message_id, first))
    last = max(map(created_at, first), default=0.0)
    is_later = not first
    for message in second:
        is_later |= role_of(message) == "user" and created_at(message) > last
        if is_later and message_id(message) not in known:
            yield message


def _session(row: _Row) -> Json:
    time = {
        "created": row.get("time_created"),
        "updated": row.get("time_updated"),
    }
    session = {
        "id": row.get("id"),
        "parentID": row.get("parent_id"),
        "time": time,
    }
    return session | {"directory": row.get("directory")}


def _first_form(
    connection: sqlite3.Connection,
    session: str,
    problems: Problems,
) -> Iterator[Json]:
    parts: dict[str, list[Json]] = {}
    rows = _rows(connection, "part", "session_id", session)
    for row in sorted(rows, key=lambda row: str(row.get("id"))):
        parts.setdefault(str(row.get("message_id")), []).append(_data(row, problems))
    for row in _rows(connection, "message", "session_id", session):
        yield {
            "info": {
                "time": {"created": row.get("time_created")},
                **_data(row, problems),
                "id": row.get("id"),
            },
            "parts": parts.get(row["id"], []),
        }


def _session_messages(
    connection: sqlite3.Connection,
    session: str,
    problems: Problems,
) -> Iterator[Json]:
    rows = _rows(
        connection,
        "session_message",
        "session_id",
        session,
    )
    for row in sorted(rows, key=lambda row: (row.get("seq") or 0, str(row.get("id")))):
        data = {
            "time": {"created": row.get("time_created")},
            **_data(row, problems),
        }
        if message := message_of(str(row.get("id")), str(row.get("type")), data):
            yield message


def _data(row: _Row, problems: Problems) -> Json:
    raw = row.get("data")
    encoded = (
        raw if isinstance(raw, bytes) else str(raw).encode("utf-8", "surrogatepass")
    )
    data = load(encoded) if len(encoded) <= _SIZE_LIMIT else None
    if data is None:
        problems.add(f"the row {row.get('id')} holds no JSON object and was skipped")
    return data or {}


def _rows_digest(connection: sqlite3.Connection, session: str) -> str:
    found = []
    for table in sorted(_tables(connection) & {"message", "part", "session_message"}):
        columns = "count(*), max(time_updated), max(id)"
        query = f"SELECT {columns} FROM {table} WHERE session_id = ?"  # noqa: S608 (as above)
        found += [str(list(row.values())) for row in _query(connection, query, session)]
    return digest(*found)


def _sizes(connection: sqlite3.Connection) -> Counter[str]:
    """How many bytes the messages of each session have."""
    sizes: Counter[str] = Counter()
    for table in sorted(_tables(connection) & {"part", "session_message"}):
        columns = "session_id, sum(length(data)) AS size"
        query = f"SELECT {columns} FROM {table} GROUP BY session_id"  # noqa: S608 (as above)
        for row in _query(connection, query):
            sizes[row["session_id"]] += int(row["size"] or 0)
    return sizes


def _in_tables(connection: sqlite3.Connection, database: Path) -> Iterator[Recorded]:
    sizes = _sizes(connection)
    sessions: dict[str, _Row] = {}
    for table in _session_tables(connection):
        for row in _query(connection, f"SELECT * FROM {table}"):  # noqa: S608 (as above)
            sessions.setdefault(str(row.get("id")), row)
    for key, row in sorted(sessions.items()):
        size = sizes[key]
        found = _recorded_session(database / key, _session(row), size)
        if found and size and _ID.fullmatch(key):
            yield found


# JSON files


def _in_files(
    path: Path,
    session: str,
    problems: Problems,
) -> Iterator[Json]:
    for file in _message_files(path, session):
        try:
            info = _load(file)
            parts = [_load(part) for part in _part_files(file)]
        except OSError as e:
            problems.add(f"{file.name} cannot be read: {e}")
            continue
        yield {
            "info": info,
            "parts": parts,
        }


def _message_files(path: Path, session: str) -> list[Path]:
    if not _ID.fullmatch(session):
        return []
    return sorted((path.parent.parent.parent / "message" / session).glob("*.json"))


def _part_files(message: Path) -> list[Path]:
    return sorted((message.parent.parent.parent / "part" / message.stem).glob("*.json"))


def _in_folder(path: Path) -> Recorded | None:
    session = _load(path)
    messages = _message_files(path, path.stem)
    size = sum(
        part.stat().st_size for message in messages for part in _part_files(message)
    )
    return (
        _recorded_session(path, session, size)
        if text(session, "id") == path.stem
        else None
    )


def _exported(path: Path) -> Recorded | None:
    data, size = _load(path), path.stat().st_size
    session = mapping(data, "info")
    is_one = "messages" in data and text(session, "id")
    return _recorded_session(path, session, size) if is_one else None


def _recorded_session(
    path: Path,
    session: Json,
    size: int,
) -> Recorded | None:
    if text(session, "parentID"):
        return None
    time = mapping(session, "time")
    began, written = (
        utc_moment(time.get("created")),
        utc_moment(time.get("updated")),
    )
    return Recorded(
        path,
        text(session, "id"),
        text(session, "directory"),
        began,
        size,
        written,
    )


def _load(path: Path) -> Json:
    with open_regular(path) as file:
        raw = file.read(_SIZE_LIMIT + 1)
    data = load(raw) if len(raw) <= _SIZE_LIMIT else None
    if data is None:
        raise OSError(f"not a JSON object: {path.name}")
    return data
