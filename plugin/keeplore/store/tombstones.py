"""``forgotten/<id>.json``: a tombstone keeps what was forgotten from coming back, on any
machine.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from keeplore.errors import Corrupt, Forgotten, StoreError
from keeplore.memory.names import is_id
from keeplore.store import files
from keeplore.store.files import FileState

FOLDER = "forgotten"
SCHEMA = 1
# bytes; a conversation of ten thousand turns needs half a megabyte
MAX_FILE = 8 * 1024 * 1024
MAX_ITEM = 1000  # characters of one turn's id or of a path
_BLOB = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?\Z")
_CONTENT = re.compile(r"[0-9a-f]{64}\Z")


@dataclass(frozen=True, slots=True)
class Tombstone:
    """``turns`` are those whose words a conversation held; with ``is_purged`` the text is gone from
    git as well.

    ``content`` is the content hash of what was forgotten and ``path`` its place, both "" after a
    purge: the hash of a short secret can be guessed, and a file's name is made of its title.
    ``blobs`` are the ids that git must not keep.
    """

    id: str
    at: str = ""  # RFC 3339, UTC
    machine: str = ""
    content: str = ""
    turns: tuple[str, ...] = ()
    is_purged: bool = False
    blobs: tuple[str, ...] = ()
    path: str = ""


def path_of(memory_id: str) -> str:
    """The path of a memory's tombstone."""
    return f"{FOLDER}/{memory_id}.json"


def id_of(path: str) -> str:
    """The memory that a tombstone at this path is for, "" for any other path."""
    folder, _, name = path.rpartition("/")
    memory_id = name.removesuffix(".json")
    return (
        memory_id
        if folder == FOLDER and name.endswith(".json") and is_id(memory_id)
        else ""
    )


def serialise(tombstone: Tombstone) -> str:
    """The file of a tombstone; what is empty is left out."""
    data = {
        **asdict(tombstone),
        "schema": SCHEMA,
        "blobs": sorted(set(tombstone.blobs)),
    }
    kept = {key: value for key, value in data.items() if value or key == "id"}
    return json.dumps(kept, ensure_ascii=False, indent=2, sort_keys=True) + "\n"


def parse(text: str | bytes, memory_id: str) -> Tombstone:
    """Read a tombstone that stands under the name of this id. Raises Corrupt."""
    try:
        data = json.loads(text)
        if not isinstance(data, dict) or data.get("id") != memory_id:
            raise ValueError("it is not for this memory")
        return _tombstone(data)
    except (ValueError, RecursionError) as e:
        raise Corrupt(
            f"{path_of(memory_id)} is no tombstone: {e}",
            f"Delete {path_of(memory_id)} to allow this memory again, or bring it back with `git "
            f"checkout`",
        ) from e


def _tombstone(data: Mapping[str, Any]) -> Tombstone:
    """The tombstone that a file holds. Raises ValueError for a field that is not as it
    should be.
    """
    return Tombstone(
        id=data["id"],
        at=_text(data, "at"),
        machine=_text(data, "machine"),
        content=_text(data, "content", _CONTENT),
        turns=_texts(data, "turns"),
        is_purged=data.get("is_purged") is True,
        blobs=_texts(data, "blobs", _BLOB),
        path=_text(data, "path"),
    )


def joined(one: Tombstone, other: Tombstone) -> Tombstone:
    """What two machines that forgot the same memory know together: the same in either order, and a
    purge stays one.
    """
    both = replace(
        min(one, other, key=lambda tombstone: (tombstone.at, tombstone.machine)),
        turns=tuple(sorted({*one.turns, *other.turns})),
        is_purged=one.is_purged or other.is_purged,
        blobs=tuple(sorted({*one.blobs, *other.blobs})),
        content=min(one.content, other.content),
        path=min(one.path, other.path),
    )
    return without_text(both) if both.is_purged else both


def without_text(tombstone: Tombstone) -> Tombstone:
    """The tombstone with everything left out from which the text could be guessed."""
    # such an id is made of the words of a prompt
    turns = tuple(turn for turn in tombstone.turns if not turn.startswith("prompt:"))
    return replace(tombstone, content="", path="", turns=turns)


