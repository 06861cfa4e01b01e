"""What a person wrote for all agents: what stands below a line in the workspace's AGENTS.md."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from keeplore.text.fences import sanitise
from keeplore.workspace.workspace import Workspace

FILE = "AGENTS.md"
LINE = "Write what all agents in this workspace should know below this line."
MAX_BYTES = 64_000


def instructions(workspace: Workspace) -> tuple[str, ...]:
    """The lines below that line, none where the file cannot be read, or was last changed by another
    person's machine that was not accepted here.
    """
    _, line, below = _text(workspace.root / FILE).partition(f"\n{LINE}\n")
    if not line or not workspace.machine_trust.is_believed_file(FILE):
        return ()
    return tuple(filter(None, (_plain_line(line) for line in below.splitlines())))


def _plain_line(line: str) -> str:
    """A line without what makes it a heading, an item or a quotation."""
    return sanitise(line).strip().lstrip("#>-*").strip()


def _text(path: Path) -> str:
    """ "" for anything but a regular file of a size that a person writes."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with open(handle, "rb") as file:  # noqa: PTH123  # of a descriptor
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                return ""
            data = file.read(MAX_BYTES)
    except OSError:
        return ""
    return f"\n{data.decode('utf-8', 'replace')}\n".replace("\r\n", "\n")
