"""Hosts that tell no end of a session: twenty minutes in which nothing is heard of it are its end.

The clock is not moved; what the worker knows of its sessions and what the host wrote get older.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from host_lab import HostLab
from host_lab import day as said


@pytest.mark.soak  # what ends a session is held by tests/workspace/test_session_ends.py
@pytest.mark.timeout(900)
@pytest.mark.parametrize("host", ["codex", "opencode"])
def test_a_session_that_was_left_ends_after_twenty_minutes(
    host: str, laboratory: Callable[[str], HostLab]
) -> None:
    lab = laboratory(host)
    lab.server.script.answer(said.DECISION, said.AGREED)
    lab.connect()
    with lab.open() as session:
        session.say(said.DECISION, said.AGREED)
        session.end()
    lab.settle()
    (path,) = lab.memory.glob("projects/ledgerly/memory/conversations/**/*.md")
    is_open = "status: open"
    assert is_open in path.read_text()
    lab.machine.keeplore("worker", "stop")
    pid = lab.machine.state / "worker.pid"
    lab.machine.wait_until(lambda: not pid.exists(), "the worker has ended", 60)
    with minutes_later(lab, 15):
        assert is_open in path.read_text()
    with minutes_later(lab, 6):
        lab.machine.wait_until(
            lambda: is_open not in path.read_text(), "the session ends", 60
        )
    text = path.read_text()
    assert said.DECISION in text and said.AGREED in text


@contextlib.contextmanager
def minutes_later(lab: HostLab, minutes: int) -> Iterator[None]:
    """A worker that starts as if so much time had gone by since anything was heard or written."""
    span = timedelta(minutes=minutes)
    for path in (lab.machine.state / "sessions").glob("*.json"):
        known = json.loads(path.read_text())
        for name in ("began_at", "heard_at"):
            moment = datetime.fromisoformat(known[name]) - span
            known[name] = moment.isoformat().replace("+00:00", "Z")
        path.write_text(json.dumps(known))
        _age(Path(known["origin"]["transcript"]), span)
    worker = lab.machine.worker()
    try:
        address = lab.machine.state / "worker.addr"
        lab.machine.wait_until(address.exists, "the worker listens", 60)
        lab.machine.wait_until(
            lambda: not lab.machine.status()["is_behind"], "it has looked round", 60
        )
        yield
    finally:
        worker.terminate()
        worker.wait(timeout=60)


def _age(record: Path, span: timedelta) -> None:
    # a session in a database has no file of its own
    with contextlib.suppress(OSError):
        seconds = record.stat().st_mtime - span.total_seconds()
        os.utime(record, (seconds, seconds))
