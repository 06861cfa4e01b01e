"""Where clients keep events for which the state directory has no room, until a worker takes them
(docs/spool.md).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

DROPPED = "dropped-"  # then the name that the entry would have had: an empty file


def second_places(state: Path) -> Iterator[Path]:
    """The fallback folders of a state directory: those that exist, are this user's alone and no
    links.
    """
    if os.name == "nt":
        return
    uid = os.geteuid()
    found = (os.environ.get("XDG_RUNTIME_DIR", ""), f"/run/user/{uid}")
    temporary = os.environ.get("TMPDIR", "") or "/tmp"  # noqa: S108  # checked below
    for base in dict.fromkeys(filter(os.path.isabs, (*found, temporary))):
        folder = Path(base, f"keeplore-{uid}")
        if _is_own(folder):
            yield folder / str(state).replace("/", "%")


def _is_own(folder: Path) -> bool:
    """Whether nobody else can have put anything into a folder, or the folder itself there."""
    try:
        own, above = folder.lstat(), folder.parent.stat()
    except OSError:
        return False
    is_private = stat.S_ISDIR(own.st_mode) and not stat.S_IMODE(own.st_mode) & 0o077
    is_kept = bool(above.st_mode & stat.S_ISVTX) or not above.st_mode & 0o022
    owners = (0, os.geteuid())
    return is_private and own.st_uid == owners[1] and is_kept and above.st_uid in owners


def loss_markers(state: Path) -> list[Path]:
    """The empty files, one for each event that could be kept nowhere, the oldest first."""
    folders = [state, *second_places(state)]
    return sorted(path for folder in folders for path in folder.glob(f"{DROPPED}*"))
