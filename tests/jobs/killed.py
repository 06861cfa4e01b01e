"""``python killed.py DIRECTORY``: use a queue and die before each of its steps; print what was left
each time as JSON.

A step is a statement that SQLite is given.
"""

import json
import os
import signal
import sys
from datetime import UTC, datetime
from pathlib import Path

from keeplore.jobs import JobQueue

NOW = datetime(2026, 3, 1, tzinfo=UTC)
DEEDS = ("add", "lease", "put_off", "done")


def strike_at(point: int) -> None:
    count = 0

    def watch(frame: object, event: str, argument: object) -> None:
        nonlocal count
        if event == "c_call" and getattr(argument, "__name__", "") in (
            "execute",
            "close",
            "fsync",
        ):
            count += 1
            if count == point:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(watch)


def perform(queue: JobQueue, deed: str) -> None:
    if deed == "add":
        queue.add("conversation", "session-2", {"turn": 9}, NOW)
        return
    job = queue.lease(("conversation",), NOW)
    assert job is not None
    if deed == "put_off":
        queue.put_off(job, NOW, "nothing to spend")
    elif deed == "done":
        queue.done(job)


def outcome(file: Path, deed: str, point: int) -> bool:
    """Whether the deed was killed."""
    queue = JobQueue(file)
    queue.add("conversation", "session-1", {"turn": 1}, NOW)
    child = os.fork()
    if child == 0:
        strike_at(point)
        perform(queue, deed)
        os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


if __name__ == "__main__":
    for deed in DEEDS:
        point, is_killed = 0, True
        while is_killed:
            point += 1
            file = Path(sys.argv[1]) / f"{deed}-{point}.db"
            is_killed = outcome(file, deed, point)
            counts = {
                f"{count.state} {count.jobs}" for count in JobQueue(file).counts()
            }
            sys.stdout.write(
                json.dumps([deed, point, is_killed, sorted(counts)]) + "\n"
            )
