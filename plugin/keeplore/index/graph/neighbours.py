"""What refines, contradicts or relates to a memory, and what does so to that: a walk of a few steps
over the links.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from keeplore.index.queries import chains_of, chunks, marks, memory_rows

RELATIONSHIPS = ("refines", "contradicts", "relates-to")
_BACK = {"refines": "refined by", "contradicts": "contradicted by", "relates-to": "related from"}
MOST_HOPS = 3
MOST = 50  # memories; a hub would fill the screen


@dataclass(frozen=True, slots=True)
class Neighbour:
    """``near`` is the memory over which it was reached; ``is_stated_there`` is True where that one
    names this one.
    """

    id: str
    relationship: str
    near: str
    is_stated_there: bool
    hops: int

    @property
    def said(self) -> str:
        """How it stands to the memory over which it was reached, in words."""
        return self.relationship if self.is_stated_there else _BACK[self.relationship]


def neighbours(
    connection: sqlite3.Connection, memory_id: str, hops: int, limit: int = MOST
) -> list[Neighbour]:
    """The newest versions of memories within so many steps, the nearest first, what it names before
    what names it.

    Links may be cycles. Versions of one memory count as one, so what an earlier one was linked to
    is a neighbour too.
    """
    edge = _versions(connection, _newest(connection, [memory_id]).values())
    seen, found = {*edge.values()}, list[Neighbour]()
    for hop in range(1, min(hops, MOST_HOPS) + 1):
        links = set(_links(connection, list(edge)))
        newest = _newest(connection, {other for _, _, other, _ in links})
        reached: dict[str, Neighbour] = {}
        known = {
            (edge[near], kind, newest[other], stated)
            for near, kind, other, stated in links
            if other in newest
        }
        for near, kind, other, stated in sorted(known, key=lambda link: (not link[3], link)):
            if other not in seen:
                reached.setdefault(other, Neighbour(other, kind, near, stated, hop))
        seen |= reached.keys()
        found += reached.values()
        if not reached or len(found) >= limit:
            break
        edge = _versions(connection, reached)
    return found[:limit]


def _newest(connection: sqlite3.Connection, ids: Iterable[str]) -> dict[str, str]:
    """Those of these memories that there are, each with its newest version."""
    return {
        id_: row.superseded_by or id_ for id_, row in memory_rows(connection, sorted(ids)).items()
    }


def _versions(connection: sqlite3.Connection, heads: Iterable[str]) -> dict[str, str]:
    """Every version of these memories, with the newest one."""
    known = {head: head for head in heads}
    return known | {
        member: chain.head for chain in chains_of(connection, known) for member in chain.members
    }


def _links(connection: sqlite3.Connection, ids: list[str]) -> Iterator[tuple[str, str, str, bool]]:
    """Which of these, relationship, the other one, and whether the first states it."""
    for chunk in chunks(ids):
        for near, other, stated in (("m.id", "l.target", True), ("l.target", "m.id", False)):
            rows = connection.execute(
                f"SELECT {near}, l.relationship, {other} FROM links l JOIN memories m ON m.key = "
                f"l.memory"  # ours
                f" WHERE {near} IN ({marks(chunk)}) AND l.relationship IN (?, ?, ?)",
                [*chunk, *RELATIONSHIPS],
            )
            yield from ((str(one), str(kind), str(two), stated) for one, kind, two in rows)
