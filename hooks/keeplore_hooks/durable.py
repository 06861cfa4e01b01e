"""Writing a file so that after a crash at any point there is the old file or the new one, whole."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

# characters of a file's name in that of the one aside: a long one must not become too long
KEPT = 50
GROUP = 0o060  # bits of a mode
NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
BINARY = getattr(os, "O_BINARY", 0)
ALWAYS = contextlib.nullcontext()
NO_WAITING = getattr(os, "O_NONBLOCK", 0)  # as a pipe without a writer would make it


def write(
    path: Path,
    data: bytes,
    mode: int = 0o600,
    turn: AbstractContextManager[None] = ALWAYS,
    shared: int = 0,
) -> None:
    """Replace ``path`` by ``data``: written aside in the same directory, synced, renamed, directory
    synced. ``turn`` is held for the renaming; ``shared`` are bits of the mode that the umask does
    not take.

    Raises OSError where that is not possible; the old file is then untouched and nothing is left
    beside it.
    """
    aside = path.with_name(
        f".{path.name[-KEPT:]}.{os.getpid()}-{os.urandom(4).hex()}.tmp"
    )
    write_by_way_of(aside, path, data, mode, turn, shared)


def write_by_way_of(
    aside: Path,
    path: Path,
    data: bytes,
    mode: int = 0o600,
    turn: AbstractContextManager[None] = ALWAYS,
    shared: int = 0,
) -> None:
    """Write a file as ``write`` does, with ``aside`` as the file in which it is written first."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_FOLLOW | BINARY
    with _errors_naming(path, aside):
        handle = os.open(aside, flags, mode)
        try:
            with os.fdopen(handle, "wb") as file:
                _share(aside, shared)
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            with turn:
                aside.replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                aside.unlink()
            raise
        sync_directory(path.parent)


def _share(path: Path, rights: int) -> None:
    mode = stat.S_IMODE(path.stat().st_mode) if rights else 0
    if mode | rights != mode:
        path.chmod(mode | rights)


@contextlib.contextmanager
def _errors_naming(path: Path, aside: Path) -> Iterator[None]:
    """Let errors of the disk name the file that a person knows, not the one aside or none."""
    try:
        yield
    except OSError as e:
        if e.filename in (None, str(aside), aside):
            e.filename, e.filename2 = str(path), None
        raise


def read(path: Path) -> bytes:
    """What a plain file holds, byte for byte; a link is not followed, a pipe not waited for. Raises
    OSError.
    """
    flags = os.O_RDONLY | NO_FOLLOW | BINARY | NO_WAITING
    with os.fdopen(os.open(path, flags), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "it is no plain file", str(path))
        return file.read()


def make_private(directory: Path) -> None:
    """Make a directory, and those above it that are missing, for this user alone. Raises OSError.

    ``Path.mkdir(mode, parents=True)`` gives the mode to the last one only.
    """
    if not directory.parent.exists():
        make_private(directory.parent)
    directory.mkdir(mode=0o700, exist_ok=True)


def open_lock(path: Path) -> int:
    """A handle of a lock's file, which is made where it is missing: for this user alone, but where
    a group may write beside it, and so put another file in its place. Raises OSError.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    if path.parent.stat().st_mode & stat.S_IWGRP:
        with contextlib.suppress(PermissionError):  # its owner has done so
            _share(path, GROUP)
    return handle


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Wait until no other process holds this lock file, and hold it. Raises OSError.

    The file is made where it is missing and never removed: two processes could otherwise hold two
    files of one name. Windows has no lock in the standard library that waits; nothing is held
    there.
    """
    handle = open_lock(path)
    try:
        if os.name != "nt":
            import fcntl  # here, because Windows has none

            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def sync_directory(directory: Path) -> None:
    """Make the names in a directory durable; systems that cannot (Windows) do it by themselves."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
