from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from keeplore.errors import KeeploreError
from keeplore.jobs import JobQueue, JobState
from keeplore.jobs.queue import LEASE, MAX_ATTEMPTS, MAX_REASON

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
KINDS = ("compaction", "conversation")


@pytest.fixture
def queue(tmp_path: Path) -> JobQueue:
    return JobQueue(tmp_path / "state" / "jobs.db", jitter=lambda: 1.0)


def states(queue: JobQueue) -> dict[str, int]:
    return {count.state: count.jobs for count in queue.counts()}


def test_a_newer_job_outlives_an_older_one_whose_lease_is_over_as_well(
    queue: JobQueue,
) -> None:
    queue.add("conversation", "session", {"turn": 1}, NOON)
    assert queue.lease(["conversation"], NOON)
    queue.add("conversation", "session", {"turn": 2}, NOON)
    assert queue.lease(["conversation"], NOON)
    assert queue.reap(NOON + LEASE) == 2
    again = queue.lease(["conversation"], NOON + 2 * LEASE)
    assert again and again.payload == {"turn": 2}
    assert not queue.lease(["conversation"], NOON + 2 * LEASE)


def test_a_newer_turn_takes_the_place_of_one_that_waits(queue: JobQueue) -> None:
    assert queue.add("conversation", "session-1", {"turn": 1}, NOON)
    assert queue.add("conversation", "session-2", {"turn": 1}, NOON)
    assert queue.add("conversation", "session-1", {"turn": 2}, NOON)
    assert not queue.add("conversation", "session-1", {"turn": 2}, NOON)
    job = queue.lease(KINDS, NOON)
    assert job is not None and (job.key, job.payload) == ("session-1", {"turn": 2})
    assert queue.add("conversation", "session-1", {"turn": 3}, NOON)
    assert states(queue) == {JobState.LEASED: 1, JobState.WAITING: 2}


def test_a_compaction_is_never_replaced_and_goes_first(queue: JobQueue) -> None:
    queue.add("conversation", "session-1", {"turn": 1}, NOON)
    queue.add("compaction", "session-1", {"turn": 3}, NOON)
    for turn in (1, 2, 2):
        queue.add("compaction", "session-1", {"turn": turn}, NOON, replace=False)
    coming = [job.payload["turn"] for job in queue.coming(KINDS, NOON, 9)]
    assert coming == [1, 2, 3, 1]
    assert [job.kind for job in queue.coming(KINDS, NOON, 2)] == ["compaction"] * 2
    leased = [queue.lease(KINDS, NOON) for _ in range(5)]
    assert [job and (job.kind, job.payload["turn"]) for job in leased] == [
        ("compaction", 1),
        ("compaction", 2),
        ("compaction", 3),
        ("conversation", 1),
        None,
    ]


def test_what_is_about_the_earliest_time_goes_first(queue: JobQueue) -> None:
    for month in (5, 3, 4):
        queue.add(
            "conversation",
            f"session-{month}",
            {"at": f"2026-0{month}-01T10:00:00Z"},
            NOON,
        )
    queue.add("conversation", "session-1", {}, NOON)
    leased = [queue.lease(KINDS, NOON) for _ in range(4)]
    assert [job and job.key for job in leased] == [
        "session-1",
        "session-3",
        "session-4",
        "session-5",
    ]


def test_a_failed_job_waits_longer_each_time_and_is_dead_after_three(
    queue: JobQueue,
) -> None:
    queue.add("conversation", "session-1", {}, NOON)
    now = NOON
    for pause in (SECOND, 2 * SECOND):
        job = queue.lease(KINDS, now)
        assert job is not None and queue.fail(job, now, "no JSON")
        assert queue.lease(KINDS, now + pause - SECOND / 10) is None
        now += pause
    last = queue.lease(KINDS, now)
    assert last is not None and (last.attempts, last.reason) == (
        MAX_ATTEMPTS,
        "no JSON",
    )
    assert queue.fail(last, now, "x" * 10_000)
    assert queue.lease(KINDS, now + timedelta(days=1)) is None
    (dead,) = queue.dead()
    assert (dead.key, dead.attempts, dead.reason) == (
        "session-1",
        MAX_ATTEMPTS,
        "x" * MAX_REASON,
    )
    assert queue.add("conversation", "session-1", {}, now)


