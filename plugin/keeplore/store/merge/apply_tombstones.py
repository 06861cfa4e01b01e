"""What tombstones mean for a merge: a tombstone beats every edit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from keeplore.memory.frontmatter import MAX_FILE
from keeplore.memory.location import digits_of, location_of
from keeplore.store.delete.tombstones import FOLDER, id_of, path_of
from keeplore.store.git.object_backend import PLAIN, Backend, Blob, Mixture
from keeplore.store.merge.merge_plan import id_of as memory_id_of
from keeplore.store.paths import is_memory


def forget_in(
    backend: Backend, mixture: Mixture, commits: Iterable[str], before: Mapping[str, Blob | None]
) -> None:
    """Take out of a merge what either of two commits has forgotten.

    Also where the other side took the id out: then ``before``, what both had at the paths that
    changed, says which memory stood there; and where nobody can read it any more. A file whose name
    does not tell its id is left to the next commit, which looks at the files on disk.
    """
    told = (
        path
        for commit in commits
        for path in backend.tracked(commit)
        if path.startswith(f"{FOLDER}/")
    )
    ids = {
        memory_id
        for path in told
        if (memory_id := id_of(path)) and path_of(memory_id) in mixture.files
    }
    digits = {memory_id[4:12] for memory_id in ids}
    for path, blob in [*mixture.files.items()] if ids else ():
        if digits_of(path) in digits and is_memory(path):
            memory_id = _id_at(backend, path, blob)
            if memory_id == location_of(path).id:  # it states none
                memory_id = _id_at(backend, path, before.get(path)) or memory_id
            if memory_id in ("", *ids):  # of what cannot be read the name tells enough
                mixture.set(path, None)


def _id_at(backend: Backend, path: str, blob: Blob | None) -> str:
    if blob is None or blob.mode not in PLAIN:
        return ""
    data = backend.read(blob, path)
    return memory_id_of(path, data) if len(data) <= MAX_FILE else ""
