"""What tombstones mean for a merge: a tombstone beats every edit, and two of one memory become one."""

from __future__ import annotations

from collections.abc import Iterable

import pygit2

from keeplore.errors import KeeploreError
from keeplore.memory import as_memory
from keeplore.memory.frontmatter import MAX_FILE
from keeplore.memory.location import digits_of
from keeplore.store import forgotten
from keeplore.store.backend import EXECUTABLE, REGULAR
from keeplore.store.forgotten import FOLDER, id_of, path_of
from keeplore.store.paths import is_memory

Sides = tuple[pygit2.IndexEntry | None, pygit2.IndexEntry | None, pygit2.IndexEntry | None]  # base, ours, theirs


def settle(repository: pygit2.Repository, index: pygit2.Index, commits: Iterable[str]) -> None:
    """Resolve in a merged index what tombstones decide; ``commits`` are both sides. Other conflicts stay.

    A file whose name does not tell its id is left to the next commit, which looks at the files on disk.
    """
    ids = {memory_id for commit in commits for memory_id in _forgotten_in(repository, commit)}
    if not ids:
        return
    for sides in list(index.conflicts or ()):
        if stone := next((id_of(entry.path) for entry in sides if entry and id_of(entry.path)), ""):
            _take(index, _joined(repository, sides, stone), sides)
    ids = {memory_id for memory_id in ids if path_of(memory_id) in index}
    for sides in list(index.conflicts or ()):
        if any(_id_at(repository, entry) in ids for entry in sides if entry):
            _take(index, None, sides)
    digits = {memory_id[4:12] for memory_id in ids}
    likely = [entry for entry in index if digits_of(entry.path) in digits and is_memory(entry.path)]
    for entry in likely:
        if _id_at(repository, entry) in ids:
            index.remove(entry.path)


def _forgotten_in(repository: pygit2.Repository, commit: str) -> list[str]:
    tree = repository[commit].peel(pygit2.Tree)
    folder = next((entry for entry in tree if entry.name == FOLDER), None)
    names = [entry.name or "" for entry in folder] if isinstance(folder, pygit2.Tree) else []
    return [memory_id for name in names if (memory_id := id_of(f"{FOLDER}/{name}"))]


def _joined(repository: pygit2.Repository, sides: Sides, memory_id: str) -> pygit2.IndexEntry | None:
    """Two tombstones as one; where a side took it away and the other changed it, it stays."""
    held = [entry for entry in sides[1:] if entry]
    if len(held) < 2:
        return held[0] if held else None
    one, other = (_data(repository, entry) for entry in held)
    blob = repository.create_blob(forgotten.merged_bytes(one, other, memory_id))
    return pygit2.IndexEntry(path_of(memory_id), blob, held[0].mode)


def _take(index: pygit2.Index, entry: pygit2.IndexEntry | None, sides: Sides) -> None:
    """Put one entry, or nothing, in the place of a conflict."""
    for path in {side.path for side in sides if side}:
        if index.conflicts is not None and path in index.conflicts:
            del index.conflicts[path]
    if entry:
        index.add(pygit2.IndexEntry(entry.path, entry.id, entry.mode))


def _id_at(repository: pygit2.Repository, entry: pygit2.IndexEntry) -> str:
    """The id of the memory that an entry holds, "" for none."""
    path = str(entry.path)
    if not is_memory(path) or int(entry.mode) not in (REGULAR, EXECUTABLE):
        return ""
    try:
        return as_memory(_data(repository, entry).decode(), path).id
    except (KeeploreError, UnicodeDecodeError):
        return ""


def _data(repository: pygit2.Repository, entry: pygit2.IndexEntry) -> bytes:
    blob = repository[entry.id].peel(pygit2.Blob)
    return blob.data if blob.size <= MAX_FILE else b""
