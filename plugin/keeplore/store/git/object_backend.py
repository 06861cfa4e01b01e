"""The two ways to a repository's objects, as one interface: libgit2, and the user's git where
libgit2 cannot.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from keeplore.store.files import FileState
from keeplore.store.git.repository_state import Directories
from keeplore.store.git.signature import Signature

REGULAR = 0o100644
EXECUTABLE = 0o100755
PLAIN = (REGULAR, EXECUTABLE)
LINK = 0o120000  # a symbolic one


class Blob(NamedTuple):
    """A regular file as git holds it."""

    id: str  # hexadecimal
    mode: int = REGULAR


Changes = Mapping[str, Blob | None]  # path → its new content, None where it is removed
Sides = tuple[
    Blob | None, Blob | None, Blob | None
]  # of a conflict: what both came from, and what each has


@dataclass(frozen=True, slots=True)
class PathChange:
    """A path's regular file, link or submodule in two commits."""

    before: Blob | None
    after: Blob | None

    @property
    def is_plain(self) -> bool:
        """Whether only regular files are concerned."""
        return all(blob is None or blob.mode in PLAIN for blob in (self.before, self.after))


Difference = Mapping[str, PathChange]


class Moved(Exception):  # a signal between our own functions
    """Something changed between looking and acting: look again."""


class Locked(Exception):  # as above
    """Someone else holds the ref's lock."""


class Unsupported(Exception):  # as above
    """libgit2 cannot do this in this repository, the user's git can."""


@dataclass(slots=True)
class CycleCache:
    """What was computed in earlier cycles and is still true: ids by what ``lstat`` says, contents
    by tree id.

    ``machine`` is named by the commits that are made, "" for none.
    """

    machine: str = ""
    files: dict[tuple[str, str], tuple[FileState, str]] = field(
        default_factory=dict
    )  # (backend, path) → blob id
    trees: dict[str, Any] = field(default_factory=dict)
    ids: dict[str, tuple[FileState, str]] = field(
        default_factory=dict
    )  # path → the id that the memory there has
    examples: dict[str, FileState] = field(
        default_factory=dict
    )  # texts with marks of conflicts that no merge has left
    logs: dict[str, tuple[int, int, int]] = field(
        default_factory=dict
    )  # ref → what `stat` said of its log


class MergeIndex(ABC):
    """The files of a merge in the making: what git joined, and the conflicts that it left."""

    def __init__(self, files: dict[str, Blob], conflicts: Mapping[str, Sides]) -> None:
        self.files = files
        self.conflicts = dict(conflicts)
        self._changed: dict[str, Blob | None] = {}

    def set(self, path: str, blob: Blob | None) -> None:
        """Decide what a path holds; a conflict there is settled."""
        self.conflicts.pop(path, None)
        self._changed[path] = blob
        if blob is None:
            self.files.pop(path, None)
        else:
            self.files[path] = blob

    @abstractmethod
    def tree(self) -> str:
        """Write it; no conflict may be left."""


class Backend(Protocol):
    name: str
    root: Path
    places: Directories

    def ref(self) -> str:
        """The full name of what HEAD points to, "" where it is detached."""

    def tip(self, ref: str) -> str:
        """The commit of a ref, "" where it has none."""

    def tracked(self, commit: str, extra: Collection[str] = ()) -> dict[str, Blob]:
        """The regular files of ours in a commit, and those of ``extra``."""

    def hashes(self, paths: Sequence[str]) -> dict[str, str]:
        """The blob ids that the files on disk would get; nothing is written. A file that is gone is
        left out.
        """

    def keep(self, paths: Sequence[str]) -> dict[str, str]:
        """The same, and the blobs are written."""

    def has_filter(self, paths: Iterable[str], /) -> bool:
        """Whether a program of the user's must turn one of the files into what git keeps, and this
        cannot run it.
        """

    def ignored(self, paths: Sequence[str]) -> set[str]:
        """Which of the paths git is told to ignore."""

    def left_out(self, paths: Sequence[str], /) -> set[str]:
        """Which of the paths are absent from disk because the user checked out a part of the
        tree.
        """

    def commit(
        self, parents: Sequence[str], changes: Changes, message: str, person: Signature
    ) -> str:
        """Write the tree of the first parent with the changes, and a commit of it. No ref moves."""

    def commit_of(self, tree: str, parents: Sequence[str], message: str, person: Signature) -> str:
        """A commit object of a tree."""

    def changes(self, old: str, new: str) -> dict[str, PathChange]:
        """What differs between two commits or trees; ``old`` may be "" for nothing."""

    def read(self, blob: Blob, path: str, /) -> bytes:
        """The text of a file that git has, as it would be on disk at the path."""

    def write(self, data: bytes, path: str, /) -> str:
        """The id of the blob for a file with this text at the path; it is there then."""

    def merge_index(self, one: str, other: str) -> MergeIndex:
        """What git's merge makes of two commits; where it renames nothing, no file gets lines of
        another.
        """

    def move(self, ref: str, new: str, old: str, message: str) -> None:
        """Set a ref if it is still at ``old``. Raises Moved or Locked."""

    def has_unmerged(self, index: Path) -> bool:
        """Whether an index file holds conflicts that nobody has resolved yet."""
