"""Bringing HEAD up to the files on disk: what differs is planned first, then done under git's own
locks.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from keeplore.errors import RepositoryBusy, StoreError
from keeplore.memory.frontmatter import MAX_FILE
from keeplore.store import files, removal_guard
from keeplore.store.commit_cycle import RefMove, edit_index, publish, run_cycle
from keeplore.store.delete.delete import remove_returned
from keeplore.store.files import FileState
from keeplore.store.git.git_backend import GitBackend
from keeplore.store.git.git_command import run
from keeplore.store.git.git_locks import CommitLock
from keeplore.store.git.index_writer import stamp_of
from keeplore.store.git.objects import (
    EXECUTABLE,
    REGULAR,
    Blob,
    CycleCache,
    Difference,
    Moved,
    Unsupported,
    blob_id_at,
)
from keeplore.store.git.signature import signature_of
from keeplore.store.merge.interrupted_merge import take_back
from keeplore.store.merge.rebase_recovery import recover_aborted_rebase, recover_aside
from keeplore.store.merge.stale_checkout import restore_files, stale_entries
from keeplore.store.merge.stale_commit import restore_committed
from keeplore.store.paths import FOLDERS, is_ours, is_portable
from keeplore.store.repository_state import check_branch, check_idle
from keeplore.store.results import CommitResult

ASK_GIT_FROM = 200  # files that were never hashed; asking git costs two processes
RACY_NS = 2_000_000_000  # a file this young may change again without a new time stamp


@dataclass(frozen=True, slots=True)
class CommitPlan:
    """What has to change in HEAD, and what it rests on."""

    ref: str
    parent: str
    index: str  # what tells git's own from another version of it
    tracked: Mapping[str, Blob]  # ours in the parent
    ids: Mapping[str, str]  # of the blobs on disk
    changes: Mapping[str, Blob | None]
    evidence: tuple[FileState, ...]  # of the files to be committed
    skipped: tuple[str, ...]
    held_back: tuple[str, ...]  # where secrets stand
    removed_notes: tuple[
        Path, ...
    ]  # notes of files whose memory this commit has elsewhere

    def is_settled(self, path: str) -> bool:
        """Whether a path is on disk as in the parent."""
        return self.ids.get(path, "") == blob_id_at(self.tracked, path)


def reconcile(
    root: Path, branch: str, cache: CycleCache, message: str, extra: Iterable[str]
) -> CommitResult:
    """Commit what differs between our paths on disk and in HEAD, but for files with secrets;
    ``extra`` are paths that count as ours this time.

    Raises RepositoryBusy, where nothing was changed, or RepositoryError.
    """

    def cycle(lock: CommitLock, backend: GitBackend) -> CommitResult:
        plan = _plan(backend, branch, cache, tuple(extra))
        commit = _act(lock, backend, plan, message) if plan.changes else None
        if not commit:
            _mend_index(lock, backend, plan, cache)
        removal_guard.remove_notes(plan.removed_notes)
        paths = tuple(sorted(plan.changes))
        return CommitResult(commit, paths, plan.skipped, plan.held_back)

    return run_cycle(root, cache, cycle)


def _plan(
    backend: GitBackend, branch: str, cache: CycleCache, extra: tuple[str, ...]
) -> CommitPlan:
    """What differs between disk and HEAD. Raises RepositoryBusy, Moved or Unsupported."""
    ref, parent = _ref_and_parent(backend, branch, cache)
    index = stamp_of(backend.places.own)
    tracked = backend.tracked(parent, extra)
    skipped: list[str] = []
    on_disk, ids = _files_and_blob_ids(backend, cache, skipped, extra)
    restore_committed(backend, cache, parent, tracked, ids)
    differing = [path for path, id_ in ids.items() if blob_id_at(tracked, path) != id_]
    removed = _removed_paths(backend, tracked, on_disk, skipped)
    restore_files(backend, cache, tracked, ids, differing + removed, index)
    ignored = _ignored(backend, differing, tracked.keys() | extra)
    skipped += ignored
    changed = {path: on_disk[path] for path in differing if path not in ignored}
    held_back = _with_secrets(backend, cache, tracked, changed)
    wanted = [path for path in changed if path not in held_back]
    not_ignored = {path: on_disk[path] for path in ids.keys() - ignored}
    removed_notes = removal_guard.settled_notes(backend.root, not_ignored)
    changes: dict[str, Blob | None] = {**_blobs_on_disk(backend, wanted, tracked)}
    changes |= dict.fromkeys(removed)
    return CommitPlan(
        ref,
        parent,
        index,
        tracked,
        ids,
        changes,
        tuple(on_disk[path] for path in wanted),
        tuple(skipped),
        tuple(held_back.values()),
        # a file that is held back may have what another one had
        () if held_back else removed_notes,
    )


def _files_and_blob_ids(
    backend: GitBackend, cache: CycleCache, skipped: list[str], extra: Iterable[str]
) -> tuple[dict[str, FileState], dict[str, str]]:
    """The files on disk that are not forgotten, and the blob ids of those that git may have."""
    on_disk = _on_disk(backend.root, skipped, extra)
    remove_returned(backend.root, cache, on_disk)
    ids = _ids(backend, cache, on_disk)
    skipped += [path for path in on_disk if path not in ids]
    return on_disk, ids


def _ref_and_parent(
    backend: GitBackend, branch: str, cache: CycleCache
) -> tuple[str, str]:
    """The branch and its commit, after what a rebase took back is there again."""
    ref = check_branch(backend.root, backend.ref(), branch)
    parent = backend.tip(ref)
    take_back(backend, parent)
    recover_aborted_rebase(backend, ref, parent, cache)
    recover_aside(backend, parent, cache.machine)
    return ref, parent


def _with_secrets(
    backend: GitBackend,
    cache: CycleCache,
    tracked: Mapping[str, Blob],
    changed: Mapping[str, FileState],
) -> dict[str, str]:
    """Path → place and kind of the first new secret in it, of files that somebody else wrote; a
    secret of a kind that HEAD has in the file already is not new.
    """
    found: dict[str, str] = {}
    for path, file in changed.items():
        if cache.clean.get(path) == file:
            continue
        # one that is gone by now is seen when it is hashed
        with contextlib.suppress(StoreError, OSError):
            data = files.read(backend.root, path, MAX_FILE)
            known = _kinds_in(backend, cache, path, tracked.get(path))
            new = (hit for hit in cache.scan(data) if hit[1] not in known)
            if first := next(new, None):
                line = data.count(b"\n", 0, first[0]) + 1
                found[path] = f"{path}:{line} ({first[1]})"
    return dict(sorted(found.items()))


def _kinds_in(
    backend: GitBackend, cache: CycleCache, path: str, blob: Blob | None
) -> set[str]:
    """Kind and fingerprint of the secrets that a file has in HEAD."""
    text = backend.read(blob, path) if blob else b""
    return {kind for _, kind in cache.scan(text)}


def _ignored(
    backend: GitBackend, differing: Iterable[str], known: Collection[str]
) -> list[str]:
    """The paths that git does not know and is told to ignore."""
    new = [path for path in differing if path not in known]
    return sorted(backend.ignored(new)) if new else []


def _blobs_on_disk(
    backend: GitBackend, paths: Sequence[str], tracked: Mapping[str, Blob]
) -> dict[str, Blob]:
    """The files on disk as blobs that git has now. Raises Unsupported or Moved."""
    if backend.has_filter(paths):
        raise Unsupported("a filter")
    kept = backend.keep(paths)
    modes = _modes(backend.root, kept, tracked)
    return {path: Blob(id_, modes[path]) for path, id_ in kept.items()}


def _modes(
    root: Path, paths: Iterable[str], tracked: Mapping[str, Blob]
) -> dict[str, int]:
    """The mode of each file: HEAD's, or that of a program where somebody made it one and git is to
    believe the disk.
    """
    modes = {path: tracked[path].mode if path in tracked else REGULAR for path in paths}
    plain = [path for path, mode in modes.items() if mode != EXECUTABLE]
    made = [path for path in plain if os.access(root / path, os.X_OK)]
    if (
        made
        and os.name == "posix"
        and run(root, "config --bool core.fileMode").text != "false"
    ):
        modes |= dict.fromkeys(made, EXECUTABLE)
    return modes


def _on_disk(
    root: Path, skipped: list[str], extra: Iterable[str]
) -> dict[str, FileState]:
    """Path → state of every file of ours, and of the extra ones."""
    seen: dict[str, FileState] = {}
    for folder in FOLDERS:
        seen |= {file.path: file for file in files.walk(root, folder, skipped)}
    seen |= {path: file for path in extra if (file := files.file_state(root, path))}
    return seen


def _ids(
    backend: GitBackend, cache: CycleCache, on_disk: Mapping[str, FileState]
) -> dict[str, str]:
    """The blob id of every file that git may have; one that looks as when it was last hashed is not
    read again.
    """
    ids, unknown = {}, []
    for path, file in on_disk.items():
        hashed_as, id_ = cache.files.get((backend.name, path), (None, ""))
        if hashed_as == file:
            ids[path] = id_
        elif file.size <= MAX_FILE and (is_portable(path) or not is_ours(path)):
            unknown.append(path)
    young = time.time_ns() - RACY_NS
    hashed = _hashed(backend, unknown)
    for path, id_ in hashed.items():
        if on_disk[path].mtime_ns < young:
            cache.files[backend.name, path] = (on_disk[path], id_)
    return ids | hashed


def _hashed(backend: GitBackend, paths: list[str]) -> dict[str, str]:
    """Blob ids, from git's own index where there are many to find."""
    known = indexed(backend.root) if len(paths) > ASK_GIT_FROM else {}
    found = {path: known[path] for path in paths if path in known}
    return found | backend.hashes([path for path in paths if path not in found])


