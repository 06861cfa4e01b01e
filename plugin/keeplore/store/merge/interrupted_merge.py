"""Taking back what a merge had done to the files when it was killed.

git removes files before it writes others, and of two memories that swap places one is for a moment
in history alone. Nothing in the repository tells of a merge that was cut short there, and the next
commit would take what is gone for removed by the person.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

from keeplore.errors import StoreError
from keeplore.memory.merge.memory_merge import beside_path
from keeplore.store import files
from keeplore.store.git.git_backend import GitBackend
from keeplore.store.git.objects import PathChange
from keeplore.store.paths import is_safe
from keeplore_hooks import durable

NOTE = "merging.keeplore"  # in the git directory: the commits before and after
MAX_BLOB = 64 * 1024 * 1024  # bytes, as for a merge


@contextlib.contextmanager
def noted_merge(backend: GitBackend, old: str, new: str) -> Iterator[None]:
    """Say durably between which commits the files are changed."""
    note = backend.places.own / NOTE
    durable.write(note, json.dumps([old, new]).encode())
    yield
    note.unlink()


def take_back(backend: GitBackend, head: str) -> None:
    """Take back what a merge that was cut off here removed or wrote, to what HEAD has."""
    note = backend.places.own / NOTE
    try:
        old, new = json.loads(note.read_bytes())
    except FileNotFoundError:
        return
    if head == old:
        changes = backend.changes(old, new)
        left_out = backend.left_out([*changes])
        for path in changes.keys() - left_out:
            # what is in the way is the person's
            with contextlib.suppress(StoreError):
                _take_back(backend, path, changes[path])
    note.unlink()


def _take_back(backend: GitBackend, path: str, change: PathChange) -> None:
    """Take back one file, unless somebody has written to it since."""
    if not is_safe(path) or not change.is_plain:
        return
    on_disk = None
    if not files.is_absent(backend.root, path):
        on_disk = files.read(backend.root, path, MAX_BLOB)
    after = backend.read(change.after, path) if change.after else None
    # git may have written a part of it
    is_by_git = on_disk is None or (after is not None and after.startswith(on_disk))
    if not is_by_git:
        return
    if change.before:
        _write_again(backend.root, path, backend.read(change.before, path))
    elif on_disk is not None:
        files.remove(backend.root, path)


def _write_again(root: Path, path: str, data: bytes) -> None:
    """Write a file, or beside a folder that somebody made at its place."""
    is_folder = (root / path).is_dir()
    files.write(root, beside_path(path, data) if is_folder else path, data)
