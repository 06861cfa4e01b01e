"""Mending what a git command of the person's wrote that had looked before a commit of ours.

git reads the branch and the index first, and takes its lock later. Where a commit of ours comes in
between, ``git merge`` writes an index without that commit, or, where it cannot go on, takes index
and disk back to the commit that it began with (``restore_state`` in git's builtin/merge.c). HEAD
has the commit still, but the next cycle would take what is gone from the disk for removed by the
person.

A file is mended only where it is as a commit of ours had found it a moment before, and the index is
so too, or the log of HEAD tells that a merge has reset both.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence, Set
from pathlib import Path

from keeplore.errors import RepositoryError
from keeplore.store import files, tombstones
from keeplore.store.commit_cycle import BY_US
from keeplore.store.git.git_backend import GitBackend
from keeplore.store.git.objects import Blob, Moved, Unsupported
from keeplore.store.git.ref_log import LogEntry, last_entries
from keeplore.store.merge.merge_plan import id_of
from keeplore.store.paths import is_memory
from keeplore_hooks import durable

WINDOW_S = 60.0  # no git command looks so long before it writes
HANDLED = "reset.keeplore"  # in the git directory: the last reset that was looked after
_RESET = re.compile(r"(?:merge|pull)\b.*: updating HEAD")
Versions = Mapping[str, Set[str]]  # path → the ids of blobs, "" for no file


def restore_files(
    backend: GitBackend,
    head: str,
    tracked: Mapping[str, Blob],
    on_disk: Mapping[str, str],
) -> None:
    """Write the memories again that HEAD has and a merge reset on disk.

    ``on_disk`` has the blob id, "" for none, of each file that is not as ``tracked`` in HEAD.
    Raises Moved where there were any, or Unsupported.
    """
    suspects = {
        path: id_
        for path, id_ in on_disk.items()
        if path in tracked and (is_memory(path) or tombstones.id_of(path))
    }
    if not suspects:
        return
    log = _log_of_head(backend)
    reset = _unhandled_reset(backend, log)
    lost = _lost(backend, head, suspects, log, reset)
    if backend.has_filter(lost):
        raise Unsupported("a filter")
    stones = tombstones.Tombstones(backend.root)
    is_changed = False
    for path in lost:
        data = backend.read(tracked[path], path)
        if is_memory(path) and id_of(path, data) in stones:
            continue
        is_changed = True
        if backend.hashes([path]).get(path, "") == on_disk[path]:
            files.write(backend.root, path, data)
    if reset:
        durable.write(backend.places.own / HANDLED, _line(reset))
    if is_changed:
        raise Moved


def stale_entries(
    backend: GitBackend, head: str, index: Path, is_settled: Callable[[str], bool]
) -> dict[str, Blob | None]:
    """What is to stand in an index file, None for nothing, where it lacks a commit of ours;
    ``is_settled`` tells what is on disk as in HEAD.
    """
    staged = backend.staged(head, index)
    differing = {path: change for path, change in staged.items() if is_settled(path)}
    if not differing:
        return {}
    replaced = _replaced(backend, _log_of_head(backend), _written_at(backend))
    return {
        path: change.before
        for path, change in differing.items()
        if _id_of(change.after) in replaced.get(path, ())
    }


def _lost(
    backend: GitBackend,
    head: str,
    on_disk: Mapping[str, str],
    log: Sequence[LogEntry],
    reset: LogEntry | None,
) -> list[str]:
    """Which of the paths are on disk as a commit of ours had found them before git wrote."""
    staged = backend.staged(head, backend.places.own / "index")
    if not (reset or staged):
        return []
    before_index = _replaced(backend, log, _written_at(backend))
    before_reset = _replaced(backend, log, reset.at) if reset else {}
    lost = []
    for path, id_ in on_disk.items():
        is_staged = path in staged and _id_of(staged[path].after) == id_
        versions = before_index if is_staged else before_reset
        if id_ in versions.get(path, ()):
            lost.append(path)
    return lost


def _written_at(backend: GitBackend) -> float:
    """When git's index was written, 0.0 for none."""
    try:
        return (backend.places.own / "index").stat().st_mtime
    except OSError:
        return 0.0


def _id_of(blob: Blob | None) -> str:
    return blob.id if blob else ""


def _log_of_head(backend: GitBackend) -> list[LogEntry]:
    """The last moves of HEAD; none where git keeps no log of it."""
    try:
        return last_entries(backend.places.own / "logs" / "HEAD")
    except OSError:
        return []


def _unhandled_reset(backend: GitBackend, log: Sequence[LogEntry]) -> LogEntry | None:
    """The last time that a merge took index and disk back, unless it was looked after."""
    resets = [entry for entry in log if _RESET.fullmatch(entry.message)]
    place = backend.places.own / HANDLED
    handled = place.read_bytes() if place.exists() else b""
    return resets[-1] if resets and _line(resets[-1]) != handled else None


def _line(entry: LogEntry) -> bytes:
    return f"{entry.new} {entry.at}\n".encode()


def _replaced(
    backend: GitBackend, log: Sequence[LogEntry], written_at: float
) -> Versions:
    """What commits of ours replaced in the moment before git wrote."""
    found: dict[str, set[str]] = defaultdict(set)
    for entry in log:
        is_recent = written_at - WINDOW_S <= entry.at <= written_at + 1
        if not (entry.message.startswith(BY_US) and is_recent and entry.old.strip("0")):
            continue
        try:
            changes = backend.changes(entry.old, entry.new)
        except (KeyError, RepositoryError):  # a purge took them out of git
            continue
        for path, change in changes.items():
            found[path].add(_id_of(change.before))
    return found
