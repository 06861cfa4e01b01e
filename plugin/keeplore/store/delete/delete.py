"""Taking memories away so that they stay away, and bringing one back as git had it.

The tombstones are on disk before any file goes: killed in between, the next commit removes what is
left, and so it does with a file that the disk kept. A text that git does not have yet is kept under
``refs/keeplore/forgotten/<id>``, which works while a merge is under way and is never pushed: what
was forgotten before it left this machine stays here.
"""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from keeplore.errors import (
    AlreadyExists,
    KeeploreError,
    NotFound,
    StoreError,
    disk_message,
)
from keeplore.memory import Memory, as_memory, is_id, relative_path
from keeplore.memory.conversation_body import turns_of
from keeplore.memory.frontmatter import MAX_FILE
from keeplore.memory.location import digits_of
from keeplore.memory.names import no_such_memory, short_id
from keeplore.memory.note import hash_of
from keeplore.store import files
from keeplore.store.files import FileState
from keeplore.store.git.git_command import output, run
from keeplore.store.git.inspection import introduced_blobs
from keeplore.store.git.objects import CycleCache
from keeplore.store.memory_files import MemoryFile, id_at
from keeplore.store.paths import is_memory, is_portable
from keeplore.store.tombstones import Tombstone, Tombstones, id_of

KEPT = "refs/keeplore/forgotten/"  # then the id: a blob, the text that no commit has
RACY_NS = 2_000_000_000  # a file this young may change again without a new time stamp
MAX_VERSIONS = 200  # of one memory, looked at for the one to restore
_BEGINNING = re.compile(r"(?:mem_)?[0-9a-f]{4}[0-9a-f-]*")


def forget_all(
    root: Path,
    tombstones: Tombstones,
    found: Mapping[str, Sequence[MemoryFile]],
    write: Callable[[Sequence[MemoryFile]], Tombstone],
) -> list[Tombstone]:
    """Write the tombstones of memories, then remove their files.

    ``found`` has the files of each memory by its id; ``write`` makes the tombstone of one from
    these. Raises NotFound before anything is done, or as ``remove_forgotten``.
    """
    for memory_id, copies in found.items():
        if not copies and tombstones.get(memory_id) is None:
            raise no_such_memory(memory_id)
    written = [
        write(copies) if copies else tombstones.get(memory_id)
        for memory_id, copies in found.items()
    ]
    paths = {id_: [copy.path for copy in copies] for id_, copies in found.items()}
    remove_forgotten(root, paths, "keeplore forget")
    return [tombstone for tombstone in written if tombstone]


def remove_forgotten(
    root: Path, paths: Mapping[str, Sequence[str]], command: str
) -> None:
    """Remove the files of memories that have tombstones; ``paths`` is by their ids. Raises
    StoreError where the disk keeps some, after the others are gone; ``command`` tries again.
    """
    kept = []
    for path in chain.from_iterable(paths.values()):
        try:
            files.remove(root, path)
        except OSError as e:
            kept.append(disk_message(e))
    if kept:
        more = f" and {len(kept) - 1} more" if kept[1:] else ""
        again = f"{command} {short_id(next(iter(paths)))}"
        raise StoreError(
            f"it is forgotten, but its text is still there: {kept[0]}{more}",
            f"Make that folder writable, and run `{again}` again",
        )


def write_tombstone(
    root: Path,
    tombstones: Tombstones,
    copies: Sequence[MemoryFile],
    machine: str,
    at: str,
) -> Tombstone:
    """Write the tombstone of a memory whose files are ``copies``, the newest first; they stay."""
    path, memory = copies[0]
    tombstone = tombstones.get(memory.id)
    if tombstone is None:
        turns = tuple(turns_of(memory))
        tombstone = Tombstone(
            memory.id, at, machine, content=hash_of(memory), turns=turns, path=path
        )
    if not tombstone.is_purged:
        keep_text(root, memory.id, path)
    tombstones.write(tombstone)
    return tombstone


def keep_text(root: Path, memory_id: str, path: str) -> None:
    """Have the text of a file in git, by a ref of its own where HEAD has another one or none."""
    blob = output(root, "hash-object -w --", path).text
    if run(root, "rev-parse --quiet --verify", f"HEAD:{path}").text != blob:
        output(root, "update-ref", f"{KEPT}{memory_id}", blob)


