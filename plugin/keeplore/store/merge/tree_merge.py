"""Two histories as one tree: our files by the plan, the person's by git, and no conflict left where
both can stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256

from keeplore.memory.frontmatter import MAX_FILE
from keeplore.memory.location import digits_of, location_of
from keeplore.memory.merge.memory_merge import beside_path
from keeplore.memory.names import short_id
from keeplore.store import tombstones
from keeplore.store.git.git_backend import GitBackend
from keeplore.store.git.git_command import run
from keeplore.store.git.objects import (
    LINK,
    PLAIN,
    REGULAR,
    Blob,
    ConflictSides,
    MergeIndex,
    PathChange,
)
from keeplore.store.git.signature import Signature
from keeplore.store.merge.merge_plan import (
    Content,
    MergePlan,
    distinct_names,
    id_of,
    merge_versions,
)
from keeplore.store.merge.settings_merge import SETTINGS
from keeplore.store.paths import is_memory, is_ours

# of a history in which machines merged crosswise; more are as good as none
MAX_BASES = 8
MAX_NESTING = 4


def merged_tree(backend: GitBackend, one: str, other: str) -> tuple[str, set[str]]:
    """The tree of a merge, and the paths whose conflict only a person can resolve (links,
    submodules).
    """
    index = _merge(backend, one, other, 0)
    left = set(index.conflicts)
    return ("" if left else index.tree(), left)


def _merge(backend: GitBackend, one: str, other: str, depth: int) -> MergeIndex:
    """The files of the merge; what is left in its conflicts is the person's."""
    index = backend.merge_index(one, other)
    base = _base(backend, one, other, depth)
    mine, theirs = (_our_changes(backend.changes(base, side)) for side in (one, other))
    _apply_plan(backend, index, MergePlan(mine, theirs, backend.read))
    for path, sides in list(index.conflicts.items()):
        if _can_settle(index, path, sides):
            _resolve_both_changed(backend, index, path, sides)
    changes = [*mine.items(), *theirs.items()]
    before = {path: change.before for path, change in changes}
    apply_tombstones(backend, index, (one, other), before)
    _set_apart(
        backend, index, {path for path, change in changes if change.before is None}
    )
    return index


def _apply_plan(backend: GitBackend, index: MergeIndex, plan: MergePlan) -> None:
    """Put the plan's files into the merge."""
    for path, content in plan.files.items():
        index.set(path, _blob(backend, path, content))
    _add_files(backend, index, plan.beside)


def _base(backend: GitBackend, one: str, other: str, depth: int) -> str:
    """The tree that both sides were made of; of several such commits their merge, as git's own
    strategy does it.

    "" where two workspaces began apart.
    """
    bases = sorted(run(backend.root, "merge-base --all", one, other).text.split())[
        :MAX_BASES
    ]
    if not bases:
        return ""
    tree = commit = bases[0]
    for following in bases[1:] if depth < MAX_NESTING else ():
        index = _merge(backend, commit, following, depth + 1)
        for path in list(index.conflicts):
            index.set(path, None)
        tree = index.tree()
        # no ref will name it; it is made only to be merged further
        commit = backend.commit_of(
            tree, (commit, following), "merge base\n", Signature()
        )
    return tree


def _our_changes(changes: Mapping[str, PathChange]) -> dict[str, PathChange]:
    """The changes of plain files of ours, and of the settings."""
    return {
        path: change
        for path, change in changes.items()
        if (is_ours(path) or path == SETTINGS) and change.is_plain
    }


def _blob(
    backend: GitBackend, path: str, content: Content, mode: int = REGULAR
) -> Blob | None:
    """The blob of a content, written where it is new."""
    return (
        Blob(backend.write(content, path), mode)
        if isinstance(content, bytes)
        else content
    )


def _add_files(
    backend: GitBackend,
    index: MergeIndex,
    extra: Mapping[str, bytes],
    mode: int = REGULAR,
) -> None:
    """Add files, unless their paths are taken."""
    for path, data in sorted(extra.items()):
        if path not in index.files:
            index.set(path, _blob(backend, path, data, mode))


