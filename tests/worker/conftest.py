"""A machine with a home of its own, workers in it, and host events for them."""

import json
import os
import threading
import time
from pathlib import Path

import pytest
from hasty_worker import hurry
from new_workspace import lay_down
from quick_machine import QuickMachine
from waiting import until

from keeplore.config.places import Places
from keeplore.memory import Conversation, parse
from keeplore.worker.loop import Worker
from keeplore.worker.server.protocol import ask
from keeplore_hooks.spool import Spool

WAIT_S = 120


class Clock:
    """Moments that a test sets."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    """The clock by which a worker waits, which stands still."""
    clock = Clock()
    monkeypatch.setattr(time, "monotonic", clock)
    return clock


class Office:
    """One state directory: its spool, its workspace, and workers in threads of this process."""

    def __init__(self) -> None:
        self.places = Places.from_environment(os.environ)
        self.places.create()
        self.spool = Spool(self.places.spool)
        self.root = Path.home() / "memory"
        self.workers: list[tuple[Worker, threading.Thread, list[bool]]] = []

    def init(self) -> None:
        lay_down(self.places, self.root)

    def start(self, idle_exit_s: float = 60.0) -> Worker:
        worker = Worker(self.places, idle_exit_s=idle_exit_s)
        ended: list[bool] = []
        thread = threading.Thread(target=lambda: ended.append(worker.run()))
        thread.start()
        self.workers.append((worker, thread, ended))
        return worker

    def stop(self) -> list[list[bool]]:
        """What ``run`` returned for each worker; [] for one that raised."""
        for worker, _, _ in self.workers:
            worker.stop()
        return self.joined()

    def joined(self) -> list[list[bool]]:
        for _, thread, _ in self.workers:
            thread.join(WAIT_S)
            assert not thread.is_alive()
        ended, self.workers = [ended for _, _, ended in self.workers], []
        return ended

    def prompt(self, text: str, session: str = "s-1", cwd: Path | None = None) -> None:
        self.spool.add(
            "claude-code",
            "UserPromptSubmit",
            payload(text, session, cwd or Path.home() / "code" / "api"),
        )

    def taken(self) -> None:
        until(
            lambda: self.spool.counts()["new"] == self.spool.counts()["claimed"] == 0,
            "the spool is empty",
        )

    def prompts(self, root: Path | None = None) -> list[str]:
        """What people said, as it stands in the workspace, in the order of the files."""
        paths = sorted((root or self.root).glob("**/memory/conversations/**/*.md"))
        talks = [
            Conversation.from_markdown(parse(path.read_text()).body) for path in paths
        ]
        return [exchange.user for talk in talks for exchange in talk.exchanges]

    def dead(self) -> dict[str, str]:
        """Host and event of what was set aside → why."""
        reasons = (self.places.spool / "dead").glob("*.reason")
        return {
            ".".join(path.name.split(".")[4:6]): path.read_text() for path in reasons
        }


def payload(text: str, session: str, cwd: Path) -> bytes:
    return json.dumps(
        {
            "session_id": session,
            "cwd": str(cwd),
            "hook_event_name": "UserPromptSubmit",
            "prompt": text,
        }
    ).encode()


@pytest.fixture
def office(monkeypatch):
    hurry(monkeypatch.setattr)
    office = Office()
    yield office
    office.stop()


@pytest.fixture
def machine(tmp_path):
    """A machine whose workers are processes; those that still run at the end are told to leave."""
    machine = QuickMachine(tmp_path / "machine")
    yield machine
    ask(machine.state, "stop", timeout_s=30)
    until(
        lambda: ask(machine.state, "status", timeout_s=30) is None, "the worker is gone"
    )
