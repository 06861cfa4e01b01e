"""What follows when a person has written: a commit, and word to the worker that memory has
changed.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from keeplore.config.places import Places
from keeplore.errors import KeeploreError, RepositoryError
from keeplore.worker.server.protocol import ask

if TYPE_CHECKING:
    from keeplore.workspace.workspace import Workspace

ANSWER_S = 1.0
LATEST = 2  # directories for which the brief is made at once; a worker makes the rest


def commit_written(workspace: Workspace, message: str) -> str:
    """Commit what is on disk; why it is not committed yet, "" where it is."""
    try:
        workspace.commit(message)
    except RepositoryError as e:
        remedy = e.remedy or "It is tried again"
        return f"it is on disk and not committed yet: {e.message}. {remedy}"
    return ""


def tell_worker(places: Places) -> bool:
    """Tell a worker that memory has changed; without one make the briefs on disk that the next
    sessions are told from.

    Returns whether one runs.
    """
    if ask(places.state, "changed", timeout_s=ANSWER_S) is not None:
        return True
    # here, because briefs need most of what recall needs
    from keeplore.workspace.brief_maker import refresh_briefs

    with contextlib.suppress(KeeploreError, OSError):
        refresh_briefs(places, LATEST)
    return False