def indexed(root: Path) -> dict[str, str]:
    """Path → blob id of what git's own index knows to be unchanged on disk: by far quicker than
    hashing every file.

    Entries that git is told not to look at are left out. Nothing where git does not answer.
    """
    listed = run(root, "ls-files -z -s -v --", *FOLDERS)
    differing = run(root, "diff-files -z --name-only --", *FOLDERS)
    if listed.code or differing.code:
        return {}
    changed = set(differing.items)
    return {
        path: id_
        for (tag, _, id_, stage), path in listed.entries
        if tag == "H" and stage == "0" and path not in changed
    }


def _removed_paths(
    backend: GitBackend,
    tracked: Mapping[str, Blob],
    on_disk: Mapping[str, FileState],
    skipped: Iterable[str],
) -> list[str]:
    """What HEAD has and a person removed from disk; a path that cannot be seen for another reason
    is left alone.
    """
    hidden = set(skipped)
    missing = [path for path in tracked if path not in on_disk and is_portable(path)]
    gone = [
        path
        for path in missing
        if not (hidden and _is_below(path, hidden))
        and files.is_absent(backend.root, path)
    ]
    left_out = backend.left_out(gone) if gone else set()
    return [path for path in gone if path not in left_out]


def _is_below(path: str, places: set[str]) -> bool:
    """Whether a path is one of the places or below one."""
    parts = path.split("/")
    return any("/".join(parts[:depth]) in places for depth in range(1, len(parts) + 1))


