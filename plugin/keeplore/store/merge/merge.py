"""Taking in what another machine committed: merged in memory, written to disk, and only then made
HEAD.

Disk comes first: killed in between, the next cycle commits what was written, and the same merge
then finds it there. With HEAD first, the next cycle would take the old files for a person's edits
and undo the other machine's work.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable
from pathlib import Path

import pygit2

from keeplore.errors import RepositoryBusy, RepositoryError
from keeplore.memory.location import digits_of
from keeplore.memory.names import short_id
from keeplore.store import files, tombstones
from keeplore.store.commit_cycle import (
    RefMove,
    check_merged,
    edit_index,
    publish,
    run_cycle,
)
from keeplore.store.git.git_backend import GitBackend
from keeplore.store.git.git_command import run
from keeplore.store.git.git_locks import CommitLock
from keeplore.store.git.libgit_backend import LibgitBackend
from keeplore.store.git.objects import (
    EXECUTABLE,
    LINK,
    PLAIN,
    Blob,
    CycleCache,
    Difference,
    Moved,
    PathChange,
    Unsupported,
)
from keeplore.store.git.signature import signature_of
from keeplore.store.merge.interrupted_merge import noted_merge
from keeplore.store.merge.merge_plan import folders
from keeplore.store.merge.settings_merge import SETTINGS, join_settings
from keeplore.store.merge.stopped_rebase import MERGED
from keeplore.store.merge.tree_merge import merged_tree
from keeplore.store.paths import is_ours, is_portable, is_safe
from keeplore.store.repository_state import check_branch, check_idle
from keeplore.store.results import MergeResult
from keeplore.text.counts import first_of

MAX_BLOB = 64 * 1024 * 1024  # bytes; what is larger is the person's to merge
LOSS_FROM = 10  # files; below this, a removal of everything is believed
LOSS_SHARE = 0.5  # of our files; a side that removes more was wiped rather than edited
SHOWN = 5  # paths in a message
_COMMIT = (
    "Commit your edits of these files; nothing is lost, and it is tried again then"
)
_BY_HAND = (
    "Run `git merge` in the workspace and resolve it there; Keeplore goes on afterwards"
)


def merge(
    root: Path,
    branch: str,
    cache: CycleCache,
    other: str,
    *,
    is_unrelated: bool = False,
) -> MergeResult:
    """Merge a commit into the branch, and what it changes into the files on disk.

    ``is_unrelated`` allows a side without common history. Raises RepositoryBusy where a file in the
    way is being edited, RepositoryError for such a side otherwise, for links that both changed, and
    for a side with most of our memory gone. No ref has moved then, and no edit is lost.
    """

    def cycle(lock: CommitLock, backend: GitBackend) -> MergeResult:
        ref = check_branch(root, backend.ref(), branch)
        old = backend.tip(ref)
        if isinstance(backend, LibgitBackend):
            return _merge_in_memory(
                lock, backend, ref, old, other, is_unrelated=is_unrelated
            )
        return _by_git(backend, old, other, is_unrelated=is_unrelated)

    return run_cycle(root, cache, cycle)


def _merge_in_memory(
    lock: CommitLock,
    backend: LibgitBackend,
    ref: str,
    old: str,
    other: str,
    *,
    is_unrelated: bool,
) -> MergeResult:
    """Merge without a checkout: forward to the other commit, or by a commit of both."""
    base = backend.repository.merge_base(old, other) if old else None
    is_forward = _is_forward(old, str(base or ""), other, is_unrelated=is_unrelated)
    if is_forward is None:
        return MergeResult(old)
    target = other if is_forward else _merged_tree(backend, old, other)
    changes = backend.changes(old, target)
    _check(backend, old, changes)
    if backend.has_filter(changes):
        raise Unsupported("a filter")
    with lock.index(ref) as draft:
        check_idle(backend.root, backend.places)
        if backend.ref() != ref or backend.tip(ref) != old:
            raise Moved
        check_merged(backend, draft)
        to_write = _to_write(backend, changes, draft)
        commit = other if is_forward else _commit_of(backend, target, old, other)
        with noted_merge(backend, old, commit):
            for path in to_write:
                _put_file(backend, path, changes[path])
            after = {path: change.after for path, change in changes.items()}
            edit_index(backend, draft, after)
            publish(lock, backend, draft, RefMove(ref, old, commit, MERGED))
    return MergeResult(commit, tuple(sorted(changes)))


def _check(backend: GitBackend, old: str, changes: Difference) -> None:
    """Raise RepositoryError for what the other side may not change here."""
    _check_loss(backend, old, changes)
    _check_writable(backend, changes)


def _commit_of(backend: GitBackend, tree: str, old: str, other: str) -> str:
    """The commit of a merge; no ref names it yet."""
    return backend.commit_of(
        tree, (old, other), f"{MERGED}\n", signature_of(backend.root)
    )


def _is_forward(old: str, base: str, other: str, *, is_unrelated: bool) -> bool | None:
    """Whether the branch only has to follow the other side, None where it has all of it already;
    ``base`` is the last commit of both, "" for none. Raises RepositoryError.
    """
    if not old:
        return True
    if not (base or is_unrelated):
        raise RepositoryError(
            "the remote holds another workspace, with no history in common with this one",
            "If both are yours, `keeplore sync --join` brings them together; else give this one a "
            "remote of its own",
        )
    return None if base == other else base == old


def _merged_tree(backend: GitBackend, old: str, other: str) -> str:
    """The tree of the merge. Raises RepositoryError for conflicts that a person must resolve."""
    tree, conflicts = merged_tree(backend, old, other)
    if conflicts:
        raise RepositoryError(f"both sides changed {_first_paths(conflicts)}", _BY_HAND)
    return tree


def _to_write(backend: LibgitBackend, changes: Difference, draft: Path) -> list[str]:
    """The paths whose file on disk has to change, in the order in which it does.

    Raises RepositoryBusy where one is edited.
    """
    index = backend.index(draft)
    wanted, edited = [], []
    for path, change in changes.items():
        if is_ours(path) and not (change.is_plain and is_portable(path)):
            # it stays in git alone: such a file is never written, nor taken for removed
            continue
        if _is_joined_on_disk(backend, path, change):
            wanted.append(path)
        elif not (is_ours(path) or _is_clean(index, path, change)):
            edited.append(path)
        elif _is_on_disk(backend, path, change.after) and not _is_other_mode(change):
            continue  # as it is to be already
        elif _is_on_disk(backend, path, change.before):
            wanted.append(path)
        else:
            edited.append(path)
    if edited:
        raise _edited_error(edited)
    return _in_order(changes, wanted)


def _in_order(changes: Difference, paths: Iterable[str]) -> list[str]:
    """What is new first, then what moved here or changes, then removals: killed in between, each
    text is still on disk. Before all, removals of what is in a file's way.
    """
    written = {path.casefold() for path in paths if changes[path].after}
    taken = written | folders(written)
    left = {"", *(digits_of(path) for path in paths if not changes[path].after)}

    def rank(path: str) -> int:
        if changes[path].after:
            is_known = changes[path].before or digits_of(path) in left
            return 2 if is_known else 1
        name = path.casefold()
        is_in_the_way = name in taken or not written.isdisjoint(folders([name]))
        return 0 if is_in_the_way else 3

    return sorted(paths, key=lambda path: (rank(path), path))


def _is_joined_on_disk(backend: GitBackend, path: str, change: PathChange) -> bool:
    """Whether these are settings that a person has edited here: no sync waits for their commit."""
    return (
        path == SETTINGS
        and change.before is not None
        and change.after is not None
        and change.is_plain
        and files.file_state(backend.root, path) is not None
    )


def _is_other_mode(change: PathChange) -> bool:
    """Whether a file became a program, or is none any more."""
    before, after = change.before, change.after
    return before is not None and after is not None and before.mode != after.mode


def _check_writable(backend: GitBackend, changes: Difference) -> None:
    """Raise RepositoryError for what is left to the person's git."""
    odd = [
        path
        for path, change in changes.items()
        if not is_ours(path)
        and not (is_safe(path) and _is_writable(backend, path, change))
    ]
    if odd:
        raise RepositoryError(
            f"the other side changed {_first_paths(odd)}, which git alone should write",
            _BY_HAND,
        )


