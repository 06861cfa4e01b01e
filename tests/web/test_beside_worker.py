"""The window beside a worker, which works on the same memory, and leaves in the middle of it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest
from open_window import EVERYTHING, Window
from waiting import until

from keeplore.memory.note import NoteDraft
from keeplore.worker.server.protocol import ask

TITLES = ("Deploys", "Ledger entries")
Git = Callable[..., str]
Worker = subprocess.Popen[bytes]


@pytest.fixture
def worker(window: Window) -> Iterator[Worker]:
    state = window.workspace.places.state
    process = subprocess.Popen([sys.executable, "-m", "keeplore.worker"])
    until(lambda: ask(state, "status", timeout_s=5.0) is not None, "the worker answers")
    yield process
    ask(state, "stop", timeout_s=60.0)
    process.kill()
    process.wait()


def act(window: Window, name: str, **fields: str) -> None:
    status, headers, text = window.post(f"/act/{name}", **fields)
    assert status == 303, (name, text)
    assert window.ask(headers["location"])[0] == 200


def forgets_and_restores(window: Window, title: str) -> None:
    act(window, "pin", id=window.id_of(title), permanent="yes")
    id_ = window.id_of(title)  # of the version that this made
    assert window.workspace.index.memories([id_])[id_].permanent
    act(window, "forget", id=id_)
    assert title not in shown(window)
    act(window, "restore", id=id_)
    assert title in shown(window)


def shown(window: Window) -> str:
    rows = window.workspace.index.timeline.page(EVERYTHING).rows
    return "\n".join(row.title for row in rows)


def test_both_write_and_nothing_is_lost(
    window: Window, worker: Worker, git: Git
) -> None:
    window.enter()
    for number in range(4):
        draft = NoteDraft(f"Elsewhere, rule {number} holds.", scope="workspace")
        window.workspace.notes.write(draft)  # which the worker commits, or the window
        forgets_and_restores(window, TITLES[number % 2])
    assert worker.poll() is None
    found = window.ask("/search?q=rule+holds+elsewhere")[2]
    assert all(f"rule {number} holds" in shown(window) for number in range(4))
    assert "rule" in found and "<mark>" in found
    assert git("status", "--porcelain", cwd=window.root) == ""


def test_pages_and_acts_go_on_when_it_is_killed(
    window: Window, worker: Worker, git: Git
) -> None:
    window.enter()
    forgets_and_restores(window, TITLES[0])
    worker.kill()  # it can tidy nothing up
    worker.wait()
    for path in ("/", "/waiting", "/timeline", "/search?q=failed+jobs", "/review"):
        assert window.ask(path)[0] == 200, path
    forgets_and_restores(window, TITLES[1])
    assert git("status", "--porcelain", cwd=window.root) == ""
