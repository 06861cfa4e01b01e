"""The job queue: jobs that wait, are leased to one worker at a time, and are done, retried after
growing pauses, or dead.

A job is ``waiting`` until it is leased; ``leased`` until it is done, given back, its lease is over
or its process gone; ``dead`` after its last attempt, and then kept for whoever looks into it. A
lease is a promise on time: a worker renews it just before what it does becomes visible, and gives
up where that fails, because then another one may have the job.
"""

from __future__ import annotations

import json
import random
import secrets
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any

from keeplore.config.settings import MAX_LEASE_MINUTES
from keeplore.config.state_database import StateDatabase
from keeplore.jobs.lease_locks import LeaseLocks
from keeplore.text.counts import counted

LEASE = timedelta(minutes=5)  # longer than any single call of a model may take
MAX_LEASE = timedelta(minutes=MAX_LEASE_MINUTES)
MAX_ATTEMPTS = 3
FIRST_PAUSE_S, MAX_PAUSE_S = 1.0, 30.0  # after a failed attempt; doubles
LEASED_LOOK_S = (
    5.0  # between two looks whether the process that has a job is still there
)
MAX_WAIT = timedelta(days=32)  # nobody lets a job wait longer than to the next month
MAX_REASON = 500  # characters
LOCKS = "leases"  # folder beside the file

_TABLES = (
    """
    CREATE TABLE jobs (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        kind TEXT NOT NULL,
        key TEXT NOT NULL,
        payload TEXT NOT NULL,
        is_replaceable INTEGER NOT NULL,
        state TEXT NOT NULL,
        attempts INTEGER NOT NULL,
        due REAL NOT NULL,
        leased_until REAL NOT NULL,
        token TEXT NOT NULL,
        reason TEXT NOT NULL,
        added REAL NOT NULL,
        -- of the payload: of two jobs that are there the higher one came later
        version INTEGER NOT NULL
    )
    """,
    "CREATE INDEX jobs_state ON jobs (state, kind, due)",
    "CREATE INDEX jobs_key ON jobs (kind, key)",
)
_NEXT = "(SELECT COALESCE(MAX(version), 0) + 1 FROM jobs)"


class JobState(StrEnum):
    """What becomes of a job."""

    WAITING = "waiting"
    LEASED = "leased"
    DEAD = "dead"


@dataclass(frozen=True, slots=True)
class Job:
    """``attempts`` counts this one; ``reason`` is why the one before came to nothing."""

    id: int
    kind: str
    key: str
    payload: Mapping[str, Any]
    attempts: int
    reason: str
    token: str  # of this lease, "" without one


@dataclass(frozen=True, slots=True)
class JobCount:
    """How many jobs of one kind are in one state; ``due`` and ``reason`` are of the one whose turn
    is next.
    """

    kind: str
    state: str
    jobs: int
    due: datetime
    reason: str

    def told(self, one: str, many: str) -> str:
        """ "1 job (refine) waits", "2 jobs (refine) wait": with what one does, and several do."""
        kind = f"({self.kind})"
        return counted(self.jobs, f"job {kind} {one}", f"jobs {kind} {many}")


