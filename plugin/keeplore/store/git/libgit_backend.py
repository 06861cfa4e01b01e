"""Objects, refs and index by libgit2: no process, and a commit costs the depth of its paths, not
the tree's size.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pygit2
from pygit2.enums import FileMode, MergeFlag, ObjectType, Option, RepositoryOpenFlag

from keeplore.errors import RepositoryError
from keeplore.store.git.git_backend import GitBackend
from keeplore.store.git.git_command import git_in
from keeplore.store.git.objects import (
    PLAIN,
    Blob,
    Changes,
    ConflictSides,
    CycleCache,
    Locked,
    MergeIndex,
    Moved,
    PathChange,
    Unsupported,
)
from keeplore.store.git.signature import Signature, with_machine
from keeplore.store.paths import FOLDERS, is_ours, may_hold_ours
from keeplore.store.repository_state import Directories

# off by default, as in git
pygit2.option(Option.ENABLE_FSYNC_GITDIR, True)  # noqa: FBT003  # its own signature
_BEYOND = re.compile(
    r"core\.sparsecheckout|extensions\.(?:partialclone|refstorage|compatobjectformat)"
    r"|remote\..+\.promisor"
)
FAILURES = (Unsupported, pygit2.GitError)  # where the user's git takes over


@contextlib.contextmanager
def synced_together() -> Iterator[None]:
    """Write many objects without syncing each; all are durable when the context ends, before a ref
    may name them.

    The setting is the process's: what other threads write meanwhile is durable a moment later as
    well.
    """
    pygit2.option(Option.ENABLE_FSYNC_GITDIR, False)  # noqa: FBT003  # its own signature
    try:
        yield
    finally:
        pygit2.option(Option.ENABLE_FSYNC_GITDIR, True)  # noqa: FBT003  # as above
        os.sync()


def open_repository(root: Path) -> pygit2.Repository:
    """A fresh handle: one that is kept does not see what git's own commands pack away. Raises
    Unsupported.
    """
    try:
        repository = pygit2.Repository(str(root), RepositoryOpenFlag.NO_SEARCH)
        is_beyond = any(
            _BEYOND.fullmatch(entry.name) and entry.value not in ("false", "files")
            for entry in repository.config
        )
    except (pygit2.GitError, KeyError) as e:
        raise Unsupported(str(e)) from e
    if is_beyond:
        raise Unsupported("sparse or partial")
    return repository


def put_settings(directory: Path, wanted: Mapping[str, str]) -> None:
    """Have these settings in the configuration of a git directory. Raises RepositoryError."""
    place = directory / "config"
    try:
        config = pygit2.Config(str(place))
        for key, value in wanted.items():
            if key not in config or config[key] != value:
                config[key] = value
    except (pygit2.GitError, OSError) as e:
        raise RepositoryError(
            f"{place} cannot be changed: {e}", f"Run `{git_in(directory)} config -l`"
        ) from e


class LibgitBackend(GitBackend):
    """A repository by libgit2. Raises Unsupported where libgit2 cannot read the repository."""

    name = "libgit2"

    def __init__(self, root: Path, places: Directories, cache: CycleCache) -> None:
        self.root = root
        self.places = places
        self.repository = open_repository(root)
        self._cache = cache

    def ref(self) -> str:
        head = self.repository.lookup_reference("HEAD").target
        return head if isinstance(head, str) else ""

    def tip(self, ref: str) -> str:
        try:
            return str(self.repository.lookup_reference(ref).peel(pygit2.Commit).id)
        except KeyError:
            return ""

    def tracked(self, commit: str, extra: Collection[str] = ()) -> dict[str, Blob]:
        """The files of memory in a commit, and the ``extra`` paths that it has."""
        if not commit:
            return {}
        tree = self._commit(commit).tree
        found: dict[str, Blob] = {}
        kept: dict[str, Any] = {}
        for folder in FOLDERS:
            if folder in tree and tree[folder].filemode == FileMode.TREE:
                self._collect(str(tree[folder].id), folder, found, kept)
        self._cache.trees = kept
        found |= {
            path: Blob(str(tree[path].id), int(tree[path].filemode))
            for path in extra
            if path in tree
        }
        return found

    def hashes(self, paths: Sequence[str]) -> dict[str, str]:
        found = {}
        for path in paths:
            with contextlib.suppress(OSError, KeyError):  # gone or unreadable by now
                found[path] = str(
                    self.repository.hashfile(
                        str(self.root / path), ObjectType.BLOB, path
                    )
                )
        return found

    def keep(self, paths: Sequence[str]) -> dict[str, str]:
        try:
            return {
                path: str(self.repository.create_blob_fromworkdir(path))
                for path in paths
            }
        except (OSError, KeyError) as e:
            raise Moved from e

    def has_filter(self, paths: Iterable[str]) -> bool:
        return any(
            isinstance(self.repository.get_attr(path, "filter"), str) for path in paths
        )

    def ignored(self, paths: Sequence[str]) -> set[str]:
        return {path for path in paths if self.repository.path_is_ignored(path)}

    def left_out(self, _paths: Sequence[str]) -> set[str]:
        return set()  # open_repository refuses partial checkouts

    def tree(self, base: str, changes: Changes) -> str:
        old = self._commit(base).tree if base else None
        return str(
            self._tree(old, _nested(changes)) or self.repository.TreeBuilder().write()
        )

    def commit_of(
        self, tree: str, parents: Sequence[str], message: str, person: Signature
    ) -> str:
        if person.is_signing:
            return super().commit_of(tree, parents, message, person)
        message = with_machine(message, self._cache.machine)
        author = pygit2.Signature(person.name, person.email)
        create = self.repository.create_commit
        return str(create(None, author, author, message, tree, list(parents)))

    def changes(self, old: str, new: str) -> dict[str, PathChange]:
        target = self._tree_of(new)
        if not old:
            return _changes(target.diff_to_tree(swap=True))
        return _changes(self._tree_of(old).diff_to_tree(target))

    # what a filter turns into another text is git's, so that no path counts here
    def read(self, blob: Blob, _path: str) -> bytes:
        return bytes(self.repository[blob.id].peel(pygit2.Blob).data)

    def write(self, data: bytes, _path: str) -> str:
        return str(self.repository.create_blob(data))

    def merge_index(self, one: str, other: str) -> MergeIndex:
        return _LibraryMergeIndex(
            self.repository,
            self.repository.merge_commits(one, other, flags=MergeFlag(0)),
        )

    def move(self, ref: str, new: str, old: str, message: str) -> None:
        try:
            if not old:
                target = pygit2.Oid(hex=new)
                create = self.repository.create_reference_direct
                create(ref, target, False, message)  # noqa: FBT003  # its signature
                return
            reference = self.repository.lookup_reference(ref)
            if str(reference.target) != old:
                raise Moved
            reference.set_target(new, message)
        except (pygit2.GitError, OSError, ValueError, KeyError) as e:
            # libgit2 tells a held lock and a ref that moved apart by words alone
            kind = Locked if "lock" in str(e) else Moved
            raise kind(str(e)) from e

    def has_unmerged(self, index: Path) -> bool:
        return self.index(index).conflicts is not None

    def staged(self, commit: str, index: Path) -> dict[str, PathChange]:
        entries = self.index(index)
        if not commit:
            blobs = {entry.path: _blob(entry) for entry in entries}
            changes = {path: PathChange(None, blob) for path, blob in blobs.items()}
        else:
            changes = _changes(self._tree_of(commit).diff_to_index(entries))
        return {path: change for path, change in changes.items() if is_ours(path)}

    def index(self, place: Path) -> pygit2.Index:
        """An index file as it is now; GitError for a split or a sparse one."""
        index = _IndexFile(str(place))
        index.read()
        return index

    def _tree_of(self, name: str) -> pygit2.Tree:
        """The tree of a commit, or a tree's own."""
        return self.repository[name].peel(pygit2.Tree)

    def _commit(self, commit: str) -> pygit2.Commit:
        return self.repository[commit].peel(pygit2.Commit)

    def _collect(
        self, tree: str, folder: str, blobs: dict[str, Blob], kept: dict[str, Any]
    ) -> None:
        kept[tree] = entries = self._cache.trees.get(tree) or self._entries(tree)
        for name, id_, mode in entries:
            path = f"{folder}/{name}"
            if mode == FileMode.TREE:
                if may_hold_ours(path):
                    self._collect(id_, path, blobs, kept)
            elif mode in PLAIN and is_ours(path):
                blobs[path] = Blob(id_, mode)

    def _entries(self, tree: str) -> list[tuple[str, str, int]]:
        """Name, id and mode of everything in a tree."""
        listed = self.repository[tree].peel(pygit2.Tree)
        return [
            (str(entry.name), str(entry.id), int(entry.filemode)) for entry in listed
        ]

    def _tree(
        self, base: pygit2.Tree | None, changes: dict[str, Any]
    ) -> pygit2.Oid | None:
        """The tree with nested changes applied, None where nothing is left in it."""
        new_builder = self.repository.TreeBuilder
        builder = new_builder() if base is None else new_builder(base)
        for name, change in changes.items():
            old = builder.get(name)
            if entry := self._entry(old, change):
                builder.insert(name, *entry)
            elif old is not None:
                builder.remove(name)
        return builder.write() if len(builder) else None

    def _entry(
        self, old: pygit2.Object | None, change: dict[str, Any] | Blob | None
    ) -> tuple[pygit2.Oid, FileMode] | None:
        """Id and mode of what stands in a tree after a change, None for nothing."""
        if isinstance(change, dict):
            tree = self._tree(old if isinstance(old, pygit2.Tree) else None, change)
            return (tree, FileMode.TREE) if tree else None
        return (pygit2.Oid(hex=change.id), FileMode(change.mode)) if change else None


