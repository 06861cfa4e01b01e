"""Memories that somebody opened: a note in the inbox for each and its day, which the worker counts
when it runs.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from keeplore.memory import is_id
from keeplore.text.dates import today
from keeplore.worker.usage.injection_log import FILE
from keeplore_hooks import durable

if TYPE_CHECKING:
    from keeplore.workspace.registry import FoundMemory

FOLDER = "opened"
# notes; nobody opens more before a worker runs, and a loop over all memories says nothing
MAX_WAITING = 1_000


def note_opened(state: Path, memory_id: str) -> None:
    """Note that a memory was opened today; again on the same day is the same. Never raises: showing
    it matters more.
    """
    folder = state / FOLDER
    if is_id(memory_id):
        with suppress(OSError):
            durable.make_private(folder)
            (folder / f"{today()}.{memory_id}").touch(exist_ok=False)


def note_looked_at(found: FoundMemory) -> None:
    """Count what a person looked at as use; programs walk over all memories."""
    if found.workspace.settings.recall.feedback:
        note_opened(found.workspace.places.state, found.row.id)


def was_shown(state: Path, memory_id: str) -> bool:
    """Was a session given this memory lately?"""
    with suppress(OSError):
        return f'"{memory_id}"'.encode() in (state / FILE).read_bytes()
    return False


def take_opened(state: Path) -> list[tuple[str, str]]:
    """Ids and days of what was opened and not counted yet; from now on it counts as counted. Raises
    OSError.
    """
    folder = state / FOLDER
    if not folder.is_dir():
        return []
    this_day, taken = today(), []
    for note in sorted(folder.iterdir())[:MAX_WAITING]:
        day, _, memory_id = note.name.partition(".")
        is_counted = note.stat().st_size > 0
        if not is_counted and is_id(memory_id):
            taken.append((memory_id, day))
        if day < this_day or not is_id(memory_id):
            note.unlink(missing_ok=True)
        elif not is_counted:
            # it stays for the day, so that opening it once more counts for nothing
            note.write_bytes(b"counted\n")
    return taken
