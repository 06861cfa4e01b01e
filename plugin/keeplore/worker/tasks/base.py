"""What a task of the worker is."""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar

from keeplore.errors import KeeploreError, problem_message
from keeplore.workspace.workspace import Workspace

_T = TypeVar("_T")
LOG = logging.getLogger(__name__)
AT_ONCE = 0.0
NEVER = math.inf


class Task(Protocol):
    """``run`` does what is due by ``now``, a moment of the monotonic clock, and returns the moment
    at which it wants to run again; ``NEVER`` leaves that to whatever wakes the worker.
    """

    name: str

    def run(self, now: float) -> float: ...


def in_thread(
    name: str, act: Callable[..., object], *arguments: object
) -> threading.Thread:
    """A thread that has begun; it does not keep the process from ending."""
    thread = threading.Thread(
        target=act, args=arguments, name=f"keeplore-{name}", daemon=True
    )
    thread.start()
    return thread


def for_each(
    workspaces: Iterable[Workspace], act: Callable[[Workspace], _T]
) -> list[_T]:
    """What it gave in each; one in which it failed does not keep it from the others."""
    given = []
    for workspace in workspaces:
        try:
            given.append(act(workspace))
        except (KeeploreError, OSError) as e:
            LOG.warning("%s: %s", workspace.name, problem_message(e))
    return given
