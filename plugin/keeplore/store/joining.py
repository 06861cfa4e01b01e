"""Two histories as one tree: our files by the plan, the person's by git, and no conflict left where both can stay."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

import pygit2
from pygit2.enums import FileMode

from keeplore.memory.merging import beside_path
from keeplore.store.backend import EXECUTABLE, LINK, REGULAR, Blob
from keeplore.store.differences import Change, difference
from keeplore.store.git import run
from keeplore.store.paths import is_ours
from keeplore.store.plan import Content, Plan, apart, merged
from keeplore.store.settling import forget_in

MAX_BASES = 8  # of a history in which machines merged crosswise; more are as good as none
MAX_NESTING = 4
_PLAIN = (REGULAR, EXECUTABLE)


def joined_tree(root: Path, repository: pygit2.Repository, one: str, other: str) -> tuple[str, set[str]]:
    """The tree of a merge, and the paths whose conflict only a person can resolve (links, submodules)."""
    index = _joined(root, repository, one, other, 0)
    left = {entry.path for conflict in index.conflicts or () for entry in conflict if entry}
    return ("" if left else str(index.write_tree(repository))), left


def _joined(root: Path, repository: pygit2.Repository, one: str, other: str, depth: int) -> pygit2.Index:
    # renames are followed by ids, and git's guesses would bring lines of one memory into another
    index = repository.merge_commits(one, other, flags=pygit2.enums.MergeFlag(0))
    base = _base(root, repository, one, other, depth)
    sides = [_ours(difference(repository, base, side)) for side in (one, other)]

    def load(blob: Blob) -> bytes:
        return bytes(repository[blob.id].peel(pygit2.Blob).data)

    plan = Plan(sides[0], sides[1], load)
    # removals first: a file may have to make room for a folder
    for path, content in sorted(plan.files.items(), key=lambda item: (item[1] is not None, item[0])):
        _set(repository, index, path, content)
    _add(repository, index, plan.beside)
    _settle_others(repository, index)
    forget_in(repository, index, (one, other), base)
    added = {path for side in sides for path, change in side.items() if change.before is None}
    _set_apart(repository, index, added)
    return index


def _base(root: Path, repository: pygit2.Repository, one: str, other: str, depth: int) -> str:
    """The tree that both sides were made of; of several such commits their merge, as git's own strategy does it.

    "" where two workspaces began apart.
    """
    bases = sorted(run(root, "merge-base", "--all", one, other).text.split())[:MAX_BASES]
    if not bases:
        return ""
    tree = str(repository[bases[0]].peel(pygit2.Tree).id)
    if len(bases) == 1 or depth == MAX_NESTING:
        return tree
    commit = bases[0]
    for following in bases[1:]:
        index = _joined(root, repository, commit, following, depth + 1)
        for conflict in list(index.conflicts or ()):
            _drop_conflict(index, {entry.path for entry in conflict if entry})
        tree = str(index.write_tree(repository))
        commit = _virtual(repository, tree, (commit, following))
    return tree


def _virtual(repository: pygit2.Repository, tree: str, parents: tuple[str, str]) -> str:
    """A commit that no ref will name, made only to be merged further; its bytes are the same on every machine."""
    nobody = pygit2.Signature("keeplore", "keeplore@localhost", 0, 0)
    return str(repository.create_commit(None, nobody, nobody, "merge base", tree, list(parents)))


def _ours(changes: dict[str, Change]) -> dict[str, Change]:
    return {path: change for path, change in changes.items() if is_ours(path) and change.is_plain}


def _set(repository: pygit2.Repository, index: pygit2.Index, path: str, content: Content, mode: int = REGULAR) -> None:
    _drop_conflict(index, {path})
    if content is None:
        if path in index:
            index.remove(path)
        return
    blob = Blob(str(repository.create_blob(content)), mode) if isinstance(content, bytes) else content
    index.add(pygit2.IndexEntry(path, pygit2.Oid(hex=blob.id), FileMode(blob.mode)))


def _add(repository: pygit2.Repository, index: pygit2.Index, beside: Mapping[str, bytes], mode: int = REGULAR) -> None:
    for path, data in sorted(beside.items()):
        if path not in index:
            _set(repository, index, path, data, mode)


def _settle_others(repository: pygit2.Repository, index: pygit2.Index) -> None:
    """Files of the person's that both sides changed: joined where that is possible, else both stay."""
    for base, one, other in list(index.conflicts or ()):
        held = [entry for entry in (one, other) if entry]
        if not held or any(int(entry.mode) not in (*_PLAIN, LINK) for entry in (base, one, other) if entry):
            continue
        if len({entry.path for entry in (base, one, other) if entry}) > 1:
            continue
        path = held[0].path
        if len(held) == 1:  # removed on one side, changed on the other
            _set(repository, index, path, Blob(str(held[0].id), int(held[0].mode)))
            continue
        if any(int(entry.mode) == LINK for entry in held):
            _settle_links(repository, index, path, held)
            continue
        texts = [repository[entry.id].peel(pygit2.Blob).data for entry in (base, *held) if entry]
        data, beside = merged(path, texts[0] if base else None, *texts[-2:])
        mode = max(int(entry.mode) for entry in held)  # a program stays one
        _set(repository, index, path, data, mode)
        _add(repository, index, beside, mode)


def _settle_links(repository: pygit2.Repository, index: pygit2.Index, path: str, held: list[pygit2.IndexEntry]) -> None:
    """A file comes before a link, of two links the one with the larger SHA-256; the other stands beside it."""
    ends = []
    for entry in held:
        data = bytes(repository[entry.id].peel(pygit2.Blob).data)
        ends.append((int(entry.mode) != LINK, sha256(data).digest(), int(entry.mode), data))
    *others, (_, _, mode, data) = sorted(ends)
    _set(repository, index, path, data, mode)
    for _, _, mode, data in others:
        _add(repository, index, {beside_path(path, data): data}, mode)


def _set_apart(repository: pygit2.Repository, index: pygit2.Index, added: set[str]) -> None:
    def load(path: str) -> bytes:
        return bytes(repository[index[path].id].peel(pygit2.Blob).data)

    ours = [entry.path for entry in index if is_ours(entry.path)] if added else []
    for path, name in apart(ours, added, load).items():
        entry = index[path]
        index.remove(path)
        index.add(pygit2.IndexEntry(name, entry.id, entry.mode))


def _drop_conflict(index: pygit2.Index, paths: set[str]) -> None:
    for path in paths:
        if index.conflicts is not None and path in index.conflicts:
            del index.conflicts[path]
