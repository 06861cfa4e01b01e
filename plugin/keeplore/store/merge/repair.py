"""Mending what a merge by others left: marks of conflicts, keys that stand twice, two files of one
memory.

A person's `git pull`, an IDE or a forge may merge without Keeplore. What they leave is taken apart
into the versions it was made of, and those are merged as every other two.
"""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from keeplore.errors import Corrupt, StoreError
from keeplore.memory.frontmatter import MAX_FILE, parse
from keeplore.memory.location import digits_of, location_of
from keeplore.memory.merge.conflict_marks import versions
from keeplore.memory.merge.memory_merge import (
    CONFLICT,
    TRIGGER,
    beside_path,
    contradicting,
)
from keeplore.memory.names import short_id
from keeplore.store import files, removal_guard
from keeplore.store.git.git_backend import GitBackend
from keeplore.store.git.git_command import output, run
from keeplore.store.git.inspection import committed, contents
from keeplore.store.git.objects import CycleCache
from keeplore.store.git.signature import signature_of, trailer
from keeplore.store.merge.merge_plan import Joined, id_of, merge_all, merge_versions
from keeplore.store.merge.rebase_recovery import recover_aside
from keeplore.store.merge.stopped_rebase import go_on
from keeplore.store.paths import is_ours_to_write
from keeplore.store.repository_state import REBASE, Directories, directories, rebased_at
from keeplore_hooks import durable

# in the git directory: the merge whose last conflicts we are about to resolve
CONCLUDING = "concluding.keeplore"
# in the git directory, of a rebase that is under way
_REBASES = (REBASE, "rebase-apply")
# the list of paths in MERGE_MSG, empty
_UNNAMED = re.compile(rb"^\S* ?Conflicts:\s*\Z", re.MULTILINE)
MAX_COMMITS = 20  # of one file's history that are looked at for a whole version
_SET_BESIDE = re.compile(rf"(.*){re.escape(CONFLICT)}[0-9a-f]{{8}}(\.md)")


def resolve_conflicts(
    root: Path, cache: CycleCache, quiet_s: float = 0.0
) -> tuple[str, ...]:
    """Resolve conflicts in a person's index where files of ours are concerned; the paths that were
    resolved.

    Files that the person has resolved on disk stay as they are. A merge in which nothing else waits
    is committed, and a rebase that only files of ours stopped goes on; else a rebase is left for
    the person to continue, with what was written since staged, without which git refuses. With
    ``quiet_s`` an index that was written since is left alone.
    """
    places = directories(root)
    if time.time() - _touched_at(places) < quiet_s:
        return ()
    ours, are_all_ours = _resolve_ours(root, places.own)
    if _is_rebasing(places.own):
        backend = GitBackend(root, places, cache)
        if are_all_ours:
            go_on(
                backend,
                cache.machine,
                lambda: _resolve_ours(root, places.own)[1],
                is_resolved=bool(ours),
            )
        if _is_rebasing(places.own):
            _stage_written(root)
        else:
            recover_aside(backend, backend.tip("HEAD"), cache.machine)
        return ours
    is_to_commit = are_all_ours and _is_to_commit(places.own, has_conflicts=bool(ours))
    if is_to_commit and _commit_merge(root, cache.machine):
        (places.own / CONCLUDING).unlink(missing_ok=True)
    return ours


def _touched_at(places: Directories) -> float:
    """When git last wrote the index, or got on with a rebase."""
    index = places.own / "index"
    return max(index.stat().st_mtime if index.exists() else 0, rebased_at(places))


def _resolve_ours(root: Path, own: Path) -> tuple[tuple[str, ...], bool]:
    """Resolve the conflicts of ours; their paths, and whether there are no others."""
    unmerged = _unmerged(root)
    ours = {path: stages for path, stages in unmerged.items() if is_ours_to_write(path)}
    are_all_ours = len(ours) == len(unmerged)
    merging = own / "MERGE_HEAD"
    # if we are killed, whoever comes next knows that this merge is to be committed
    if ours and are_all_ours and merging.exists():
        durable.write(own / CONCLUDING, merging.read_bytes())
    for path, stages in ours.items():
        _resolve(root, path, stages)
    return tuple(ours), are_all_ours


def _is_rebasing(own: Path) -> bool:
    """Whether a rebase is under way."""
    return any((own / name).exists() for name in _REBASES)


def _commit_merge(root: Path, machine: str) -> bool:
    """Commit the person's merge as git prepared it; returns False where git refuses."""
    options, environment = trailer(machine), signature_of(root).environment
    return (
        run(root, "commit --no-edit --quiet", *options, environment=environment).code
        == 0
    )


def _is_to_commit(own: Path, *, has_conflicts: bool) -> bool:
    """Whether a merge is under way that is committed when its conflicts are resolved.

    A merge without conflicts is the person's to commit, unless we were killed when we had resolved
    them, or git left it open for a conflict without a path.
    """
    merging, mark = own / "MERGE_HEAD", own / CONCLUDING
    if not merging.exists():
        return False
    was_killed = mark.exists() and mark.read_bytes() == merging.read_bytes()
    return has_conflicts or was_killed or _has_nothing_to_resolve(own)


