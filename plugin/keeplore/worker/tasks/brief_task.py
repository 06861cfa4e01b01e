"""Keeping the briefs on disk in step with the text."""

from __future__ import annotations

import time

from keeplore.worker.tasks.base import NEVER
from keeplore.workspace.brief_maker import BriefMaker
from keeplore.workspace.registry import Registry

BRIEF_DELAY_S = 1.0  # after a change, since more may follow
BRIEF_LATEST_S = 5.0  # after the first one


class BriefTask:
    """Makes them a moment after each change, commits among them, and when the worker leaves."""

    name = "briefs"

    def __init__(self, registry: Registry) -> None:
        self._maker = BriefMaker(registry)
        self._due_at = self._latest_at = NEVER
        self.request()

    def request(self) -> None:
        """Ask for new briefs: something that they are made from has changed."""
        moment = time.monotonic()
        self._latest_at = min(self._latest_at, moment + BRIEF_LATEST_S)
        self._due_at = min(moment + BRIEF_DELAY_S, self._latest_at)

    def run(self, now: float) -> float:
        if now >= self._due_at:
            self._due_at = self._latest_at = NEVER
            self._maker.refresh()
        return self._due_at

    def close(self) -> None:
        """Make what is out of date now. Raises OSError."""
        self._maker.refresh()
