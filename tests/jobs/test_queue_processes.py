from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from keeplore.jobs import JobQueue

HERE = Path(__file__).parent
WORKERS, JOBS = 3, 24


def test_several_workers_at_once_do_each_job_once(tmp_path: Path) -> None:
    queue = JobQueue(tmp_path / "jobs.db")
    keys = [f"session-{number}" for number in range(JOBS)]
    for key in keys:
        queue.add("conversation", key, {}, datetime.now(UTC))
    logs = [tmp_path / f"log-{number}" for number in range(WORKERS)]
    command = [sys.executable, str(HERE / "working.py"), str(tmp_path / "jobs.db")]
    workers = [subprocess.Popen([*command, str(log)]) for log in logs]
    assert [worker.wait() for worker in workers] == [0] * WORKERS
    done = [key for log in logs if log.exists() for key in log.read_text().splitlines()]
    assert sorted(done) == sorted(keys)
    assert queue.counts() == []


@pytest.mark.parametrize("is_killed", [True, False])
def test_the_job_of_a_process_that_is_killed_comes_back_at_once(
    tmp_path: Path, is_killed: bool
) -> None:
    queue = JobQueue(tmp_path / "jobs.db", jitter=lambda: 1.0)
    now = datetime(2026, 3, 1, tzinfo=UTC)
    queue.add("conversation", "session", {"turn": 1}, now)
    command = [sys.executable, str(HERE / "holding.py"), str(tmp_path / "jobs.db")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as worker:
        assert worker.stdout and worker.stdout.readline() == b"leased\n"
        if is_killed:
            worker.kill()
            worker.wait()
        assert queue.reap(now) == is_killed
        kept = list((tmp_path / "leases").iterdir())
        job = queue.lease(("conversation",), now + timedelta(seconds=1))
        worker.kill()
    assert len(kept) == (not is_killed)
    assert (job and (job.attempts, job.reason)) == (
        (2, "its worker went away") if is_killed else None
    )


def test_nothing_is_left_of_leases_that_are_over(tmp_path: Path) -> None:
    queue, now = JobQueue(tmp_path / "jobs.db"), datetime(2026, 3, 1, tzinfo=UTC)
    (tmp_path / "leases").mkdir()
    (tmp_path / "leases" / "of-one-that-was-killed").touch()
    for key, end in (("a", queue.done), ("b", lambda job: queue.fail(job, now, "no"))):
        queue.add("conversation", key, {}, now)
        job = queue.lease(("conversation",), now)
        assert job is not None and end(job)
        assert list((tmp_path / "leases").iterdir()) == []


def test_a_kill_between_any_two_steps_leaves_nothing_or_all_of_it(
    tmp_path: Path,
) -> None:
    command = [sys.executable, str(HERE / "killed.py"), str(tmp_path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    left: dict[str, set[str]] = {}
    points = 0
    for line in done.stdout.splitlines():
        deed, _, is_killed, counts = json.loads(line)
        left.setdefault(deed, set()).add(" + ".join(counts))
        points += is_killed
    assert left == {
        "add": {"waiting 1", "waiting 2"},
        "lease": {"waiting 1", "leased 1"},
        "put_off": {"waiting 1", "leased 1"},
        "done": {"waiting 1", "leased 1", ""},
    }
    assert points > 30
