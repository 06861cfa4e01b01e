"""``audit/<machine>/YYYY-MM.jsonl``: what was decided and why, one line each; a machine writes its
own files alone.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from keeplore.errors import NotFound, StoreError
from keeplore.store import files
from keeplore.store.paths import check_written

FOLDER = "audit"
MAX_FILE = 64 * 1024 * 1024  # bytes; a line has some hundred


def path_of(machine: str, at: str) -> str:
    """The file of a machine for the month of a time."""
    return f"{FOLDER}/{machine}/{at[:7]}.jsonl"


def append(root: Path, machine: str, entry: Mapping[str, Any]) -> None:
    """Add one line, durably: the file is written anew, since a line that is appended tears when its
    writer is killed.

    The caller sees to it that one at a time does this. Raises UnsafePath or OSError.
    """
    path = path_of(machine, str(entry["at"]))
    check_written(path)
    _write(root, path, _current_lines(root, path), [line_of(entry)])


def append_lines(root: Path, path: str, lines: Sequence[str]) -> None:
    """Add these lines of one deed, unless they are there: the deed was done before, and is finished
    again.
    """
    known = _current_lines(root, path)
    if lines and "\n".join(lines).encode("utf-8", "replace") not in known:
        _write(root, path, known, lines)


def line_of(entry: Mapping[str, Any]) -> str:
    """An entry as a line of JSON."""
    return json.dumps(dict(entry), ensure_ascii=False, sort_keys=True)


def without_memories(data: bytes, ids: Collection[str]) -> bytes:
    """The lines that name none of these memories, joined again."""
    names = [memory_id.encode() for memory_id in ids]
    lines = data.splitlines(keepends=True)
    return b"".join(itertools.filterfalse(partial(_names_one, names), lines))


def _names_one(names: Collection[bytes], line: bytes) -> bool:
    return any(name in line for name in names)


def drop(root: Path, ids: Collection[str]) -> None:
    """Take the lines that name these memories out of the files of all machines. Raises StoreError
    or OSError.
    """
    for file in files.walk(root, FOLDER, []):
        data = files.read(root, file.path, MAX_FILE)
        rest = without_memories(data, ids)
        if not rest:
            files.remove(root, file.path)
        elif rest != data:
            files.write(root, file.path, rest)


def _current_lines(root: Path, path: str) -> bytes:
    """What the file holds, ending with a line end."""
    try:
        known = files.read(root, path, MAX_FILE)
    except NotFound:
        return b""
    return known + b"\n" if known and not known.endswith(b"\n") else known


def _write(root: Path, path: str, known: bytes, lines: Sequence[str]) -> None:
    """Write the file with these lines at its end."""
    files.write(
        root,
        path,
        known + b"".join(line.encode("utf-8", "replace") + b"\n" for line in lines),
    )


def entries(root: Path, machine: str = "") -> Iterator[dict[str, Any]]:
    """Every line of every machine that can be read, or of one, in the order of its files; others
    are passed over.
    """
    folder = f"{FOLDER}/{machine}" if machine else FOLDER
    for file in sorted(files.walk(root, folder, []), key=lambda found: found.path):
        if not file.path.endswith(".jsonl"):
            continue
        try:
            text = files.read(root, file.path, MAX_FILE)
        except (StoreError, OSError):
            continue
        for line in text.splitlines():
            try:
                entry = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(entry, dict):
                yield entry
