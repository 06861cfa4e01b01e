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

from keeplore.errors import Corrupt, StoreError
from keeplore.memory.frontmatter import MAX_FILE, parse
from keeplore.memory.location import digits_of, location_of
from keeplore.memory.merge.conflict_marks import versions
from keeplore.memory.merge.memory_merge import CONFLICT, TRIGGER, contradicting
from keeplore.store import files
from keeplore.store.git.git_command import output, run
from keeplore.store.git.inspection import contents
from keeplore.store.git.object_backend import CycleCache
from keeplore.store.git.repository_state import directories
from keeplore.store.git.signature import signature_of, trailer
from keeplore.store.merge.merge_plan import id_of, merged, united
from keeplore.store.paths import is_ours, is_portable
from keeplore_hooks import durable

# in the git directory: the merge whose last conflicts we are about to resolve
CONCLUDING = "concluding.keeplore"
_REBASES = ("rebase-merge", "rebase-apply")  # in the git directory, of a rebase that is under way
_UNNAMED = re.compile(
    rb"^\S* ?Conflicts:\s*\Z", re.MULTILINE
)  # the list of paths in MERGE_MSG, empty
MAX_COMMITS = 20  # of one file's history that are looked at for a whole version
_SET_BESIDE = re.compile(rf"(.*){re.escape(CONFLICT)}[0-9a-f]{{8}}(\.md)")


def conclude(root: Path, memo: CycleCache, quiet_s: float = 0.0) -> tuple[str, ...]:
    """Resolve conflicts in a person's index where files of ours are concerned; the paths that were
    resolved.

    Files that the person has resolved on disk stay as they are. A merge in which nothing else waits
    is committed. A rebase is left for the person to continue, with what was written since staged,
    without which git refuses. With ``quiet_s`` an index that was written since is left alone.
    """
    places = directories(root)
    if quiet_s and time.time() - (places.own / "index").stat().st_mtime < quiet_s:
        return ()
    unmerged = _unmerged(root)
    ours = {
        path: stages for path, stages in unmerged.items() if is_ours(path) and is_portable(path)
    }
    merging, mark = places.own / "MERGE_HEAD", places.own / CONCLUDING
    is_merge = merging.exists() and len(ours) == len(unmerged)
    # a merge without conflicts is the person's to commit, unless we were killed when we had
    # resolved them
    was_killed = is_merge and mark.exists() and mark.read_bytes() == merging.read_bytes()
    is_to_commit = is_merge and (bool(ours) or was_killed or _has_nothing_to_resolve(places.own))
    if is_to_commit and ours:
        durable.write(mark, merging.read_bytes())
    for path, stages in ours.items():
        _resolve(root, path, stages)
    if any((places.own / name).exists() for name in _REBASES):
        _stage_written(root)
    if is_to_commit:
        arguments = ("commit", "--no-edit", "--quiet", *trailer(memo.machine))
        if run(root, *arguments, environment=signature_of(root).environment).code == 0:
            mark.unlink(missing_ok=True)
    return tuple(ours)


def mend(root: Path, memo: CycleCache, path: str) -> tuple[str, ...]:
    """Heal a memory's file that a merge left torn; what was written, nothing where it is whole.

    A text that was written with such marks in it, as an example may be, has no whole version in git
    and is left alone.
    """
    seen = files.state(root, path)
    if seen is None or memo.examples.get(path) == seen:
        return ()
    try:
        text = files.read(root, path, MAX_FILE).decode()
    except (StoreError, OSError, UnicodeDecodeError):
        return ()
    torn = versions(text)
    if torn is None:
        return ()
    if not _was_whole(root, path, torn[0]):
        memo.examples[path] = seen
        return ()
    data, beside = united(path, None, torn)
    return _write(root, {**beside, path: data})


def unite(root: Path, paths: Iterable[str]) -> tuple[str, ...]:
    """Make one file of two that hold one memory under names of ours; what was written."""
    by_digits: dict[str, list[str]] = {}
    for path in paths:
        if digits := digits_of(path):
            by_digits.setdefault(digits, []).append(path)
    written: list[str] = []
    for same in by_digits.values():
        held: dict[str, list[tuple[str, bytes]]] = {}
        for path in same if len(same) > 1 else ():
            with contextlib.suppress(StoreError, OSError):  # too large for a memory, or gone by now
                data = files.read(root, path, MAX_FILE)
                held.setdefault(id_of(path, data), []).append((path, data))
        for memory_id, copies in held.items():
            if memory_id and len(copies) > 1:
                written += _united(root, copies)
    return tuple(written)


def part(root: Path, paths: Sequence[str]) -> tuple[str, ...]:
    """The same where a person chose a name: files of one memory, the one that is used first; what
    was written.

    One that says the same, or more at other places, is joined with it. One that says something else
    stays where it is, as a memory of its own that contradicts it: a file that was copied to write
    another one.
    """
    place, *others = paths
    written: dict[str, None] = {}
    with contextlib.suppress(StoreError, OSError, UnicodeDecodeError):  # gone or unreadable by now
        for path in others:
            kept, other = (files.read(root, name, MAX_FILE) for name in (place, path))
            apart = contradicting(kept.decode(), other.decode())
            if not apart:
                continue
            data, beside = merged(place, None, kept, other)
            files.write(root, *((path, apart.encode()) if beside else (place, data)))
            if not beside:
                files.remove(root, path)
            written[path if beside else place] = None
    return tuple(written)


