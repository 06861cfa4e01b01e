"""What follows from sessions: looking for those that ended, and writing down what they were
shown.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from keeplore.worker.tasks.base import NEVER
from keeplore.workspace.importing.intake import Intake

LOG = logging.getLogger(__name__)
SWEEP_S = 60.0  # after an event, until sessions that ended are looked for


class SweepTask:
    """Looks for sessions that ended: a while after an event, and again where that failed.

    ``swept`` is called afterwards: text may have been written.
    """

    name = "sweep"

    def __init__(self, intake: Intake, swept: Callable[[], None]) -> None:
        self._intake = intake
        self._swept = swept
        self._due_at = time.monotonic()

    @property
    def is_awaited(self) -> bool:
        """Whether a session that no host will end is about to fall silent for good."""
        return self._intake.next_end_s < NEVER

    def note_event(self, now: float, *, has_begun: bool = False) -> None:
        """Look soon, as a host event was taken; at once where a session has begun by it, since
        another may be over.
        """
        self._due_at = min(self._due_at, now if has_begun else now + SWEEP_S)

    def run(self, now: float) -> float:
        if now >= self._due_at:
            self._due_at = now + SWEEP_S  # also where it fails
            try:
                problems = self._intake.sweep()
            finally:
                self._swept()
            for path, problem in problems:
                LOG.warning("%s was not swept: %s", path, problem)
            if not problems:
                self._due_at = min(now + self._intake.next_end_s, NEVER)
        return self._due_at


class SaveTask:
    """Writes down what sessions were shown, and what of that was of use.

    ``save_usage`` returns whether a workspace changed, of which ``changed`` is told.
    """

    name = "what was shown"

    def __init__(
        self,
        save_shown: Callable[[], None],
        save_usage: Callable[[], bool],
        on_change: Callable[[], None],
    ) -> None:
        self._save_shown = save_shown
        self._save_usage = save_usage
        self._on_change = on_change

    def run(self, _now: float) -> float:
        try:
            self._save_shown()
        finally:
            if self._save_usage():
                self._on_change()
        return NEVER
