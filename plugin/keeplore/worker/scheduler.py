"""The scheduler of the worker's tasks, which run one after the other: each does what is due and
says when it is due again.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence

from keeplore.worker.tasks.base import Task

LOG = logging.getLogger(__name__)
RETRY_S = 5.0  # after a task failed
SHORTEST_S = 0.05  # that is waited


class Scheduler:
    """Runs its tasks in their order; one that fails does not keep the others from running."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        self._tasks = tasks

    def run(self) -> float:
        """Do what is due. Returns for how many seconds nothing will be; 0.0 where more waits."""
        again_at = min(self._run(task) for task in self._tasks)
        left_s = again_at - time.monotonic()
        return max(left_s, SHORTEST_S) if again_at else 0.0

    def _run(self, task: Task) -> float:
        """Tasks run again at the next round: what went wrong is written down, the worker lives
        on.
        """
        now = time.monotonic()
        try:
            return task.run(now)
        except Exception:
            LOG.exception("%s failed", task.name)
            return now + RETRY_S