def without_forgotten(
    root: Path, tombstones: Tombstones, cache: CycleCache, present: Iterable[FileState]
) -> Iterator[FileState]:
    """These files but those that hold a forgotten memory, at its place or under a name of ours."""
    digits = {short_id(memory_id) for memory_id in tombstones.ids()}
    places = {tombstone.path for tombstone in tombstones} if digits else set()
    for file in present:
        is_likely = digits_of(file.path) in digits or file.path in places
        if not (is_likely and _id_at(root, cache, file) in tombstones):
            yield file


def remove_returned(
    root: Path, cache: CycleCache, on_disk: dict[str, FileState]
) -> None:
    """Remove what came back to the disk although it is forgotten: with an old clone, a copy, a
    merge.
    """
    ids = {memory_id for path in on_disk if (memory_id := id_of(path))}
    likely_digits = {"", *(short_id(memory_id) for memory_id in ids)}
    tombstones = Tombstones(root)
    for path, file in [*on_disk.items()] if ids else ():
        if digits_of(path) not in likely_digits or not is_memory(path):
            continue
        memory_id = _id_at(root, cache, file)
        if memory_id in ids:
            withdraw_file(root, tombstones, path, memory_id)
            del on_disk[path]


def withdraw_file(
    root: Path, tombstones: Tombstones, path: str, memory_id: str
) -> None:
    """Remove a file that holds a forgotten memory; one that the disk keeps stops nothing else."""
    tombstone = tombstones.get(memory_id)
    if tombstone is None or not tombstone.is_purged:
        keep_text(root, memory_id, path)
    with contextlib.suppress(OSError):
        files.remove(root, path)
    # a commit of ours takes out of the index what HEAD had; this may have been staged by hand
    run(root, "update-index --force-remove --", path)


def restore(root: Path, tombstones: Tombstones, memory_id: str) -> str:
    """Put the text back, and only then take the tombstone away; returns the path. The caller sees
    to it that no commit comes in between."""
    path, memory, data = _text(root, tombstones, memory_id)
    if not (is_memory(path) and is_portable(path)):
        path = relative_path(memory)
    if not files.is_free(root, path) and id_at(root, path) != memory_id:
        raise AlreadyExists(
            f"something else is at {path}",
            "Move it away, then run `keeplore restore` again",
        )
    files.write(root, path, data)
    tombstones.remove(memory_id)
    run(root, "update-ref -d", f"{KEPT}{memory_id}")
    return path


def forgotten_memory(root: Path, tombstones: Tombstones, memory_id: str) -> Memory:
    """What was forgotten, as ``restore`` would put it back. Raises NotFound."""
    return _forgotten_text(root, tombstones, memory_id)[1]


class MemoryVersion(NamedTuple):
    """A text of a memory, as git has it."""

    path: str
    memory: Memory
    data: bytes


class MissingMemory(NamedTuple):
    """A memory whose file went without a tombstone; ``commit`` and ``day`` tell since when, ""
    before a commit.
    """

    id: str
    path: str
    commit: str
    day: str


def deleted(
    root: Path, beginning: str, is_here: Callable[[str], bool]
) -> Iterator[MissingMemory]:
    """The memories that git has had in files named after them, and that are not here; ``beginning``
    is that of ids.
    """
    if not _BEGINNING.fullmatch(beginning):
        return
    beginning = beginning.removeprefix("mem_")
    known = set()
    for blob, path in _brought_files(root, _names_of(beginning[:8]))[:MAX_VERSIONS]:
        read = _memory_and_bytes(root, blob, path)
        memory_id = read[0].id if read else ""
        is_named = memory_id.startswith(f"mem_{beginning}")
        if is_named and memory_id not in known and not is_here(memory_id):
            known.add(memory_id)
            yield MissingMemory(memory_id, path, *_deletion_of(root, path))


def _names_of(digits: str) -> list[str]:
    """Patterns for files of the memories whose ids begin with up to eight digits."""
    rest = "?" * (8 - len(digits))
    return [f":(glob)**/*-{digits}{rest}.md", f":(glob)**/mem_{digits}*.md"]


