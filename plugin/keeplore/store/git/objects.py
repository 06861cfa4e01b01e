"""What git holds, as values: blobs, changes between commits, a merge in the making."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from keeplore.store.files import FileState
from keeplore.store.results import Scan, no_secret

REGULAR = 0o100644
EXECUTABLE = 0o100755
PLAIN = (REGULAR, EXECUTABLE)
LINK = 0o120000  # a symbolic one


class Blob(NamedTuple):
    """A regular file as git holds it."""

    id: str  # hexadecimal
    mode: int = REGULAR


def blob_id_at(files: Mapping[str, Blob], path: str) -> str:
    """The id of the blob at a path, "" where there is none."""
    return files[path].id if path in files else ""


Changes = Mapping[str, Blob | None]  # path → its new content, None where it is removed


class ConflictSides(NamedTuple):
    """The blobs of a conflict at its path, each None where there is none."""

    base: Blob | None = None  # what both sides came from
    one: Blob | None = None
    other: Blob | None = None


@dataclass(frozen=True, slots=True)
class PathChange:
    """A path's regular file, link or submodule in two commits."""

    before: Blob | None
    after: Blob | None

    @property
    def ids(self) -> tuple[str, str]:
        """The ids before and after, "" for none."""
        before, after = self.before, self.after
        return before.id if before else "", after.id if after else ""

    @property
    def is_plain(self) -> bool:
        """Whether only regular files are concerned."""
        return all(
            blob is None or blob.mode in PLAIN for blob in (self.before, self.after)
        )


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

    ``machine`` is named by the commits that are made, "" for none; ``scan`` looks for secrets in
    what others wrote.
    """

    machine: str
    scan: Scan = no_secret
    # (backend, path) → blob id
    files: dict[tuple[str, str], tuple[FileState, str]] = field(default_factory=dict)
    trees: dict[str, Any] = field(default_factory=dict)
    # path → the id that the memory there has
    ids: dict[str, tuple[FileState, str]] = field(default_factory=dict)
    # path → what this process wrote there, without secrets
    clean: dict[str, FileState] = field(default_factory=dict)
    # texts with marks of conflicts that no merge has left
    examples: dict[str, FileState] = field(default_factory=dict)
    # ref → what `stat` said of its log
    logs: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    # path → what else this process wrote there, None where it removed the file
    own: dict[str, FileState | None] = field(default_factory=dict)
    # the stamp of the index that was looked through
    index: str = ""

    def note_clean(self, path: str, file: FileState | None) -> None:
        """Note what this process has just written without secrets."""
        self.own.pop(path, None)
        if file:
            self.clean[path] = file

    def is_own(self, path: str, file: FileState | None) -> bool:
        """Whether this process made a file what it is, or removed it."""
        known: Mapping[str, FileState | None]
        known = self.own if path in self.own else self.clean
        return path in known and known[path] == file


class MergeIndex(ABC):
    """The files of a merge in the making: what git joined, and the conflicts that it left."""

    def __init__(
        self, files: dict[str, Blob], conflicts: Mapping[str, ConflictSides]
    ) -> None:
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
