"""Waiting for another process or thread."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE_S = 120.0
LOOK_S = 0.05


def until(
    condition: Callable[[], object], what: str, *, seconds: float = PATIENCE_S
) -> None:
    """Returns once the condition holds; fails with ``what`` after so many seconds."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited too long until {what}"
        time.sleep(LOOK_S)