def _act(lock: CommitLock, backend: GitBackend, plan: CommitPlan, message: str) -> str:
    """Make the commit under git's own locks; its id. Raises Moved."""
    root = backend.root
    with lock.index(plan.ref) as draft:
        check_idle(root, backend.places)
        _check_unchanged(backend, plan)
        staged = backend.staged(plan.parent, draft)
        stale = stale_entries(backend, staged, plan.is_settled)
        changes = {**stale, **_unstaged(backend, staged), **plan.changes}
        edit_index(backend, draft, changes)
        text = message or summary(plan.changes)
        parents = [plan.parent] if plan.parent else []
        person = signature_of(root)
        commit = backend.commit(parents, plan.changes, f"{text.strip()}\n", person)
        publish(lock, backend, draft, RefMove(plan.ref, plan.parent, commit, text))
    return commit


def _mend_index(
    lock: CommitLock, backend: GitBackend, plan: CommitPlan, cache: CycleCache
) -> None:
    """Put into the index again what a git command of the person's overwrote there; as long as git
    holds its lock, that waits for another cycle. Raises Moved.
    """
    own = backend.places.own
    index = own / "index"
    if not plan.index or plan.index == cache.index or backend.has_unmerged(index):
        return
    staged = backend.staged(plan.parent, index)
    if stale := stale_entries(backend, staged, plan.is_settled):
        try:
            with lock.index(plan.ref) as draft:
                check_idle(backend.root, backend.places)
                _check_unchanged(backend, plan)
                edit_index(backend, draft, stale)
                lock.publish(draft)
        except RepositoryBusy:
            return
    cache.index = stamp_of(own)


def _unstaged(backend: GitBackend, staged: Difference) -> dict[str, None]:
    """The paths that a person staged and that were renamed or removed since, so that neither HEAD
    nor disk has them: the next commit by hand would bring them back.
    """
    new = [path for path, change in staged.items() if change.before is None]
    gone = [path for path in new if files.is_absent(backend.root, path)]
    return dict.fromkeys(set(gone) - backend.left_out(gone) if gone else ())


def _check_unchanged(backend: GitBackend, plan: CommitPlan) -> None:
    """Raise Moved where something that the plan rests on has changed."""
    if backend.ref() != plan.ref or backend.tip(plan.ref) != plan.parent:
        raise Moved
    if stamp_of(backend.places.own) != plan.index:
        raise Moved  # a git command that has written files ends with its index
    if any(files.file_state(backend.root, file.path) != file for file in plan.evidence):
        raise Moved
    removed = [path for path, blob in plan.changes.items() if blob is None]
    if not all(files.is_absent(backend.root, path) for path in removed):
        raise Moved  # git was about to write it again


def summary(changes: Mapping[str, Blob | None]) -> str:
    """A commit's subject where the caller gives none."""
    removed = sum(blob is None for blob in changes.values())
    counts = {"write": len(changes) - removed, "remove": removed}
    parts = [f"{verb} {_count(number)}" for verb, number in counts.items() if number]
    return " and ".join(parts).capitalize()


def _count(number: int) -> str:
    """How many files, in words."""
    return "1 memory file" if number == 1 else f"{number} memory files"