def _united(root: Path, copies: list[tuple[str, bytes]]) -> tuple[str, ...]:
    committed = {path: data for path, _ in copies if (data := _committed(root, path)) is not None}
    # one that HEAD has as it is and none that HEAD has else: whoever gave the memory another name
    # was killed
    is_renaming = len(committed) == 1 and all(copy in copies for copy in committed.items())
    left, base = next(iter(committed.items())) if is_renaming else ("", None)
    place, data = min(
        copies, key=lambda copy: (copy[0] == left, not location_of(copy[0]).is_archived, copy[0])
    )
    beside: dict[str, bytes] = {}
    for path, other in copies:
        if path != place:
            data, more = merged(place, base, data, other)
            beside |= more
    written = _write(root, {**beside, place: data})
    for path, _ in copies:
        if path != place:
            files.remove(root, path)
    return written


def _committed(root: Path, path: str) -> bytes | None:
    found = run(root, "cat-file", "blob", f"HEAD:{path}")
    return found.out if found.code == 0 else None


def _stage_written(root: Path) -> None:
    changed = output(root, "diff-files", "-z", "--name-only", "--ignore-submodules").items
    if ours := [path for path in changed if is_ours(path) and is_portable(path)]:
        output(root, "add", "--update", "--", *ours)


def _unmerged(root: Path) -> dict[str, dict[str, str]]:
    """Path → stage → blob id of every conflict in the index."""
    found: dict[str, dict[str, str]] = {}
    for item in output(root, "ls-files", "-z", "--unmerged").items:
        facts, path = item.split("\t", 1)
        _, blob, stage = facts.split(" ")
        found.setdefault(path, {})[stage] = blob
    return found


def _resolve(root: Path, path: str, stages: Mapping[str, str]) -> None:
    base, one, other = (_blob(root, stages[stage]) if stage in stages else None for stage in "123")
    on_disk = files.read(root, path, MAX_FILE) if files.state(root, path) else None
    if on_disk is None and one is None and other is None:  # both sides moved it, each elsewhere
        output(root, "rm", "--quiet", "--cached", "--", path)
        return
    beside: Mapping[str, bytes] = {}
    if on_disk is not None and not _is_as_git_left_it(on_disk, (base, one, other)):
        data = on_disk
    elif one is not None and other is not None:
        data, beside = merged(path, base, one, other)
    else:  # an edit beats a removal
        data = one if one is not None else other or b""
    written = _write(root, {**beside, path: data})
    output(root, "add", "--", *{path, *written})


def _is_as_git_left_it(data: bytes, sides: Iterable[bytes | None]) -> bool:
    return data in sides or versions(data.decode("utf-8", "replace")) is not None


def _was_whole(root: Path, path: str, version: str) -> bool:
    """Whether git has had the file, or the one that a merge set it beside, without what makes it
    torn.
    """
    return any(
        versions(data.decode("utf-8", "replace")) is None
        for place in (path, *_beside_which(root, path, version))
        for _, data in contents(root, _committed_names(root, place))
    )


def _committed_names(root: Path, path: str) -> list[str]:
    listed = run(
        root, "log", f"-{MAX_COMMITS}", "--format=%H", "--diff-merges=first-parent", "--", path
    )
    return [f"{side}:{path}" for commit in listed.text.split() for side in (commit, f"{commit}^2")]


def _beside_which(root: Path, path: str, version: str) -> list[str]:
    """The paths of the memory that one whose text was torn already was set beside."""
    if match := _SET_BESIDE.fullmatch(path):
        return [f"{match[1]}{match[2]}"]
    with contextlib.suppress(Corrupt):
        memory = parse(version)
        digits = {link[4:12] for kind, link in memory.links if kind == "contradicts"}
        if memory.meta.get("trigger") == TRIGGER and digits:
            return [name for name in run(root, "ls-files", "-z").items if digits_of(name) in digits]
    return []


def _has_nothing_to_resolve(own: Path) -> bool:
    """Whether git left a merge open for a conflict without a path: it could not guess to where a
    folder was renamed.
    """
    try:
        return _UNNAMED.search((own / "MERGE_MSG").read_bytes()) is not None
    except FileNotFoundError:
        return False


def _blob(root: Path, blob: str) -> bytes:
    return output(root, "cat-file", "blob", blob).out


def _write(root: Path, wanted: Mapping[str, bytes]) -> tuple[str, ...]:
    """The one file comes last, so that nothing is lost in between; a version that stands beside
    already stays.
    """
    *beside, place = wanted
    for path in beside:
        if files.is_absent(root, path):
            files.write(root, path, wanted[path])
    files.write(root, place, wanted[place])
    return tuple(wanted)
