"""Files that went because their memory stands elsewhere, and the proof of it before each commit.

Who removes such a file writes down first what it held, in the git directory. The next commit looks
for that text among the files that it will hold, and brings the file back where it is missing: no
fault of a repair may take away the last copy of a text.
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


class Departure(NamedTuple):
    """A file that went, and the ``heirs`` that had its memory then, with the SHA-256 of each;
    ``is_joined`` where they must have every word of it, else a newer version is enough.
    """

    note: Path
    path: str
    id: str  # "" for a file that could not be read
    heirs: Mapping[str, str]
    text: str
    is_joined: bool


def depart(
    root: Path, path: str, heirs: Sequence[str], *, is_joined: bool = False
) -> None:
    """Remove a file durably whose memory stands in ``heirs`` now; one that is among them stays.

    That it is gone already is no error. Raises StoreError or OSError.
    """
    if path in heirs or files.state(root, path) is None:
        return
    if (root / ".git").exists():
        text = files.read(root, path, MAX_FILE).decode("utf-8", "surrogateescape")
        prints = {heir: _fingerprint(root, heir) for heir in heirs}
        said = [path, memory_files.id_at(root, path), prints, text, is_joined]
        folder = directories(root).own / FOLDER
        folder.mkdir(mode=0o700, exist_ok=True)
        data = json.dumps(said).encode()
        durable.write(folder / f"{secrets.token_hex(8)}.json", data)
    files.remove(root, path)


def settled_notes(root: Path, committed: Mapping[str, FileState]) -> tuple[Path, ...]:
    """The notes that a commit of these files settles. Raises Moved where a file had to be brought
    back.
    """
    notes: list[Path] = []
    is_changed = False
    for departure in list(_departures(root)):
        if files.state(root, departure.path):
            if time.time() - departure.note.stat().st_mtime > KILLED_S:
                notes.append(departure.note)
        elif _is_held(root, departure, committed):
            notes.append(departure.note)
        else:
            _bring_back(root, departure)
            is_changed = True
    if is_changed:
        raise Moved
    return tuple(notes)


def remove_notes(notes: Iterable[Path]) -> None:
    """Remove the notes of departures that the commit has settled."""
    for note in notes:
        note.unlink(missing_ok=True)


def departed_paths(root: Path) -> set[str]:
    """The paths of files that went and whose notes are not settled yet."""
    return {departure.path for departure in _departures(root)}


def _departures(root: Path) -> Iterator[Departure]:
    """The departures that were written down and are not settled yet."""
    for note in sorted((directories(root).own / FOLDER).glob("*.json")):
        yield Departure(note, *json.loads(note.read_bytes()))


def _is_held(
    root: Path, departure: Departure, committed: Mapping[str, FileState]
) -> bool:
    """Whether the memory is forgotten or in a file of the commit; where it was joined and nobody
    has edited it since, with every word of it.
    """
    if departure.id in Tombstones(root):
        return True
    present = [*committed.values()]
    copies = [path for path, _ in memory_files.copies(root, present, departure.id)]
    if copies and not departure.is_joined:
        return True
    missing = _body_words(departure.text)
    for path, fingerprint in departure.heirs.items():
        if path in committed:
            if fingerprint != _fingerprint(root, path):
                return bool(copies)
            missing -= _body_words(_text(root, path))
    return not missing


def _fingerprint(root: Path, path: str) -> str:
    return sha256(_text(root, path).encode("utf-8", "surrogateescape")).hexdigest()


def _text(root: Path, path: str) -> str:
    """The text of a file, "" where it cannot be read."""
    with contextlib.suppress(StoreError, OSError):
        data = files.read(root, path, MAX_FILE)
        return data.decode("utf-8", "surrogateescape")
    return ""


def _body_words(text: str) -> set[str]:
    """The words below the front matter."""
    return set(_WORD.findall(_FRONT.sub("", text, count=1)))


def _bring_back(root: Path, departure: Departure) -> None:
    """Write the file again, under another name where something else is at its place."""
    data = departure.text.encode("utf-8", "surrogateescape")
    path = departure.path
    if not files.is_free(root, path):
        path = beside_path(path, data)
    files.write(root, path, data)
    departure.note.unlink(missing_ok=True)
