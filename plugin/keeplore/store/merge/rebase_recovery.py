"""Bringing back what a rebase took away.

git notes where a branch is before it makes the folder that tells of a rebase. A commit of ours that
comes between the two is taken back when that rebase is aborted, from the branch and from the disk;
only the branch's log still names it. What stood in the way of a rebase was set aside by
``stopped_rebase``, as a commit that only a note and a ref of ours name.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence

from keeplore.errors import RepositoryError, StoreError
from keeplore.memory.frontmatter import MAX_FILE
from keeplore.store import files
from keeplore.store.git.git_backend import GitBackend
from keeplore.store.git.git_command import output, run
from keeplore.store.git.objects import (
    Blob,
    CycleCache,
    Difference,
    Moved,
    PathChange,
    Unsupported,
)
from keeplore.store.git.ref_log import LogEntry, changed_log
from keeplore.store.git.remotes import is_ancestor
from keeplore.store.git.signature import AuthoredCommit, authored_commits
from keeplore.store.merge.merge_plan import id_of, merge_versions
from keeplore.store.paths import is_memory, is_ours, is_portable
from keeplore.store.tombstones import FOLDER, Tombstones
from keeplore_hooks import durable

# in the git directory: the aborted rebases that were looked after, and by which machine
HANDLED = "aborted.keeplore"
# in the git directory: what was set aside, as the commit and the one that it was made on
ASIDE = "aside.keeplore"
ASIDE_REFS = "refs/keeplore/aside/"  # keep git from collecting it; never pushed
MAX_HANDLED = 50  # that are remembered
_ABORTED = re.compile(r"rebase(?: -i)? \(abort\): ")


def recover_aborted_rebase(
    backend: GitBackend, ref: str, head: str, cache: CycleCache
) -> None:
    """Write to disk what commits of ours held that an aborted rebase took off the branch, each time
    once.

    A cycle in which the branch's log is as it was costs one ``stat``. Where there is no such log,
    nothing is done. Raises Moved or Unsupported.
    """
    changed = changed_log(backend.places.common / "logs" / ref, cache.logs.get(ref))
    if not changed:
        return
    looked, entries = changed
    aborted = [
        f"{entry} {cache.machine}".rstrip() for entry in _aborted_rebases(entries)
    ]
    if _handle_aborted(backend, head, cache.machine, aborted):
        cache.logs[ref] = looked


def note_aside(backend: GitBackend, commit: str, made_on: str) -> None:
    """Write down that a commit is to be brought back after the rebase."""
    output(backend.root, "update-ref", f"{ASIDE_REFS}{commit}", commit)
    place = backend.places.own / ASIDE
    noted = place.read_text("ascii") if place.exists() else ""
    if commit not in noted:
        durable.write(place, f"{noted}{commit} {made_on}\n".encode())


def recover_aside(backend: GitBackend, head: str, machine: str) -> None:
    """Write to disk what was set aside for a rebase, in the order in which it was, joined with what
    the rebase has put there. Raises Moved or Unsupported.
    """
    place = backend.places.own / ASIDE
    if not place.exists():
        return
    entries = place.read_text("ascii").splitlines()
    while entries and _bring_back(backend, head, machine, entries[0], is_aside=True):
        commit = entries.pop(0).split()[0]
        durable.write(place, "".join(f"{entry}\n" for entry in entries).encode())
        run(backend.root, "update-ref -d", f"{ASIDE_REFS}{commit}")
    if not entries:
        place.unlink()


def _handle_aborted(
    backend: GitBackend, head: str, machine: str, aborted: list[str]
) -> bool:
    """Handle the aborted rebases that were not handled yet; returns whether none is left to do."""
    place = backend.places.own / HANDLED
    handled = place.read_text("ascii", "replace").splitlines() if place.exists() else []
    waiting = [entry for entry in aborted if entry not in handled]
    done = [entry for entry in waiting if _bring_back(backend, head, machine, entry)]
    if done:
        kept = [*handled, *done][-MAX_HANDLED:]
        durable.write(place, "".join(f"{entry}\n" for entry in kept).encode())
    return done == waiting


def _aborted_rebases(entries: Sequence[LogEntry]) -> list[str]:
    """The tip that was lost, the commit that was returned to and when, for each such entry of a
    branch's log.
    """
    return [
        f"{entry.old} {entry.new} {entry.at}"
        for entry in entries[-MAX_HANDLED:]
        if entry.old != entry.new  # else the branch stayed where it was
        and _ABORTED.match(entry.message)
    ]


def _bring_back(
    backend: GitBackend, head: str, machine: str, entry: str, *, is_aside: bool = False
) -> bool:
    """Bring back the commits of ours that an entry of the branch's log took away; returns whether
    all was done that can be done. What was set ``aside`` is newer than all that the branch has, an
    edit beats its removal there.
    """
    root = backend.root
    lost, kept = entry.split()[:2]
    if is_ancestor(root, lost, head) or not is_ancestor(root, kept, lost):
        return True
    changes = _changes_of_ours(backend, machine, lost, kept)
    if backend.has_filter(changes):
        raise Unsupported("a filter")
    since = _paths(authored_commits(root, head, kept))
    is_done = True
    for path in sorted(changes, key=_tombstones_first):
        try:
            change = changes[path]
            if is_aside and change.after and files.is_absent(root, path):
                change = PathChange(None, change.after)
            is_settled = path in since and not is_aside
            _put_back(backend, path, change, is_settled=is_settled)
        except OSError:  # a full disk: the next cycle tries again
            is_done = False
        # no more to be had from git, or a link is in the way
        except (KeyError, StoreError, RepositoryError):
            continue
    return is_done


def _tombstones_first(path: str) -> tuple[bool, str]:
    """The order in which files are put back: what is forgotten must not come back before."""
    return not _is_tombstone(path), path


def _changes_of_ours(
    backend: GitBackend, machine: str, lost: str, kept: str
) -> Difference:
    """What this machine's own commits between the two changed in plain files."""
    commits = authored_commits(backend.root, lost, kept)
    ours = _paths(commit for commit in commits if is_by_machine(commit, machine))
    return {
        path: change
        for path, change in backend.changes(kept, lost).items()
        if path in ours and is_portable(path) and change.is_plain
    }


