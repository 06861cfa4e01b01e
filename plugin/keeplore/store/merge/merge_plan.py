"""The merge plan: what becomes of each file that two sides changed, as a pure function of both
differences to where they parted.

A memory is followed by its id, not by its path: an edit on one side reaches a file that the other
side moved.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

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
from keeplore.store.git.objects import Blob, Difference, PathChange
from keeplore.store.merge.settings_merge import SETTINGS, merge_settings
from keeplore.store.paths import alike_paths, is_memory, is_side

Content = Blob | bytes | None  # a file that git has, a new one, none
Load = Callable[[Blob, str], bytes]  # the text that a blob is at a path


@dataclass(frozen=True, slots=True)
class TakeSide:
    """The path gets what one side made of it, None for nothing."""

    path: str
    content: Blob | None


@dataclass(frozen=True, slots=True)
class JoinEdits:
    """The path gets the merge of two versions, both made of ``base``."""

    path: str
    base: Blob | None
    one: Blob
    other: Blob


@dataclass(frozen=True, slots=True)
class FollowMove:
    """A side moved the memory away, and its path has ``left`` now; the other side's edit goes where
    the memory went.
    """

    path: str
    left: Blob | None
    edit: JoinEdits  # at the new place


Action = TakeSide | JoinEdits | FollowMove


class MergePlan:
    """``files`` has every path that a side changed, with its content after the merge.

    ``beside`` has new files for what could not be joined; one that stands there already is the
    same, or was edited since, and stays. The order of the sides does not matter.
    """

    def __init__(self, one: Difference, other: Difference, load: Load) -> None:
        self._load = load
        self._sides = (one, other)
        self._known_ids: dict[tuple[str, str], str] = {}
        followed = self._possibly_moved_paths()
        self._arrived = self._by_ids(followed, is_arrival=True)
        self._left = self._by_ids(followed, is_arrival=False)
        self.files: dict[str, Content] = {}
        self.beside: dict[str, bytes] = {}
        for path in sorted(one.keys() | other.keys()):
            self._carry_out(self._action(path))
        for memory_id in sorted(self._arrived[0].keys() & self._arrived[1].keys()):
            self._join_moved(memory_id)
        self._resolve_folder_clashes()

    def _action(self, path: str) -> Action:
        """The decision for one path."""
        changes = [side[path] for side in self._sides if path in side]
        base, one, other = changes[0].before, changes[0].after, changes[-1].after
        # only one side changed it, or both did the same
        if one == other:
            return TakeSide(path, one)
        # one side moved the memory, the other edited it here
        if base and (move := self._move(path, base, (one, other))):
            return move
        # both edited it, or both put a file here
        if one and other:
            return JoinEdits(path, base or self._origin(path, one, other), one, other)
        # one side edited it, the other removed it: an edit beats a removal without a tombstone
        return TakeSide(path, one or other)

    def _carry_out(self, action: Action) -> None:
        """Put what was decided into ``files`` and ``beside``."""
        match action:
            case TakeSide(path, content):
                self.files.setdefault(path, content)
            case JoinEdits():
                self._join(action)
            case FollowMove(path, left, edit):
                self.files.setdefault(path, left)
                self._join(edit)

    def _move(
        self, path: str, base: Blob, ends: tuple[Blob | None, Blob | None]
    ) -> FollowMove | None:
        """The move of a memory from this path by one side while the other edited it."""
        memory_id = self._id(path, base)
        is_here = [memory_id == self._id(path, end) for end in ends]
        if not memory_id or is_here[0] == is_here[1]:
            return None
        mover = is_here.index(False)
        kept, place = ends[1 - mover], self._arrived[mover].get(memory_id)
        moved = self._sides[mover][place].after if place else None
        if not (place and kept and moved):
            return None
        return FollowMove(path, ends[mover], JoinEdits(place, base, moved, kept))

    def _origin(self, path: str, one: Blob, other: Blob) -> Blob | None:
        """What both were made of where both sides moved a memory to this path."""
        memory_id = self._id(path, one)
        return (
            self._before_move(memory_id) if memory_id == self._id(path, other) else None
        )

    def _before_move(self, memory_id: str) -> Blob | None:
        """What a memory was at the path that it left."""
        for side, left in zip(self._sides, self._left, strict=True):
            if memory_id in left:
                return side[left[memory_id]].before
        return None

    def _join_moved(self, memory_id: str) -> None:
        """Join a memory that stands at two new places: the archive is its place, else the smaller
        path.
        """
        here, there = (arrived[memory_id] for arrived in self._arrived)
        one, other = self._sides[0][here].after, self._sides[1][there].after
        if here == there or not (one and other):
            return
        place, left = sorted((here, there), key=_archive_first)
        if self._is_still(left, memory_id):
            self.files[left] = None
        self._join(JoinEdits(place, self._before_move(memory_id), one, other))

    def _is_still(self, path: str, memory_id: str) -> bool:
        """False where another memory stands at the path now."""
        content = self.files.get(path)
        return not content or id_of(path, self._bytes(content, path)) == memory_id

    def _resolve_folder_clashes(self) -> None:
        """Put a file beside where the other side has a folder of its name."""
        held = {path for path, content in self.files.items() if content is not None}
        for path in sorted(held & folders(held)):
            content = self.files[path]
            data = self._bytes(content or b"", path)
            self.files |= {path: None, beside_path(path, data): content}

    def _join(self, edit: JoinEdits) -> None:
        """Merge two files at one path, and put beside it what could not be joined."""
        path, one, other = edit.path, edit.one, edit.other
        content = self._joined_content(edit)
        known = self.files.get(path)
        if known and known not in (one, other, content):
            content = (
                self._beside_arrived(path, self._bytes(known, path), (one, other))
                or content
            )
        self.files[path] = content

    def _joined_content(self, edit: JoinEdits) -> Blob | bytes:
        """The content of a path of which both sides have a version."""
        base, one, other = edit.base, edit.one, edit.other
        base_id = base.id if base else ""
        if base_id == other.id:
            return one
        if one.id in (base_id, other.id):
            return other
        before = self._load(base, edit.path) if base else None
        mine, theirs = self._load(one, edit.path), self._load(other, edit.path)
        return self._add_beside(merge_versions(edit.path, before, mine, theirs))

    def _beside_arrived(
        self, path: str, arrived: bytes, ends: tuple[Blob, Blob]
    ) -> bytes:
        """A memory that one side moved here, with what else the sides have at this path; b"" where
        that is nothing.
        """
        memory_id, joined = id_of(path, arrived), b""
        for end in sorted(ends):
            if self._id(path, end) == memory_id:
                continue
            result = merge_versions(
                path, None, joined or arrived, self._load(end, path)
            )
            joined = self._add_beside(result)
        return joined

    def _add_beside(self, result: Joined) -> bytes:
        """Note the files beside a merge; its text."""
        data, beside = result
        self.beside |= beside
        return data

    def _bytes(self, content: Blob | bytes, path: str) -> bytes:
        """The text of a content."""
        return self._load(content, path) if isinstance(content, Blob) else content

    def _possibly_moved_paths(self) -> set[str]:
        """The paths whose memories may have moved: most files of a merge are new, and need not be
        read.
        """
        one, other = self._sides
        changes = [*one.items(), *other.items()]
        named = Counter(digits_of(path) for path, _ in changes)
        named[""] = 0
        followed = {path for path, _ in changes if named[digits_of(path)] > 1}
        if any(self._is_moved_away(path) for path in one.keys() & other.keys()):
            followed |= {
                path for path, change in changes if _may_tell_of_a_move(path, change)
            }
        return followed

    def _is_moved_away(self, path: str) -> bool:
        """Whether a side has no file at a path that both changed, or another memory."""
        one, other = (side[path].after for side in self._sides)
        return (
            one is None or other is None or self._id(path, one) != self._id(path, other)
        )

    def _by_ids(
        self, followed: Collection[str], *, is_arrival: bool
    ) -> list[dict[str, str]]:
        return [
            self._by_id(side, followed, is_arrival=is_arrival) for side in self._sides
        ]

    def _by_id(
        self, side: Difference, followed: Collection[str], *, is_arrival: bool
    ) -> dict[str, str]:
        """Memory id → the path to which it came, or that it left; of two of one id the smaller
        path.
        """
        found: dict[str, str] = {}
        for path in sorted(side.keys() & followed):
            ids = [
                self._id(path, blob) for blob in (side[path].before, side[path].after)
            ]
            memory_id = ids[is_arrival]
            if memory_id and ids[0] != ids[1]:
                found.setdefault(memory_id, path)
        return found

    def _id(self, path: str, blob: Blob | None) -> str:
        """The id of the memory that a blob is at a path, "" for none."""
        if blob is None or not is_memory(path):
            return ""
        if (path, blob.id) not in self._known_ids:
            self._known_ids[path, blob.id] = id_of(path, self._load(blob, path))
        return self._known_ids[path, blob.id]


def _archive_first(path: str) -> tuple[bool, str]:
    """The sort key for two places of one memory: an archive comes first."""
    return not location_of(path).is_archived, path


def _may_tell_of_a_move(path: str, change: PathChange) -> bool:
    """Whether a path may have a part in a move: where nothing went away, only a name that two paths
    share can tell of one.
    """
    return not digits_of(path) or bool(change.before and change.after)


def folders(paths: Iterable[str]) -> set[str]:
    """Every folder above the paths."""
    found: set[str] = set()
    for path in paths:
        while path := path.rpartition("/")[0]:
            found.add(path)
    return found


# the new content of a path, and new files (path → content) for what could not be joined
Joined = tuple[bytes, Mapping[str, bytes]]


def merge_versions(path: str, base: bytes | None, one: bytes, other: bytes) -> Joined:
    """Merge two versions of a file as files of its path are merged; ``base`` is what both were made
    of, None where there was none. Never raises.
    """
    if path == SETTINGS:
        return merge_settings(base, one, other), {}
    if memory_id := tombstones.id_of(path):
        return tombstones.merged_bytes(one, other, memory_id), {}
    try:
        before = base.decode() if base is not None else None
        first, second = one.decode(), other.decode()
    except UnicodeDecodeError:
        return _merged_bytes(path, one, other)
    # a memory with such a character is read like any other, and must not become two files of one id
    if not is_memory(path) and "\0" in first + second:
        return merge_bytes(path, one, other)
    if torn := _torn_versions(path, before, first, second):
        return merge_all(path, base, torn)
    merge = _merge_of(path)(path, before, first, second)
    # a side that emptied the file has no words to keep
    extra = {
        place: text.encode() for place, text in merge.beside.items() if text.strip()
    }
    return merge.text.encode(), extra


def _torn_versions(path: str, base: str | None, one: str, other: str) -> list[str]:
    """The versions that both hold where somebody committed a conflict with its marks, which is no
    text of anybody's; none where both are whole.
    """
    if base is None or not is_memory(path) or versions(base):
        return []
    mine, theirs = versions(one), versions(other)
    return [*(mine or [one]), *(theirs or [other])] if mine or theirs else []


def _merge_of(path: str) -> Callable[[str, str | None, str, str], FileMerge]:
    """The function that merges files of this path."""
    if is_memory(path):
        return merge_memory
    if path.startswith("audit/"):
        return merge_log
    if path.startswith(f"{feedback_counters.FOLDER}/"):
        return feedback_counters.merge
    if is_side(path) and path.startswith("projects/") and path.endswith(".json"):
        return merge_project  # its entry, its manifests
    return merge_entity if is_side(path) and path.endswith(".yaml") else merge_text


def merge_all(path: str, base: bytes | None, texts: Iterable[str]) -> Joined:
    """Merge any number of versions of a memory; their order makes no difference."""
    data, *others = sorted({text.encode() for text in texts})
    extra: dict[str, bytes] = {}
    for other in others:
        data, more = merge_versions(path, base, data, other)
        extra |= more
    return data, extra


def _merged_bytes(path: str, one: bytes, other: bytes) -> Joined:
    """Merge two versions of a file of which at least one is not text; of a memory, the readable one
    keeps the place.
    """
    loser, winner = sorted((one, other), key=lambda data: bool(id_of(path, data)))
    if is_memory(path) and id_of(path, winner) and not id_of(path, loser):
        return winner, {beside_path(path, loser): loser}
    return merge_bytes(path, one, other)


def distinct_names(
    paths: Iterable[str], added: Collection[str], load: Callable[[str], bytes]
) -> dict[str, str]:
    """New names for files that are alike with an added one; of each group the smallest path keeps
    its name.
    """
    renamed: dict[str, str] = {}
    for same in alike_paths(paths):
        if not set(same).isdisjoint(added):
            renamed |= {path: beside_path(path, load(path)) for path in same[1:]}
    return renamed


def id_of(path: str, data: bytes) -> str:
    """The id of the memory that a file holds, "" for none."""
    try:
        return as_memory(data.decode(), path).id
    except (KeeploreError, UnicodeDecodeError):
        return ""
