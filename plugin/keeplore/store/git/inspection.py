"""Looking at a repository without changing it: what git would say has changed, which locks lie
around.
"""

from __future__ import annotations

import contextlib
import re
import shlex
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from keeplore.errors import RepositoryError
from keeplore.memory.frontmatter import MAX_FILE
from keeplore.memory.merge.memory_merge import CONFLICT
from keeplore.store import files
from keeplore.store.git.git_command import git_in, ignored, nul_separated, output, run
from keeplore.store.paths import (
    FOLDERS,
    is_memory,
    is_ours,
    is_ours_to_write,
    is_portable,
    is_side,
)
from keeplore.store.repository_state import directories

_BESIDE = re.compile(rf"{re.escape(CONFLICT)}[0-9a-f]{{8}}(\.[^./]*)?$")
FSCK_TIMEOUT_S = 600.0
_LOOKED_AT = 8000  # bytes, in which git too looks for the zero that no text has
# -c shows of a merge what differs from every parent; what equals one of them came with that one's
# line
_INTRODUCED = (
    "log --raw -z -c --root --no-renames --no-abbrev --no-show-signature --no-relative"
)
_LOCKS = ("index.lock", "HEAD.lock", "packed-refs.lock", "config.lock", "shallow.lock")


def committed(root: Path, path: str) -> bytes | None:
    """The text that HEAD has at a path, None where it has none there."""
    found = run(root, "cat-file blob", f"HEAD:{path}")
    return found.out if found.code == 0 else None


def is_as_committed(root: Path, path: str) -> bool:
    """Whether HEAD has a file as it is on disk and staged. Raises RepositoryError."""
    is_known = committed(root, path) is not None
    return is_known and not output(root, "status --porcelain --", path).text


def changed_paths(root: Path) -> list[str]:
    """Paths of ours whose files differ from HEAD, as git tells by their times and sizes.

    Raises RepositoryError.
    """
    paths = output(root, "diff --name-only --no-renames -z HEAD --", *FOLDERS).items
    present = [folder for folder in FOLDERS if (root / folder).exists()]
    if not present:
        return paths
    paths += output(root, "ls-files --others --exclude-standard -z --", *present).items
    return sorted({path for path in paths if is_ours_to_write(path)})


def ignored_files(root: Path) -> list[str]:
    """Paths of files on disk that are indexed, memories or others, and that git is told to ignore.

    Raises RepositoryError.
    """
    present = [folder for folder in FOLDERS if (root / folder).exists()]
    if not present:
        return []
    listed = output(
        root, "ls-files --others --ignored --exclude-standard -z --", *present
    ).items
    return sorted(path for path in listed if is_memory(path) or is_side(path))


def ignored_note(file: Path) -> str:
    """A warning that git ignores a file just written, with the command that shows the rule; ""
    where git takes it, or does not say.
    """
    with contextlib.suppress(RepositoryError):
        if ignored(file.parent, [file.name]):
            return (
                "git is told to ignore this file, so it is in no commit and on no other machine: "
                f"{where_ignored(file.parent, file.name)}"
            )
    return ""


def where_ignored(folder: Path, path: str) -> str:
    """The command that says where git is told to ignore a path below a folder."""
    return f"`{git_in(folder)} check-ignore -v {shlex.quote(path)}` says where"


def unstorable_paths(root: Path) -> list[str]:
    """Paths below our folders that are never committed: they are no regular files, or their
    names are not valid on every system.
    """
    skipped: list[str] = []
    seen = [
        file.path for folder in FOLDERS for file in files.walk(root, folder, skipped)
    ]
    return sorted([*skipped, *(path for path in seen if not is_portable(path))])


def other_versions(root: Path) -> list[str]:
    """Paths of versions that lost their place in a merge and are not memories with an id. Raises
    RepositoryError.
    """
    listed = output(root, "ls-files --cached --others --exclude-standard -z").items
    return sorted(
        {path for path in listed if _BESIDE.search(path) and (root / path).is_file()}
    )


class OldLock(NamedTuple):
    path: Path
    age_s: float


def old_locks(root: Path, min_age_s: float) -> Iterator[OldLock]:
    """The locks of git that are older than ``min_age_s``. Raises RepositoryError."""
    places = directories(root)
    locks = [folder / name for folder in {places.own, places.common} for name in _LOCKS]
    locks += (places.common / "refs" / "heads").rglob("*.lock")
    for lock in locks:
        try:
            age_s = time.time() - lock.stat().st_mtime
        except OSError:
            continue
        if age_s > min_age_s:
            yield OldLock(lock, age_s)


def damaged_objects(root: Path) -> str:
    """What ``git fsck`` finds wrong with the objects, "" where all is well.

    Raises RepositoryError.
    """
    done = run(root, "fsck --no-dangling --no-progress", timeout_s=FSCK_TIMEOUT_S)
    return "" if done.code == 0 else " ".join(f"{done.error} {done.text}".split())[:500]


