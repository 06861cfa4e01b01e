"""What `keeplore doctor` finds, for pages: looked up in the background of a page, and kept a while,
since it takes a second or more.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Protocol

FRESH_S = 60.0


class HealthFinding(Protocol):
    """``level`` is wrong, note or ok; ``remedy`` the next step, "" where there is none to take."""

    @property
    def part(self) -> str: ...

    @property
    def level(self) -> str: ...

    @property
    def message(self) -> str: ...

    @property
    def remedy(self) -> str: ...


class Health:
    """The health of this machine. Thread-safe; ``examine`` finds the worst first."""

    def __init__(self, examine: Callable[[], Sequence[HealthFinding]]) -> None:
        self._examine = examine
        self._lock = threading.Lock()
        self._found: Sequence[HealthFinding] = ()
        self._ends_at = 0.0

    def findings(self, *, is_anew: bool = False) -> Sequence[HealthFinding]:
        with self._lock:
            if is_anew or time.monotonic() > self._ends_at:
                self._found = self._examine()
                self._ends_at = time.monotonic() + FRESH_S
            return self._found
