"""All that is known about one memory: its place among versions, what it is tied to, and where it was said again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from keeplore.index import MemoryRow
from keeplore.workspace.registry import Found


@dataclass(frozen=True, slots=True)
class Link:
    """``is_from_here`` is False where the other memory names this one; ``title`` is "" for one that is not here."""

    relationship: str
    id: str
    title: str
    is_from_here: bool


@dataclass(frozen=True, slots=True)
class Described:
    found: Found
    number: int  # of this version, from 1
    versions: int
    head: MemoryRow | None  # the newest version, None where this is it
    links: tuple[Link, ...]  # the chain of versions left out
    again: tuple[dict[str, Any], ...]  # lines of the audit: at, source


def describe(found: Found) -> Described:
    """Raises IndexUnavailable."""
    index, row = found.workspace.index, found.row
    members = next((chain.members for chain in index.chains() if row.id in chain.members), (row.id,))
    head = index.memories([row.superseded_by]).get(row.superseded_by) if row.superseded_by else None
    again = tuple(
        entry
        for entry in found.workspace.store.records()
        if entry.get("event") == "again" and entry.get("id") in members
    )
    return Described(found, members.index(row.id) + 1, len(members), head, tuple(_links(found, set(members))), again)


def _links(found: Found, chain: set[str]) -> Iterator[Link]:
    index = found.workspace.index
    own = [(relationship, id_, True) for relationship, id_ in found.memory.links]
    others = [(relationship, id_, False) for relationship, id_ in index.linking(found.row.id)]
    known = index.memories([id_ for _, id_, _ in (*own, *others)])
    for relationship, id_, is_from_here in (*own, *others):
        if id_ not in chain:
            title = known[id_].title if id_ in known else ""
            yield Link(relationship, id_, title, is_from_here)
