"""Bringing HEAD up to the files on disk: what differs is planned first, then done under git's own
locks.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from keeplore.errors import RepositoryBusy, RepositoryError
from keeplore.memory.frontmatter import MAX_FILE
from keeplore.store import files
from keeplore.store.delete.delete import withdraw
from keeplore.store.files import File
from keeplore.store.git.git_command import output, run
from keeplore.store.git.object_backend import (
    EXECUTABLE,
    REGULAR,
    Backend,
    Blob,
    Locked,
    Memo,
    Moved,
    Unsupported,
)
from keeplore.store.git.plumbing import Plumbing
from keeplore.store.git.repository_state import check_branch, check_idle, directories
from keeplore.store.git.signature import person_of
from keeplore.store.git_locks import LOCK_WAIT_S, POLL_S, Turn, busy
from keeplore.store.merge.rebase_recovery import bring_back
from keeplore.store.paths import FOLDERS, is_ours, is_portable
from keeplore.store.results import Committed
from keeplore.store.transaction_log import check_whole

ATTEMPTS = 5  # a writer or a person's commit came in between
ASK_GIT_FROM = 200  # files that were never hashed; asking git costs two processes
INDEX_STEP = 200  # paths in one command line
RACY_NS = 2_000_000_000  # a file this young may change again without a new time stamp
FULL = "Make room on the disk; memory stays as it is until then"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Plan:
    """What has to change in HEAD, and what it rests on."""

    ref: str
    parent: str
    changes: Mapping[str, Blob | None]
    evidence: tuple[File, ...]  # of the files to be committed
    skipped: tuple[str, ...]


def reconcile(
    root: Path, branch: str, memo: Memo, message: str = "", extra: Iterable[str] = ()
) -> Committed:
    """Commit what differs between our paths on disk and in HEAD; ``extra`` are paths that count as
    ours this time.

    Raises RepositoryBusy, where nothing was changed, or RepositoryError.
    """

    def cycle(turn: Turn, backend: Backend) -> Committed:
        plan = _plan(backend, branch, memo, tuple(extra))
        if not plan.changes:
            return Committed(None, (), plan.skipped)
        return Committed(
            _act(turn, backend, plan, message), tuple(sorted(plan.changes)), plan.skipped
        )

    return in_turn(root, memo, cycle)


def in_turn(root: Path, memo: Memo, cycle: Callable[[Turn, Backend], T]) -> T:
    """Run a cycle while no other process of ours does, again where it was overtaken, with git where
    libgit2 cannot.
    """
    # here, because libgit2 costs 90 ms and reading needs none
    from keeplore.store.git.libgit import FAILURES, Library

    places = directories(root)
    kind: type[Library] | type[Plumbing] = Library
    with Turn(places) as turn:
        for _ in range(ATTEMPTS):
            try:
                backend = kind(root, places, memo)
                turn.recover(backend.tip)
                check_whole(places)
                check_idle(root, places)
                return cycle(turn, backend)
            except FAILURES as e:
                if (
                    os.strerror(errno.ENOSPC).lower() in str(e).lower()
                ):  # git would say nothing better
                    raise RepositoryError(f"no space left for the repository: {e}", FULL) from e
                kind = Plumbing
            except Moved:
                continue
    raise RepositoryBusy(f"{root} changes all the time", "Nothing is lost; it is tried again soon")


def _plan(backend: Backend, branch: str, memo: Memo, extra: tuple[str, ...]) -> Plan:
    ref = check_branch(backend.root, backend.ref(), branch)
    parent = backend.tip(ref)
    bring_back(backend, ref, parent, memo)
    tracked = backend.tracked(parent, extra)
    skipped: list[str] = []
    seen = _on_disk(backend.root, skipped, extra)
    withdraw(backend.root, memo, seen)
    ids = _ids(backend, memo, seen)
    skipped += [path for path in seen if path not in ids]
    differing = [
        path for path, id_ in ids.items() if path not in tracked or tracked[path].id != id_
    ]
    new = [path for path in differing if path not in tracked and path not in extra]
    ignored = backend.ignored(new) if new else set()
    skipped += sorted(ignored)
    wanted = [path for path in differing if path not in ignored]
    if backend.has_filter(wanted):
        raise Unsupported("a filter")
    kept = backend.keep(wanted)
    modes = _modes(backend.root, kept, tracked)
    changes: dict[str, Blob | None] = {path: Blob(id_, modes[path]) for path, id_ in kept.items()}
    changes |= dict.fromkeys(_removed(backend, tracked, seen, skipped))
    return Plan(ref, parent, changes, tuple(seen[path] for path in wanted), tuple(skipped))


def _modes(root: Path, paths: Iterable[str], tracked: Mapping[str, Blob]) -> dict[str, int]:
    """The mode of each file: HEAD's, or that of a program where somebody made it one and git is to
    believe the disk.
    """
    known = {path: tracked[path].mode if path in tracked else REGULAR for path in paths}
    made = [
        path
        for path, mode in known.items()
        if mode != EXECUTABLE and os.access(root / path, os.X_OK)
    ]
    if (
        made
        and os.name == "posix"
        and run(root, "config", "--bool", "core.fileMode").text != "false"
    ):
        known |= dict.fromkeys(made, EXECUTABLE)
    return known


def _on_disk(root: Path, skipped: list[str], extra: Iterable[str]) -> dict[str, File]:
    seen = {}
    for folder in FOLDERS:
        for file in files.walk(root, folder, skipped):
            seen[file.path] = file
    for path in extra:
        if file_or_none := files.state(root, path):
            seen[path] = file_or_none
    return seen


def _ids(backend: Backend, memo: Memo, seen: Mapping[str, File]) -> dict[str, str]:
    """The blob id of every file that git may have; one that looks as when it was last hashed is not
    read again.
    """
    ids, unknown = {}, []
    for path, file in seen.items():
        known = memo.files.get((backend.name, path))
        if known is not None and known[0] == file:
            ids[path] = known[1]
        elif file.size <= MAX_FILE and (is_portable(path) or not is_ours(path)):
            unknown.append(path)
    young = time.time_ns() - RACY_NS
    hashed = indexed(backend.root) if len(unknown) > ASK_GIT_FROM else {}
    hashed = {path: hashed[path] for path in unknown if path in hashed}
    hashed |= backend.hashes([path for path in unknown if path not in hashed])
    for path, id_ in hashed.items():
        if seen[path].mtime_ns < young:
            memo.files[backend.name, path] = (seen[path], id_)
    return ids | hashed


def indexed(root: Path) -> dict[str, str]:
    """Path → blob id of what git's own index knows to be unchanged on disk: by far quicker than
    hashing every file.

    Entries that git is told not to look at are left out. Nothing where git does not answer.
    """
    listed = run(root, "ls-files", "-z", "-s", "-v", "--", *FOLDERS)
    differing = run(root, "diff-files", "-z", "--name-only", "--", *FOLDERS)
    if listed.code or differing.code:
        return {}
    changed = set(differing.items)
    found = {}
    for item in listed.items:
        facts, path = item.split("\t", 1)
        tag, _, id_, stage = facts.split(" ")
        if (tag, stage) == ("H", "0") and path not in changed:
            found[path] = id_
    return found


def _removed(
    backend: Backend, tracked: Mapping[str, Blob], seen: Mapping[str, File], skipped: Iterable[str]
) -> list[str]:
    """What HEAD has and a person removed from disk; a path that cannot be seen for another reason
    is left alone.
    """
    hidden = set(skipped)
    gone = [
        path
        for path in tracked
        if path not in seen
        and is_portable(path)
        and not _is_below(path, hidden)
        and files.is_absent(backend.root, path)
    ]
    left_out = backend.left_out(gone) if gone else set()
    return [path for path in gone if path not in left_out]


def _is_below(path: str, places: set[str]) -> bool:
    parts = path.split("/")
    return (
        any("/".join(parts[:depth]) in places for depth in range(1, len(parts) + 1))
        if places
        else False
    )


def _act(turn: Turn, backend: Backend, plan: Plan, message: str) -> str:
    root = backend.root
    with turn.index(plan.ref) as draft:
        check_idle(root, backend.places)
        if backend.ref() != plan.ref or backend.tip(plan.ref) != plan.parent:
            raise Moved
        if any(files.state(root, file.path) != file for file in plan.evidence):
            raise Moved
        edit_index(backend, draft, plan.changes)
        text = message or summary(plan.changes)
        parents = [plan.parent] if plan.parent else []
        commit = backend.commit(parents, plan.changes, f"{text.strip()}\n", person_of(root))
        turn.note(commit=commit)
        move(backend, plan.ref, commit, plan.parent, text)
        turn.moved()
        turn.publish(draft)
    return commit


def move(backend: Backend, ref: str, new: str, old: str, message: str) -> None:
    """Set the ref, waiting shortly for a lock. Raises Moved, or RepositoryBusy where it stays
    locked.
    """
    deadline = time.monotonic() + LOCK_WAIT_S
    reason = f"commit{'' if old else ' (initial)'}: {message.splitlines()[0] if message else ''}"
    while True:
        try:
            backend.move(ref, new, old, reason)
        except Locked:
            if time.monotonic() > deadline:
                raise busy(backend.places.common / f"{ref}.lock") from None
            time.sleep(POLL_S)
        else:
            return


def check_merged(backend: Backend, index: Path) -> None:
    """Raise RepositoryBusy for conflicts that wait to be resolved, as ``git stash pop`` leaves
    them.
    """
    if backend.has_unmerged(index):
        raise RepositoryBusy(
            "unresolved conflicts are in the index", "Resolve them; nothing is lost"
        )


def edit_index(backend: Backend, draft: Path, changes: Mapping[str, Blob | None]) -> None:
    """Put the changes into a copy of the index, with what ``lstat`` says of the files on disk.

    git does it for either backend: libgit2 drops parts of the index that it does not know. Raises
    RepositoryBusy.
    """
    check_merged(backend, draft)
    written = [(path, blob) for path, blob in changes.items() if blob is not None]
    removed = [f"./{path}" for path, blob in changes.items() if blob is None]
    environment = {"GIT_INDEX_FILE": str(draft)}
    for start in range(0, len(written), INDEX_STEP):
        step = written[start : start + INDEX_STEP]
        entries = [
            a for path, blob in step for a in ("--cacheinfo", f"{blob.mode:o},{blob.id},{path}")
        ]
        present = [f"./{path}" for path, _ in step if files.state(backend.root, path)]
        output(
            backend.root,
            "update-index",
            "--add",
            "--replace",
            *entries,
            *present,
            environment=environment,
        )
    for start in range(0, len(removed), INDEX_STEP):
        gone = removed[start : start + INDEX_STEP]
        output(backend.root, "update-index", "--force-remove", *gone, environment=environment)


def summary(changes: Mapping[str, Blob | None]) -> str:
    """A commit's subject where the caller gives none."""
    removed = sum(blob is None for blob in changes.values())
    written = len(changes) - removed
    parts = [f"write {_count(written)}"] * bool(written) + [f"remove {_count(removed)}"] * bool(
        removed
    )
    return " and ".join(parts).capitalize()


def _count(number: int) -> str:
    return "1 memory file" if number == 1 else f"{number} memory files"
