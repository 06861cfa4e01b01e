"""One cycle of changes to a repository: taking the lock, editing the index, moving the ref."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from keeplore.errors import RepositoryBusy, RepositoryError
from keeplore.store import files
from keeplore.store.git.git_command import output
from keeplore.store.git.git_locks import LOCK_WAIT_S, POLL_S, CommitLock, busy
from keeplore.store.git.object_backend import (
    Backend,
    Blob,
    CycleCache,
    Locked,
    Moved,
)
from keeplore.store.git.plumbing import GitBackend
from keeplore.store.git.repository_state import check_idle, directories
from keeplore.store.transaction import check_complete

ATTEMPTS = 5  # a writer or a person's commit came in between
INDEX_STEP = 200  # paths in one command line
FULL = "Make room on the disk; memory stays as it is until then"
T = TypeVar("T")


def run_cycle(root: Path, memo: CycleCache, cycle: Callable[[CommitLock, Backend], T]) -> T:
    """Run a cycle while no other process of ours does, again where it was overtaken, with git where
    libgit2 cannot.
    """
    # here, because libgit2 costs 90 ms and reading needs none
    from keeplore.store.git.libgit import FAILURES, LibgitBackend

    places = directories(root)
    kind: type[LibgitBackend] | type[GitBackend] = LibgitBackend
    with CommitLock(places) as turn:
        for _ in range(ATTEMPTS):
            try:
                backend = kind(root, places, memo)
                turn.recover(backend.tip)
                check_complete(places)
                check_idle(root, places)
                return cycle(turn, backend)
            except FAILURES as e:
                if (
                    os.strerror(errno.ENOSPC).lower() in str(e).lower()
                ):  # git would say nothing better
                    raise RepositoryError(f"no space left for the repository: {e}", FULL) from e
                kind = GitBackend
            except Moved:
                continue
    raise RepositoryBusy(f"{root} changes all the time", "Nothing is lost; it is tried again soon")


def move(backend: Backend, ref: str, new: str, old: str, message: str) -> None:
    """Set the ref, waiting shortly for a lock. Raises Moved, or RepositoryBusy where it stays
    locked.
    """
    deadline = time.monotonic() + LOCK_WAIT_S
    reason = f"commit{'' if old else ' (initial)'}: {message.splitlines()[0] if message else ''}"
    while True:
        try:
            backend.move(ref, new, old, reason)
        except Locked:
            if time.monotonic() > deadline:
                raise busy(backend.places.common / f"{ref}.lock") from None
            time.sleep(POLL_S)
        else:
            return


def check_merged(backend: Backend, index: Path) -> None:
    """Raise RepositoryBusy for conflicts that wait to be resolved, as ``git stash pop`` leaves
    them.
    """
    if backend.has_unmerged(index):
        raise RepositoryBusy(
            "unresolved conflicts are in the index", "Resolve them; nothing is lost"
        )


def edit_index(backend: Backend, draft: Path, changes: Mapping[str, Blob | None]) -> None:
    """Put the changes into a copy of the index, with what ``lstat`` says of the files on disk.

    git does it for either backend: libgit2 drops parts of the index that it does not know. Raises
    RepositoryBusy.
    """
    check_merged(backend, draft)
    written = [(path, blob) for path, blob in changes.items() if blob is not None]
    removed = [f"./{path}" for path, blob in changes.items() if blob is None]
    environment = {"GIT_INDEX_FILE": str(draft)}
    for start in range(0, len(written), INDEX_STEP):
        step = written[start : start + INDEX_STEP]
        entries = [
            a for path, blob in step for a in ("--cacheinfo", f"{blob.mode:o},{blob.id},{path}")
        ]
        present = [f"./{path}" for path, _ in step if files.state(backend.root, path)]
        output(
            backend.root,
            "update-index",
            "--add",
            "--replace",
            *entries,
            *present,
            environment=environment,
        )
    for start in range(0, len(removed), INDEX_STEP):
        gone = removed[start : start + INDEX_STEP]
        output(backend.root, "update-index", "--force-remove", *gone, environment=environment)