def test_a_worker_that_went_away_loses_its_job_to_another(queue: JobQueue) -> None:
    queue.add("conversation", "session-1", {}, NOON)
    first = queue.lease(KINDS, NOON)
    assert first is not None
    assert queue.renew(first, NOON + LEASE - SECOND)
    late = NOON + 2 * LEASE
    assert queue.reap(late) == 1
    second = queue.lease(KINDS, late + SECOND)
    assert second is not None and (second.attempts, second.reason) == (
        2,
        "its worker went away",
    )
    assert not queue.renew(first, late)
    assert not queue.done(first)
    assert not queue.fail(first, late, "")
    assert not queue.put_off(first, late, "")
    assert queue.done(second) and states(queue) == {}


def test_a_job_that_lacks_something_waits_without_using_up_an_attempt(
    queue: JobQueue,
) -> None:
    queue.add("conversation", "session-1", {}, NOON)
    for day in range(5):
        job = queue.lease(KINDS, NOON + timedelta(days=day))
        assert job is not None and job.attempts == 1
        assert queue.put_off(
            job, NOON + timedelta(days=day + 1), "the budget of the day is spent"
        )
        assert queue.lease(KINDS, NOON + timedelta(days=day, hours=23)) is None
    (count,) = queue.counts()
    assert (count.due, count.reason) == (
        NOON + timedelta(days=5),
        "the budget of the day is spent",
    )
    asked_for = NOON + timedelta(days=4, hours=1)
    assert not queue.add("conversation", "session-1", {}, asked_for)
    assert queue.lease(KINDS, asked_for) is not None


def test_what_was_replaced_while_it_was_tried_does_not_come_back(
    queue: JobQueue,
) -> None:
    queue.add("conversation", "session-1", {"turn": 1}, NOON)
    queue.add("compaction", "session-1", {"turn": 1}, NOON, replace=False)
    for kind in KINDS:
        job = queue.lease((kind,), NOON)
        assert job is not None
        queue.add(kind, "session-1", {"turn": 2}, NOON, replace=kind == "conversation")
        assert queue.fail(job, NOON, "cut off")
    later = NOON + timedelta(minutes=1)
    left = [queue.lease(KINDS, later) for _ in range(4)]
    assert [job and (job.kind, job.payload["turn"]) for job in left] == [
        ("compaction", 1),
        ("compaction", 2),
        ("conversation", 2),
        None,
    ]


def test_a_clock_that_is_set_back_stops_nothing(queue: JobQueue) -> None:
    queue.add("conversation", "session-1", {}, NOON)
    queue.add("conversation", "session-2", {}, NOON)
    assert queue.lease(KINDS, NOON) is not None
    year = NOON - timedelta(days=365)
    assert queue.reap(year) == 1
    keys = {
        job.key
        for _ in range(2)
        if (job := queue.lease(KINDS, year + timedelta(minutes=1)))
    }
    assert keys == {"session-1", "session-2"}


@pytest.mark.parametrize(
    "content", [b"no database at all " * 100, b"SQLite format 3\x00" + b"\xff" * 5_000]
)
def test_a_damaged_file_is_named_and_left_alone(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "jobs.db"
    file.write_bytes(content)
    with pytest.raises(KeeploreError, match=r"jobs\.db cannot be used.*move it away"):
        JobQueue(file).lease(KINDS, NOON)
    assert file.read_bytes() == content


def test_the_queue_is_readable_by_its_owner_alone(
    queue: JobQueue, tmp_path: Path
) -> None:
    queue.add("conversation", "session-1", {}, NOON)
    file = tmp_path / "state" / "jobs.db"
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700
