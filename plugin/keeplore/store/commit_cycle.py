"""One cycle of changes to a repository: taking the lock, editing the index, moving the ref."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from keeplore.config.settings import FILE
from keeplore.errors import RepositoryBusy, RepositoryError
from keeplore.store import files
from keeplore.store.git.git_backend import GitBackend
from keeplore.store.git.git_command import output
from keeplore.store.git.git_locks import LOCK_WAIT_S, POLL_S, CommitLock, busy_error
from keeplore.store.git.objects import Blob, CycleCache, Locked, Moved
from keeplore.store.repository_state import (
    check_idle,
    check_rights,
    directories,
    note_revert,
)
from keeplore.store.shared_rights import shared_file_rights
from keeplore.store.transaction import check_complete

ATTEMPTS = 5  # a writer or a person's commit came in between
INDEX_STEP = 200  # paths in one command line
BY_US = "keeplore: "  # how the log of a ref tells a move of ours
FULL = "Make room on the disk; memory stays as it is until then"
T = TypeVar("T")


def run_cycle(
    root: Path, cache: CycleCache, cycle: Callable[[CommitLock, GitBackend], T]
) -> T:
    """Run a cycle while no other process of ours does, again where it was overtaken, with git where
    libgit2 cannot.
    """
    # here, because libgit2 costs 90 ms and reading needs none
    from keeplore.store.git.libgit_backend import FAILURES, LibgitBackend

    places = directories(root)
    kind: type[GitBackend] = LibgitBackend
    with shared_file_rights(root), CommitLock(places) as lock:
        for _ in range(ATTEMPTS):
            try:
                backend = kind(root, places, cache)
                lock.recover(backend.tip)
                check_complete(places)
                note_revert(places)
                check_idle(root, places)
                return cycle(lock, backend)
            except FAILURES as e:
                _check_room(e)
                kind = GitBackend
            except Moved as e:
                check_rights(places, _said(e))
                continue
    raise RepositoryBusy(
        f"{root} changes all the time", "Nothing is lost; it is tried again soon"
    )


def _said(error: Moved) -> str:
    """What made git say that something has moved."""
    return str(error.__cause__ or error)


def _check_room(error: Exception) -> None:
    """Raise RepositoryError for a full disk, of which git would say nothing better."""
    if os.strerror(errno.ENOSPC).lower() in str(error).lower():
        raise RepositoryError(
            f"no space left for the repository: {error}", FULL
        ) from error


@dataclass(frozen=True, slots=True)
class RefMove:
    """A ref from one commit to another; ``old`` is "" before the first."""

    ref: str
    old: str
    new: str
    message: str


def publish(lock: CommitLock, backend: GitBackend, draft: Path, step: RefMove) -> None:
    """Put the index in place and move the ref. Raises Moved or RepositoryBusy.

    The index comes first: git commands that look in between, without a lock, then take what is new
    for staged. In the other order they would take it for removed, and ``git stash`` would remove it
    from the disk when it is popped.
    """
    lock.write_note(commit=step.new)
    try:
        lock.publish(draft)
        move(backend, step)
    except BaseException:
        if backend.tip(step.ref) != step.new:
            lock.take_back()
        raise


def move(backend: GitBackend, step: RefMove) -> None:
    """Set the ref, waiting shortly for a lock. Raises Moved, or RepositoryBusy where it stays
    locked.
    """
    deadline = time.monotonic() + LOCK_WAIT_S
    subject = step.message.splitlines()[0] if step.message else ""
    reason = f"{BY_US}{subject}"
    while True:
        try:
            backend.move(step.ref, step.new, step.old, reason)
            return
        except Locked as e:
            check_rights(backend.places, str(e))
            if time.monotonic() > deadline:
                raise busy_error(backend.places.common / f"{step.ref}.lock") from None
            time.sleep(POLL_S)


def check_merged(backend: GitBackend, index: Path) -> None:
    """Raise RepositoryBusy for conflicts that wait to be resolved, as ``git stash pop`` leaves
    them.
    """
    if backend.has_unmerged(index):
        raise RepositoryBusy(
            "unresolved conflicts are in the index", "Resolve them; nothing is lost"
        )


def edit_index(
    backend: GitBackend, draft: Path, changes: Mapping[str, Blob | None]
) -> None:
    """Put the changes into a copy of the index, with what ``lstat`` says of the files on disk.

    git does it for either backend: libgit2 drops parts of the index that it does not know. Raises
    RepositoryBusy.
    """
    root, environment = backend.root, {"GIT_INDEX_FILE": str(draft)}
    check_merged(backend, draft)
    written = [(path, blob) for path, blob in changes.items() if blob is not None]
    for step in _batches(written):
        arguments = _index_arguments(root, step)
        output(
            root, "update-index --add --replace", *arguments, environment=environment
        )
    removed = [f"./{path}" for path, blob in changes.items() if blob is None]
    for gone in _batches(removed):
        output(root, "update-index --force-remove", *gone, environment=environment)


def _index_arguments(root: Path, blobs: Sequence[tuple[str, Blob]]) -> list[str]:
    arguments: list[str] = []
    for path, blob in blobs:
        arguments += ["--cacheinfo", f"{blob.mode:o},{blob.id},{path}"]
    # settings may hold an edit that is not to be staged
    present = [
        path for path, _ in blobs if path != FILE and files.file_state(root, path)
    ]
    return [*arguments, *(f"./{path}" for path in present)]


def _batches(items: Sequence[T]) -> Iterator[Sequence[T]]:
    """The items in parts that fit into one command line."""
    return (
        items[start : start + INDEX_STEP] for start in range(0, len(items), INDEX_STEP)
    )
