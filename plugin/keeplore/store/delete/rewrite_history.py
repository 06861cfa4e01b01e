"""Finding a text in all of history, and writing history anew without it.

A commit is written anew only where it held the text or comes after one that did. Its author, dates,
message and every other line stay byte for byte, except for a signature, which would be wrong. So
each machine that takes the same text out of the same history gets the same commit ids, and nothing
has to be agreed upon.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import pygit2
from pygit2.enums import FileMode, ObjectType

from keeplore.errors import KeeploreError, RepositoryError
from keeplore.memory import as_memory
from keeplore.memory.frontmatter import MAX_FILE
from keeplore.memory.location import digits_of
from keeplore.memory.names import short_id
from keeplore.store.delete.mentions import EVERYTHING, without_mentions
from keeplore.store.git.git_command import output, run
from keeplore.store.git.inspection import introduced_blobs
from keeplore.store.paths import is_memory

_DROPPED = (b"gpgsig", b"gpgsig-sha256", b"mergetag")
_SIGNED_TAG = (
    b"-----BEGIN PGP SIGNATURE-----",
    b"-----BEGIN SSH SIGNATURE-----",
    b"-----BEGIN SIGNED MESSAGE-----",
)


class TextOccurrence(NamedTuple):
    """A commit that brought a version of a memory's text, and where; or another file that tells of
    it, with what is left of that.
    """

    commit: str
    blob: str
    path: str
    memory_id: str  # "" for another file
    rest: bytes = b""


# blob, path → its bytes; None for what is no file or too large
Reader = Callable[[str, str], bytes | None]


def library_reader(repository: pygit2.Repository) -> Reader:
    def read(blob: str, _path: str) -> bytes | None:
        found = repository.get(blob)
        return (
            found.data
            if isinstance(found, pygit2.Blob) and found.size <= MAX_FILE
            else None
        )

    return read


def git_reader(root: Path) -> Reader:
    """Like ``library_reader``, by the user's git, which decodes what the person's filters have
    encoded.
    """

    def read(blob: str, path: str) -> bytes | None:
        size = run(root, "cat-file -s", blob).text
        if not size.isdecimal() or int(size) > MAX_FILE:
            return None
        done = run(root, "cat-file --filters", f"--path={path}", blob)
        return None if done.code else done.out

    return read


def find(
    root: Path,
    read: Reader,
    wanted: Mapping[str, Collection[str]],
    revisions: Sequence[str] = EVERYTHING,
) -> list[TextOccurrence]:
    """Where the commits have text of memories; ``wanted`` is id → blobs that are said to be such
    text.

    A blob counts only if it reads as that memory somewhere in a memory folder: a tombstone that
    another machine wrote can take away nothing else. It is then found at any path. Older tombstones
    and lines of the audit that tell of such a memory are found too.
    """
    introduced = introduced_blobs(root, *revisions)
    places = dict.fromkeys((blob, path) for _, blob, path in introduced)
    held = _memory_blobs(read, places, wanted)
    mentions = without_mentions(root, places, wanted)
    found = []
    for commit, blob, path in introduced:
        if blob in held:
            found.append(TextOccurrence(commit, blob, path, held[blob]))
        elif (blob, path) in mentions:
            found.append(TextOccurrence(commit, blob, path, "", mentions[blob, path]))
    return found


def _memory_blobs(
    read: Reader,
    places: Iterable[tuple[str, str]],
    wanted: Mapping[str, Collection[str]],
) -> dict[str, str]:
    """The blobs that are text of a memory, with its id."""
    said: set[str] = set().union(*wanted.values())
    held: dict[str, str] = {}
    for blob, path in places:
        if blob in held or not is_memory(path):
            continue
        is_likely = blob in said or not digits_of(path) or named_by(path, wanted)
        if is_likely and (id_ := held_at(read, blob, path, wanted)):
            held[blob] = id_
    return held


def held_at(read: Reader, blob: str, path: str, ids: Collection[str]) -> str:
    """The memory whose text a blob at a path is; "" for none of these."""
    data = read(blob, path)
    if data is None or not is_memory(path):
        return ""
    by_name = named_by(path, ids)
    try:
        memory_id = as_memory(data.decode(), path).id
    except (KeeploreError, UnicodeDecodeError):
        return by_name
    if memory_id in ids:
        return memory_id
    # a version whose front matter is broken, by conflict markers for one: its name and its words
    # say whose it is
    return by_name if by_name and by_name.encode() in data else ""


def named_by(path: str, ids: Iterable[str]) -> str:
    """The memory after which a file is named, also one that a merge put beside; "" for none."""
    name = path.rpartition("/")[2].lower()
    return next((id_ for id_ in ids if f"-{short_id(id_)}." in name or id_ in name), "")


def after(root: Path, commits: Collection[str]) -> list[str]:
    """These commits and all that come after them, parents first."""
    command = "rev-list --parents --topo-order --reverse"
    environment = {"GIT_NO_REPLACE_OBJECTS": "1"}
    changed: dict[str, None] = {}
    for line in output(
        root, command, *EVERYTHING, environment=environment
    ).text.splitlines():
        commit, *parents = line.split(" ")
        if commit in commits or any(parent in changed for parent in parents):
            changed[commit] = None
    return list(changed)


def signed_commits(repository: pygit2.Repository, commits: Iterable[str]) -> list[str]:
    headers = {
        commit: repository.read(commit)[1].partition(b"\n\n")[0] for commit in commits
    }
    return [commit for commit, header in headers.items() if b"\ngpgsig" in header]


def is_signed_tag(repository: pygit2.Repository, object_id: str) -> bool:
    kind, data = repository.read(object_id)
    return kind == ObjectType.TAG and any(mark in data for mark in _SIGNED_TAG)


@dataclass(slots=True)
class _RemovalTree:
    """What has to go below a folder."""

    # file name → id of a blob → that of what is left of it, "" for nothing
    blobs: dict[str, dict[str, str]] = field(default_factory=dict)
    folders: dict[str, _RemovalTree] = field(default_factory=dict)


class HistoryRewriter:
    """Writes commits and trees without the texts. ``commits`` is old id → new id of those that
    changed.
    """

    def __init__(
        self, repository: pygit2.Repository, texts: Iterable[TextOccurrence]
    ) -> None:
        self.commits: dict[str, str] = {}
        self._repository = repository
        self._top = _RemovalTree()
        self._trees: dict[tuple[str, int], str] = {}
        self._blobs = set()
        for text in texts:
            self._blobs.add(text.blob)
            self._add(text)

    def rewrite(self, commits: Iterable[str]) -> None:
        """Write the commits anew, parents first; all that come after one of them must be among
        them.
        """
        for commit in commits:
            _, data = self._repository.read(commit)
            new = str(self._repository.write(ObjectType.COMMIT, self._commit(data)))
            if new != commit:
                self.commits[commit] = new

    def target(self, object_id: str) -> str:
        """What a ref to this object has to point to now, "" where nothing is left."""
        kind, data = self._repository.read(object_id)
        if kind == ObjectType.COMMIT:
            return self.commits.get(object_id, object_id)
        if kind == ObjectType.TAG:
            old = data[: data.index(b"\n")].removeprefix(b"object ").decode()
            new = self.target(old)
            return self._tag(object_id, data, old, new) if new else ""
        if kind == ObjectType.TREE:
            return "" if self._holds_blob(object_id) else object_id
        return "" if object_id in self._blobs else object_id

    def _add(self, text: TextOccurrence) -> None:
        try:
            text.path.encode()
        except UnicodeEncodeError as e:
            raise RepositoryError(
                f"the text is also in a file whose name is not UTF-8: {text.path!r}",
                "Use `git filter-repo` there",
            ) from e
        *folders, name = text.path.split("/")
        node = self._top
        for folder in folders:
            node = node.folders.setdefault(folder, _RemovalTree())
        rest = str(self._repository.create_blob(text.rest)) if text.rest else ""
        node.blobs.setdefault(name, {})[text.blob] = rest

    def _commit(self, data: bytes) -> bytes:
        header, _, message = data.partition(b"\n\n")
        lines: list[bytes] = []
        is_dropped = False
        for line in header.split(b"\n"):
            key, _, value = line.partition(b" ")
            new = (
                self._header_line(key, value.decode())
                if key in (b"tree", b"parent")
                else line
            )
            if key:  # else it is a value's next line
                is_dropped = key in _DROPPED or (key == b"parent" and new in lines)
            if not is_dropped:
                lines.append(new)
        return b"\n".join(lines) + b"\n\n" + message

    def _header_line(self, key: bytes, old: str) -> bytes:
        new = self.commits.get(old, old) if key == b"parent" else self._commit_tree(old)
        return key + b" " + new.encode()

    def _commit_tree(self, tree: str) -> str:
        """The new tree of a commit's tree; one that holds nothing where all goes."""
        return self._tree(tree, self._top) or str(
            self._repository.TreeBuilder().write()
        )

    def _tree(self, tree: str, node: _RemovalTree) -> str:
        """The tree without the texts, "" where nothing is left in it."""
        key = (tree, id(node))
        if key not in self._trees:
            self._trees[key] = self._cleaned_tree(tree, node)
        return self._trees[key]

    def _cleaned_tree(self, tree_id: str, node: _RemovalTree) -> str:
        tree = self._repository[tree_id].peel(pygit2.Tree)
        changes = self._changes(tree, node)
        if not changes:
            return tree_id
        builder = self._repository.TreeBuilder(tree)
        for name, new in changes.items():
            if new:
                builder.insert(name, pygit2.Oid(hex=new), tree[name].filemode)
            else:
                builder.remove(name)
        return str(builder.write()) if len(builder) else ""

    def _changes(self, tree: pygit2.Tree, node: _RemovalTree) -> dict[str, str]:
        """Name → its new object, "" where it goes, for the entries that have to change."""
        changes: dict[str, str] = {}
        for name, blobs in node.blobs.items():
            if name in tree and str(tree[name].id) in blobs:
                changes[name] = blobs[str(tree[name].id)]
        for name, below in node.folders.items():
            if name in tree and tree[name].filemode == FileMode.TREE:
                old = str(tree[name].id)
                if (new := self._tree(old, below)) != old:
                    changes[name] = new
        return changes

    def _holds_blob(self, tree_id: str) -> bool:
        return any(
            str(entry.id) in self._blobs
            or (entry.filemode == FileMode.TREE and self._holds_blob(str(entry.id)))
            for entry in self._repository[tree_id].peel(pygit2.Tree)
        )

    def _tag(self, tag_id: str, data: bytes, old: str, new: str) -> str:
        if new == old:
            return tag_id
        header, separator, message = data.partition(b"\n\n")
        ends = [at for mark in _SIGNED_TAG if (at := message.find(mark)) >= 0]
        header = header.replace(old.encode(), new.encode(), 1)
        changed = header + separator + message[: min(ends, default=None)]
        return str(self._repository.write(ObjectType.TAG, changed))
