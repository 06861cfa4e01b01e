"""What commands that write share: in whose name they do, and what follows: a commit, and word to a
worker.
"""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING

from keeplore.cli.output import note
from keeplore.config.places import Places
from keeplore.errors import KeeploreError, RepositoryError
from keeplore.worker.server.protocol import ask
from keeplore_hooks.events import Origin

if TYPE_CHECKING:
    from keeplore.workspace.workspace import Workspace

# of all that the host knows, its shell tells this alone
SESSION = "CLAUDE_CODE_SESSION_ID"
HOST = "claude-code"
ANSWER_S = 1.0
LATEST = 2  # directories for which a command makes the brief; a worker makes the rest


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


def calling_agent_name(places: Places) -> str:
    """The agent that the session around this shell runs, "" for none."""
    session = calling_agent()
    if not session.session:
        return ""
    # here, because few commands are run by an agent
    from keeplore.workspace.recording.cursors import Cursors

    return Cursors(places.sessions).get(session).origin.agent_name


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
    return tell_worker(workspace.places)


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


def note_if_uncommitted(*, is_committed: bool) -> None:
    if not is_committed:
        note("git is busy with something of yours; it is committed afterwards")
