"""Whether an agent runs this command in its own shell: what it asks for is not the person's
word.
"""

from __future__ import annotations

import os
import sys

from keeplore_hooks.events import Origin

SESSION = "CLAUDE_CODE_SESSION_ID"  # of all that the host knows, its shell tells this alone
HOST = "claude-code"


def session() -> str:
    """The host's id of the session around this shell, "" for none."""
    return os.environ.get(SESSION, "")


def agent() -> Origin:
    """The session of an agent that runs this command; without one where a person does."""
    is_person = sys.stdin is not None and sys.stdin.isatty()
    return Origin("", "") if is_person or not session() else Origin(HOST, session())
