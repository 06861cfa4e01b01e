"""Exchanging commits with the remote: fetch, merge, push, and again where another machine was
faster.
"""

from __future__ import annotations

import random
import shlex
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

from keeplore.errors import RepositoryBusy
from keeplore.store import Remote, Store, run
from keeplore.store.git.git_command import git_in
from keeplore.store.git.inspection import unpublished_contents
from keeplore.store.git.remotes import back_up, is_ancestor
from keeplore.store.paths import is_memory
from keeplore.store.repository_state import directories, is_shallow
from keeplore.store.results import Scan, no_secret
from keeplore.sync.clone import SETTINGS
from keeplore.sync.errors import FailureKind, SyncError, failure, of_kind, shown
from keeplore.sync.remote_git import attempt, check, checked_url
from keeplore.text.counts import counted, first_of

ATTEMPTS = 5
SHOWN = 5  # secrets in a message
PAUSE_S = 0.2  # doubled after each race, with as much jitter


@dataclass(frozen=True, slots=True)
class SyncResult:
    """``fetched`` and ``pushed`` count commits, ``merged`` the files that changed here; ``purged``
    are ids of memories whose text was found in a history, here or at the remote, and taken out of
    it; ``rescued`` is the branch that holds what the remote had before somebody rewrote it, "" for
    none."""

    fetched: int
    merged: int
    pushed: int
    note: str
    purged: tuple[str, ...] = ()
    rescued: str = ""


def synchronise(
    store: Store, scan: Scan = no_secret, *, is_unrelated: bool = False
) -> SyncResult:
    """Commit what is on disk, take in what the remote has, give it what is here unless ``scan``
    finds a secret in it.

    ``is_unrelated`` allows a remote that began as another workspace. Nothing is forced and no
    history changes, except to take out what a person has purged here or on another machine. Raises
    SyncError (a RemoteError) with its ``kind``, RepositoryBusy, or RepositoryError; all that was
    written stays on disk and in git.
    """
    remote = _remote(store)
    _, protocols = checked_url(remote.url, is_path_allowed=True)
    taken = SyncResult(0, 0, 0, "")
    for number in range(ATTEMPTS):
        _pause_before(number)
        try:
            held_back = store.commit().held_back
            taken, at_remote, theirs = _take_in(
                store, remote, protocols, taken, is_unrelated=is_unrelated
            )
        except RepositoryBusy:
            if number == ATTEMPTS - 1 or store.is_held_up():
                raise
            continue
        to_push = _checked_commits(store, theirs, scan)
        replaced = at_remote if at_remote != theirs else ""
        if not (to_push or replaced) or _push(store, remote, protocols, replaced):
            return _with_note(taken, to_push, held_back)
    raise failure("[rejected]")


def _remote(store: Store) -> Remote:
    """The remote of the workspace. Raises SyncError where there is none, once all is committed."""
    remote = store.remote_in_full()
    if remote is None:
        store.commit()  # which needs none
        raise SyncError(
            FailureKind.NO_REMOTE,
            "this workspace has no remote",
            f"`{git_in(store.root)} remote add origin URL`, then `keeplore sync`",
        )
    return remote


def _pause_before(attempt: int) -> None:
    if attempt:
        time.sleep(PAUSE_S * 2**attempt * (1 + random.random()))  # noqa: S311  # jitter


def _checked_commits(store: Store, theirs: str, scan: Scan) -> int:
    """How many commits the remote lacks. Raises SyncError where one of them holds a secret."""
    head = store.head()
    count = store.commits_between(theirs, head) if head else 0
    if count:
        _check_texts(store, head, theirs, scan)
    return count


def _with_note(
    result: SyncResult, pushed: int, held_back: tuple[str, ...]
) -> SyncResult:
    """The result of all attempts, with its note."""
    done = replace(result, pushed=pushed, purged=tuple(dict.fromkeys(result.purged)))
    note = _note(done)
    if held_back:
        listed = first_of(map(shown, held_back), SHOWN)
        note += f"; held back for what looks like a secret: {listed}"
    return replace(done, note=note)


def _take_in(
    store: Store,
    remote: Remote,
    protocols: str,
    result: SyncResult,
    *,
    is_unrelated: bool,
) -> tuple[SyncResult, str, str]:
    """What was taken in so far, what the remote has, and that without purged text, which is merged
    now.
    """
    before, at_remote = _fetch(store, remote, protocols)
    if not at_remote:
        return (
            replace(result, purged=(*result.purged, *store.follow_purges().ids)),
            "",
            "",
        )
    fetched = store.commits_between(before, at_remote) if at_remote != before else 0
    purged = store.follow_purges(at_remote).ids
    rescued = result.rescued
    if before and not purged and not is_ancestor(store.root, before, at_remote):
        rescued = back_up(store.root, before)
    theirs = store.tip(_tracking_ref(store, remote))
    merged = _merge_remote(store, theirs, is_unrelated=is_unrelated) if theirs else 0
    sums = (result.fetched + fetched, result.merged + merged)
    return (
        SyncResult(*sums, 0, "", (*result.purged, *purged), rescued),
        at_remote,
        theirs,
    )