def repair_file(root: Path, cache: CycleCache, path: str) -> tuple[str, ...]:
    """Heal a memory's file that a merge left torn; what was written, nothing where it is whole.

    A text that was written with such marks in it, as an example may be, has no whole version in git
    and is left alone.
    """
    seen = files.file_state(root, path)
    if seen is None or cache.examples.get(path) == seen:
        return ()
    try:
        torn = versions(files.read(root, path, MAX_FILE).decode())
    except (StoreError, OSError, UnicodeDecodeError):
        return ()
    if torn is None:
        return ()
    if not _was_whole(root, path, torn[0]):
        cache.examples[path] = seen
        return ()
    data, extra = merge_all(path, None, torn)
    return _write(root, {**extra, path: data})


def join_copies(root: Path, paths: Iterable[str]) -> tuple[str, ...]:
    """Make one file of two that hold one memory under names of ours; what was written."""
    by_digits: dict[str, list[str]] = {}
    for path in paths:
        by_digits.setdefault(digits_of(path), []).append(path)
    by_digits.pop("", None)
    written: list[str] = []
    for same in by_digits.values():
        for copies in _by_id(root, same) if len(same) > 1 else ():
            if len(copies) > 1:
                written += _join_copies_of_one(root, copies)
    return tuple(written)


class FileCopy(NamedTuple):
    """One of several files of a memory."""

    path: str
    data: bytes


def _by_id(root: Path, paths: Iterable[str]) -> list[list[FileCopy]]:
    """The files of each memory among these."""
    held: dict[str, list[FileCopy]] = {}
    for path in paths:
        # too large for a memory, or gone by now
        with contextlib.suppress(StoreError, OSError):
            data = files.read(root, path, MAX_FILE)
            held.setdefault(id_of(path, data), []).append(FileCopy(path, data))
    held.pop("", None)
    return list(held.values())


def join_or_separate(root: Path, paths: Sequence[str]) -> tuple[str, ...]:
    """Leave one file of a memory that has several, with a name that a person chose; the first of
    ``paths`` is the one that is used. Returns what was written.

    A file that says the same, or more at other places, is joined with the first. One that says
    something else was copied to write another memory: it becomes one, which contradicts the first.
    """
    first, *others = paths
    written: dict[str, None] = {}
    # gone or unreadable by now
    with contextlib.suppress(StoreError, OSError, UnicodeDecodeError):
        for path in others:
            kept = FileCopy(first, files.read(root, first, MAX_FILE))
            other = FileCopy(path, files.read(root, path, MAX_FILE))
            if own_memory := contradicting(kept.data.decode(), other.data.decode()):
                written[_join_or_separate(root, kept, other, own_memory)] = None
    return tuple(written)


def _join_or_separate(
    root: Path, kept: FileCopy, other: FileCopy, own_memory: str
) -> str:
    """Join the other file with the one that is kept, or write it as ``own_memory``; returns the
    path that was written.
    """
    data, extra = merge_versions(kept.path, None, kept.data, other.data)
    if extra:
        files.write(root, other.path, own_memory.encode())
        return other.path
    files.write(root, kept.path, data)
    removal_guard.guarded_remove(root, other.path, [kept.path], is_joined=True)
    return kept.path


def _join_copies_of_one(root: Path, copies: Sequence[FileCopy]) -> tuple[str, ...]:
    """Merge the copies of one memory into the file that comes first; returns what was written."""
    renamed = _renamed_copy(root, copies)
    base = renamed.data if renamed else None

    def precedence(copy: FileCopy) -> tuple[bool, bool, str]:
        return copy == renamed, not location_of(copy.path).is_archived, copy.path

    kept = min(copies, key=precedence)
    others = [copy for copy in copies if copy.path != kept.path]
    data = kept.data
    extra: dict[str, bytes] = {}
    for other in others:
        data, more = merge_versions(kept.path, base, data, other.data)
        extra |= more
    written = _write(root, {**extra, kept.path: data})
    for other in others:
        is_joined = other.data != base
        removal_guard.guarded_remove(root, other.path, written, is_joined=is_joined)
    return written


def _renamed_copy(root: Path, copies: Sequence[FileCopy]) -> FileCopy | None:
    """The one copy that HEAD has, as it has it; None where that was changed, or HEAD has more.

    Whoever gave the memory another name was killed before the old file went.
    """
    at_head = {copy: committed(root, copy.path) for copy in copies}
    held = [copy for copy, data in at_head.items() if data is not None]
    return held[0] if len(held) == 1 and at_head[held[0]] == held[0].data else None


