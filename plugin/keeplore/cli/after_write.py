"""What a command does after it wrote memory: commit, and tell a worker that runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from keeplore.cli.output import note
from keeplore.config.places import Places
from keeplore.errors import RepositoryError
from keeplore.worker.server.protocol import ask

if TYPE_CHECKING:
    from keeplore.workspace.workspace import Workspace

ANSWER_S = 1.0


def settle(places: Places, workspace: Workspace, message: str = "") -> bool:
    """Commit what was written; where git refuses, say that nothing is lost. A worker indexes and
    pushes it.

    Returns whether one runs.
    """
    try:
        workspace.commit(message)
    except RepositoryError as e:
        note(f"it is on disk and not committed yet: {e.message}. {e.remedy or 'It is tried again'}")
    return ask(places.state, "changed", timeout_s=ANSWER_S) is not None
