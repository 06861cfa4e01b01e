"""A worker that gathers changes for a moment where others do so for seconds: tests wait for what it
does then. Run as a program, it is one.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable

from keeplore.worker.__main__ import main
from keeplore.worker.tasks import brief_task, git_tasks

MOMENT_S = 0.2
PAUSES = (
    (git_tasks, "COMMIT_DELAY_S"),
    (git_tasks, "SYNC_DELAY_S"),
    (brief_task, "BRIEF_DELAY_S"),
)


def hurry(put: Callable[..., None] = setattr) -> None:
    """Let the workers of this process be hasty; ``put(module, name, value)`` may take it back."""
    for module, name in PAUSES:
        put(module, name, MOMENT_S)


if __name__ == "__main__":
    hurry()
    code = main()
    logging.shutdown()
    os._exit(code)
