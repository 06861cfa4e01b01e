"""A session that is one of many in a database: heard, caught up after its end, imported, and told
once.
"""

from __future__ import annotations

import json
import sqlite3
from datetime import UTC, datetime
from pathlib import Path

import pytest

from keeplore.memory import parse
from keeplore.workspace import Registry
from keeplore.workspace.importing.intake import Intake
from keeplore.workspace.importing.session_import import import_sessions, worth_reading
from keeplore.workspace.recording.cursors import Cursors
from keeplore_hooks.installed import source_named
from keeplore_hooks.spool import SpoolEntry

SESSION = "ses_made0001"
BEGIN = 1_770_645_600_000  # 2026-02-09T14:00:00Z, ms


class Database:
    def __init__(self, base: Path, cwd: Path) -> None:
        base.mkdir(parents=True)
        self.base, self.cwd, self.count = base, cwd, 0
        with sqlite3.connect(base / "opencode.db") as connection:
            times = "time_created INTEGER, time_updated INTEGER"
            connection.execute(
                f"CREATE TABLE session (id TEXT, parent_id TEXT, directory TEXT, {times})"
            )
            connection.execute(
                f"CREATE TABLE message (id TEXT, session_id TEXT, {times}, data TEXT)"
            )
            connection.execute(
                f"CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, {times}, data TEXT)"
            )
            connection.execute(
                "INSERT INTO session VALUES (?, NULL, ?, ?, ?)",
                (SESSION, str(cwd), BEGIN, BEGIN),
            )

    def add(self, role: str, words: str) -> None:
        self.count += 1
        at, key = BEGIN + self.count * 1000, f"msg_{self.count}"
        info = {
            "role": role,
            "time": {"created": at, "completed": at},
            "finish": "stop",
        }
        part = {"type": "text", "text": words}
        with sqlite3.connect(self.base / "opencode.db") as connection:
            row = (key, SESSION, at, at, json.dumps(info))
            connection.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?)", row)
            row = (f"prt_{key}", key, SESSION, at, at, json.dumps(part))
            connection.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", row)

    def payload(self) -> bytes:
        return json.dumps(
            {"sessionID": SESSION, "directory": str(self.cwd), "data": str(self.base)}
        ).encode()


@pytest.fixture
def database() -> Database:
    cwd = Path.home() / "code" / "ledgerly"
    cwd.mkdir(parents=True)
    return Database(Path.home() / ".local" / "share" / "opencode", cwd)


def entry(event: str, payload: bytes) -> SpoolEntry:
    path = Path.home() / "entry"
    path.write_bytes(payload)
    return SpoolEntry("entry", "opencode", event, "2026-02-09T14:30:00Z", 0, path)


def conversations() -> list[str]:
    return [
        path.read_text()
        for path in (Path.home() / "memory").glob("**/conversations/**/*.md")
    ]


def test_what_came_after_the_last_event_is_caught_up_when_the_session_is_closed(
    places, database
):
    database.add("user", "Which index?")
    database.add("assistant", "hnswlib.")
    with Registry(places) as registry:
        intake = Intake(registry)
        assert intake.take(entry("session.idle", database.payload())).turns == 1
        intake.take(entry("session.deleted", database.payload()))
        database.add("user", "And how large does it get?")
        database.add("assistant", "Small enough.")
        assert intake.sweep(datetime(2026, 2, 9, 15, tzinfo=UTC)) == ()
    [memory] = (parse(text) for text in conversations())
    assert (memory.turns, memory.is_open) == (("msg_1", "msg_3"), False)


def test_a_session_that_was_heard_is_not_imported_again(places, database):
    database.add("user", "Which index?")
    database.add("assistant", "hnswlib.")
    source = source_named("opencode")
    with Registry(places) as registry:
        Intake(registry).take(entry("session.idle", database.payload()))
        before = conversations()
        recorded = worth_reading(source.recorded(Path.home()), None)
        assert [session.session for session in recorded] == [SESSION]
        import_sessions(registry, source, recorded, lambda *_: None)
    assert len(before) == len(conversations()) == 1
    assert conversations()[0].count("Which index?") == before[0].count("Which index?")


def test_the_last_thing_that_could_not_be_read_is_kept_and_survives_what_can(
    places, database
):
    database.add("oracle", "?")
    with Registry(places) as registry:
        intake = Intake(registry)
        assert intake.take(entry("session.idle", database.payload())).problems
        intake.take(
            entry(
                "session.idle",
                json.dumps(
                    {"sessionID": SESSION, "directory": str(database.cwd)}
                ).encode(),
            )
        )
    problems = Cursors(places.sessions).problems()
    assert problems.keys() == {"opencode"} and "oracle" in problems["opencode"][1]
