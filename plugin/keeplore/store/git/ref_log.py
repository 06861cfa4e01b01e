"""What the log of a ref says (git-reflog(1)): where it pointed, from when on, and why it moved."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

Stamp = tuple[int, int, int]  # time of change (ns), size in bytes and inode
MAX_LOG = 64 * 1024  # bytes from its end
_ENTRY = re.compile(r"([0-9a-f]{40,64}) ([0-9a-f]{40,64}) .*> (\d+) [+-]\d{4}\t(.*)")


class LogEntry(NamedTuple):
    """One move of a ref; ``at`` is in seconds since 1970."""

    old: str
    new: str
    at: int
    message: str


def changed_log(log: Path, seen: Stamp | None) -> tuple[Stamp, list[LogEntry]] | None:
    """The stamp of a log and its last moves, for the price of one ``stat`` where it is as it was
    ``seen``; None then, and where the ref has no log.
    """
    try:
        found = log.stat()
        stamp = (found.st_mtime_ns, found.st_size, found.st_ino)
        return None if stamp == seen else (stamp, last_entries(log))
    except OSError:
        return None


def last_entries(log: Path) -> list[LogEntry]:
    """The last moves of a ref, the newest at the end. Raises OSError where it has no log."""
    with log.open("rb") as file:
        file.seek(max(file.seek(0, os.SEEK_END) - MAX_LOG, 0))
        lines = file.read().decode("utf-8", "replace").split("\n")
    entries = []
    for entry in filter(None, map(_ENTRY.fullmatch, lines)):
        old, new, at, message = entry.groups()
        entries.append(LogEntry(old, new, int(at), message))
    return entries
