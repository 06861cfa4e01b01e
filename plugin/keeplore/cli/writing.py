"""What commands that write share: in whose name they do, and what follows: a commit, and word to a
worker.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from keeplore.cli.output import note
from keeplore.errors import RepositoryError
from keeplore.worker.server.protocol import ask
from keeplore_hooks.events import Origin

if TYPE_CHECKING:
    from keeplore.workspace.workspace import Workspace

# of all that the host knows, its shell tells this alone
SESSION = "CLAUDE_CODE_SESSION_ID"
HOST = "claude-code"
ANSWER_S = 1.0


def calling_session() -> str:
    """The host's id of the session around this shell, "" for none."""
    return os.environ.get(SESSION, "")


def calling_agent() -> Origin:
    """The session of an agent that runs this command; without one where a person does.

    What an agent asks for in its own shell is not the person's word.
    """
    is_person = sys.stdin is not None and sys.stdin.isatty()
    session = "" if is_person else calling_session()
    return Origin(HOST if session else "", session)


def settle(workspace: Workspace, message: str = "") -> bool:
    """Commit what was written; where git refuses, say that nothing is lost. A worker indexes and
    pushes it.

    Returns whether one runs.
    """
    try:
        workspace.commit(message)
    except RepositoryError as e:
        note(
            f"it is on disk and not committed yet: {e.message}. {e.remedy or 'It is tried again'}"
        )
    return ask(workspace.places.state, "changed", timeout_s=ANSWER_S) is not None


def note_if_uncommitted(*, is_committed: bool) -> None:
    if not is_committed:
        note("git is busy with something of yours; it is committed afterwards")
