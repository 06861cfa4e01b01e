"""Which memories may be told unasked at all: those of believed machines that no memory of such a
machine has replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from keeplore.index import MemoryRow
from keeplore.memory.model import Relationship
from keeplore.recall.unasked.origin import SourceOf

if TYPE_CHECKING:
    from keeplore.index import Index


def unasked_filter(index: Index, source_of: SourceOf) -> Callable[[MemoryRow], bool]:
    """A function that says whether a memory may be told unasked.

    What another person's machine wrote replaces nothing here before it is accepted: else whoever
    may push could silence a rule.
    """
    replaced = _superseded(index, source_of) | _contradicted(index, source_of)
    return lambda row: source_of(row).is_believed and row.id not in replaced


def _superseded(index: Index, source_of: SourceOf) -> set[str]:
    """What memories that are told supersede, over any number of versions."""
    older: dict[str, list[str]] = {}
    for newer, old in index.linked(Relationship.SUPERSEDES):
        older.setdefault(newer, []).append(old)
    rows = index.memories([*older])
    waiting = [id_ for id_, row in rows.items() if source_of(row).is_believed]
    found: set[str] = set()
    while waiting:
        new = [id_ for id_ in older.get(waiting.pop(), ()) if id_ not in found]
        found.update(new)
        waiting += new
    return found


def _contradicted(index: Index, source_of: SourceOf) -> set[str]:
    """The older of two memories that contradict one another; where both are as old, the one that
    states the contradiction, which a merge has added.
    """
    pairs = index.linked(Relationship.CONTRADICTS)
    rows = index.memories([*{id_ for pair in pairs for id_ in pair}])
    trusted = {id_: row for id_, row in rows.items() if source_of(row).is_believed}
    both = [pair for pair in pairs if trusted.keys() >= {*pair}]
    return {_older(trusted, *pair) for pair in both}


def _older(rows: Mapping[str, MemoryRow], one: str, other: str) -> str:
    is_newer = rows[one].updated_at > rows[other].updated_at
    return other if is_newer else one
