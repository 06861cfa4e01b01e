from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

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
