"""Sessions of OpenCode, written for the tests after the shapes that versions 0.6 to 2.0 keep."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SESSION = "ses_made0001"
CWD = "/home/ann/kasha"
BEGIN = 1_770_645_600_000  # 2026-02-09T14:00:00Z, ms


class Talk:
    """A session in the making, in the form of an export: every message comes a second after the one
    before.
    """

    def __init__(self, session: str = SESSION, prefix: str = "", **info: Any) -> None:
        self.prefix = prefix  # of ids, which are unique in a database
        self.info = {
            "id": session,
            "directory": CWD,
            "time": {"created": BEGIN, "updated": BEGIN},
            **info,
        }
        self.messages: list[dict[str, Any]] = []

    def add(self, role: str, *parts: dict[str, Any], **info: Any) -> str:
        """Returns the message's id."""
        number = len(self.messages) + 1
        key = f"msg_{self.prefix}{number:04}"
        time = {"created": BEGIN + number * 1000}
        self.info["time"] = {**self.info["time"], "updated": time["created"]}
        made = [
            {"id": f"prt_{self.prefix}{number:04}{place:02}", **part}
            for place, part in enumerate(parts)
        ]
        self.messages.append(
            {"info": {"id": key, "role": role, "time": time, **info}, "parts": made}
        )
        return key

    def user(self, words: str, *more: dict[str, Any], **info: Any) -> str:
        return self.add("user", *more, {"type": "text", "text": words}, **info)

    def say(
        self, words: str, *more: dict[str, Any], finish: str = "stop", **info: Any
    ) -> str:
        created = BEGIN + (len(self.messages) + 1) * 1000
        time = {"created": created, "completed": created + 500}
        return self.add(
            "assistant",
            {"type": "text", "text": words},
            *more,
            **{"time": time, "finish": finish, **info},
        )

    def compact(self, summary: str, *, auto: bool = True) -> str:
        asked = self.add("user", {"type": "compaction", "auto": auto})
        return self.say(summary, parentID=asked, summary=True, mode="compaction")

    def write(self, path: Path) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"info": self.info, "messages": self.messages}))
        return path

    def write_files(self, base: Path) -> Path:
        """As versions before 1.2 kept it."""
        path = base / "storage" / "session" / "project" / f"{self.info['id']}.json"
        _put(path, self.info)
        for message in self.messages:
            _put(
                base
                / "storage"
                / "message"
                / self.info["id"]
                / f"{message['info']['id']}.json",
                message["info"],
            )
            for part in message["parts"]:
                _put(
                    base
                    / "storage"
                    / "part"
                    / message["info"]["id"]
                    / f"{part['id']}.json",
                    part,
                )
        return path

    def write_tables(self, base: Path) -> Path:
        """As versions from 1.2 on keep it."""
        with database(base) as connection:
            self._session(connection, "session")
            for message in self.messages:
                info = {
                    key: value for key, value in message["info"].items() if key != "id"
                }
                key, at = message["info"]["id"], info["time"]["created"]
                row = (key, self.info["id"], at, at, json.dumps(info))
                connection.execute("REPLACE INTO message VALUES (?, ?, ?, ?, ?)", row)
                for part in message["parts"]:
                    row = (part["id"], key, self.info["id"], at, at, json.dumps(part))
                    connection.execute(
                        "REPLACE INTO part VALUES (?, ?, ?, ?, ?, ?)", row
                    )
        return base / "opencode.db" / self.info["id"]

    def _session(self, connection: sqlite3.Connection, table: str) -> None:
        time = self.info["time"]
        row = (
            self.info["id"],
            self.info.get("parentID"),
            self.info["directory"],
            time["created"],
            time["updated"],
        )
        connection.execute(f"REPLACE INTO {table} VALUES (?, ?, ?, ?, ?)", row)


def write_rows(
    base: Path, rows: list[tuple[str, dict[str, Any]]], first: int = 1
) -> Path:
    """As version 2 keeps a session: each row is a type and its data, a second after the one
    before.
    """
    with database(base) as connection:
        connection.execute(
            "REPLACE INTO session_v2 VALUES (?, NULL, ?, ?, ?)",
            (SESSION, CWD, BEGIN, BEGIN),
        )
        for number, (kind, data) in enumerate(rows, first):
            at = BEGIN + number * 1000
            row = (
                f"msg_{number:04}",
                SESSION,
                kind,
                number,
                at,
                at,
                json.dumps({"time": {"created": at}, **data}),
            )
            connection.execute(
                "REPLACE INTO session_message VALUES (?, ?, ?, ?, ?, ?, ?)", row
            )
    return base / "opencode.db" / SESSION


def database(base: Path) -> sqlite3.Connection:
    base.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(base / "opencode.db")
    columns = (
        "(id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, time_created INTEGER, "
        "time_updated INTEGER)"
    )
    stamps = "time_created INTEGER, time_updated INTEGER, data TEXT"
    for table in (
        f"session {columns}",
        f"session_v2 {columns}",
        f"message (id TEXT PRIMARY KEY, session_id TEXT, {stamps})",
        f"part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, {stamps})",
        f"session_message (id TEXT PRIMARY KEY, session_id TEXT, type TEXT, seq INTEGER, {stamps})",
    ):
        connection.execute(f"CREATE TABLE IF NOT EXISTS {table}")
    return connection


def _put(path: Path, data: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data))


def tool(
    name: str,
    given: dict[str, Any],
    output: str = "",
    status: str = "completed",
    **state: Any,
) -> dict[str, Any]:
    state = {"status": status, "input": given, "output": output, **state}
    return {"type": "tool", "tool": name, "callID": f"call_{name}", "state": state}


@pytest.fixture(scope="session")
def talk_of() -> type[Talk]:
    return Talk


@pytest.fixture
def talk() -> Talk:
    return Talk()


@pytest.fixture(scope="session", name="write_rows")
def _write_rows() -> Callable[..., Path]:
    return write_rows


@pytest.fixture(scope="session", name="database")
def _database() -> Callable[[Path], sqlite3.Connection]:
    return database


@pytest.fixture(scope="session", name="tool")
def _tool() -> Callable[..., dict[str, Any]]:
    return tool