def _is_tombstone(path: str) -> bool:
    """Whether a path is a tombstone's."""
    return path.startswith(f"{FOLDER}/")


def is_by_machine(commit: AuthoredCommit, machine: str) -> bool:
    """Whether this machine made a commit for Keeplore alone; what a merge joined, the next sync
    joins again.
    """
    return (
        commit.machine == machine
        and not commit.is_merge
        and all(is_ours(path) for path in commit.paths)
    )


def _paths(commits: Iterable[AuthoredCommit]) -> set[str]:
    """Every path that the commits changed."""
    return {path for commit in commits for path in commit.paths}


def _put_back(
    backend: GitBackend, path: str, change: PathChange, *, is_settled: bool
) -> None:
    """Make a file what the lost commit had, joined with what was written since; a tombstone beats
    it.

    ``is_settled`` where commits since then changed the path: whether the file is there was decided
    anew.
    """
    root, before, after = backend.root, change.before, change.after
    here = files.file_state(root, path)
    id_here = backend.hashes([path]).get(path) if here else None
    if here is None and (before or is_settled or os.path.lexists(root / path)):
        return
    is_there = after is not None and id_here == after.id
    if here and (id_here is None or is_there):
        return
    is_as_before = before is not None and id_here == before.id
    if after is None:
        if is_as_before and not is_settled and not _is_tombstone(path):
            files.remove(root, path)
        return
    data = backend.read(after, path)
    if is_memory(path) and id_of(path, data) in Tombstones(root):
        return
    if here and not is_as_before:
        data = _joined_with_disk(backend, path, before, data)
    if files.file_state(root, path) != here:
        raise Moved
    files.write(root, path, data)


def _joined_with_disk(
    backend: GitBackend, path: str, before: Blob | None, data: bytes
) -> bytes:
    """The lost text merged with the one on disk; what cannot be joined is written beside."""
    root = backend.root
    base = backend.read(before, path) if before else None
    data, extra = merge_versions(path, base, files.read(root, path, MAX_FILE), data)
    for place, text in extra.items():
        if not os.path.lexists(root / place):
            files.write(root, place, text)
    return data
