"""Reading and writing files below a root: regular files alone, no symlinks, durable."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from keeplore.errors import Corrupt, NotFound, UnsafePath
from keeplore.store import checkout_lock
from keeplore.store.paths import (
    INDEXED,
    check_read,
    is_memory,
    is_ours,
    is_side,
    may_hold_ours,
)
from keeplore.store.shared_rights import share_folder, shared_rights
from keeplore_hooks import durable

# O_NONBLOCK: opening a FIFO would wait for its writer
_READING = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
STALE_S = 3600.0  # a half-written file older than this has lost its writer
# as durable.write names them
_HALF_WRITTEN = re.compile(r"\..+\.\d+-[0-9a-f]{8}\.tmp\Z")


class FileState(NamedTuple):
    """A regular file below the root; ``path`` is relative, with ``/``."""

    path: str
    mtime_ns: int
    size: int  # bytes
    inode: int


def file_state(root: Path, path: str) -> FileState | None:
    """The regular file at a path, None where there is none or something else stands there or on the
    way.
    """
    try:
        if _link_on_the_way(root, path):
            return None
        found = (root / path).lstat()
    except (OSError, ValueError):
        return None
    return _file(path, found) if stat.S_ISREG(found.st_mode) else None


def is_absent(root: Path, path: str) -> bool:
    """Whether no file stands at a path; a link is one, and so is what cannot be looked at, a folder
    is none.
    """
    try:
        found = (root / path).lstat()
    except (FileNotFoundError, NotADirectoryError):
        return not _link_on_the_way(root, path)
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode)


def is_free(root: Path, path: str) -> bool:
    """Whether a file can be written at a path without taking the place of anything; a folder is in
    the way.
    """
    return is_absent(root, path) and not (root / path).is_dir()


def read(root: Path, path: str, limit_bytes: int) -> bytes:
    """The bytes of a regular file. Raises NotFound, UnsafePath, Corrupt (too large) or OSError."""
    _check_no_link_on_the_way(root, path)
    with os.fdopen(_open_file(root, path), "rb") as file:
        # it may grow meanwhile
        is_too_large = os.fstat(file.fileno()).st_size > limit_bytes
        data = b"" if is_too_large else file.read(limit_bytes + 1)
    if is_too_large or len(data) > limit_bytes:
        raise Corrupt(
            f"{path} is larger than {limit_bytes} bytes",
            "Split it or move it out of the memory folders",
        )
    return data


def _open_file(root: Path, path: str) -> int:
    """A handle of the regular file. Raises NotFound, UnsafePath or OSError."""
    try:
        handle = os.open(root / path, _READING)
    except (FileNotFoundError, NotADirectoryError) as e:
        raise NotFound(
            f"there is no {path}", "Run `keeplore doctor` if a search named it"
        ) from e
    except OSError:
        if (root / path).is_symlink():
            raise UnsafePath(
                f"{path} is a symbolic link", "Put the file itself into the workspace"
            ) from None
        raise
    if stat.S_ISREG(os.fstat(handle).st_mode):
        return handle
    os.close(handle)
    kind = "a folder" if (root / path).is_dir() else "not a regular file"
    raise UnsafePath(f"{path} is {kind}", "Move it out of the memory folders")


def read_text(root: Path, path: str, limit_bytes: int) -> str:
    """The text of a file inside the workspace. Raises NotFound, Corrupt, UnsafePath or OSError."""
    check_read(path)
    try:
        return read(root, path, limit_bytes).decode()
    except UnicodeDecodeError as e:
        raise Corrupt(
            f"{path} is not UTF-8 text",
            "Convert it, or move it out of the memory folders",
        ) from e


def write(root: Path, path: str, data: bytes, mode: int = 0o600) -> None:
    """Replace a file durably; its folders are made. ``mode`` is what it has for itself: where a
    group shares the workspace, what that may do is added.

    Raises UnsafePath where a link is on the way, or OSError.
    """
    _check_no_link_on_the_way(root, path)
    target = root / path
    try:
        _write(root, target, data, mode)
    except FileNotFoundError:  # git has just removed the folder
        _write(root, target, data, mode)


def _write(root: Path, target: Path, data: bytes, mode: int) -> None:
    """Write a file and the folders above it. Raises FileNotFoundError where somebody removes the
    folder meanwhile, or OSError.
    """
    rights = shared_rights(root)
    _make_folder(root, target.parent, rights)
    durable.write(target, data, mode, checkout_lock.held(root), rights)


def link(root: Path, path: str, target: bytes) -> None:
    """Replace what stands at a path by a symbolic link. Raises UnsafePath where a link is on the
    way, or OSError.
    """
    _check_no_link_on_the_way(root, path)
    place = root / path
    _make_folder(root, place.parent, shared_rights(root))
    aside = place.with_name(f".{secrets.token_hex(8)}.tmp")
    aside.symlink_to(os.fsdecode(target))
    aside.replace(place)
    durable.sync_directory(place.parent)


def link_target(root: Path, path: str) -> bytes | None:
    """What a symbolic link at a path points to, None where there is none."""
    try:
        return (
            None
            if _link_on_the_way(root, path)
            else os.fsencode((root / path).readlink())
        )
    except OSError:
        return None


def remove(root: Path, path: str) -> None:
    """Remove a file durably; that it is gone already is no error."""
    if _link_on_the_way(root, path):
        return
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        with checkout_lock.held(root):
            (root / path).unlink()
        durable.sync_directory((root / path).parent)


def indexed(root: Path) -> Iterator[FileState]:
    """Every file that is a memory or indexed beside them, in no order."""
    found = (file for folder in INDEXED for file in walk(root, folder, []))
    return (file for file in found if is_memory(file.path) or is_side(file.path))


def walk(root: Path, folder: str, skipped: list[str]) -> Iterator[FileState]:
    """Every regular file below a folder, in no order; hidden names are passed over, other things
    are noted.

    Links are not entered, nor folders with a git repository of their own, nor those that can hold
    nothing of ours.
    """
    waiting = [folder]
    while waiting:
        here = waiting.pop()
        entries = _entries(root, here, skipped) if may_hold_ours(here) else []
        # one answer for all files of a folder but those beside a project's own
        is_all_ours = is_ours(f"{here}/any")
        for entry in entries:
            path = f"{here}/{entry.name}"
            if entry.name.startswith("."):
                _sweep(entry)
            elif entry.is_dir(follow_symlinks=False):
                waiting.append(path)
            elif not (is_all_ours or is_ours(path)):
                continue
            elif entry.is_file(follow_symlinks=False):
                try:  # not suppress(): this is done for every file at every look
                    yield _file(path, entry.stat(follow_symlinks=False))
                except FileNotFoundError:
                    continue
            else:
                skipped.append(path)


def _entries(root: Path, folder: str, skipped: list[str]) -> list[os.DirEntry[str]]:
    """What a folder holds; nothing where it must not be entered or cannot be read."""
    try:
        if (root / folder).is_symlink():
            skipped.append(folder)
            return []
        with os.scandir(root / folder) as listing:
            entries = list(listing)
    except FileNotFoundError:
        return []
    except OSError:
        skipped.append(folder)
        return []
    if any(entry.name == ".git" for entry in entries):
        skipped.append(folder)
        return []
    return entries


def _sweep(entry: os.DirEntry[str]) -> None:
    """Remove what a writer left that was killed between writing aside and renaming."""
    if _HALF_WRITTEN.match(entry.name):
        with contextlib.suppress(OSError):
            if time.time() - entry.stat(follow_symlinks=False).st_mtime > STALE_S:
                Path(entry.path).unlink()


def _file(path: str, status: os.stat_result) -> FileState:
    """What ``lstat`` says of a file."""
    return FileState(path, status.st_mtime_ns, status.st_size, status.st_ino)


def _check_no_link_on_the_way(root: Path, path: str) -> None:
    if link := _link_on_the_way(root, path):
        raise UnsafePath(
            f"{link} is a symbolic link", "Put the files themselves into the workspace"
        )


def _link_on_the_way(root: Path, path: str) -> str:
    """The first folder of the path that is a symbolic link, "" for none."""
    folders = path.split("/")[:-1]
    for depth in range(1, len(folders) + 1):
        folder = "/".join(folders[:depth])
        if (root / folder).is_symlink():
            return folder
    return ""


def _make_folder(root: Path, folder: Path, rights: int) -> None:
    """Make a folder and those above it, durably."""
    missing = []
    while folder != root and not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for made in reversed(missing):
        made.mkdir(mode=0o700, exist_ok=True)
        share_folder(made, rights)
        durable.sync_directory(made.parent)
