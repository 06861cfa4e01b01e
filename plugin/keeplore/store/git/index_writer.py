"""Who wrote git's index last: a cycle of ours, or a git command of the person's."""

from __future__ import annotations

import contextlib
from pathlib import Path

NOTE = "index.keeplore"  # in the git directory: what our index looks like, and ``foreign_write``


def stamp_of(own: Path) -> str:
    """What tells two versions of the index in a git directory apart, "" for none."""
    try:
        found = (own / "index").stat()
    except OSError:
        return ""
    return f"{found.st_mtime_ns}-{found.st_size}-{found.st_ino}"


def foreign_write(own: Path) -> float:
    """When somebody else wrote the index and no cycle has looked since, in seconds since 1970; 0.0
    for never.
    """
    try:
        noted, at = (own / NOTE).read_text("ascii").split()
    except (OSError, ValueError):
        noted, at = "", "0"
    return float(at) if noted == stamp_of(own) else written_at(own)


def written_at(own: Path) -> float:
    """When the index was written, 0.0 where there is none."""
    try:
        return (own / "index").stat().st_mtime
    except OSError:
        return 0.0


def note_index(own: Path, stamp: str, foreign_at: float = 0.0) -> None:
    """Note which index is known, and when a foreign one before it was written that no cycle has
    looked after. Without room for the note, the index counts as foreign.
    """
    with contextlib.suppress(OSError):
        (own / NOTE).write_text(f"{stamp} {foreign_at}\n", "ascii")
