"""Exchanging commits with the remote: fetch, merge, push, and again where another machine was faster."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from keeplore.errors import RepositoryBusy
from keeplore.store import Remote, Store
from keeplore.store.paths import is_memory
from keeplore.store.staged import unpublished
from keeplore.sync.errors import SyncError, failure, shown
from keeplore.sync.network import attempt, call
from keeplore.sync.urls import checked

ATTEMPTS = 5
SHOWN = 5  # secrets in a message
PAUSE_S = 0.2  # doubled after each race, with as much jitter


@dataclass(frozen=True, slots=True)
class Synced:
    """``fetched`` and ``pushed`` count commits, ``merged`` the files that changed here; ``purged`` are ids of memories
    whose text was found in a history, here or at the remote, and taken out of it."""

    fetched: int
    merged: int
    pushed: int
    note: str
    purged: tuple[str, ...] = ()


# what a text holds that must not be published: where it begins in bytes, and its kind with a fingerprint
Scan = Callable[[bytes], Iterable[tuple[int, str]]]


def _nothing(_data: bytes) -> tuple[tuple[int, str], ...]:
    return ()


def synchronise(store: Store, scan: Scan = _nothing) -> Synced:
    """Commit what is on disk, take in what the remote has, give it what is here unless ``scan`` finds a secret in it.

    Nothing is forced and no history changes, except to take out what a person has purged here or on another machine.
    Raises SyncError (a RemoteError) with its ``kind``, RepositoryBusy, or RepositoryError for a conflict; all that was
    written stays on disk and in git.
    """
    remote = store.remote_in_full()
    if remote is None:
        remedy = f"`git -C '{store.root}' remote add origin URL`, then `keeplore sync`"
        raise SyncError("no remote", "this workspace has no remote", remedy)
    _, protocols = checked(remote.url, is_path_allowed=True)
    fetched = merged = 0
    purged: tuple[str, ...] = ()
    for number in range(ATTEMPTS):
        if number:
            time.sleep(PAUSE_S * 2**number * (1 + random.random()))  # noqa: S311  # jitter
        try:
            store.commit()
            before, theirs = _fetch(store, remote, protocols)
            fetched += store.commits_between(before, theirs) if theirs and theirs != before else 0
            at_remote = theirs
            purged += store.follow_purges(theirs).ids
            theirs = store.tip(_known(store, remote)) if theirs else ""
            merged += len(store.merge(theirs).paths) if theirs else 0
        except RepositoryBusy:
            if number == ATTEMPTS - 1 or store.is_held_up():
                raise
            continue
        head = store.head()
        to_push = store.commits_between(theirs, head) if head else 0
        replaced = at_remote if at_remote != theirs else ""
        if to_push:
            _check_texts(store, head, theirs, scan)
        if not (to_push or replaced) or _is_pushed(store, remote, protocols, replaced):
            known = tuple(dict.fromkeys(purged))
            return Synced(fetched, merged, to_push, _note(fetched, merged, to_push, len(known)), known)
    raise failure("[rejected]")


def _fetch(store: Store, remote: Remote, protocols: str) -> tuple[str, str]:
    """What the remote's branch was known to be, and what it is; "" where it does not exist."""
    branch, known = store.current_branch(), _known(store, remote)
    before = store.tip(known)
    options = ("--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head")
    done = attempt(store.root, protocols, "fetch", *options, "--", remote.name, f"+refs/heads/{branch}:{known}")
    if done.code == 0:
        return before, store.tip(known)
    if "couldn't find remote ref" in done.error:
        return before, ""
    raise failure(done.error)


def _known(store: Store, remote: Remote) -> str:
    return f"refs/remotes/{remote.name}/{store.current_branch()}"


def _check_texts(store: Store, head: str, theirs: str, scan: Scan) -> None:
    """Raise SyncError where the push would publish a secret; each says its place and kind, never itself."""
    found: dict[str, str] = {}
    paths = []
    for path, data in unpublished(store.root, head, theirs):
        name = shown(path.encode("utf-8", "backslashreplace").decode())
        for start, kind in scan(data):
            line = data.count(b"\n", 0, start) + 1
            found.setdefault(f"{name}:{line} ({kind})", kind)
            paths.append(name)
    if not found:
        return
    more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    message = f"nothing is pushed, because commits hold what looks like a secret: {', '.join([*found][:SHOWN])}{more}"
    # the unpublished commits become one; a later commit alone would leave the secret in the history
    undo = f"reset --soft {theirs[:12]}" if theirs else "update-ref -d HEAD"
    remove = f" or remove it with `keeplore forget --purge '{paths[0]}'`;" if is_memory(paths[0]) else ""
    remedy = (
        f"Take it out of the file, run `git -C '{store.root}' {undo}` and `keeplore sync`;{remove}"
        f" where it is no secret, list {next(iter(found.values()))} under redaction.allow in keeplore.yaml"
    )
    raise SyncError("secret", message, remedy)


def _is_pushed(store: Store, remote: Remote, protocols: str, replaced: str) -> bool:
    """False where another machine pushed first; ``replaced`` is the remote's commit whose history held purged text."""
    branch = store.current_branch()
    options = [] if remote.is_upstream else ["--set-upstream"]
    if replaced:
        options.append(f"--force-with-lease=refs/heads/{branch}:{replaced}")
    try:
        refs = f"refs/heads/{branch}:refs/heads/{branch}"
        call(store.root, protocols, "push", "--porcelain", "--no-recurse-submodules", *options, "--", remote.name, refs)
    except SyncError as e:
        if e.kind == "moved":
            return False
        if e.kind == "refused" and replaced:
            remedy = f"Allow force pushes to {branch} there until the next `keeplore sync`; nothing is pushed before"
            raise SyncError(e.kind, f"the remote still has purged text and keeps it: {e.message}", remedy) from e
        raise
    return True


def _note(fetched: int, merged: int, pushed: int, purged: int) -> str:
    if not (fetched or pushed or purged):
        return "nothing new"
    gone = f", {purged} {'memory' if purged == 1 else 'memories'} purged from history" if purged else ""
    return f"{fetched} commits fetched, {merged} files changed, {pushed} commits pushed{gone}"
