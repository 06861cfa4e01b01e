"""Garbage collection in git: what it keeps of old commits besides its refs is thrown away."""

from __future__ import annotations

import re
import shutil
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from keeplore.errors import RepositoryBusy, RepositoryError
from keeplore.store.git.git_command import output, run
from keeplore.store.git.signature import signature_of
from keeplore.store.repository_state import Directories
from keeplore_hooks import durable

GC_TIMEOUT_S = 3600.0
_LOG_LINE = re.compile(rb"([0-9a-f]{40}) ([0-9a-f]{40})( .*)", re.DOTALL)


def erase_traces(
    root: Path,
    places: Directories,
    commits: Mapping[str, str],
    blobs: Collection[str],
    ids: Collection[str],
) -> None:
    """Let logs, notes and git's own scratch files follow to new commits; ``commits`` is old id →
    new id.
    """
    encoded = {old.encode(): new.encode() for old, new in commits.items()}
    gone = "".join(f"{old}\n" for old in commits)
    _change_notes(root, "remove --ignore-missing --stdin", gone)
    for name in ("ORIG_HEAD", "FETCH_HEAD", "AUTO_MERGE"):
        _drop_if(places.own / name, encoded)
    for kept in (places.common / "lost-found").glob("*/*"):
        if kept.name in blobs or kept.name in commits:
            kept.unlink()
    _erase_conflicts(places, ids)
    # the logs come last: after a kill it is they that still name the old commits
    for log in (places.common / "logs").rglob("*"):
        if log.is_file() and not log.is_symlink():
            _follow(log, encoded)


def _erase_conflicts(places: Directories, ids: Collection[str]) -> None:
    """Erase texts of conflicts that name one of the memories, which git keeps to resolve them
    again.
    """
    words = [memory_id.encode() for memory_id in ids]
    for conflict in (places.common / "rr-cache").glob("*"):
        if any(_names_one(part, words) for part in conflict.glob("*")):
            shutil.rmtree(conflict, ignore_errors=True)


def _names_one(file: Path, words: Iterable[bytes]) -> bool:
    """Whether a file holds one of the words."""
    if not file.is_file():
        return False
    data = file.read_bytes()
    return any(word in data for word in words)


def collect_garbage(root: Path, blobs: Collection[str]) -> None:
    """Have git remove what nothing refers to, and look that these objects are gone. Raises
    RepositoryError.
    """
    done = run(root, "gc --quiet --prune=now", timeout_s=GC_TIMEOUT_S)
    if done.code and "already running" in done.error:
        raise RepositoryBusy(
            "git is tidying up this repository already",
            "Run the same command again in a minute",
        )
    if done.code:
        raise RepositoryError(
            f"git could not remove the old objects: {done.complaint}",
            "Mend that, then run the same again",
        )
    if left := _count_present(root, blobs):
        raise RepositoryError(
            f"git still keeps {left} of {len(blobs)} versions of the text",
            "Look for `.keep` files in .git/objects/pack, delete them, and run the same "
            "command again",
        )


def _count_present(root: Path, objects: Collection[str]) -> int:
    """How many of the objects git still has."""
    if not objects:
        return 0
    listed = "".join(f"{name}\n" for name in objects).encode()
    found = output(root, "cat-file --batch-check", stdin=listed).text.splitlines()
    return sum(not line.endswith(" missing") for line in found)


def _follow(log: Path, commits: Mapping[bytes, bytes]) -> None:
    """Rewrite a reflog, so that ``HEAD@{3}`` and ``stash@{1}`` still name what they named."""
    lines = log.read_bytes().splitlines(keepends=True)
    new = [_rewritten_entry(line, commits) for line in lines]
    if new != lines:
        durable.write(log, b"".join(new), 0o644)


def _rewritten_entry(line: bytes, commits: Mapping[bytes, bytes]) -> bytes:
    """An entry of a reflog with the new commits, empty for that of our own move."""
    match = _LOG_LINE.match(line)
    if match is None:
        return line
    old, new, rest = match.groups()
    before, after = commits.get(old, old), commits.get(new, new)
    is_own = before == after and old != new
    return b"" if is_own else b"%s %s%s" % (before, after, rest)


def copy_notes(root: Path, commits: Mapping[str, str]) -> None:
    """Give new commits the notes of the old ones."""
    pairs = "".join(f"{old} {new}\n" for old, new in commits.items())
    _change_notes(root, "copy --force --stdin", pairs)


def _change_notes(root: Path, change: str, lines: str) -> None:
    """Run a command on every kind of notes that there are, if it has something to do."""
    refs = (
        run(root, "for-each-ref --format=%(refname) refs/notes").text.split()
        if lines
        else []
    )
    for ref in refs:
        command, environment = (
            f"notes --ref={ref} {change}",
            signature_of(root).environment,
        )
        output(root, command, stdin=lines.encode(), environment=environment)


def _drop_if(pointer: Path, commits: Collection[bytes]) -> None:
    """Remove a file of git's that names a commit which has another id now; git makes it anew."""
    names = (
        re.findall(rb"[0-9a-f]{40}", pointer.read_bytes()) if pointer.is_file() else []
    )
    if not set(names).isdisjoint(commits):
        pointer.unlink()