BATCH = 16 << 20  # bytes of content that are held at once, or one file if it is larger
_BLOB = re.compile(r"([0-9a-f]+) blob (\d+)")


def staged_contents(root: Path, index_file: str) -> dict[str, bytes | None]:
    """Path and content of every regular file of ours below a folder that is staged; None for one
    that is too large.

    ``index_file`` is git's index where a commit of some paths alone uses another. Raises
    RepositoryError.
    """
    blobs = _staged_blobs(root, {"GIT_INDEX_FILE": index_file} if index_file else {})
    held = dict(contents(root, {*blobs.values()}))
    found: dict[str, bytes | None] = {
        path: held.get(blob) for path, blob in blobs.items()
    }
    for path in _filtered_paths(root, [*blobs]):
        done = run(root, "cat-file --filters", f"--path={path}", blobs[path])
        found[path] = done.out if done.code == 0 and len(done.out) <= MAX_FILE else None
    return found


def _staged_blobs(root: Path, environment: dict[str, str]) -> dict[str, str]:
    listed = output(
        root,
        "diff --cached --raw -z --relative --no-renames --no-abbrev",
        "--diff-filter=ACMT",
        environment=environment,
    )
    return {
        path: blob
        for (_, mode, _, blob, _), path in listed.changes
        if mode.startswith("100") and is_ours(path)
    }


def unpublished_contents(
    root: Path, head: str, theirs: str
) -> Iterator[tuple[str, bytes]]:
    """Path and content of each version of a text file, ours or the person's own, that a push would
    add to the remote's ``theirs`` ("" for none).

    A version that a later commit mends is among them, because the push publishes it too; one of
    more than MAX_FILE bytes is not, and content that a filter encrypts comes as it is published.
    Raises RepositoryError.
    """
    exclude = (f"^{theirs}",) if theirs else ()
    paths = {one.blob: one.path for one in introduced_blobs(root, head, *exclude)}
    for blob, data in contents(root, paths):
        if is_ours(paths[blob]) or b"\0" not in data[:_LOOKED_AT]:
            yield paths[blob], data


def contents(root: Path, names: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """Id and content of the blobs with these names, but for those larger than MAX_FILE."""
    batch: list[str] = []
    held = 0
    for blob, size in _sizes(root, names):
        if batch and held + size > BATCH:
            yield from _batch(root, batch)
            batch, held = [], 0
        batch.append(blob)
        held += size
    if batch:
        yield from _batch(root, batch)


def _sizes(root: Path, names: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Id and size of each blob; missing ones and submodules are left out."""
    # git reads a name from each line
    asked = _lines(name for name in names if "\n" not in name)
    listed = output(root, "cat-file --batch-check", stdin=asked).text if asked else ""
    for found in map(_BLOB.fullmatch, listed.splitlines()):
        if found and int(found[2]) <= MAX_FILE:
            yield found[1], int(found[2])


def _lines(names: Iterable[str]) -> bytes:
    return "".join(f"{name}\n" for name in names).encode()


def _batch(root: Path, blobs: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    out = output(root, "cat-file --batch", stdin=_lines(blobs)).out
    position = 0
    while position < len(out):
        start = out.index(b"\n", position) + 1
        blob, _, size = out[position : start - 1].decode().split(" ")
        end = start + int(size)
        yield blob, out[start:end]
        position = end + 1


def _filtered_paths(root: Path, paths: list[str]) -> list[str]:
    """Paths whose content in git is not the text itself, as with git-crypt."""
    asked = nul_separated(paths)
    values = (
        output(root, "check-attr -z --stdin filter", stdin=asked).items[2::3]
        if paths
        else []
    )
    pairs = zip(paths, values, strict=True)
    return [path for path, value in pairs if value not in ("unspecified", "unset")]


class IntroducedBlob(NamedTuple):
    """A blob that a commit has at a path where none of its parents has it."""

    commit: str
    blob: str
    path: str


def introduced_blobs(root: Path, *arguments: str) -> list[IntroducedBlob]:
    """What the commits of a ``git log`` with these arguments introduce, newest commit first.

    Raises RepositoryError.
    """
    environment = {"GIT_LITERAL_PATHSPECS": "0", "GIT_NO_REPLACE_OBJECTS": "1"}
    done = output(
        root, _INTRODUCED, "--format=%x00commit %H", *arguments, environment=environment
    )
    found: list[IntroducedBlob] = []
    commit = blob = ""
    for item in done.items:
        fields = item.lstrip("\n").split(" ")
        if blob:
            if blob.strip("0"):  # else the path was removed
                found.append(IntroducedBlob(commit, blob, item))
            blob = ""
        elif fields[0].startswith(":"):
            blob = fields[-2]
        elif fields[0] == "commit":
            commit = fields[1]
    return found