def _deletion_of(root: Path, path: str) -> tuple[str, str]:
    """Commit and day with which a file went last."""
    last = run(root, "log -1 --all --diff-filter=D", "--format=%h %cs", "--", path).text
    commit, _, day = last.partition(" ")
    return commit, day


def _text(root: Path, tombstones: Tombstones, memory_id: str) -> MemoryVersion:
    """The version that ``restore`` puts back: of a forgotten memory, or the last one of a file that
    was deleted by hand.
    """
    if is_id(memory_id) and memory_id not in tombstones:
        for version in versions(root, memory_id, ""):
            return version
    return _forgotten_text(root, tombstones, memory_id)


def _forgotten_text(
    root: Path, tombstones: Tombstones, memory_id: str
) -> MemoryVersion:
    """The version that the tombstone is for. Raises NotFound."""
    if memory_id not in tombstones:
        raise NotFound(
            f"{memory_id!r} is not forgotten",
            f"The files of {root / 'forgotten'} are named after the ids that can be restored",
        )
    tombstone = tombstones.get(memory_id) or Tombstone(memory_id)
    if tombstone.is_purged:
        raise NotFound(
            f"{memory_id} was purged, its text is gone",
            "Write it anew, or take it from a backup",
        )
    found = list(versions(root, memory_id, tombstone.path))
    for version in found:
        if hash_of(version.memory) == tombstone.content:
            return version
    if not found:
        raise _no_text(memory_id, tombstone.machine)
    return found[0]


def _no_text(memory_id: str, machine: str) -> NotFound:
    where = "Look on another machine"
    if machine:
        where = f"`keeplore restore` can do it on {machine}"
    return NotFound(
        f"git here has no text of {memory_id}",
        f"{where}, where it was forgotten before it was pushed",
    )


def versions(root: Path, memory_id: str, path: str) -> Iterator[MemoryVersion]:
    """Every version of a memory that git has, the last one first; ``path`` is where it was."""
    candidates = dict.fromkeys(_candidates(root, memory_id, path))
    for blob, where in list(candidates)[:MAX_VERSIONS]:
        read = _memory_and_bytes(root, blob, where)
        if read and read[0].id == memory_id:
            yield MemoryVersion(where, *read)


def _candidates(root: Path, memory_id: str, path: str) -> list[tuple[str, str]]:
    """Blob and path of what may be a text of a memory; what was kept when it was forgotten is
    first.
    """
    names = [f":(glob)**/*-{short_id(memory_id)}.md", f":(glob)**/{memory_id}.md"]
    if is_memory(path) and "\0" not in path:
        names.append(f":(literal){path}")
    brought = _brought_files(root, names)
    kept = run(root, "rev-parse --quiet --verify", f"{KEPT}{memory_id}").text
    if not kept:
        return brought
    place = path or (brought[0][1] if brought else f"memory/{memory_id}.md")
    return [(kept, place), *brought]


def _memory_and_bytes(root: Path, blob: str, path: str) -> tuple[Memory, bytes] | None:
    """Memory and bytes of a blob, None for what is none or too large."""
    done = run(root, "cat-file --filters", f"--path={path}", blob)
    if done.code or len(done.out) > MAX_FILE:
        return None
    try:
        return as_memory(done.out.decode(), path), done.out
    except (KeeploreError, UnicodeDecodeError):
        return None


def _brought_files(root: Path, names: Sequence[str]) -> list[tuple[str, str]]:
    """Blob and path of each memory file that a commit brought."""
    found = introduced_blobs(
        root, "--all", "--full-history", "--diff-filter=AM", "--", *names
    )
    return [(one.blob, one.path) for one in found if is_memory(one.path)]


def _id_at(root: Path, cache: CycleCache, file: FileState) -> str:
    """The id of a file, not read again while it looks the same."""
    known = cache.ids.get(file.path)
    if known and known[0] == file:
        return known[1]
    memory_id = id_at(root, file.path)
    if file.mtime_ns < time.time_ns() - RACY_NS:
        cache.ids[file.path] = (file, memory_id)
    return memory_id
