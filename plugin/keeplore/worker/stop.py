"""Seeing to it that no worker runs while something it works on is moved or removed."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path

from keeplore.errors import KeeploreError
from keeplore.worker.server.protocol import ask
from keeplore.worker.single_instance import only_one

ANSWER_S = 2.0
LEAVE_S = 30.0  # it finishes its present step, which may be a sync
POLL_S = 0.1


@contextlib.contextmanager
def without_worker(state: Path) -> Iterator[None]:
    """Stop the worker if one runs, and let none start. Raises KeeploreError where it does not
    leave.
    """
    deadline = time.monotonic() + LEAVE_S
    ask(state, "stop", timeout_s=ANSWER_S)
    while True:
        with only_one(state) as lock:
            if lock is not None:
                yield
                return
        if time.monotonic() > deadline:
            raise KeeploreError(
                "the worker does not leave",
                f"End it by hand: its id is in {state / 'worker.pid'}",
            )
        time.sleep(POLL_S)