def _merge_remote(store: Store, theirs: str, *, is_unrelated: bool) -> int:
    """Merge what the remote has; how many files that has changed."""
    _check_workspace(store, theirs)
    return len(store.merge(theirs, is_unrelated=is_unrelated).paths)


def _fetch(store: Store, remote: Remote, protocols: str) -> tuple[str, str]:
    """What the remote's branch was known to be, and what it is; "" where it does not exist."""
    root, known = store.root, _tracking_ref(store, remote)
    before = store.tip(known)
    command = "fetch --quiet --no-tags --no-recurse-submodules --no-write-fetch-head"
    if is_shallow(directories(root)):
        # where both sides parted may lie beyond what was cloned
        command += " --unshallow"
    refs = f"+refs/heads/{store.current_branch()}:{known}"
    done = attempt(root, protocols, command, "--", remote.name, refs)
    if done.code == 0:
        return before, store.tip(known)
    if "couldn't find remote ref" in done.error:
        return before, ""
    raise failure(done.error)


def _check_workspace(store: Store, theirs: str) -> None:
    """Raise SyncError for a remote that holds something else, before anything of it gets here."""
    has_settings = run(store.root, "cat-file -e", f"{theirs}:{SETTINGS}").code == 0
    if not has_settings and not run(store.root, "merge-base", theirs, "HEAD").text:
        raise of_kind(FailureKind.FOREIGN)


def _tracking_ref(store: Store, remote: Remote) -> str:
    """The ref that tells what the remote had."""
    return f"refs/remotes/{remote.name}/{store.current_branch()}"


def _check_texts(store: Store, head: str, theirs: str, scan: Scan) -> None:
    """Raise SyncError where the push would publish a secret; each says its place and kind, never
    itself.
    """
    found: dict[str, str] = {}
    paths = []
    for path, data in unpublished_contents(store.root, head, theirs):
        name = shown(path.encode("utf-8", "backslashreplace").decode())
        for start, kind in scan(data):
            line = data.count(b"\n", 0, start) + 1
            found.setdefault(f"{name}:{line} ({kind})", kind)
            paths.append(name)
    if found:
        raise _secret_found(store, theirs, found, paths[0])


def _secret_found(
    store: Store, theirs: str, found: Mapping[str, str], path: str
) -> SyncError:
    """``found`` is place → kind with fingerprint, ``path`` where the first one stands."""
    listed = first_of(found, SHOWN)
    # the unpublished commits become one; a later commit alone would leave the secret in the history
    begin = theirs or run(store.root, "rev-list --max-parents=0 HEAD").text
    undo = f"{git_in(store.root)} reset --soft {begin[:12]}"
    remove = (
        f" or remove it with `keeplore forget --purge {shlex.quote(path)}`;"
        if is_memory(path)
        else ""
    )
    return SyncError(
        FailureKind.LEAK,
        f"nothing is pushed, because commits hold what looks like a secret: {listed}",
        f"Take it out of the file, run `{undo}` and `keeplore sync`;{remove}"
        f" where it is no secret, list {next(iter(found.values()))} under redaction.allow in "
        f"keeplore.yaml",
    )


def _push(store: Store, remote: Remote, protocols: str, replaced: str) -> bool:
    """Push the branch; returns False where another machine was faster. ``replaced`` is the remote's
    commit whose history held purged text.
    """
    branch = store.current_branch()
    options = [] if remote.is_upstream else ["--set-upstream"]
    if replaced:
        options.append(f"--force-with-lease=refs/heads/{branch}:{replaced}")
    arguments = (
        *options,
        "--",
        remote.name,
        f"refs/heads/{branch}:refs/heads/{branch}",
    )
    try:
        check(
            attempt(
                store.root,
                protocols,
                "push --porcelain --no-recurse-submodules",
                *arguments,
            )
        )
    except SyncError as e:
        if e.kind == FailureKind.MOVED:
            return False
        if e.kind == FailureKind.REFUSED and replaced:
            raise _still_there(e, branch) from e
        raise
    return True


def _still_there(refusal: SyncError, branch: str) -> SyncError:
    """The error for a remote that lets nobody take purged text out of its history."""
    return SyncError(
        refusal.kind,
        f"the remote still has purged text and keeps it: {refusal.message}",
        f"Allow force pushes to {branch} there until the next `keeplore sync`; "
        f"nothing is pushed before",
    )


def _note(result: SyncResult) -> str:
    """What happened, in one sentence."""
    note = "nothing new"
    if result.fetched or result.pushed or result.purged:
        note = (
            f"{counted(result.fetched, 'commit')} fetched, "
            f"{counted(result.merged, 'file')} changed, "
            f"{counted(result.pushed, 'commit')} pushed"
        )
    if count := len(result.purged):
        note += f", {counted(count, 'memory', 'memories')} purged from history"
    if result.rescued:
        note += (
            f"; somebody rewrote the remote, and what it had is kept in the branch "
            f"{result.rescued}"
        )
    return note