def _is_writable(backend: GitBackend, path: str, change: PathChange) -> bool:
    """Whether each end is nothing, a regular file, or a link that stays inside of the workspace."""
    return all(
        end is None
        or end.mode in PLAIN
        or (end.mode == LINK and _is_inside(backend, path, end))
        for end in (change.before, change.after)
    )


def _is_inside(backend: GitBackend, path: str, link: Blob) -> bool:
    """Whether a link stays inside of the workspace."""
    first = posixpath.normpath(
        posixpath.join(posixpath.dirname(path), os.fsdecode(backend.read(link, path)))
    ).split("/")[0]
    return first not in ("", "..") and first.lower() != ".git"


def _is_clean(index: pygit2.Index, path: str, change: PathChange) -> bool:
    """Whether nothing is staged for a path."""
    staged = str(index[path].id) if path in index else ""
    return staged in {blob.id if blob else "" for blob in (change.before, change.after)}


def _is_on_disk(backend: LibgitBackend, path: str, blob: Blob | None) -> bool:
    """Whether the file on disk is this one, or there is none where it should be none."""
    if blob is None:
        return files.is_free(backend.root, path)
    if blob.mode == LINK:
        return files.link_target(backend.root, path) == backend.read(blob, path)
    return (
        files.file_state(backend.root, path) is not None
        and backend.hashes([path]).get(path) == blob.id
    )


