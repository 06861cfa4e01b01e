"""What becomes of each file that two sides changed: a pure function of both differences to where
they parted.

A memory is followed by its id, not by its path: an edit on one side reaches a file that the other
side moved.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping

from keeplore.errors import KeeploreError
from keeplore.memory import as_memory, feedback_counters
from keeplore.memory.location import digits_of, location_of
from keeplore.memory.merge.conflict_marks import versions
from keeplore.memory.merge.memory_merge import (
    FileMerge,
    beside_path,
    merge_bytes,
    merge_entity,
    merge_log,
    merge_memory,
    merge_project,
    merge_text,
)
from keeplore.store import tombstones
from keeplore.store.git.object_backend import Blob, Difference, PathChange
from keeplore.store.paths import is_memory, is_side

Content = Blob | bytes | None  # a file that git has, a new one, none
Load = Callable[[Blob, str], bytes]  # the text that a blob is at a path


class MergePlan:
    """``files`` has every path that a side changed, with its content after the merge.

    ``beside`` has new files for what could not be joined; one that stands there already is the
    same, or was edited since, and stays. The order of the sides does not matter.
    """

    def __init__(self, one: Difference, other: Difference, load: Load) -> None:
        self._load = load
        self._sides = (one, other)
        self._known: dict[tuple[str, str], str] = {}
        followed = self._followed()
        self._arrived = [self._by_id(side, followed, is_arrival=True) for side in self._sides]
        self._left = [self._by_id(side, followed, is_arrival=False) for side in self._sides]
        self.files: dict[str, Content] = {}
        self.beside: dict[str, bytes] = {}
        for path in sorted(one.keys() | other.keys()):
            mine, theirs = one.get(path), other.get(path)
            if mine and theirs and mine.after != theirs.after:
                self._decide(path, mine.before, (mine.after, theirs.after))
            elif change := mine or theirs:
                self.files.setdefault(path, change.after)
        self._join_moved()
        self._unfold()

    def _followed(self) -> set[str]:
        """The paths whose memories may have moved: most files of a merge are new, and need not be
        read.
        """
        one, other = self._sides
        seen = Counter(digits_of(path) for side in self._sides for path in side)
        both = one.keys() & other.keys()
        is_moving = any(
            None in (ends := (one[path].after, other[path].after))
            or self._id(path, ends[0]) != self._id(path, ends[1])
            for path in both
        )

        def is_followed(path: str, change: PathChange) -> bool:
            digits = digits_of(path)
            # where nothing went away, only a name that two paths share can tell of a move
            may_be = is_moving and (not digits or bool(change.before and change.after))
            return may_be or (digits != "" and seen[digits] > 1)

        return {
            path
            for side in self._sides
            for path, change in side.items()
            if is_followed(path, change)
        }

    def _decide(self, path: str, base: Blob | None, ends: tuple[Blob | None, Blob | None]) -> None:
        """Both sides changed a path; where one took the memory away, it may stand elsewhere
        there.
        """
        memory_id = self._id(path, base)
        stays = [bool(memory_id) and self._id(path, end) == memory_id for end in ends]
        for side in (0, 1):
            place, kept = self._arrived[side].get(memory_id), ends[1 - side]
            moved = self._sides[side][place].after if place else None
            if stays == [side == 1, side == 0] and place and moved and kept:
                self.files.setdefault(path, ends[side])
                self._put(place, base, moved, kept)
                return
        one, other = ends
        if one and other:
            self._put(path, base or self._origin(path, one, other), one, other)
        else:
            self.files.setdefault(
                path, one or other
            )  # an edit beats a removal that left no tombstone

    def _origin(self, path: str, one: Blob, other: Blob) -> Blob | None:
        """What both were made of where both sides moved a memory to this path."""
        memory_id = self._id(path, one)
        places = (left.get(memory_id) for left in self._left if memory_id == self._id(path, other))
        return next(
            (side[place].before for side, place in zip(self._sides, places, strict=False) if place),
            None,
        )

    def _join_moved(self) -> None:
        """One memory at two new places: the archive is its place, else the smaller path."""
        mine, theirs = self._arrived
        for memory_id in sorted(mine.keys() & theirs.keys()):
            here, there = mine[memory_id], theirs[memory_id]
            one, other = self._sides[0][here].after, self._sides[1][there].after
            if here == there or not (one and other):
                continue
            place, left = sorted(
                (here, there), key=lambda path: (not location_of(path).is_archived, path)
            )
            origins = (
                side[gone[memory_id]]
                for side, gone in zip(self._sides, self._left, strict=True)
                if memory_id in gone
            )
            change = next(origins, None)
            content = self.files.get(left)
            if (
                not content or id_of(left, self._bytes(content, left)) == memory_id
            ):  # else another one stands there now
                self.files[left] = None
            self._put(place, change.before if change else None, one, other)

    def _unfold(self) -> None:
        """A file where the other side has a folder stands beside it."""
        held = [path for path, content in self.files.items() if content is not None]
        folders = {
            "/".join(parts[:depth])
            for parts in (path.split("/") for path in held)
            for depth in range(1, len(parts))
        }
        for path in sorted(folders.intersection(held)):
            content = self.files[path]
            data = self._bytes(content or b"", path)
            self.files |= {path: None, beside_path(path, data): content}

    def _put(self, path: str, base: Blob | None, one: Blob, other: Blob) -> None:
        """The merge of two files at one path, and beside it what could not be joined."""
        content: Blob | bytes
        if one.id == other.id or (base and base.id in (one.id, other.id)):
            content = one if base and base.id == other.id else other
        else:
            before = self._load(base, path) if base else None
            content, beside = merged(path, before, self._load(one, path), self._load(other, path))
            self.beside |= beside
        if (known := self.files.get(path)) and known not in (one, other, content):
            content = self._beside_arrived(path, self._bytes(known, path), (one, other)) or content
        self.files[path] = content

    def _beside_arrived(self, path: str, arrived: bytes, ends: tuple[Blob, Blob]) -> bytes:
        """A memory that one side moved here, with what else the sides have at this path; b"" where
        that is nothing.
        """
        memory_id, joined = id_of(path, arrived), b""
        for end in sorted(end for end in ends if self._id(path, end) != memory_id):
            joined, beside = merged(path, None, joined or arrived, self._load(end, path))
            self.beside |= beside
        return joined

    def _bytes(self, content: Blob | bytes, path: str) -> bytes:
        return self._load(content, path) if isinstance(content, Blob) else content

    def _by_id(
        self, side: Difference, followed: Collection[str], *, is_arrival: bool
    ) -> dict[str, str]:
        """Memory id → the path to which it came, or that it left; of two of one id the smaller
        path.
        """
        found: dict[str, str] = {}
        for path in sorted(side.keys() & followed):
            ids = [self._id(path, blob) for blob in (side[path].before, side[path].after)]
            memory_id = ids[is_arrival]
            if memory_id and ids[0] != ids[1]:
                found.setdefault(memory_id, path)
        return found

    def _id(self, path: str, blob: Blob | None) -> str:
        if blob is None or not is_memory(path):
            return ""
        if (path, blob.id) not in self._known:
            self._known[path, blob.id] = id_of(path, self._load(blob, path))
        return self._known[path, blob.id]


def merged(
    path: str, base: bytes | None, one: bytes, other: bytes
) -> tuple[bytes, Mapping[str, bytes]]:
    """Two versions of a file as one, by what its path says it is, and the files beside it. Never
    raises.
    """
    if stone := tombstones.id_of(path):
        return tombstones.merged_bytes(one, other, stone), {}
    try:
        before = base.decode() if base is not None else None
        first, second = one.decode(), other.decode()
    except UnicodeDecodeError:
        return _merged_bytes(path, one, other)
    # a memory with such a character is read like any other, and must not become two files of one id
    if not is_memory(path) and ("\0" in first or "\0" in second):
        return merge_bytes(path, one, other)
    if path.startswith("audit/"):
        return merge_log(before or "", first, second).encode(), {}
    if (
        is_side(path) and path.startswith("projects/") and path.endswith(".json")
    ):  # its entry, its manifests
        return merge_project(before, first, second).encode(), {}
    if (
        is_memory(path)
        and before is not None
        and versions(before) is None
        and (versions(first) or versions(second))
    ):
        # a conflict that somebody committed with its marks is no text of anybody's
        return united(
            path, base, [whole for side in (first, second) for whole in versions(side) or (side,)]
        )
    merge = _merge_of(path)(path, before, first, second)
    # a side that emptied the file has no words to keep
    return merge.text.encode(), {
        place: text.encode() for place, text in merge.beside.items() if text.strip()
    }


def _merge_of(path: str) -> Callable[[str, str | None, str, str], FileMerge]:
    if is_memory(path):
        return merge_memory
    if path.startswith(f"{feedback_counters.FOLDER}/"):
        return feedback_counters.merge
    return merge_entity if is_side(path) and path.endswith(".yaml") else merge_text


def united(
    path: str, base: bytes | None, texts: Iterable[str]
) -> tuple[bytes, Mapping[str, bytes]]:
    """As many versions of a memory as one, whatever their order, and the files beside it."""
    data, *others = sorted({text.encode() for text in texts})
    beside: dict[str, bytes] = {}
    for other in others:
        data, more = merged(path, base, data, other)
        beside |= more
    return data, beside


def _merged_bytes(path: str, one: bytes, other: bytes) -> tuple[bytes, Mapping[str, bytes]]:
    """Two versions of which one at least is no text: of a memory the one that can be read keeps the
    place.
    """
    loser, winner = sorted((one, other), key=lambda data: bool(id_of(path, data)))
    if is_memory(path) and id_of(path, winner) and not id_of(path, loser):
        return winner, {beside_path(path, loser): loser}
    return merge_bytes(path, one, other)


def apart(
    paths: Iterable[str], added: Collection[str], load: Callable[[str], bytes]
) -> dict[str, str]:
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
