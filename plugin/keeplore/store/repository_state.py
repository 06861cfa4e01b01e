"""What a repository is doing, read from its files alone, so that it is the same for both ways of
reaching objects.
"""

from __future__ import annotations

import contextlib
import re
import shlex
import time
from dataclasses import dataclass
from pathlib import Path

from keeplore.errors import RepositoryBusy, RepositoryError

_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")
_HEAD = re.compile(r"refs/heads/(?!.*\.\.)[^\0]+\Z")
_REFUSED = re.compile(r"(?i)permission denied|insufficient perm|read-only file system")
MAX_POINTER = 4096  # bytes of a .git file or a commondir file
REBASE = "rebase-merge"  # in the git directory, while a rebase is under way
REBASE_WAIT_S = 3.0
STOPPED_S = 0.5  # a rebase that did nothing for so long waits for somebody
POLL_S = 0.02
_REVERT = "REVERT_HEAD"
REVERT_NOTE = "reverted.keeplore"  # in the git directory
_UNDER_WAY = {
    "MERGE_HEAD": "a merge",
    REBASE: "a rebase",
    "rebase-apply": "a rebase or `git am`",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    _REVERT: "a revert",
    "BISECT_LOG": "a bisect",
    "sequencer": "a series of cherry-picks or reverts",
}


@dataclass(frozen=True, slots=True)
class Directories:
    """A repository's own directory, and the one it shares with its other worktrees (often the
    same).
    """

    own: Path
    common: Path


def directories(root: Path) -> Directories:
    """The git directories of the repository whose top is ``root``; no parent is searched.

    Raises RepositoryError where there is none.
    """
    place = root / ".git"
    if place.is_file():
        text = pointer(place)
        if not text.startswith("gitdir: "):
            raise RepositoryError(
                f"{place} points nowhere",
                "Run `git worktree repair` in the main worktree",
            )
        place = root / text.removeprefix("gitdir: ")
    if not (place / "HEAD").exists():
        raise _no_repository(root)
    shared = place / "commondir"
    common = place / pointer(shared) if shared.is_file() else place
    return Directories(place.resolve(), common.resolve())


def _no_repository(root: Path) -> RepositoryError:
    return RepositoryError(
        f"{root} is not a git repository",
        f"Run `keeplore init {shlex.quote(str(root))}`",
    )


def is_shallow(places: Directories) -> bool:
    """Does the history end where a clone was cut off, as gitrepository-layout(5) has it?"""
    return (places.common / "shallow").exists()


def check_idle(root: Path, places: Directories) -> None:
    """Raise RepositoryBusy while a merge, rebase or the like is under way."""
    for name, what in _UNDER_WAY.items():
        if (places.own / name).exists():
            raise under_way(root, what)


def check_rights(places: Directories, said: str) -> None:
    """Raise RepositoryError where git said that the rights to its files are in the way: it would be
    so at each attempt.
    """
    if _REFUSED.search(said):
        raise RepositoryError(
            f"git may not write into {places.common}: {' '.join(said.split())[-300:]}",
            "Give yourself the rights to all that is in it; git that another user ran there, as "
            "with sudo, leaves files of theirs",
        )


def note_revert(places: Directories) -> None:
    """Note which commit a person is taking back with ``git revert --no-commit``: what they commit
    then needs not say so. Without room for the note, it is not known.
    """
    with contextlib.suppress(OSError):
        (places.own / REVERT_NOTE).write_bytes((places.own / _REVERT).read_bytes())


def noted_revert(places: Directories) -> str:
    """The last commit that a person was seen to take back, "" for none."""
    try:
        return (places.own / REVERT_NOTE).read_text("ascii").strip()
    except (OSError, ValueError):
        return ""


def rebased_at(places: Directories) -> float:
    """When git last got on with the rebase that is under way, in seconds; 0.0 for none."""
    try:
        # its list of what is to do is renamed into it at each commit
        return (places.own / REBASE).stat().st_mtime
    except OSError:
        return 0.0


def is_rebase_moving(places: Directories) -> bool:
    """Whether git gets on with a rebase just now; one that stopped waits for somebody."""
    return time.time() - rebased_at(places) <= STOPPED_S


def wait_for_rebase(root: Path) -> None:
    """Wait while a rebase gets on, which is a moment: a file that is written meanwhile stands in
    its way. One that stopped is not waited for.
    """
    places = directories(root)
    deadline = time.monotonic() + REBASE_WAIT_S
    while time.monotonic() < deadline and is_rebase_moving(places):
        time.sleep(POLL_S)


def under_way(root: Path, what: str) -> RepositoryBusy:
    """The error for what a person is in the middle of."""
    return RepositoryBusy(
        f"{what} is under way in {root}",
        "Finish it; what was written since is on disk and is committed afterwards",
    )


def check_branch(root: Path, ref: str, branch: str) -> str:
    """The full name of the branch that is checked out; ``branch`` is the expected one, "" for any.

    Raises RepositoryBusy for a detached HEAD or another branch.
    """
    later = "what was written is on disk and is committed then"
    if not ref.startswith("refs/heads/"):
        raise RepositoryBusy(f"{root} is on no branch", f"Check out a branch; {later}")
    current = ref.removeprefix("refs/heads/")
    if branch and current != branch:
        raise RepositoryBusy(
            f"{root} is on branch {current}, and Keeplore commits on {branch}",
            f"Check out {branch}, or set `branch: {current}` in keeplore.yaml; {later}",
        )
    return ref


def plain_head(places: Directories) -> str:
    """The commit that HEAD names, read from git's files as git-pack-refs(1) describes them; ""
    where they do not tell.

    A ref has a file of its own, or a line in ``packed-refs``, which counts where there is no such
    file.
    """
    try:
        found = pointer(places.own / "HEAD").removeprefix("ref: ")
        if _HEAD.match(found):
            found = _commit_of(places.common, found)
    except (OSError, ValueError):
        return ""
    return found if _COMMIT.match(found) else ""


def _commit_of(common: Path, ref: str) -> str:
    """The commit of a ref. Raises OSError."""
    try:
        return pointer(common / ref)
    except FileNotFoundError:
        # in this order: packing writes the line before it removes the file
        lines = (common / "packed-refs").read_bytes().splitlines()
        ending = f" {ref}".encode()
        named = (
            line.split(b" ")[0].decode() for line in lines if line.endswith(ending)
        )
        return next(named, "")


def pointer(path: Path) -> str:
    """The first bytes of a small file of git's, as text."""
    with path.open("rb") as file:
        return file.read(MAX_POINTER).decode("utf-8", "surrogateescape").strip()
