"""A guard on removed files: no fault of a repair may take away the last copy of a text.

A file is removed because its memory stands in other files. Its text is noted in the git directory
first; the next commit looks for it among the files that it will hold, and brings the file back
where it is missing.
"""

from __future__ import annotations

import contextlib
import json
import re
import secrets
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from keeplore.errors import StoreError
from keeplore.memory.frontmatter import MAX_FILE
from keeplore.memory.merge.memory_merge import beside_path
from keeplore.store import files, memory_files
from keeplore.store.files import FileState
from keeplore.store.git.objects import Moved
from keeplore.store.repository_state import directories
from keeplore.store.tombstones import Tombstones
from keeplore_hooks import durable

FOLDER = "departed.keeplore"  # in the git directory; not one of the names swept there
KILLED_S = 60.0  # a note this old whose file is still there lost its writer
_WORD = re.compile(r"\w+")
_FRONT = re.compile(r"\A---[ \t]*\n.*?^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)


class RemovedFile(NamedTuple):
    """A removed file; ``successors`` held its memory then, each path with the file's SHA-256.

    Where ``is_joined``, they must hold every word of its text; else a newer version is enough.
    """

    note: Path
    path: str
    id: str  # "" for a file that could not be read
    successors: Mapping[str, str]
    text: str
    is_joined: bool


def guarded_remove(
    root: Path, path: str, successors: Sequence[str], *, is_joined: bool = False
) -> None:
    """Remove a file whose memory stands in ``successors`` now, unless it is one of them.

    It is no error that the file is gone already. Raises StoreError or OSError.
    """
    if path in successors or files.file_state(root, path) is None:
        return
    if (root / ".git").exists():
        text = files.read(root, path, MAX_FILE).decode("utf-8", "surrogateescape")
        hashes = {successor: _sha256_of(root, successor) for successor in successors}
        fields = [path, memory_files.id_at(root, path), hashes, text, is_joined]
        folder = directories(root).own / FOLDER
        folder.mkdir(mode=0o700, exist_ok=True)
        data = json.dumps(fields).encode()
        durable.write(folder / f"{secrets.token_hex(8)}.json", data)
    files.remove(root, path)


def settled_notes(root: Path, committed: Mapping[str, FileState]) -> tuple[Path, ...]:
    """The notes that a commit of these files settles.

    Raises Moved where a file had to be brought back.
    """
    notes: list[Path] = []
    is_changed = False
    for removed in list(_removed_files(root)):
        if files.file_state(root, removed.path):
            if time.time() - removed.note.stat().st_mtime > KILLED_S:
                notes.append(removed.note)
        elif _is_held(root, removed, committed):
            notes.append(removed.note)
        else:
            _bring_back(root, removed)
            is_changed = True
    if is_changed:
        raise Moved
    return tuple(notes)


def remove_notes(notes: Iterable[Path]) -> None:
    """Remove the notes of removed files that the commit has settled."""
    for note in notes:
        note.unlink(missing_ok=True)


def removed_paths(root: Path) -> set[str]:
    """The paths of removed files whose notes are not settled yet."""
    return {removed.path for removed in _removed_files(root)}


def _removed_files(root: Path) -> Iterator[RemovedFile]:
    """The removed files whose notes are not settled yet."""
    for note in sorted((directories(root).own / FOLDER).glob("*.json")):
        yield RemovedFile(note, *json.loads(note.read_bytes()))


def _is_held(
    root: Path, removed: RemovedFile, committed: Mapping[str, FileState]
) -> bool:
    """Whether the memory is forgotten, or in a file of the commit.

    Where it was joined with others, and nobody has edited these since, every word must be there.
    """
    if removed.id in Tombstones(root):
        return True
    present = [*committed.values()]
    copies = [path for path, _ in memory_files.copies(root, present, removed.id)]
    if copies and not removed.is_joined:
        return True
    missing = _body_words(removed.text)
    for path, hash_then in removed.successors.items():
        if path in committed:
            if hash_then != _sha256_of(root, path):
                return bool(copies)
            missing -= _body_words(_text(root, path))
    return not missing


def _sha256_of(root: Path, path: str) -> str:
    return sha256(_text(root, path).encode("utf-8", "surrogateescape")).hexdigest()


def _text(root: Path, path: str) -> str:
    """The text of a file, "" where it cannot be read."""
    with contextlib.suppress(StoreError, OSError):
        return files.read(root, path, MAX_FILE).decode("utf-8", "surrogateescape")
    return ""


def _body_words(text: str) -> set[str]:
    """The words below the front matter."""
    return set(_WORD.findall(_FRONT.sub("", text, count=1)))


def _bring_back(root: Path, removed: RemovedFile) -> None:
    """Write the file again, under another name where something else is at its place."""
    data = removed.text.encode("utf-8", "surrogateescape")
    path = removed.path
    if not files.is_free(root, path):
        path = beside_path(path, data)
    files.write(root, path, data)
    removed.note.unlink(missing_ok=True)
