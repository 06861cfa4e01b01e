"""Looking at a repository without changing it: what git would say has changed, which locks lie
around.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

from keeplore.memory.merge.memory_merge import CONFLICT
from keeplore.store import files
from keeplore.store.git.git_command import output, run
from keeplore.store.git.repository_state import directories
from keeplore.store.paths import FOLDERS, is_ours, is_portable

_BESIDE = re.compile(rf"{re.escape(CONFLICT)}[0-9a-f]{{8}}(\.[^./]*)?$")
_LOCKS = ("index.lock", "HEAD.lock", "packed-refs.lock", "config.lock", "shallow.lock")


def differing(root: Path) -> list[str]:
    """Paths of ours that git, by their times and sizes, holds to differ from HEAD. Raises
    RepositoryError.
    """
    present = [folder for folder in FOLDERS if (root / folder).exists()]
    tracked = output(
        root, "diff", "--name-only", "--no-renames", "-z", "HEAD", "--", *FOLDERS
    ).items
    if not present:
        return tracked
    unknown = output(root, "ls-files", "--others", "--exclude-standard", "-z", "--", *present).items
    return sorted({path for path in (*tracked, *unknown) if is_ours(path) and is_portable(path)})


def left_out(root: Path) -> list[str]:
    """Paths below our folders that are no regular files, or named as not every system can: git does
    not get them.
    """
    skipped: list[str] = []
    seen = [file.path for folder in FOLDERS for file in files.walk(root, folder, skipped)]
    return sorted([*skipped, *(path for path in seen if not is_portable(path))])


def beside(root: Path) -> list[str]:
    """Paths of versions that lost their place in a merge and are no memories with an id. Raises
    RepositoryError.
    """
    listed = output(root, "ls-files", "--cached", "--others", "--exclude-standard", "-z").items
    return sorted({path for path in listed if _BESIDE.search(path) and (root / path).is_file()})


def old_locks(root: Path, age_s: float) -> Iterator[tuple[Path, float]]:
    """Locks of git older than ``age_s``, with their age in seconds. Raises RepositoryError."""
    places = directories(root)
    refs = (places.common / "refs" / "heads").rglob("*.lock")
    for lock in (
        *(folder / name for folder in {places.own, places.common} for name in _LOCKS),
        *refs,
    ):
        try:
            age = time.time() - lock.stat().st_mtime
        except OSError:
            continue
        if age > age_s:
            yield lock, age


def damaged(root: Path) -> str:
    """What ``git fsck`` finds wrong with the objects, "" where all is well. Raises
    RepositoryError.
    """
    done = run(root, "fsck", "--no-dangling", "--no-progress", timeout_s=FSCK_TIMEOUT_S)
    return "" if done.code == 0 else " ".join(f"{done.error} {done.text}".split())[:500]


FSCK_TIMEOUT_S = 600.0