def _put_file(backend: LibgitBackend, path: str, change: PathChange) -> None:
    """Bring one file on disk to its new content. Raises Moved where a person edited it meanwhile:
    nothing else is written then, and HEAD stays.
    """
    if _is_joined_on_disk(backend, path, change):
        _join_on_disk(backend, path, change)
        return
    if not _is_on_disk(backend, path, change.before):
        raise _edited_error([path])
    if change.after is None:
        files.remove(backend.root, path)
    else:
        _write(backend, path, change.after)


def _join_on_disk(backend: LibgitBackend, path: str, change: PathChange) -> None:
    """Bring what another machine changed into the settings as they are on disk; the edit stays one
    that is not committed.
    """
    before, after = (
        backend.read(blob, path) for blob in (change.before, change.after) if blob
    )
    on_disk = files.read(backend.root, path, MAX_BLOB)
    files.write(backend.root, path, join_settings(before, after, on_disk), 0o644)


def _write(backend: LibgitBackend, path: str, blob: Blob) -> None:
    """Write a blob as a file or a link. Raises RepositoryError for one that is too large."""
    data = backend.read(blob, path)
    if len(data) > MAX_BLOB:
        raise RepositoryError(
            f"the other side has {path} with {len(data)} bytes", _BY_HAND
        )
    if blob.mode == LINK:
        files.link(backend.root, path, data)
        return
    shared = 0o755 if blob.mode == EXECUTABLE else 0o644
    files.write(backend.root, path, data, shared & 0o700 if is_ours(path) else shared)


def _by_git(
    backend: GitBackend, old: str, other: str, *, is_unrelated: bool
) -> MergeResult:
    """Merge with the user's git for disk and index, which knows sparse trees, filters and its own
    formats.
    """
    base = run(backend.root, "merge-base", old, other).text if old else ""
    is_forward = _is_forward(old, base, other, is_unrelated=is_unrelated)
    if is_forward is None:
        return MergeResult(old)
    commit = other
    if not is_forward:
        commit = _commit_of(backend, _merged_tree(backend, old, other), old, other)
    changes = backend.changes(old, commit)
    _check(backend, old, changes)
    with noted_merge(backend, old, commit):
        done = run(
            backend.root, "merge --ff-only --no-autostash --no-stat --quiet", commit
        )
    if done.code:
        raise RepositoryBusy(f"git did not merge: {done.complaint}", _COMMIT)
    return MergeResult(commit, tuple(sorted(changes)))


def _check_loss(backend: GitBackend, old: str, changes: Difference) -> None:
    """Refuse a side that removes most of our memory: a wiped remote must not wipe this machine."""
    ours = len(backend.tracked(old))
    gone = count_lost(changes)
    if gone > LOSS_FROM and gone > ours * LOSS_SHARE:
        raise RepositoryError(
            f"the other side removes {gone} of {ours} files of memory",
            f"If that is meant: {_BY_HAND}",
        )


def count_lost(changes: Difference) -> int:
    """How many files of memory a side removes that it neither moved nor forgot: only those may be
    an accident.
    """
    texts, digits = _added_blobs_and_digits(changes)
    count = 0
    for path, change in changes.items():
        if change.before and not change.after and is_ours(path):
            count += digits_of(path) not in digits and change.before.id not in texts
    return count


def _added_blobs_and_digits(changes: Difference) -> tuple[set[str], set[str]]:
    """The blobs that are new at a path, and the digits of the ids in those names."""
    texts, digits = set(), set()
    for path, change in changes.items():
        if change.after and not change.before:
            texts.add(change.after.id)
            digits.add(digits_of(path) or short_id(tombstones.id_of(path)))
    return texts, digits - {""}


def _edited_error(paths: Iterable[str]) -> RepositoryBusy:
    """The error for files that a person is editing."""
    return RepositoryBusy(
        f"{_first_paths(paths)} changed on another machine and on disk here", _COMMIT
    )


def _first_paths(paths: Iterable[str]) -> str:
    """The first paths, for a message."""
    return first_of((repr(path)[1:-1] for path in sorted(set(paths))), SHOWN)