class _IndexFile(pygit2.Index):
    """An index that is also freed without a complaint where its file could not be opened."""

    _index = pygit2.ffi.NULL


class _LibraryMergeIndex(MergeIndex):
    def __init__(self, repository: pygit2.Repository, index: pygit2.Index) -> None:
        conflicts = {}
        for sides in index.conflicts or ():
            path = next(entry.path for entry in sides if entry)
            conflicts[path] = ConflictSides(*map(_blob, sides))
        files = {entry.path: Blob(str(entry.id), int(entry.mode)) for entry in index}
        super().__init__(files, conflicts)
        self._repository = repository
        self._index = index

    def tree(self) -> str:
        conflicts = self._index.conflicts
        for path in self._changed if conflicts else ():
            if path in conflicts:
                del conflicts[path]
        # removals first: a file may have to make room for a folder
        for path, blob in sorted(
            self._changed.items(), key=lambda item: item[1] is not None
        ):
            if blob is not None:
                entry = pygit2.IndexEntry(
                    path, pygit2.Oid(hex=blob.id), FileMode(blob.mode)
                )
                self._index.add(entry)
            elif path in self._index:
                self._index.remove(path)
        return str(self._index.write_tree(self._repository))


def _changes(diff: pygit2.Diff) -> dict[str, PathChange]:
    """What a difference says of each path."""
    found: dict[str, PathChange] = {}
    for delta in diff.deltas:
        path = delta.new_file.path or delta.old_file.path
        # a link in the place of a file comes as a removal and an addition
        known = found.get(path, PathChange(None, None))
        before, after = _blob(delta.old_file), _blob(delta.new_file)
        found[path] = PathChange(known.before or before, known.after or after)
    return found


def _blob(entry: Any) -> Blob | None:
    """The blob of an index entry or of one side of a difference; None where there is none."""
    return Blob(str(entry.id), int(entry.mode)) if entry and entry.mode else None


def _nested(changes: Changes) -> dict[str, Any]:
    """``{"a/b": x}`` → ``{"a": {"b": x}}``; where a file takes a folder's place or the reverse,
    what is new wins.
    """
    nested: dict[str, Any] = {}
    for path, blob in sorted(changes.items(), key=lambda item: item[1] is not None):
        *folders, name = path.split("/")
        level = nested
        for folder in folders:
            if not isinstance(level.get(folder), dict):
                level[folder] = {}
            level = level[folder]
        level[name] = blob
    return nested
