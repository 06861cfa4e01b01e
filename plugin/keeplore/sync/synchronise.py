"""Exchanging commits with the remote: fetch, merge, push, and again where another machine was faster."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass

from keeplore.errors import RepositoryBusy
from keeplore.store import Remote, Store
from keeplore.sync.errors import SyncError, failure
from keeplore.sync.network import attempt, call
from keeplore.sync.urls import checked

ATTEMPTS = 5
PAUSE_S = 0.2  # doubled after each race, with as much jitter


@dataclass(frozen=True, slots=True)
class Synced:
    """``fetched`` and ``pushed`` count commits, ``merged`` the files that changed here."""

    fetched: int
    merged: int
    pushed: int
    note: str


def synchronise(store: Store) -> Synced:
    """Commit what is on disk, take in what the remote has, give it what is here. Never forces, never rewrites.

    Raises SyncError (a RemoteError) with its ``kind``, RepositoryBusy, or RepositoryError for a conflict; all that was
    written stays on disk and in git.
    """
    remote = store.remote_in_full()
    if remote is None:
        remedy = f"`git -C '{store.root}' remote add origin URL`, then `keeplore sync`"
        raise SyncError("no remote", "this workspace has no remote", remedy)
    _, protocols = checked(remote.url, is_path_allowed=True)
    fetched = merged = 0
    for number in range(ATTEMPTS):
        if number:
            time.sleep(PAUSE_S * 2**number * (1 + random.random()))  # noqa: S311  # jitter
        try:
            store.commit()
            before, theirs = _fetch(store, remote, protocols)
            fetched += store.commits_between(before, theirs) if theirs and theirs != before else 0
            merged += len(store.merge(theirs).paths) if theirs else 0
        except RepositoryBusy:
            if number == ATTEMPTS - 1 or store.is_held_up():
                raise
            continue
        head = store.head()
        to_push = store.commits_between(theirs, head) if head else 0
        if not to_push or _is_pushed(store, remote, protocols):
            return Synced(fetched, merged, to_push, _note(fetched, merged, to_push))
    raise failure("[rejected]")


def _fetch(store: Store, remote: Remote, protocols: str) -> tuple[str, str]:
    """What the remote's branch was known to be, and what it is; "" where it does not exist."""
    branch = store.current_branch()
    known = f"refs/remotes/{remote.name}/{branch}"
    before = store.tip(known)
    options = ("--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head")
    done = attempt(store.root, protocols, "fetch", *options, "--", remote.name, f"+refs/heads/{branch}:{known}")
    if done.code == 0:
        return before, store.tip(known)
    if "couldn't find remote ref" in done.error:
        return before, ""
    raise failure(done.error)


def _is_pushed(store: Store, remote: Remote, protocols: str) -> bool:
    """False where another machine pushed first."""
    branch = store.current_branch()
    follow = [] if remote.is_upstream else ["--set-upstream"]
    try:
        refs = f"refs/heads/{branch}:refs/heads/{branch}"
        call(store.root, protocols, "push", "--porcelain", "--no-recurse-submodules", *follow, "--", remote.name, refs)
    except SyncError as e:
        if e.kind == "moved":
            return False
        raise
    return True


def _note(fetched: int, merged: int, pushed: int) -> str:
    if not (fetched or pushed):
        return "nothing new"
    return f"{fetched} commits fetched, {merged} files changed, {pushed} commits pushed"
