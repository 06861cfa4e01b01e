"""Bringing back what a commit of the person's took away that was made of an index without ours.

A git command that was overtaken leaves an index, at times files too, without what a commit of ours
brought (``stale_checkout``). Where the person commits before the next cycle mends that, as ``git
commit -a`` may after ``git stash pop``, the new commit removes those memories, on this branch or on
another one that is merged later. The next rebase or checkout takes them from the disk as well, and
a sync from every machine.

A commit counts as such where it was made in the minute after one of ours and takes all memories of
that, several, back to what ours had found there: a memory that is deleted by hand is meant to be,
and so is what ``git revert`` made, where its message says so or a cycle saw it under way. It is
looked for once, when it has come to our branch.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from keeplore.errors import RepositoryError
from keeplore.store import files, memory_files, removal_guard, tombstones
from keeplore.store.commit_cycle import BY_US
from keeplore.store.git.git_backend import GitBackend
from keeplore.store.git.git_command import run
from keeplore.store.git.objects import (
    Blob,
    CycleCache,
    Moved,
    PathChange,
    Unsupported,
    blob_id_at,
)
from keeplore.store.git.ref_log import LogEntry, changed_log
from keeplore.store.git.signature import TRAILER
from keeplore.store.merge.merge_plan import id_of
from keeplore.store.merge.stale_checkout import changes_of, is_of_memory, ours_before
from keeplore.store.merge.stopped_rebase import MERGED
from keeplore.store.paths import is_memory
from keeplore.store.repository_state import noted_revert

HEAD = "HEAD"
SEVERAL = 2  # files of a commit of ours: of a single one, its removal may be meant
_REVERT = "--grep=^This reverts commit [0-9a-f]"  # git never translates it
MAX_COMMITS = 1000  # that came to the branch since a commit of ours
_LOG = (
    f"log -{MAX_COMMITS} --topo-order --no-show-signature --invert-grep --basic-regexp"
    f" --format=%H%x00%P%x00%(trailers:key={TRAILER},valueonly,unfold,separator=%x2C)%x00%at"
)


def restore_committed(
    backend: GitBackend,
    cache: CycleCache,
    head: str,
    tracked: Mapping[str, Blob],
    ids: Mapping[str, str],
) -> None:
    """Write the memories again that such commits took away.

    ``tracked`` is what HEAD has, ``ids`` are of the blobs on disk. A cycle in which HEAD's log is
    as it was costs one ``stat``; where git keeps none, nothing is done. Raises Moved where there
    was anything to write, or Unsupported.
    """
    changed = changed_log(backend.places.own / "logs" / HEAD, cache.logs.get(HEAD))
    if not changed:
        return
    looked, entries = changed
    ours = [entry for entry in entries if entry.message.startswith(BY_US)]
    gone = {
        path: change.before
        for path, change in _taken_away(backend, ours, head).items()
        if change.before and _is_as_left(path, change, tracked, ids)
    }
    if backend.has_filter(gone):
        raise Unsupported("a filter")
    # what is forgotten must not come back before its tombstone
    written = [
        _write_again(backend, cache, path, gone[path])
        for path in sorted(gone, key=lambda path: (not tombstones.id_of(path), path))
    ]
    if any(written):
        raise Moved
    cache.logs[HEAD] = looked


def _taken_away(
    backend: GitBackend, ours: Sequence[LogEntry], head: str
) -> dict[str, PathChange]:
    """Path → what a commit of the person's made of it that took back what one of ours had done."""
    lost: dict[str, PathChange] = {}
    meant = noted_revert(backend.places)
    for commit in _person_commits_since(backend, ours, head):
        recent = [entry for entry in ours_before(ours, commit.at) if entry.new != meant]
        if not recent:
            continue
        with contextlib.suppress(KeyError, RepositoryError):  # a shallow clone
            lost = {**dict(_reverted_changes(backend, commit, recent)), **lost}
    return lost


class _PersonCommit(NamedTuple):
    id: str
    parent: str  # the first one
    at: int  # the author's time, which a rebase leaves, in seconds since 1970


def _person_commits_since(
    backend: GitBackend, ours: Sequence[LogEntry], head: str
) -> Iterator[_PersonCommit]:
    """The commits of the person's since our last one on the branch, the newest first: those that
    name no machine, revert nothing, and did not come from the remote with a merge of ours.

    Such a merge does not count as our last commit: it follows the look at the branch by some time.
    """
    number = len(ours)
    while number and ours[number - 1].message.endswith(MERGED):
        number -= 1
    merges = ours[number:]
    since = ours[number - 1].new if number else ours[0].new if ours else head
    if since == head:
        return
    log = run(backend.root, _LOG, _REVERT, head, f"^{since}")
    fetched = {
        commit
        for merge in merges
        for commit in run(
            backend.root, "rev-list", merge.new, f"^{merge.old}"
        ).text.split()
    }
    for record in filter(None, log.text.split("\n")):
        commit, parents, machine, at = record.split("\0")
        if parents and not machine.strip() and commit not in fetched:
            yield _PersonCommit(commit, parents.split()[0], int(at))


def _reverted_changes(
    backend: GitBackend, commit: _PersonCommit, ours: Sequence[LogEntry]
) -> Iterator[tuple[str, PathChange]]:
    """What a commit took back of what ours did, where it took back all that one of them did to
    several files: whoever deletes a memory by hand leaves the others.
    """
    changes = backend.changes(commit.parent, commit.id)
    for done in changes_of(backend, ours):
        own = {path: change for path, change in done.items() if is_of_memory(path)}
        # what differs in its mode alone is the same file
        own = {path: change for path, change in own.items() if len({*change.ids}) > 1}
        if len(own) < SEVERAL or not own.keys() <= changes.keys():
            continue
        for path, change in own.items():
            if changes[path].ids == change.ids[::-1]:
                yield path, changes[path]


def _is_as_left(
    path: str, change: PathChange, tracked: Mapping[str, Blob], ids: Mapping[str, str]
) -> bool:
    """Whether HEAD and the disk have a path as that commit left it."""
    left = change.ids[1]
    return left == blob_id_at(tracked, path) == ids.get(path, "") and change.is_plain


def _write_again(backend: GitBackend, cache: CycleCache, path: str, blob: Blob) -> bool:
    """Write a file as ours had it, unless its memory is forgotten or stands elsewhere; returns
    whether it was written.
    """
    root = backend.root
    data = backend.read(blob, path)
    here = files.file_state(root, path)
    if cache.is_own(path, here) or path in removal_guard.removed_paths(root):
        return False
    if is_memory(path):
        memory_id = id_of(path, data)
        present = [file for file in files.indexed(root) if is_memory(file.path)]
        copies = memory_files.copies(root, present, memory_id)
        if memory_id in tombstones.Tombstones(root):
            return False
        if any(place != path for place, _ in copies):
            return False
    files.write(root, path, data)
    return True
