"""Several changes that belong together: all of them are made, in one commit, or none, whatever
kills this process.

What is to be done is written down first, in the git directory, while nobody else may commit. Who
comes after a process that died in between finds that note and finishes what it says before anything
is committed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from keeplore.errors import Forgotten
from keeplore.memory import Memory, relative_path, serialise
from keeplore.memory.frontmatter import MAX_FILE
from keeplore.store import audit_log, files
from keeplore.store.git.repository_state import directories
from keeplore.store.git_locks import Directories, Turn
from keeplore.store.paths import check_moved, check_read, check_written
from keeplore.store.store import Store
from keeplore.store.transaction_log import note_of
from keeplore_hooks import durable


@dataclass(frozen=True, slots=True)
class Changes:
    """New memories, files with their new places, and the lines of this machine's audit that explain
    both.
    """

    memories: Sequence[Memory] = ()
    moves: Sequence[tuple[str, str]] = ()
    entries: Sequence[Mapping[str, Any]] = ()


def write_together(
    store: Store,
    machine: str,
    changes: Changes,
    before_write: Callable[[Memory], Memory] = lambda memory: memory,
) -> tuple[str, ...]:
    """Make the changes and return the paths of the new memories; ``commit`` puts them into one
    commit.

    Whoever looked before, so that what is written fits, holds ``store.exclusive``. Raises
    Forgotten, UnsafePath, RepositoryBusy or OSError before anything is changed.
    """
    with store.exclusive:
        written: dict[str, str | None] = {}
        for memory in map(before_write, changes.memories):
            if store.is_forgotten(memory.id):
                raise Forgotten(
                    f"{memory.id} was forgotten", f"`keeplore restore {memory.id}` brings it back"
                )
            path = relative_path(memory)
            check_written(path)
            written[path] = serialise(memory)
        paths = tuple(written)
        for path, to in changes.moves:
            check_moved(to)
            written[to] = store.read_text(path, MAX_FILE)
            written[path] = None
        plan = {"files": written, "lines": _lines(machine, changes.entries)}
        places = directories(store.root)
        with Turn(places):
            _finish(store, places)
            durable.write(
                note_of(places), json.dumps(plan, ensure_ascii=False).encode("utf-8", "replace")
            )
            _finish(store, places)
    return paths


def recover(store: Store) -> bool:
    """Finish what a process that died has left; whether there was such a thing. Raises
    RepositoryBusy or OSError.
    """
    places = directories(store.root)
    if not note_of(places).exists():
        return False
    with store.exclusive, Turn(places):
        return _finish(store, places)


def _finish(store: Store, places: Directories) -> bool:
    """Do what the note says, as often as it takes: each step comes to the same when it was done
    already.
    """
    note = note_of(places)
    try:
        plan = json.loads(note.read_bytes())
    except FileNotFoundError:
        return False
    for path, text in plan["files"].items():
        check_read(path)
        if text is not None:
            files.write(store.root, path, text.encode())
    for path, text in plan["files"].items():
        if text is None:
            files.remove(store.root, path)
    for path, lines in plan["lines"].items():
        audit_log.append_lines(store.root, path, lines)
    note.unlink()
    durable.sync_directory(places.own)
    return True


def _lines(machine: str, entries: Iterable[Mapping[str, Any]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for entry in entries:
        path = audit_log.path_of(machine, str(entry["at"]))
        check_written(path)
        found.setdefault(path, []).append(audit_log.line_of(entry))
    return found
