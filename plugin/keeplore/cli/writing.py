"""What commands that write share: in whose name they do, and what follows: a commit, and word to a
worker.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from keeplore.cli.output import note
from keeplore.config.places import Places
from keeplore.text.counts import counted
from keeplore.worker.after_writing import commit_written, tell_worker
from keeplore_hooks.events import Origin
from keeplore_hooks.spool import Spool

if TYPE_CHECKING:
    from keeplore.workspace.workspace import Workspace

# of all that the host knows, its shell tells this alone
SESSION = "CLAUDE_CODE_SESSION_ID"
HOST = "claude-code"


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
    if reason := commit_written(workspace, message):
        note(reason)
    return tell_worker(workspace.places)


def note_if_ignored(file: Path) -> None:
    from keeplore.store.git.inspection import ignored_note  # heavy: git

    if reason := ignored_note(file):
        note(reason)


def note_if_uncommitted(*, is_committed: bool) -> None:
    if not is_committed:
        note("it is on disk and not committed yet; `keeplore doctor` says why")


def note_unread_events(places: Places) -> None:
    """Say that what is shown lacks what has not been read yet."""
    waiting = Spool(places.spool).counts()["new"]
    if waiting:
        events = counted(waiting, "host event waits", "host events wait")
        note(f"{events} to be read; `keeplore worker run` reads them")
