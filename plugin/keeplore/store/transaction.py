"""Transactions: several files are changed together, in one commit, or none is, whatever kills this
process.

What is to be done is first written down in a log in the git directory, while nobody else may
commit. Who comes after a process that died in between finds that log and finishes what it says
before anything is committed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from keeplore.errors import RepositoryBusy
from keeplore.memory import Memory, relative_path, serialise
from keeplore.memory.frontmatter import MAX_FILE
from keeplore.store import audit_log, files, removal_guard
from keeplore.store.git.git_locks import CommitLock
from keeplore.store.paths import check_moved, check_read, check_written
from keeplore.store.repository_state import Directories, directories
from keeplore.store.tombstones import Tombstones
from keeplore_hooks import durable

NAME = "keeplore.together"  # in the git directory; not one of the names that are swept there


@dataclass(frozen=True, slots=True)
class TransactionChanges:
    """New memories, files with their new places, and the lines of this machine's audit that explain
    both.
    """

    memories: Sequence[Memory] = ()
    moves: Sequence[tuple[str, str]] = ()
    entries: Sequence[Mapping[str, Any]] = ()


def log_path(places: Directories) -> Path:
    """Where the log of a transaction stands while it is carried out."""
    return places.own / NAME


def check_complete(places: Directories) -> None:
    """Raise RepositoryBusy where half of a transaction may be on disk; ``recover`` finishes it."""
    if log_path(places).exists():
        raise RepositoryBusy(
            "a change of several files was cut short", "It is finished at the next try"
        )


def write_together(
    root: Path,
    machine: str,
    changes: TransactionChanges,
    before_write: Callable[[Memory], Memory],
) -> tuple[str, ...]:
    """Make the changes and return the paths of the new memories. The caller holds the write lock.

    Raises Forgotten, UnsafePath, RepositoryBusy or OSError before anything is changed.
    """
    new = _new_files(Tombstones(root), map(before_write, changes.memories))
    files_after = {**new, **_moved_files(root, changes.moves)}
    log = {"files": files_after, "lines": _audit_lines(machine, changes.entries)}
    data = json.dumps(log, ensure_ascii=False).encode("utf-8", "replace")
    places = directories(root)
    with CommitLock(places):
        _carry_out(root, places)
        durable.write(log_path(places), data)
        _carry_out(root, places)
    return tuple(new)


def _moved_files(root: Path, moves: Iterable[tuple[str, str]]) -> dict[str, str | None]:
    """Path → text at the new places, None at the old ones. Raises NotFound or UnsafePath."""
    texts: dict[str, str | None] = {}
    for path, to in moves:
        check_moved(to)
        texts[to] = files.read_text(root, path, MAX_FILE)
        texts[path] = None
    return texts


def _new_files(tombstones: Tombstones, memories: Iterable[Memory]) -> dict[str, str]:
    """Path and text of each new memory. Raises Forgotten or UnsafePath."""
    texts = {}
    for memory in memories:
        tombstones.check(memory.id)
        path = relative_path(memory)
        check_written(path)
        texts[path] = serialise(memory)
    return texts


def recover(root: Path) -> bool:
    """Finish what a process that died has left; returns whether there was anything. The caller
    holds the write lock. Raises RepositoryBusy or OSError.
    """
    places = directories(root)
    with CommitLock(places):
        return _carry_out(root, places)


def _carry_out(root: Path, places: Directories) -> bool:
    """Do what the log says, as often as it takes: each step comes to the same when it was done
    already.
    """
    log = log_path(places)
    try:
        todo = json.loads(log.read_bytes())
    except FileNotFoundError:
        return False
    _write_files(root, todo["files"])
    for path, lines in todo["lines"].items():
        audit_log.append_lines(root, path, lines)
    log.unlink()
    durable.sync_directory(places.own)
    return True


def _write_files(root: Path, texts: Mapping[str, str | None]) -> None:
    """Write the new files first, so that no text is missing in between."""
    for path, text in texts.items():
        check_read(path)
        if text is not None:
            files.write(root, path, text.encode())
    heirs = [path for path, text in texts.items() if text is not None]
    for path, text in texts.items():
        if text is None:
            removal_guard.guarded_remove(root, path, heirs, is_joined=True)


def _audit_lines(
    machine: str, entries: Iterable[Mapping[str, Any]]
) -> dict[str, list[str]]:
    """Path → lines for this machine's audit files."""
    lines: dict[str, list[str]] = {}
    for entry in entries:
        path = audit_log.path_of(machine, str(entry["at"]))
        check_written(path)
        lines.setdefault(path, []).append(audit_log.line_of(entry))
    return lines
