"""The neighbours of a memory over ``refines``, ``contradicts`` and ``relates-to``, with their
titles.
"""

from __future__ import annotations

from dataclasses import dataclass

from keeplore.workspace.registry import FoundMemory


@dataclass(frozen=True, slots=True)
class RelatedMemory:
    """``said`` is how it stands to the memory ``near``, over which it was reached."""

    id: str
    title: str
    at: str  # of its last change: RFC 3339, UTC
    said: str  # "refines", or "is refined by"
    near: str
    hops: int


def neighbours_of(found: FoundMemory, hops: int) -> list[RelatedMemory]:
    """The newest versions within so many links, the nearest first. Raises IndexUnavailable."""
    index = found.workspace.index
    near = index.graph.neighbours(found.row.id, hops)
    rows = index.memories([one.id for one in near])
    return [
        RelatedMemory(
            one.id,
            rows[one.id].title,
            rows[one.id].updated_at or rows[one.id].created_at,
            one.said,
            one.near,
            one.hops,
        )
        for one in near
        if one.id in rows
    ]
