"""What becomes of each file that two sides changed: a pure function of both differences to where they parted.

A memory is followed by its id, not by its path: an edit on one side reaches a file that the other side moved.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping

from keeplore.errors import KeeploreError
from keeplore.memory import as_memory
from keeplore.memory.location import digits_of, location_of
from keeplore.memory.merging import beside_path, merge_bytes, merge_lines, merge_memory, merge_project, merge_text
from keeplore.store import forgotten
from keeplore.store.backend import Blob
from keeplore.store.differences import Difference
from keeplore.store.paths import is_memory

Content = Blob | bytes | None  # a file that git has, a new one, none
Load = Callable[[Blob], bytes]


class Plan:
    """``files`` has every path that a side changed, with its content after the merge.

    The order of the sides does not matter.
    """

    def __init__(self, one: Difference, other: Difference, load: Load) -> None:
        self._load = load
        self._sides = (one, other)
        # most files of a merge are new and have digits of an id that no other path has: those need not be read
        seen = Counter(digits_of(path) for side in self._sides for path in side)
        self._followed = {path for side in self._sides for path in side if seen[digits_of(path) or path] != 1}
        self._added = [self._by_id(side, is_added=True) for side in self._sides]
        self.files: dict[str, Content] = {}
        for path in sorted(one.keys() | other.keys()):
            mine, theirs = one.get(path), other.get(path)
            if mine and theirs and mine.after != theirs.after:
                self._decide(path, mine.before, (mine.after, theirs.after))
            elif change := mine or theirs:
                self.files.setdefault(path, change.after)
        self._join_moved()

    def _decide(self, path: str, base: Blob | None, ends: tuple[Blob | None, Blob | None]) -> None:
        """Both sides changed a path; where one took the file away, the memory may stand elsewhere there."""
        one, other = ends
        if one and other:
            self._put(path, base, one, other)
            return
        kept, side = (one, 1) if one else (other, 0)
        memory_id = self._id(path, base)
        place = self._added[side].get(memory_id) if memory_id else None
        moved = self._sides[side][place].after if place else None
        if kept and place and moved:
            self.files[path] = None
            self._put(place, base, moved, kept)
        else:
            self.files[path] = kept  # an edit beats a removal that left no tombstone

    def _join_moved(self) -> None:
        """One memory at two new places: the archive is its place, else the smaller path."""
        mine, theirs = self._added
        gone = {**self._by_id(self._sides[0], is_added=False), **self._by_id(self._sides[1], is_added=False)}
        for memory_id in sorted(mine.keys() & theirs.keys()):
            here, there = mine[memory_id], theirs[memory_id]
            one, other = self._sides[0][here].after, self._sides[1][there].after
            if here == there or not (one and other):
                continue
            place, left = sorted((here, there), key=lambda path: (not location_of(path).is_archived, path))
            change = next((side[gone[memory_id]] for side in self._sides if gone.get(memory_id) in side), None)
            self.files[left] = None
            self._put(place, change.before if change else None, one, other)

    def _put(self, path: str, base: Blob | None, one: Blob, other: Blob) -> None:
        """The merge of two files at one path, and beside it what could not be joined."""
        if one.id == other.id or (base and base.id in (one.id, other.id)):
            self.files[path] = one if base and base.id == other.id else other
            return
        before = self._load(base) if base else None
        data, beside = merged(path, before, self._load(one), self._load(other))
        self.files |= {path: data, **beside}

    def _by_id(self, side: Difference, *, is_added: bool) -> dict[str, str]:
        """Memory id → where it was added, or removed; of two of one id the smaller path."""
        found: dict[str, str] = {}
        for path in sorted(side.keys() & self._followed):
            blob, absent = (side[path].after, side[path].before)[:: 1 if is_added else -1]
            if blob and absent is None and (memory_id := self._id(path, blob)):
                found.setdefault(memory_id, path)
        return found

    def _id(self, path: str, blob: Blob | None) -> str:
        return id_of(path, self._load(blob)) if blob and is_memory(path) else ""


def merged(path: str, base: bytes | None, one: bytes, other: bytes) -> tuple[bytes, Mapping[str, bytes]]:
    """Two versions of a file as one, by what its path says it is, and the files beside it. Never raises."""
    if stone := forgotten.id_of(path):
        return forgotten.merged_bytes(one, other, stone), {}
    try:
        before = base.decode() if base is not None else None
        first, second = one.decode(), other.decode()
    except UnicodeDecodeError:
        return merge_bytes(path, one, other)
    if "\0" in first or "\0" in second:
        return merge_bytes(path, one, other)
    if path.startswith("audit/"):
        return merge_lines(before or "", first, second).encode(), {}
    if path.startswith("projects/") and path.endswith("/project.json"):
        return merge_project(before, first, second).encode(), {}
    merge = (merge_memory if is_memory(path) else merge_text)(path, before, first, second)
    return merge.text.encode(), {place: text.encode() for place, text in merge.beside.items()}


def apart(paths: Iterable[str], added: Collection[str], load: Callable[[str], bytes]) -> dict[str, str]:
    """New names for files whose names differ from an added one's in case or Unicode form alone.

    Such a pair is one file on macOS and Windows. Of each the smallest path keeps its name.
    """
    by_fold: dict[str, list[str]] = {}
    for path in paths:
        by_fold.setdefault(unicodedata.normalize("NFC", path).casefold(), []).append(path)
    pairs = (sorted(same) for same in by_fold.values() if len(same) > 1)
    return {
        path: beside_path(path, load(path))
        for same in pairs
        if any(path in added for path in same)
        for path in same[1:]
    }


def id_of(path: str, data: bytes) -> str:
    """The id of the memory that a file holds, "" for none."""
    try:
        return as_memory(data.decode(), path).id
    except (KeeploreError, UnicodeDecodeError):
        return ""
