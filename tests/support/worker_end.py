"""Ending a worker that a command started, so that none is left when the test is over."""

from __future__ import annotations

from pathlib import Path

from waiting import until

from keeplore.worker.server.protocol import ask
from keeplore.worker.single_instance import only_one


def end_worker(state: Path) -> None:
    """Wait for the worker of a state directory, which may only be starting, and for its end."""
    until(lambda: ask(state, "stop", timeout_s=60.0) is not None, "the worker answers")
    until(lambda: has_left(state), "the worker leaves")


def has_left(state: Path) -> bool:
    with only_one(state) as lock:
        return lock is not None
