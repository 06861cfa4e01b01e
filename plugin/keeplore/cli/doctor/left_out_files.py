"""Why git does not get a file in a folder of memory, and what to do about it."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import NamedTuple

from keeplore.memory.frontmatter import MAX_FILE
from keeplore.store.paths import is_portable


class WhyLeftOut(NamedTuple):
    reason: str
    remedy: str


UNFIT = WhyLeftOut(
    "a link, no regular file, or a repository of its own",
    "Move it out of the memory folders",
)
UNPORTABLE = WhyLeftOut("not every system can hold a file of this name", "Rename it")
TOO_LARGE = WhyLeftOut(
    f"it is larger than {MAX_FILE >> 20} MB",
    "Split it, or move it out of the memory folders",
)


def why_left_out(root: Path, path: str) -> WhyLeftOut:
    """What is wrong with a path, of which it is known that no commit takes it."""
    place = root / path
    if not is_portable(path):
        return UNPORTABLE
    if place.is_symlink() or not (place.is_dir() or place.is_file()):
        return UNFIT
    return why_unread(root, path) or UNFIT


def why_unread(root: Path, path: str) -> WhyLeftOut | None:
    """Why nothing in a file or folder is read, None where that is not so."""
    place = root / path
    if not os.access(place, os.R_OK | (os.X_OK if place.is_dir() else 0)):
        return WhyLeftOut(
            "you may not read it",
            f"Give yourself the rights: `chmod u+rwX {shlex.quote(str(place))}`",
        )
    is_large = place.is_file() and place.stat().st_size > MAX_FILE
    return TOO_LARGE if is_large else None
