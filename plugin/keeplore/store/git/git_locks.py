"""Taking turns in a repository, with git's own locks, so that a killed process never blocks it.

One file in the git directory, ``keeplore-owner``, is never removed. Who holds its ``flock`` may
commit; the kernel ends the hold when the process dies. Before a lock of git's is taken, the file
says which and how ours can be recognised, so that the next holder can remove what a dead one left.
Other locks are waited for and reported, never removed.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import secrets
import shlex
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from keeplore.errors import RepositoryBusy, RepositoryError, is_in_the_way
from keeplore.store import checkout_lock
from keeplore.store.git.index_writer import foreign_write, note_index, stamp_of
from keeplore.store.repository_state import Directories, directories, rebased_at
from keeplore_hooks import durable

TURN_WAIT_S = 10.0  # for another process of ours
LOCK_WAIT_S = 1.0  # for a git command of the person's
POLL_S = 0.02
# an empty lock this close to our note is ours: no cycle takes longer
CRASH_WINDOW_S = 30.0
OWNER = "keeplore-owner"
WRITER = "keeplore-writer"  # locked by who looks and writes; never removed either
STAYING = (OWNER, WRITER, checkout_lock.TICKET)
DRAFT = "keeplore-index"  # the next index, complete before it takes its place
LAST = "keeplore-last"  # the last index, until the ref has moved


class CommitLock:
    """The right to commit, while its context lasts. Raises RepositoryBusy where another process
    keeps it.
    """

    def __init__(self, directories: Directories) -> None:
        self._directories = directories
        self._handle = -1
        self._note: dict[str, Any] = {}

    def __enter__(self) -> CommitLock:
        import fcntl  # here, because Windows has none and must still be able to import the package

        path = self._directories.own / OWNER
        try:
            self._handle = durable.open_lock(path)
        except OSError as e:
            raise _not_writable(path, e) from e
        deadline = time.monotonic() + TURN_WAIT_S
        while True:
            try:
                fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return self
            except BlockingIOError:
                if time.monotonic() > deadline:
                    os.close(self._handle)
                    raise RepositoryBusy(
                        "another Keeplore process is committing",
                        "Nothing is lost; it is tried again soon",
                    ) from None
                time.sleep(POLL_S)

    def __exit__(self, *_: object) -> None:
        os.close(self._handle)  # ends the hold

    def write_note(self, **facts: str) -> None:
        """Say durably what is about to be locked or moved, before it is."""
        self._note |= facts
        data = json.dumps({**self._note, "at": time.time()}).encode()
        os.pwrite(self._handle, data, 0)
        os.ftruncate(self._handle, len(data))
        os.fsync(self._handle)

    def clear(self) -> None:
        """Forget the locks, which are all released."""
        self._note = {}
        os.ftruncate(self._handle, 0)

    def recover(self, tip: Callable[[str], str]) -> None:
        """Remove the locks of a holder that died; ``tip`` gives the commit of a ref.

        Where the ref had not moved yet, the index that belongs to its commit is put back first.
        """
        checkout_lock.sweep(self._directories)
        note = self._left_note()
        if not note:
            return
        own, common = self._directories.own, self._directories.common
        index_lock, last = own / "index.lock", self._private(LAST, note)
        if _is_ours(index_lock, note) and last.exists() and not _has_moved(note, tip):
            durable_replace(last, own / "index")
        ref_lock = common / f"{note.get('ref', 'HEAD')}.lock"
        for lock in (index_lock, own / "HEAD.lock", ref_lock):
            if _is_ours(lock, note):
                lock.unlink()
        self._sweep()
        self.clear()

    @contextlib.contextmanager
    def index(self, ref: str) -> Iterator[Path]:
        """Hold ``index.lock``, so that no git command of the person's changes index or files
        meanwhile.

        Gives a copy of the index to edit; ``publish`` puts it in place. Raises RepositoryBusy where
        the lock is held.
        """
        own = self._directories.own
        lock, token = own / "index.lock", f"keeplore {secrets.token_hex(16)}"
        self._sweep()
        self.write_note(token=token, ref=ref)
        draft = self._private(DRAFT, self._note)
        try:
            _take_locks(self._directories, lock, token)
        except BaseException:
            self.clear()
            raise
        try:
            if (own / "index").exists():
                shutil.copyfile(own / "index", draft)
            with checkout_lock.held_already():
                yield draft
        finally:
            self._sweep()
            lock.unlink(missing_ok=True)
            self.clear()

    def publish(self, draft: Path) -> None:
        """Make the edited copy the index; nothing where it was empty and stayed so."""
        own = self._directories.own
        index, foreign_at = own / "index", foreign_write(own)
        if draft.exists():
            if index.exists():
                os.link(index, self._private(LAST, self._note))
            durable_replace(draft, index)
            note_index(own, stamp_of(own), foreign_at)

    def take_back(self) -> None:
        """Put the index back that was there before ``publish``."""
        last = self._private(LAST, self._note)
        if last.exists():
            durable_replace(last, self._directories.own / "index")

    def _private(self, kind: str, note: Mapping[str, Any]) -> Path:
        """A file named anew each time: a git that outlived its killed parent must not write into
        the next one's.
        """
        return self._directories.own / f"{kind}-{str(note.get('token', ''))[-8:]}"

    def _sweep(self) -> None:
        """Remove our private files, and the locks of a git that died while it edited one."""
        for left in self._directories.own.glob("keeplore-*"):
            if left.name not in STAYING:
                left.unlink(missing_ok=True)

    def _left_note(self) -> dict[str, Any]:
        try:
            # behind a note there may be the end of a longer one: its writer was killed before it
            # cut that off
            note, _ = json.JSONDecoder().raw_decode(
                os.pread(self._handle, 4096, 0).decode()
            )
        except ValueError:
            return {}
        return note if isinstance(note, dict) else {}


def durable_replace(source: Path, target: Path) -> None:
    """Put a file in the place of another, so that a power cut does not undo it."""
    source.replace(target)
    durable.sync_directory(target.parent)


def busy_error(lock: Path) -> RepositoryBusy:
    """The error for a lock that someone else holds, with its age."""
    try:
        age = f", for {time.time() - lock.stat().st_mtime:.0f} s"
    except OSError:
        age = ""
    return RepositoryBusy(
        f"a git command holds {lock}{age}",
        f"Nothing is lost; it is tried again soon. If no git command runs there, a killed one left "
        f"it: `rm {shlex.quote(str(lock))}`",
    )


def _take_locks(places: Directories, lock: Path, token: str) -> None:
    """Create git's lock with our token in it from its first moment, so that it is never taken for
    another's.

    Not between two steps of a rebase: git stops where it finds the lock taken.
    """
    ticket = lock.with_name(f"{OWNER}-{token[-8:]}")
    deadline = time.monotonic() + LOCK_WAIT_S
    try:
        ticket.write_text(token, encoding="ascii")
        while True:
            if rebased_at(places):
                raise RepositoryBusy("a rebase is under way", "It is tried again soon")
            try:
                os.link(ticket, lock)
                return
            except FileExistsError:
                if time.monotonic() > deadline:
                    raise busy_error(lock) from None
                time.sleep(POLL_S)
    except OSError as e:
        raise _not_writable(lock, e) from e
    finally:
        ticket.unlink(missing_ok=True)


def _not_writable(path: Path, error: OSError) -> RepositoryError:
    remedy = (
        "Move it away" if is_in_the_way(error) else "Make the git directory writable"
    )
    return RepositoryError(f"{path} cannot be written: {error.strerror}", remedy)


def _has_moved(note: Mapping[str, Any], tip: Callable[[str], str]) -> bool:
    """Whether the ref of the note names the commit that was to come."""
    return bool(note.get("commit")) and tip(note["ref"]) == note["commit"]


def _is_ours(lock: Path, note: dict[str, Any]) -> bool:
    """Whether a lock is the noted one: by what it holds, or, for a ref's that is still empty, by
    its time.
    """
    try:
        content = lock.read_bytes()[:200].decode("ascii", "replace").strip()
        written_at = lock.stat().st_mtime
    except OSError:
        return False
    if content or "commit" not in note:
        return bool(content) and content in (note.get("token"), note.get("commit"))
    return lock.name != "index.lock" and abs(written_at - note["at"]) < CRASH_WINDOW_S


class WriteLock:
    """A context manager that one thread of one process holds at a time; who holds it may enter
    again.

    Entering raises RepositoryError where there is no repository, or OSError.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._mutex = threading.RLock()
        self._depth = 0
        self._handle = -1

    def __enter__(self) -> None:
        self._mutex.acquire()
        try:
            if self._depth == 0:
                self._handle = durable.open_lock(directories(self._root).own / WRITER)
                fcntl.flock(self._handle, fcntl.LOCK_EX)
            self._depth += 1
        except BaseException:
            self._mutex.release()
            raise

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._depth -= 1
        if self._depth == 0:
            os.close(self._handle)
        self._mutex.release()
