"""Writing a file so that after a crash at any point there is the old file or the new one, whole."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

KEPT = (
    50  # characters of a file's name in that of the one aside: a long one must not become too long
)


def write(path: Path, data: bytes, mode: int = 0o600) -> None:
    """Replace ``path`` by ``data``: written aside in the same directory, synced, renamed, directory
    synced.

    Raises OSError where that is not possible; the old file is then untouched and nothing is left
    beside it.
    """
    aside = path.with_name(f".{path.name[-KEPT:]}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
    handle = os.open(
        aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), mode
    )
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            aside.unlink()
        raise
    sync_directory(path.parent)


def sync_directory(directory: Path) -> None:
    """Make the names in a directory durable; systems that cannot (Windows) do it by themselves."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
