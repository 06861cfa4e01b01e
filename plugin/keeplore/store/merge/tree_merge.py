"""Two histories as one tree: our files by the plan, the person's by git, and no conflict left where
both can stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256

from keeplore.memory.frontmatter import MAX_FILE
from keeplore.memory.location import digits_of, location_of
from keeplore.memory.merge.memory_merge import beside_path
from keeplore.store.git.git_command import run
from keeplore.store.git.object_backend import (
    LINK,
    PLAIN,
    REGULAR,
    Backend,
    Blob,
    MergeIndex,
    PathChange,
)
from keeplore.store.git.signature import Signature
from keeplore.store.merge.merge_plan import Content, MergePlan, apart, merged
from keeplore.store.merge.merge_plan import id_of as memory_id_of
from keeplore.store.paths import is_memory, is_ours
from keeplore.store.tombstones import FOLDER, id_of, path_of

MAX_BASES = 8  # of a history in which machines merged crosswise; more are as good as none
MAX_NESTING = 4


def merged_tree(backend: Backend, one: str, other: str) -> tuple[str, set[str]]:
    """The tree of a merge, and the paths whose conflict only a person can resolve (links,
    submodules).
    """
    mixture = _joined(backend, one, other, 0)
    left = set(mixture.conflicts)
    return ("" if left else mixture.tree(), left)


def _joined(backend: Backend, one: str, other: str, depth: int) -> MergeIndex:
    mixture = backend.merge_index(one, other)
    base = _base(backend, one, other, depth)
    sides = [_ours(backend.changes(base, side)) for side in (one, other)]
    plan = MergePlan(sides[0], sides[1], backend.read)
    for path, content in plan.files.items():
        mixture.set(path, _blob(backend, path, content))
    _add(backend, mixture, plan.beside)
    _settle_others(backend, mixture)
    apply_tombstones(
        backend,
        mixture,
        (one, other),
        {path: change.before for side in sides for path, change in side.items()},
    )
    added = {path for side in sides for path, change in side.items() if change.before is None}
    _set_apart(backend, mixture, added)
    return mixture


def _base(backend: Backend, one: str, other: str, depth: int) -> str:
    """The tree that both sides were made of; of several such commits their merge, as git's own
    strategy does it.

    "" where two workspaces began apart.
    """
    bases = sorted(run(backend.root, "merge-base", "--all", one, other).text.split())[:MAX_BASES]
    if not bases:
        return ""
    tree = commit = bases[0]
    for following in bases[1:] if depth < MAX_NESTING else ():
        mixture = _joined(backend, commit, following, depth + 1)
        for path in list(mixture.conflicts):
            mixture.set(path, None)
        tree = mixture.tree()
        # no ref will name it; it is made only to be merged further
        commit = backend.commit_of(tree, (commit, following), "merge base\n", Signature())
    return tree


def _ours(changes: Mapping[str, PathChange]) -> dict[str, PathChange]:
    return {path: change for path, change in changes.items() if is_ours(path) and change.is_plain}


def _blob(backend: Backend, path: str, content: Content, mode: int = REGULAR) -> Blob | None:
    return Blob(backend.write(content, path), mode) if isinstance(content, bytes) else content


def _add(
    backend: Backend, mixture: MergeIndex, beside: Mapping[str, bytes], mode: int = REGULAR
) -> None:
    for path, data in sorted(beside.items()):
        if path not in mixture.files:
            mixture.set(path, _blob(backend, path, data, mode))


def _settle_others(backend: Backend, mixture: MergeIndex) -> None:
    """Files of the person's that both sides changed: joined where that is possible, else
    both stay.
    """
    for path, (base, one, other) in list(mixture.conflicts.items()):
        held = [blob for blob in (one, other) if blob]
        if not held or any(blob.mode not in (*PLAIN, LINK) for blob in (base, one, other) if blob):
            continue
        if any(
            known.startswith(f"{path}/") for known in mixture.files
        ):  # one side has a folder of this name
            continue
        if len(held) == 1:  # removed on one side, changed on the other
            mixture.set(path, held[0])
            continue
        if any(blob.mode == LINK for blob in held):
            _settle_links(backend, mixture, path, held)
            continue
        texts = [backend.read(blob, path) for blob in (base, *held) if blob]
        data, beside = merged(path, texts[0] if base else None, *texts[-2:])
        mode = max(blob.mode for blob in held)  # a program stays one
        mixture.set(path, _blob(backend, path, data, mode))
        _add(backend, mixture, beside, mode)


def _settle_links(backend: Backend, mixture: MergeIndex, path: str, held: Sequence[Blob]) -> None:
    """A file comes before a link, of two links the one with the larger SHA-256; the other stands
    beside it.
    """
    texts = {blob: backend.read(blob, path) for blob in held}
    loser, winner = sorted(
        held, key=lambda blob: (blob.mode != LINK, sha256(texts[blob]).digest(), blob.mode)
    )
    mixture.set(path, winner)
    if (place := beside_path(path, texts[loser])) not in mixture.files:
        mixture.set(place, loser)


def _set_apart(backend: Backend, mixture: MergeIndex, added: set[str]) -> None:
    ours = [path for path in mixture.files if is_ours(path)] if added else []
    for path, name in apart(
        ours, added, lambda path: backend.read(mixture.files[path], path)
    ).items():
        blob = mixture.files[path]
        mixture.set(path, None)
        mixture.set(name, blob)


def apply_tombstones(
    backend: Backend, mixture: MergeIndex, commits: Iterable[str], before: Mapping[str, Blob | None]
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
