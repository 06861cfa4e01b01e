"""Any order of what workers and sessions do to a queue, with a clock that goes forward and back."""

from __future__ import annotations

import json
import shutil
import sqlite3
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from example_count import examples
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    invariant,
    multiple,
    rule,
)

from keeplore.jobs import Job, JobQueue, JobState
from keeplore.jobs.queue import LEASE, MAX_ATTEMPTS, MAX_PAUSE_S, MAX_WAIT

KINDS, KEYS = ("compaction", "conversation"), ("session-1", "session-2")


class Sessions(RuleBasedStateMachine):
    leases = Bundle("leases")

    def __init__(self) -> None:
        super().__init__()
        self.directory = Path(tempfile.mkdtemp())
        self.file = self.directory / "jobs.db"
        self.queue = JobQueue(self.file)
        self.now = datetime(2026, 3, 1, tzinfo=UTC)
        self.turn = 0
        # compactions that nobody has brought to an end
        self.kept: set[tuple[str, int]] = set()
        self.newest: dict[
            str, int
        ] = {}  # the last turn of each session that nobody has brought to an end
        self.finished: set[int] = set()  # ids of jobs that are done

    @rule(key=st.sampled_from(KEYS))
    def a_turn(self, key: str) -> None:
        self.turn += 1
        assert self.queue.add("conversation", key, {"turn": self.turn}, self.now)
        self.newest[key] = self.turn

    @rule(key=st.sampled_from(KEYS), is_again=st.booleans())
    def a_compaction(self, key: str, is_again: bool) -> None:
        self.turn += not is_again
        self.queue.add("compaction", key, {"turn": self.turn}, self.now, replace=False)
        self.kept.add((key, self.turn))

    @rule(target=leases, kinds=st.sampled_from([KINDS, KINDS[:1], KINDS[1:]]))
    def lease(self, kinds: tuple[str, ...]) -> object:
        job = self.queue.lease(kinds, self.now)
        if job is None:
            return multiple()
        assert job.id not in self.finished
        assert 1 <= job.attempts <= MAX_ATTEMPTS
        assert job.kind == kinds[0] or not self.is_due(kinds[0])
        return job

    @rule(job=leases, minutes=st.integers(0, 4))
    def renew(self, job: Job, minutes: int) -> None:
        assert self.queue.renew(
            job, self.now + timedelta(minutes=minutes)
        ) == self.is_held(job)

    @rule(job=consumes(leases))
    def done(self, job: Job) -> None:
        is_held = self.is_held(job)
        assert self.queue.done(job) == is_held
        if is_held:
            self.finished.add(job.id)
            self.settle(job)

    @rule(job=consumes(leases), hours=st.integers(1, 48), is_fault=st.booleans())
    def give_back(self, job: Job, hours: int, is_fault: bool) -> None:
        is_held = self.is_held(job)
        if is_fault:
            assert self.queue.fail(job, self.now, "no JSON") == is_held
        else:
            assert (
                self.queue.put_off(
                    job, self.now + timedelta(hours=hours), "nothing to spend"
                )
                == is_held
            )

    @rule(
        span=st.sampled_from(
            [timedelta(seconds=MAX_PAUSE_S), LEASE, timedelta(days=2), -MAX_WAIT * 2]
        )
    )
    def time_passes(self, span: timedelta) -> None:
        self.now += span
        self.queue.reap(self.now)

    @invariant()
    def nothing_is_lost_or_doubled(self) -> None:
        rows = self.rows()
        there = {(row["key"], json.loads(row["payload"])["turn"]) for row in rows}
        for row in rows:
            assert row["state"] in (JobState.WAITING, JobState.LEASED, JobState.DEAD)
            assert row["attempts"] <= MAX_ATTEMPTS - (row["state"] == JobState.WAITING)
            assert bool(row["token"]) == (row["state"] == JobState.LEASED)
        waiting = [
            row["key"]
            for row in rows
            if row["state"] == JobState.WAITING and row["kind"] == "conversation"
        ]
        assert len(waiting) == len({*waiting})
        assert self.kept <= there
        assert {*self.newest.items()} <= there

    def is_held(self, job: Job) -> bool:
        return any(
            row["id"] == job.id and row["token"] == job.token for row in self.rows()
        )

    def is_due(self, kind: str) -> bool:
        now = self.now.timestamp()
        return any(
            row["state"] == JobState.WAITING
            and row["kind"] == kind
            and row["due"] <= now
            for row in self.rows()
        )

    def settle(self, job: Job) -> None:
        turn = job.payload["turn"]
        if job.kind == "compaction":
            is_there_again = any(
                row["key"] == job.key
                and json.loads(row["payload"])["turn"] == turn
                and row["kind"] == "compaction"
                for row in self.rows()
            )
            if not is_there_again:
                self.kept.discard((job.key, turn))
        elif self.newest.get(job.key) == turn:
            del self.newest[job.key]

    def rows(self) -> list[sqlite3.Row]:
        connection = sqlite3.connect(self.file)
        connection.row_factory = sqlite3.Row
        try:
            is_made = connection.execute(
                "SELECT 1 FROM sqlite_master WHERE name = 'jobs'"
            ).fetchone()
            return (
                connection.execute("SELECT * FROM jobs").fetchall() if is_made else []
            )
        finally:
            connection.close()

    def teardown(self) -> None:
        shutil.rmtree(self.directory)


TestSessions = Sessions.TestCase
TestSessions.settings = settings(max_examples=examples(15), stateful_step_count=25)
