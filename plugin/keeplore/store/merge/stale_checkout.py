"""Mending what a git command of the person's wrote that had looked before a commit of ours.

git reads the branch and the index first, and takes its lock later. Where a commit of ours comes in
between, ``git merge`` writes an index without that commit, or, where it cannot go on, takes index
and disk back to the commit that it began with (``restore_state`` in git's builtin/merge.c); a ``git
stash`` may note what is new as removed, and removes it when it is popped. HEAD has the commit
still, but the next cycle would take what is gone from the disk for removed by the person.

A file is mended only where it is as a commit of ours had found it, and a git command that was not
ours wrote the index in the minute after that commit.
"""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Set

from keeplore.errors import RepositoryError
from keeplore.store import files, removal_guard, tombstones
from keeplore.store.commit_cycle import BY_US
from keeplore.store.git.git_backend import GitBackend
from keeplore.store.git.index_writer import foreign_write, note_index, written_at
from keeplore.store.git.objects import Blob, CycleCache, Difference, Moved, Unsupported
from keeplore.store.git.ref_log import LogEntry, last_entries
from keeplore.store.merge.merge_plan import id_of
from keeplore.store.paths import is_memory

WINDOW_S = 60.0  # no git command looks so long before it writes
Versions = Mapping[str, Set[str]]  # path → the ids of blobs, "" for no file


def restore_files(
    backend: GitBackend,
    cache: CycleCache,
    tracked: Mapping[str, Blob],
    ids: Mapping[str, str],
    differing: Iterable[str],
    stamp: str,
) -> None:
    """Write the memories again that HEAD has and a git command took from the disk.

    ``ids`` are of the blobs on disk, ``differing`` the paths where it is not as HEAD, ``stamp`` is
    the index's from before that was looked at: what git has written meanwhile is not looked after.
    Raises Moved where there was anything to write, or Unsupported.
    """
    own = backend.places.own
    foreign_at = foreign_write(own)
    if not foreign_at:
        return
    on_disk = {path: ids.get(path, "") for path in differing if path in tracked}
    lost = _lost_paths(backend, on_disk, foreign_at)
    if backend.has_filter(lost):
        raise Unsupported("a filter")
    forgotten = tombstones.Tombstones(backend.root)
    is_changed = False
    for path in lost:
        data = backend.read(tracked[path], path)
        is_forgotten = is_memory(path) and id_of(path, data) in forgotten
        if is_forgotten or cache.is_own(path, files.file_state(backend.root, path)):
            continue
        is_changed = True
        if backend.hashes([path]).get(path, "") == on_disk[path]:
            files.write(backend.root, path, data)
    note_index(own, stamp)
    if is_changed:
        raise Moved


def stale_entries(
    backend: GitBackend, staged: Difference, is_settled: Callable[[str], bool]
) -> dict[str, Blob | None]:
    """What is to stand in the index, None for nothing, where it lacks a commit of ours; ``staged``
    is what differs there from HEAD, ``is_settled`` tells what is on disk as in HEAD.
    """
    differing = {path: change for path, change in staged.items() if is_settled(path)}
    if not differing:
        return {}
    replaced = _replaced_versions(backend, written_at(backend.places.own))
    return {
        path: change.before
        for path, change in differing.items()
        if change.ids[1] in replaced.get(path, ())
    }


def _lost_paths(
    backend: GitBackend, on_disk: Mapping[str, str], foreign_at: float
) -> list[str]:
    """Which memories are on disk as a commit of ours had found them before git wrote."""
    suspects = [*filter(is_of_memory, on_disk)]
    if not suspects:
        return []
    replaced = _replaced_versions(backend, foreign_at)
    lost = {path for path in suspects if on_disk[path] in replaced.get(path, ())}
    if any(map(tombstones.id_of, lost)):
        lost -= _restoring_tombstones(backend, lost)
    return sorted(lost - removal_guard.removed_paths(backend.root) if lost else ())


def _restoring_tombstones(backend: GitBackend, lost: Iterable[str]) -> set[str]:
    """The tombstones that Keeplore took away, from the disk alone, to restore a memory."""
    staged = backend.staged(backend.tip("HEAD"), backend.places.own / "index")
    return {path for path in lost if tombstones.id_of(path) and path not in staged}


def is_of_memory(path: str) -> bool:
    """Is it the file of a memory, or a tombstone?"""
    return is_memory(path) or bool(tombstones.id_of(path))


def _replaced_versions(backend: GitBackend, until: float) -> Versions:
    """What commits of ours replaced in the moment before git wrote; nothing where git keeps no log
    of HEAD.
    """
    try:
        entries = last_entries(backend.places.own / "logs" / "HEAD")
    except OSError:
        return {}
    found: dict[str, set[str]] = defaultdict(set)
    for changes in changes_of(backend, ours_before(entries, until)):
        for path, change in changes.items():
            found[path].add(change.ids[0])
    return found


def ours_before(entries: Iterable[LogEntry], until: float) -> list[LogEntry]:
    """The commits of ours in the minute before a moment, in seconds since 1970."""
    recent = (entry for entry in entries if until - WINDOW_S <= entry.at <= until + 1)
    ours = (entry for entry in recent if entry.message.startswith(BY_US))
    return [entry for entry in ours if entry.old.strip("0")]


def changes_of(
    backend: GitBackend, entries: Iterable[LogEntry]
) -> Iterator[Difference]:
    """What each move of a branch changed."""
    for entry in entries:
        # a purge took them out of git
        with contextlib.suppress(KeyError, RepositoryError):
            yield backend.changes(entry.old, entry.new)
