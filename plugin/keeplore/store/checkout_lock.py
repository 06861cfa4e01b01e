"""Replacing or removing a file while no git command writes files.

git looks first whether a file was edited, and writes all files later: what is renamed into place in
between is overwritten, and what stands where git is about to create a file stops it halfway, when
others are gone already and nothing tells so. Therefore git's own lock of the index is held for as
long as a rename takes.

The lock is a second name of a file that stays. Who holds it has that file's ``flock``, which ends
with the process: what a killed one left behind is known by its inode.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

from keeplore.errors import RepositoryError
from keeplore.store.repository_state import Directories, directories, is_rebase_moving
from keeplore_hooks import durable

TICKET = "keeplore-checkout"  # in the git directory; never removed
WAIT_S = (
    3.0  # a lock that is held for longer waits for an editor, or its holder is dead
)
POLL_S = 0.005
_thread = threading.local()


@contextlib.contextmanager
def held(root: Path) -> Iterator[None]:
    """Hold the lock; without it where it cannot be had, as what is written matters more."""
    if getattr(_thread, "is_holder", False) or not (root / ".git").exists():
        yield
        return
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(RepositoryError, OSError):
            _take_locks(directories(root), stack)
        yield


@contextlib.contextmanager
def held_already() -> Iterator[None]:
    """Say that this thread, or the git that runs this program, holds the lock already."""
    _thread.is_holder = True
    try:
        yield
    finally:
        _thread.is_holder = False


def sweep(places: Directories) -> None:
    """Remove the lock that a killed process left."""
    with contextlib.suppress(OSError), _ticket(places.own):
        _remove_dead(places.own)


def _take_locks(places: Directories, stack: contextlib.ExitStack) -> None:
    """Take the lock, but not between two steps of a rebase: git stops where it finds the lock
    taken. Raises OSError where the file system has no hard links.
    """
    lock = places.own / "index.lock"
    stack.enter_context(_ticket(places.own))
    _remove_dead(places.own)
    deadline = time.monotonic() + WAIT_S
    while time.monotonic() < deadline and _age_s(lock) < WAIT_S:
        with contextlib.suppress(FileExistsError):
            if not is_rebase_moving(places):
                os.link(places.own / TICKET, lock)
                stack.callback(lock.unlink, missing_ok=True)
                return
        time.sleep(POLL_S)


def _ticket(own: Path) -> AbstractContextManager[None]:
    """Be the only process of ours that may hold or remove the lock."""
    return durable.locked(own / TICKET)


def _remove_dead(own: Path) -> None:
    """Remove a lock that is a name of our file: whoever asks has its ``flock``."""
    lock = own / "index.lock"
    if lock.exists() and lock.samefile(own / TICKET):
        lock.unlink()


def _age_s(lock: Path) -> float:
    """How long ago a lock was made; 0.0 for one that is gone."""
    try:
        return time.time() - lock.stat().st_mtime
    except OSError:
        return 0.0