def _stage_written(root: Path) -> None:
    """Stage what was written to our files since."""
    changed = output(root, "diff-files -z --name-only --ignore-submodules").items
    if ours := list(filter(is_ours_to_write, changed)):
        output(root, "add --update --", *ours)


def _unmerged(root: Path) -> dict[str, dict[str, str]]:
    """Path → stage → blob id of every conflict in the index."""
    found: dict[str, dict[str, str]] = {}
    for (_, blob, stage), path in output(root, "ls-files -z --unmerged").entries:
        found.setdefault(path, {})[stage] = blob
    return found


def _resolve(root: Path, path: str, stages: Mapping[str, str]) -> None:
    """Write the merge of a conflict, and stage it."""
    sides = [_blob_at(root, stages.get(stage, "")) for stage in "123"]
    on_disk = files.read(root, path, MAX_FILE) if files.file_state(root, path) else None
    # both sides moved it, each elsewhere
    if on_disk is None and sides[1:] == [None, None]:
        output(root, "rm --quiet --cached --", path)
        return
    if on_disk is not None and not _is_as_git_left_it(on_disk, sides):
        joined: Joined = (on_disk, {})
    else:
        joined = _joined_sides(path, *sides)
    data, extra = joined
    written = _write(root, {**extra, path: data})
    if path not in written:  # what lies in a folder there is the person's to add
        output(root, "rm --quiet --cached --", path)
    output(root, "add --", *written)


def _blob_at(root: Path, id_: str) -> bytes | None:
    """The bytes of a blob; None without an id."""
    return output(root, "cat-file blob", id_).out if id_ else None


def _joined_sides(
    path: str, base: bytes | None, one: bytes | None, other: bytes | None
) -> Joined:
    """Two sides of a conflict as one; an edit beats a removal."""
    if one is not None and other is not None:
        return merge_versions(path, base, one, other)
    return one or other or b"", {}  # an edit beats a removal


def _is_as_git_left_it(data: bytes, sides: Iterable[bytes | None]) -> bool:
    """Whether the person has not touched the conflict yet."""
    return data in sides or versions(data.decode("utf-8", "replace")) is not None


def _was_whole(root: Path, path: str, version: str) -> bool:
    """Whether git has had the file, or the one that a merge set it beside, without what makes it
    torn.
    """
    return any(
        versions(data.decode("utf-8", "replace")) is None
        for place in (
            path,
            *_beside_which(root, path, version),
            *_earlier_paths(root, version),
        )
        for _, data in contents(root, _committed_names(root, place))
    )


def _earlier_paths(root: Path, version: str) -> list[str]:
    """The paths that the memory of a version has had under names of ours."""
    digits = short_id(id_of("", version.encode()))
    command = "log --format= --name-only -z --diff-merges=first-parent --"
    environment = {"GIT_LITERAL_PATHSPECS": "0"}
    places = f":(glob)**/*{digits}*.md"
    found = run(root, command, places, environment=environment).items if digits else []
    return [*dict.fromkeys(name for name in found if digits_of(name) == digits)]


def _committed_names(root: Path, path: str) -> list[str]:
    """The versions of a file that the latest commits have, as git names them."""
    commits = run(
        root, f"log -{MAX_COMMITS} --format=%H --diff-merges=first-parent --", path
    ).text.split()
    return [f"{side}:{path}" for commit in commits for side in (commit, f"{commit}^2")]


def _beside_which(root: Path, path: str, version: str) -> list[str]:
    """The paths of the memory that one whose text was torn already was set beside."""
    if match := _SET_BESIDE.fullmatch(path):
        return [f"{match[1]}{match[2]}"]
    with contextlib.suppress(Corrupt):
        memory = parse(version)
        digits = {
            short_id(link) for kind, link in memory.links if kind == "contradicts"
        }
        if memory.meta.get("trigger") == TRIGGER and digits:
            return [
                name
                for name in run(root, "ls-files -z").items
                if digits_of(name) in digits
            ]
    return []


def _has_nothing_to_resolve(own: Path) -> bool:
    """Whether git left a merge open for a conflict without a path: it could not guess to where a
    folder was renamed.
    """
    try:
        return _UNNAMED.search((own / "MERGE_MSG").read_bytes()) is not None
    except FileNotFoundError:
        return False


def _write(root: Path, wanted: Mapping[str, bytes]) -> tuple[str, ...]:
    """Write a merge and return its paths. The one file comes last, so that nothing is lost in
    between; a version that stands beside already stays, and a folder makes way for none.
    """
    written = []
    *extra, place = wanted
    for path in extra:
        free = _beside_folder(root, path, wanted[path])
        if files.is_free(root, free):
            files.write(root, free, wanted[path])
        written.append(free)
    free = _beside_folder(root, place, wanted[place])
    files.write(root, free, wanted[place])
    return (*written, free)


def _beside_folder(root: Path, path: str, data: bytes) -> str:
    """The path, or a name beside it where a folder stands there."""
    return beside_path(path, data) if (root / path).is_dir() else path