def merged_bytes(one: bytes, other: bytes, memory_id: str) -> bytes:
    """Two versions of a tombstone as one; if one cannot be read the other counts, if neither can,
    the smaller.
    """
    sides = []
    for data in sorted((one, other)):
        with contextlib.suppress(Corrupt):
            sides.append(parse(data, memory_id))
    return serialise(joined(sides[0], sides[-1])).encode() if sides else min(one, other)


class Tombstones:
    """The tombstones on disk. Each file is read again only when it changed; safe for several
    threads.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._read: dict[str, tuple[FileState, Tombstone]] = {}
        self._turns: tuple[tuple[FileState, ...], dict[str, str]] = ((), {})

    def __contains__(self, memory_id: str) -> bool:
        """Whether the memory is forgotten, also where its tombstone cannot be read: it stays
        forgotten until a person mends that.
        """
        return (
            is_id(memory_id)
            and files.file_state(self._root, path_of(memory_id)) is not None
        )

    def ids(self) -> set[str]:
        """The ids of all tombstones, also of those that cannot be read."""
        return {memory_id for file in self._files() if (memory_id := id_of(file.path))}

    def check(self, memory_id: str) -> None:
        """Raise Forgotten where the memory has a tombstone."""
        if memory_id in self:
            raise Forgotten(
                f"{memory_id} was forgotten",
                f"`keeplore restore {memory_id}` brings it back",
            )

    def get(self, memory_id: str) -> Tombstone | None:
        """The tombstone of a memory; None without one, and for one that cannot be read."""
        file = (
            files.file_state(self._root, path_of(memory_id))
            if is_id(memory_id)
            else None
        )
        return self._load(file) if file else None

    def __iter__(self) -> Iterator[Tombstone]:
        """The readable tombstones, in the order of their ids."""
        found = (self._load(file) for file in self._files())
        return (tombstone for tombstone in found if tombstone)

    def content_hashes(self) -> set[str]:
        """The hashes of the texts that were forgotten."""
        return {tombstone.content for tombstone in self if tombstone.content}

    def turns(self) -> Mapping[str, str]:
        """Turn → the forgotten conversation that held it."""
        present = tuple(self._files())
        if self._turns[0] != present:
            self._turns = (
                present,
                {turn: tombstone.id for tombstone in self for turn in tombstone.turns},
            )
        return self._turns[1]

    def write(self, tombstone: Tombstone) -> None:
        """Write a tombstone durably. Raises UnsafePath or OSError."""
        files.write(self._root, path_of(tombstone.id), serialise(tombstone).encode())

    def remove(self, memory_id: str) -> None:
        """Take the tombstone away, durably."""
        files.remove(self._root, path_of(memory_id))

    def _files(self) -> Sequence[FileState]:
        """The files of all tombstones, in the order of ids."""
        found = files.walk(self._root, FOLDER, [])
        return sorted(
            (file for file in found if id_of(file.path)), key=lambda file: file.path
        )

    def _load(self, file: FileState) -> Tombstone | None:
        known = self._read.get(file.path)
        if known and known[0] == file:
            return known[1]
        try:
            tombstone = parse(
                files.read(self._root, file.path, MAX_FILE), id_of(file.path)
            )
        except (StoreError, OSError):
            return None
        # a file's inode is another one after each write of ours, so its state tells every version
        # apart
        self._read[file.path] = (file, tombstone)
        return tombstone


def _text(
    data: Mapping[str, Any], key: str, pattern: re.Pattern[str] | None = None
) -> str:
    """A text, "" where the key is missing. Raises ValueError."""
    value = data.get(key, "")
    is_sound = isinstance(value, str) and len(value) <= MAX_ITEM and "\0" not in value
    if not is_sound or (value and pattern and not pattern.match(value)):
        raise ValueError(f"{key} is not as it should be")
    return str(value)


def _texts(
    data: Mapping[str, Any], key: str, pattern: re.Pattern[str] | None = None
) -> tuple[str, ...]:
    """A list of texts. Raises ValueError."""
    value = data.get(key, [])
    if not isinstance(value, list):
        raise ValueError(f"{key} is not a list")
    return tuple(_text({key: item}, key, pattern) for item in value)
