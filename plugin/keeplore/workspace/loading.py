"""Looking up memories of a workspace that may be gone or damaged meanwhile."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from keeplore.errors import Corrupt, NotFound
from keeplore.index import Index, load_or_none
from keeplore.memory import Memory
from keeplore.memory.chains import Chain
from keeplore.memory.location import digits_of
from keeplore.memory.names import LEAST_DIGITS, remedy_for_unknown
from keeplore.store import Store


def load_by_id(index: Index, store: Store, memory_id: str) -> Memory | None:
    """The memory of an id; None where there is none, or its file cannot be read."""
    path = index.path_of(memory_id)
    return load_or_none(store, path) if path else None


def chain_of(index: Index, memory_id: str) -> Chain:
    """The versions that a memory is one of; itself alone where there are no others."""
    for chain in index.chains():
        if memory_id in chain.members:
            return chain
    return Chain((memory_id,), (memory_id,), memory_id, has_cycle=False)


def missing_memory(reference: str, stores: Iterable[Store]) -> NotFound:
    """The error for a memory that is not here or cannot be read, with the way back where its file
    or git knows one.
    """
    beginning = digits_of(f"/{Path(reference).name}") or reference.lower()
    for store in stores:
        if error := _unreadable(store, reference, beginning):
            return error
        if gone := _forgotten_id(store, beginning):
            return NotFound(
                f"{gone} was forgotten", f"`keeplore restore {gone}` brings it back"
            )
        for one in store.deleted(beginning):
            since = f" in commit {one.commit} of {one.day}" if one.commit else ""
            return NotFound(
                f"the file of {one.id} was deleted{since}: {one.path}",
                f"`keeplore restore {one.id}` brings it back as git had it",
            )
    return NotFound(f"there is no memory {reference!r}", remedy_for_unknown(reference))


def _forgotten_id(store: Store, beginning: str) -> str:
    """The id with this beginning that has a tombstone, "" for none."""
    digits = beginning.removeprefix("mem_")
    if len(digits) < LEAST_DIGITS:
        return ""
    gone = sorted(store.tombstones.ids())
    return next((id_ for id_ in gone if id_.startswith(f"mem_{digits}")), "")


def _unreadable(store: Store, reference: str, beginning: str) -> NotFound | None:
    """The error for a file that is meant and cannot be read: it has the name of the reference, or
    is named after an id with this beginning.
    """
    digits, name = beginning.removeprefix("mem_")[:8], Path(reference).name
    for file in store.scan():
        is_named = name.endswith(".md") and Path(file.path).name == name
        if not (is_named or (digits and digits_of(file.path).startswith(digits))):
            continue
        try:
            store.load(file.path)
        except Corrupt as e:
            return NotFound(
                f"{file.path} cannot be read, line {e.line}: {e.message}", e.remedy
            )
    return None
