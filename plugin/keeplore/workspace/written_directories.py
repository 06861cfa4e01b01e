"""Checkouts and directories in which memory was written by hand: no session may have named them.

Each has a file in the state directory, which holds its path.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

from keeplore.client import brief_on_disk as disk

FOLDER = "written"
KEPT = 3  # the latest


def add(state: Path, cwd: Path) -> None:
    """Remember that memory was written here. Where that cannot be kept, a brief on disk is made too
    late, and nothing else happens.
    """
    root = disk.root_of(str(cwd))
    with contextlib.suppress(OSError):
        disk.put(str(state), FOLDER, disk.digest(root), root)
        for path in _newest_first(state)[KEPT:]:
            path.unlink(missing_ok=True)


def latest(state: Path) -> list[str]:
    """The newest first."""
    try:
        held = [path.read_bytes() for path in _newest_first(state)[:KEPT]]
    except OSError:
        return []
    return [path.decode("utf-8", "surrogatepass") for path in held]


def _newest_first(state: Path) -> list[Path]:
    files = (state / disk.FOLDER / FOLDER).iterdir()
    return sorted(files, key=lambda path: path.stat().st_mtime_ns, reverse=True)
