"""What to do where a disk refuses to be read or written."""

from __future__ import annotations

import errno
import sys

from keeplore.errors import is_in_the_way
from keeplore.text.counts import counted

# of host events that a worker tries again by itself
HELD = "Move away what is in the way, or mend what it says; nothing is lost, it is tried again"

_FULL = (errno.ENOSPC, errno.EDQUOT)
_FORBIDDEN = (errno.EROFS, errno.EACCES, errno.EPERM)


def held_events(reason: str, count: int) -> str:
    """What keeps host events from being written, and how many."""
    return f"{counted(count, 'host event')} cannot be written: {reason}"


def disk_remedy(error: OSError) -> str:
    """The next step; an agent's shell may be kept from writing."""
    if error.errno in _FULL:
        return "Make room there and run it again; `keeplore doctor` names the disk that is full"
    if error.errno in _FORBIDDEN and not (sys.stdin and sys.stdin.isatty()):
        return (
            "Make that path writable and run it again; where a sandbox forbids it, the tool of "
            "that name of the MCP server `keeplore` can, and so can the person who types the "
            "command; words that you repeat in your answer are kept with the session"
        )
    if error.errno == errno.EROFS:
        return "That disk is mounted read-only: make it writable, and run it again"
    if error.errno in _FORBIDDEN:
        return "Give yourself the rights to it (`ls -ld` shows whose it is), and run it again"
    if is_in_the_way(error):
        return "Something is in the way of that path: move it away, and run it again"
    return "Check that path, its rights, and the free space there"
