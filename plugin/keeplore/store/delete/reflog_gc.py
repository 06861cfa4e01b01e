"""What git keeps of old commits besides its refs, and having it thrown away."""

from __future__ import annotations

import re
import shutil
from collections.abc import Collection, Mapping
from pathlib import Path

from keeplore.errors import RepositoryBusy, RepositoryError
from keeplore.store.git.git_command import output, run
from keeplore.store.git.repository_state import Directories
from keeplore.store.git.signature import signature_of
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
    _drop_notes(root, commits)
    for name in ("ORIG_HEAD", "FETCH_HEAD", "AUTO_MERGE"):
        _drop_if(places.own / name, encoded)
    for kept in (places.common / "lost-found").glob("*/*"):
        if kept.name in blobs or kept.name in commits:
            kept.unlink()
    words = [memory_id.encode() for memory_id in ids]
    for conflict in (places.common / "rr-cache").glob(
        "*"
    ):  # texts of conflicts, kept to resolve them again
        if any(
            word in part.read_bytes()
            for part in conflict.glob("*")
            if part.is_file()
            for word in words
        ):
            shutil.rmtree(conflict, ignore_errors=True)
    # the logs come last: after a kill it is they that still name the old commits
    for log in (places.common / "logs").rglob("*"):
        if log.is_file() and not log.is_symlink():
            _follow(log, encoded)


def collect_garbage(root: Path, blobs: Collection[str]) -> None:
    """Have git remove what nothing refers to, and look that these objects are gone. Raises
    RepositoryError.
    """
    done = run(root, "gc", "--quiet", "--prune=now", timeout_s=GC_TIMEOUT_S)
    if done.code and "already running" in done.error:
        raise RepositoryBusy(
            "git is tidying up this repository already", "Run the same command again in a minute"
        )
    if done.code:
        said = " ".join(done.error.split())[-300:]
        raise RepositoryError(
            f"git could not remove the old objects: {said}", "Mend that, then run the same again"
        )
    listed = "".join(f"{blob}\n" for blob in blobs).encode()
    found = (
        output(root, "cat-file", "--batch-check", stdin=listed).text.splitlines() if blobs else []
    )
    if left := [line.split(" ")[0] for line in found if not line.endswith(" missing")]:
        remedy = (
            "Look for `.keep` files in .git/objects/pack, delete them, and run the same "
            "command again"
        )
        raise RepositoryError(
            f"git still keeps {len(left)} of {len(blobs)} versions of the text", remedy
        )


def _follow(log: Path, commits: Mapping[bytes, bytes]) -> None:
    """Rewrite a reflog, so that ``HEAD@{3}`` and ``stash@{1}`` still name what they named."""
    lines = log.read_bytes().splitlines(keepends=True)
    new = []
    for line in lines:
        match = _LOG_LINE.match(line)
        if match is None:
            new.append(line)
            continue
        before, after = (commits.get(id_, id_) for id_ in match.groups()[:2])
        if before != after or match[1] == match[2]:  # else it is the entry of our own move
            new.append(b"%s %s%s" % (before, after, match[3]))
    if new != lines:
        durable.write(log, b"".join(new), 0o644)


def copy_notes(root: Path, commits: Mapping[str, str]) -> None:
    """Give new commits the notes of the old ones."""
    pairs = "".join(f"{old} {new}\n" for old, new in commits.items()).encode()
    for ref in _note_refs(root) if commits else ():
        name, environment = ("notes", f"--ref={ref}"), signature_of(root).environment
        output(root, *name, "copy", "--force", "--stdin", stdin=pairs, environment=environment)


def _drop_notes(root: Path, commits: Mapping[str, str]) -> None:
    gone = "".join(f"{old}\n" for old in commits).encode()
    for ref in _note_refs(root) if commits else ():
        name, environment = ("notes", f"--ref={ref}"), signature_of(root).environment
        output(
            root,
            *name,
            "remove",
            "--ignore-missing",
            "--stdin",
            stdin=gone,
            environment=environment,
        )


def _note_refs(root: Path) -> list[str]:
    return run(root, "for-each-ref", "--format=%(refname)", "refs/notes").text.split()


def _drop_if(pointer: Path, commits: Collection[bytes]) -> None:
    """Remove a file of git's that names a commit which has another id now; git makes it anew."""
    if pointer.is_file() and any(
        word in commits for word in re.findall(rb"[0-9a-f]{40}", pointer.read_bytes())
    ):
        pointer.unlink()
