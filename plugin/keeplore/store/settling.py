"""What tombstones mean for a merge: a tombstone beats every edit."""

from __future__ import annotations

from collections.abc import Iterable

import pygit2

from keeplore.memory.frontmatter import MAX_FILE
from keeplore.memory.location import digits_of, location_of
from keeplore.store.backend import EXECUTABLE, REGULAR
from keeplore.store.forgotten import FOLDER, id_of, path_of
from keeplore.store.paths import is_memory
from keeplore.store.plan import id_of as memory_id_of


def forget_in(repository: pygit2.Repository, index: pygit2.Index, commits: Iterable[str], base: str) -> None:
    """Take out of a merged index what either of two commits has forgotten.

    Also where the other side left nothing that tells its id: then ``base``, the tree both were made of ("" for none),
    says which memory stood there. A file whose name does not tell its id is left to the next commit, which looks at
    the files on disk.
    """
    ids = {memory_id for commit in commits for memory_id in _forgotten_in(repository, commit)}
    ids = {memory_id for memory_id in ids if path_of(memory_id) in index}
    digits = {memory_id[4:12] for memory_id in ids}
    likely = [entry for entry in index if digits_of(entry.path) in digits and is_memory(entry.path)] if ids else []
    before = pygit2.Index()
    if base and likely:
        before.read_tree(repository[base].peel(pygit2.Tree))
    for entry in likely:
        memory_id = _id_at(repository, entry)
        if memory_id in ("", location_of(entry.path).id) and entry.path in before:
            memory_id = _id_at(repository, before[entry.path])
        if memory_id in ids:
            index.remove(entry.path)


def _forgotten_in(repository: pygit2.Repository, commit: str) -> list[str]:
    tree = repository[commit].peel(pygit2.Tree)
    folder = next((entry for entry in tree if entry.name == FOLDER), None)
    names = [entry.name or "" for entry in folder] if isinstance(folder, pygit2.Tree) else []
    return [memory_id for name in names if (memory_id := id_of(f"{FOLDER}/{name}"))]


def _id_at(repository: pygit2.Repository, entry: pygit2.IndexEntry) -> str:
    if int(entry.mode) not in (REGULAR, EXECUTABLE):
        return ""
    blob = repository[entry.id].peel(pygit2.Blob)
    return memory_id_of(str(entry.path), blob.data) if blob.size <= MAX_FILE else ""