class JobQueue:
    """The queue in an SQLite file, for any number of processes. ``jitter`` gives a number from 0 to
    1.
    """

    def __init__(
        self,
        file: Path,
        *,
        lease: timedelta = LEASE,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._database = StateDatabase(file, _TABLES)
        self._locks = LeaseLocks(file.with_name(LOCKS))
        self._lease = lease
        self._jitter = jitter

    def add(
        self,
        kind: str,
        key: str,
        payload: Mapping[str, Any],
        now: datetime,
        *,
        replace: bool = True,
    ) -> bool:
        """Put a job in, or let the one that waits under its key be due now; returns whether the
        queue holds anything new.

        A job that waits gets the new payload and keeps its place. Without ``replace`` a job is
        never replaced, and refused only where the very same one waits.
        """
        text = json.dumps(payload, ensure_ascii=False, sort_keys=True)
        with self._database.transaction() as db:
            like = [
                row
                for row in _waiting_jobs(db, kind, key)
                if row["is_replaceable"] == replace
            ]
            for row in like:
                if row["payload"] == text:
                    db.execute(
                        "UPDATE jobs SET due = MIN(due, ?) WHERE id = ?",
                        (now.timestamp(), row["id"]),
                    )
                    return False
            if replace and like:
                _replace(db, like[0], text, now)
            else:
                _insert(db, kind, key, text, replace=replace, now=now)
            return True

    def coming(self, kinds: Sequence[str], now: datetime, most: int) -> list[Job]:
        """The jobs whose turn comes next, which stay as they are, in the order of ``lease``."""
        with self._database.transaction() as db:
            rows = [row for kind in kinds for row in _due_jobs(db, kind, now, most)]
        return [_job(row) for row in rows[:most]]

    def lease(self, kinds: Sequence[str], now: datetime) -> Job | None:
        """The job whose turn it is, now of this caller; None where none is due.

        The first kind goes before the rest, and in each what is never replaced before what may be,
        then what is about the earliest: the time that a payload may have as ``at`` (RFC 3339, UTC).
        """
        with self._database.transaction() as db:
            self._take_back_expired(db, now)
            for kind in kinds:
                for row in _due_jobs(db, kind, now, 1):
                    token = secrets.token_hex(8)
                    self._locks.take(token)
                    db.execute(
                        "UPDATE jobs SET state = ?, attempts = attempts + 1, leased_until = ?, "
                        "token = ? WHERE id = ?",
                        (
                            JobState.LEASED,
                            (now + self._lease).timestamp(),
                            token,
                            row["id"],
                        ),
                    )
                    found = "SELECT * FROM jobs WHERE id = ?"
                    return _job(db.execute(found, (row["id"],)).fetchone())
            return None

    def renew(self, job: Job, now: datetime) -> bool:
        """Keep a job for another while; false where it is no longer the caller's, who must then
        leave it alone.
        """
        with self._database.transaction() as db:
            self._take_back_expired(db, now)
            held = (job.id, JobState.LEASED, job.token)
            done = db.execute(
                "UPDATE jobs SET leased_until = ? WHERE id = ? AND state = ? AND token = ?",
                ((now + self._lease).timestamp(), *held),
            )
            return done.rowcount == 1

    def done(self, job: Job) -> bool:
        """Take a job out; false where it is no longer the caller's."""
        with self._database.transaction() as db:
            held = (job.id, JobState.LEASED, job.token)
            deleted = "DELETE FROM jobs WHERE id = ? AND state = ? AND token = ?"
            is_held = db.execute(deleted, held).rowcount == 1
        self._locks.give_back(job.token)
        return is_held

    def fail(self, job: Job, now: datetime, reason: str) -> bool:
        """Let a job be tried again after a pause, or be dead; false where it is no longer the
        caller's.
        """
        with self._database.transaction() as db:
            row = _leased_row(db, job)
            if row is not None:
                self._retry_or_bury(db, row, now, reason)
        self._locks.give_back(job.token)
        return row is not None

    def put_off(self, job: Job, until: datetime, reason: str) -> bool:
        """Let a job wait without an attempt of it being used up: what it needs is not there now."""
        with self._database.transaction() as db:
            row = _leased_row(db, job)
            if row is not None:
                _put_back(
                    db, row, until.timestamp(), reason, attempts=row["attempts"] - 1
                )
        self._locks.give_back(job.token)
        return row is not None

    def reap(self, now: datetime) -> int:
        """Take back the jobs whose worker is gone, or stuck: its lease is over. Gives how many."""
        with self._database.transaction() as db:
            return self._take_back_expired(db, now)

    def counts(self) -> list[JobCount]:
        """What the queue holds, by kind and state."""
        with self._database.transaction() as db:
            rows = db.execute(
                # of the columns that are not grouped, SQLite gives those of the row with the
                # minimum
                "SELECT kind, state, COUNT(*) AS jobs, MIN(due) AS due, reason FROM jobs GROUP BY "
                "kind, state"
            ).fetchall()
        return [
            JobCount(kind, state, jobs, datetime.fromtimestamp(due, UTC), reason)
            for kind, state, jobs, due, reason in rows
        ]

    def next_due_s(self, kinds: Sequence[str], now: datetime) -> float | None:
        """In how many seconds to look again: when a job of these kinds is due, or to see whether
        another process that has one has gone away; None where there is no job.
        """
        self.reap(now)
        found = [count for count in self.counts() if count.kind in kinds]
        waits = [
            (count.due - now).total_seconds()
            for count in found
            if count.state == JobState.WAITING
        ]
        taken = [LEASED_LOOK_S for count in found if count.state == JobState.LEASED]
        return max(0.0, min((*waits, *taken))) if waits or taken else None

    def dead(self) -> list[Job]:
        """The jobs that came to nothing, oldest first."""
        with self._database.transaction() as db:
            return [
                _job(row)
                for row in db.execute(
                    "SELECT * FROM jobs WHERE state = ? ORDER BY id", (JobState.DEAD,)
                )
            ]

    def bury(self, kinds: Sequence[str], key: str) -> None:
        """Take out the dead jobs of a key, because another one has done their work."""
        with self._database.transaction() as db:
            for kind in kinds:
                db.execute(
                    "DELETE FROM jobs WHERE state = ? AND kind = ? AND key = ?",
                    (JobState.DEAD, kind, key),
                )

    def _take_back_expired(self, db: sqlite3.Connection, now: datetime) -> int:
        found = "SELECT * FROM jobs WHERE state = ? ORDER BY id"
        leased = db.execute(found, (JobState.LEASED,)).fetchall()
        over = [row for row in leased if self._is_over(row, now)]
        for row in over:
            self._retry_or_bury(db, row, now, "its worker went away")
        self._locks.clear(row["token"] for row in leased if row not in over)
        return len(over)

    def _is_over(self, row: sqlite3.Row, now: datetime) -> bool:
        until = row["leased_until"]
        # a lease that ends far later than the longest can was given before the clock was set back
        is_late = until <= now.timestamp() or until > _timestamp_after(
            now, 2 * MAX_LEASE
        )
        return is_late or not self._locks.is_held(row["token"])

    def _retry_or_bury(
        self, db: sqlite3.Connection, row: sqlite3.Row, now: datetime, reason: str
    ) -> None:
        if row["attempts"] >= MAX_ATTEMPTS:
            db.execute(
                "UPDATE jobs SET state = ?, token = '', reason = ? WHERE id = ?",
                (JobState.DEAD, reason[:MAX_REASON], row["id"]),
            )
        else:
            pause_s = min(FIRST_PAUSE_S * 2 ** (row["attempts"] - 1), MAX_PAUSE_S)
            # half of it is left to chance, so that what failed together does not come back together
            due = now.timestamp() + pause_s * (0.5 + self._jitter() / 2)
            _put_back(db, row, due, reason, attempts=row["attempts"])


def counts_in(file: Path) -> list[JobCount]:
    """What the queue in a file holds; nothing where there is none."""
    return JobQueue(file).counts() if file.exists() else []


def _due_jobs(
    db: sqlite3.Connection, kind: str, now: datetime, most: int
) -> list[sqlite3.Row]:
    return db.execute(
        "SELECT * FROM jobs WHERE state = ? AND kind = ? AND (due <= ? OR due > ?)"
        " ORDER BY is_replaceable, json_extract(payload, '$.at'), id LIMIT ?",
        (
            JobState.WAITING,
            kind,
            now.timestamp(),
            _timestamp_after(now, MAX_WAIT),
            most,
        ),
    ).fetchall()


def _insert(
    db: sqlite3.Connection,
    kind: str,
    key: str,
    payload: str,
    *,
    replace: bool,
    now: datetime,
) -> None:
    columns = (
        "kind, key, payload, is_replaceable, state, attempts, due, leased_until, token, "
        "reason, added, version"
    )
    at = now.timestamp()
    db.execute(
        # our own words
        f"INSERT INTO jobs ({columns}) VALUES (?, ?, ?, ?, ?, 0, ?, 0, '', '', ?, {_NEXT})",
        (kind, key, payload, replace, JobState.WAITING, at, at),
    )


def _replace(
    db: sqlite3.Connection, job: sqlite3.Row, payload: str, now: datetime
) -> None:
    """Give a job that waits a new payload, which has all its attempts before it."""
    db.execute(
        "UPDATE jobs SET payload = ?, attempts = 0, reason = '', due = MIN(due, ?),"
        f" version = {_NEXT} WHERE id = ?",  # our own words
        (payload, now.timestamp(), job["id"]),
    )


def _put_back(
    db: sqlite3.Connection, row: sqlite3.Row, due: float, reason: str, *, attempts: int
) -> None:
    """Put a leased job back. Of this one and a job that it may replace only one stays: the other
    where that is newer or the same, else this one.
    """
    for other in _waiting_jobs(db, row["kind"], row["key"]):
        is_same = other["payload"] == row["payload"]
        if other["is_replaceable"] != row["is_replaceable"] or not (
            is_same or row["is_replaceable"]
        ):
            continue
        if is_same or other["version"] > row["version"]:
            _delete(db, row)
            return
        _delete(db, other)
    db.execute(
        "UPDATE jobs SET state = ?, due = ?, reason = ?, attempts = ?, token = '' WHERE id = ?",
        (JobState.WAITING, due, reason[:MAX_REASON], attempts, row["id"]),
    )


def _delete(db: sqlite3.Connection, row: sqlite3.Row) -> None:
    db.execute("DELETE FROM jobs WHERE id = ?", (row["id"],))


def _waiting_jobs(db: sqlite3.Connection, kind: str, key: str) -> list[sqlite3.Row]:
    found = "SELECT * FROM jobs WHERE state = ? AND kind = ? AND key = ? ORDER BY id"
    return db.execute(found, (JobState.WAITING, kind, key)).fetchall()


def _leased_row(db: sqlite3.Connection, job: Job) -> sqlite3.Row | None:
    found = "SELECT * FROM jobs WHERE id = ? AND state = ? AND token = ?"
    row: sqlite3.Row | None = db.execute(
        found, (job.id, JobState.LEASED, job.token)
    ).fetchone()
    return row


def _timestamp_after(now: datetime, span: timedelta) -> float:
    return (now + span).timestamp()


def _job(row: sqlite3.Row) -> Job:
    return Job(
        row["id"],
        row["kind"],
        row["key"],
        json.loads(row["payload"]),
        row["attempts"],
        row["reason"],
        row["token"],
    )