def _can_settle(index: MergeIndex, path: str, sides: ConflictSides) -> bool:
    """Whether a conflict is about files and links alone, and no side has a folder at its path."""
    modes = {blob.mode for blob in sides if blob}
    if not (sides.one or sides.other) or not modes.issubset((*PLAIN, LINK)):
        return False
    return not any(known.startswith(f"{path}/") for known in index.files)


def _resolve_both_changed(
    backend: GitBackend, index: MergeIndex, path: str, sides: ConflictSides
) -> None:
    """Settle a file of the person's that both sides changed: joined where that is possible, else
    both stay.
    """
    blobs = [blob for blob in (sides.one, sides.other) if blob]
    if len(blobs) == 1:  # removed on one side, changed on the other
        index.set(path, blobs[0])
    elif any(blob.mode == LINK for blob in blobs):
        _settle_links(backend, index, path, blobs)
    else:
        _settle_texts(backend, index, path, sides.base, blobs)


def _settle_texts(
    backend: GitBackend,
    index: MergeIndex,
    path: str,
    base: Blob | None,
    blobs: Sequence[Blob],
) -> None:
    """Join two versions of a file, what cannot be joined beside it."""
    before = backend.read(base, path) if base else None
    data, extra = merge_versions(
        path, before, *(backend.read(blob, path) for blob in blobs)
    )
    mode = max(blob.mode for blob in blobs)  # a program stays one
    index.set(path, _blob(backend, path, data, mode))
    _add_files(backend, index, extra, mode)


def _settle_links(
    backend: GitBackend, index: MergeIndex, path: str, blobs: Sequence[Blob]
) -> None:
    """Settle a path that is a link on one side: a file comes before it, of two links the one with
    the larger SHA-256; the other stands beside it.
    """
    texts = {blob: backend.read(blob, path) for blob in blobs}
    loser, winner = sorted(
        blobs,
        key=lambda blob: (blob.mode != LINK, sha256(texts[blob]).digest(), blob.mode),
    )
    index.set(path, winner)
    if (place := beside_path(path, texts[loser])) not in index.files:
        index.set(place, loser)


def _set_apart(backend: GitBackend, index: MergeIndex, added: set[str]) -> None:
    """Rename what would be one file with another on some systems."""
    if not added:
        return
    ours = list(filter(is_ours, index.files))
    names = distinct_names(
        ours, added, lambda path: backend.read(index.files[path], path)
    )
    for path, name in names.items():
        blob = index.files[path]
        index.set(path, None)
        index.set(name, blob)


def apply_tombstones(
    backend: GitBackend,
    index: MergeIndex,
    commits: Iterable[str],
    before: Mapping[str, Blob | None],
) -> None:
    """Take out of a merge what either of two commits has forgotten: a tombstone beats every edit.

    Also where the other side took the id out: then ``before``, what both had at the paths that
    changed, says which memory stood there; and where nobody can read it any more. A file whose name
    does not tell its id is left to the next commit, which looks at the files on disk.
    """
    ids = _forgotten_ids(backend, index, commits)
    digits = {short_id(memory_id) for memory_id in ids}
    for path, blob in list(index.files.items()) if ids else ():
        if digits_of(path) in digits and is_memory(path):
            memory_id = _id_at(backend, path, blob)
            if memory_id == location_of(path).id:  # it states none
                memory_id = _id_at(backend, path, before.get(path)) or memory_id
            if memory_id in ("", *ids):  # of what cannot be read the name tells enough
                index.set(path, None)


def _forgotten_ids(
    backend: GitBackend, index: MergeIndex, commits: Iterable[str]
) -> set[str]:
    """The memories with a tombstone in a commit that the merge keeps."""
    ids: set[str] = set()
    for commit in commits:
        ids |= set(map(tombstones.id_of, backend.tracked(commit)))
    return {id_ for id_ in ids - {""} if tombstones.path_of(id_) in index.files}


def _id_at(backend: GitBackend, path: str, blob: Blob | None) -> str:
    """The id of the memory at a path, "" for none."""
    if blob is None or blob.mode not in PLAIN:
        return ""
    data = backend.read(blob, path)
    return id_of(path, data) if len(data) <= MAX_FILE else ""
