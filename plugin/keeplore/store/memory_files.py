"""Which files of a workspace hold a memory: told by their names, verified by their text."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from keeplore.errors import StoreError
from keeplore.memory import Memory, as_memory, is_id
from keeplore.memory.frontmatter import MAX_FILE
from keeplore.memory.location import digits_of, location_of, names_id, precedence
from keeplore.store import files
from keeplore.store.files import FileState

# a recall checks its hits against their files, and mostly finds the same texts again
_as_memory = functools.lru_cache(maxsize=128)(as_memory)


class MemoryFile(NamedTuple):
    path: str
    memory: Memory


def load(root: Path, path: str) -> Memory:
    """Read a memory, also one that a person or another program wrote without front matter of ours.

    Raises NotFound, Corrupt, UnsafePath or OSError.
    """
    return _as_memory(files.read_text(root, path, MAX_FILE), path)


def load_if(root: Path, path: str, memory_id: str) -> Memory | None:
    """The memory at a path if it is this one and can be read."""
    with contextlib.suppress(StoreError, OSError):
        memory = load(root, path)
        return memory if memory.id == memory_id else None
    return None


def id_at(root: Path, path: str) -> str:
    """The id of a memory's file, "" where it cannot be read."""
    with contextlib.suppress(StoreError, OSError):
        return load(root, path).id
    return ""


def find(root: Path, present: Sequence[FileState], memory_id: str) -> str | None:
    """The path of a memory among these files.

    Its name tells where to look. Where none does, the files are read whose names a person chose. Of
    several files that is one outside of the archive, else the one whose name carries the id, else
    the newest.
    """
    if not is_id(memory_id):
        return None
    named = [file.path for file in present if names_id(file.path, memory_id)]
    found = _files_of_memory(root, named, memory_id)
    found = found or _files_of_memory(
        root, _by_text(root, present, memory_id), memory_id
    )
    return found[0][0] if found else None


def copies(
    root: Path, present: Sequence[FileState], memory_id: str
) -> list[MemoryFile]:
    """Every file among these that holds the memory; first the one that counts."""
    if not is_id(memory_id):
        return []
    named = [file.path for file in present if names_id(file.path, memory_id)]
    likely = dict.fromkeys((*named, *_by_text(root, present, memory_id)))
    return _files_of_memory(root, [*likely], memory_id)


def copies_of_all(
    root: Path, present: Iterable[FileState], memory_ids: Iterable[str]
) -> dict[str, list[MemoryFile]]:
    """As ``copies``, for several memories: by their ids, in this order."""
    files_here = list(present)
    return {memory_id: copies(root, files_here, memory_id) for memory_id in memory_ids}


def namesakes(root: Path, path: str, memory_id: str) -> list[str]:
    """Other files of the memory in the same folder, whose names tell its id."""
    folder = path.rpartition("/")[0]
    if not (root / folder).is_dir():
        return []
    names = [entry.name for entry in (root / folder).iterdir()]
    visible = [f"{folder}/{name}" for name in names if not name.startswith(".")]
    likely = [
        other for other in visible if other != path and names_id(other, memory_id)
    ]
    return [other for other in likely if load_if(root, other, memory_id)]


def _files_of_memory(
    root: Path, likely: Sequence[str], memory_id: str
) -> list[MemoryFile]:
    """The files among these that hold the memory; first the one that counts, chosen as the index
    chooses it.
    """
    read = ((path, load_if(root, path, memory_id)) for path in likely)
    found = [MemoryFile(path, memory) for path, memory in read if memory]

    def rank(file: MemoryFile) -> tuple[bool, bool, str, str]:
        return precedence(file.path, memory_id, file.memory.updated_at)

    return sorted(found, key=rank, reverse=True)


def _by_text(root: Path, present: Sequence[FileState], memory_id: str) -> list[str]:
    """Files with a name that a person chose and that may be this memory's."""
    chosen = [file.path for file in present if not digits_of(file.path)]
    return [path for path in chosen if _may_hold(root, path, memory_id)]


def _may_hold(root: Path, path: str, memory_id: str) -> bool:
    """Whether a file is worth reading for an id: its path stands for it, or the words are in it."""
    if location_of(path).id == memory_id:
        return True
    words = memory_id.removeprefix("mem_").encode()
    with contextlib.suppress(StoreError, OSError):
        return words in files.read(root, path, MAX_FILE).lower()
    return False
