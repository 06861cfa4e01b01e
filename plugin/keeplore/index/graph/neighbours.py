"""What refines, contradicts or relates to a memory, and what does so to that: a walk of a few steps
over the links.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass

from keeplore.index.memory_queries import chains_of, memory_rows
from keeplore.index.sql import rows_in

RELATIONSHIPS = ("refines", "contradicts", "relates-to")
_BACK = {
    "refines": "refined by",
    "contradicts": "contradicted by",
    "relates-to": "related from",
}
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
    connection: sqlite3.Connection, memory_id: str, hops: int
) -> list[Neighbour]:
    """The newest versions of memories within so many steps, the nearest first, what it names before
    what names it.

    Links may be cycles. Versions of one memory count as one, so what an earlier one was linked to
    is a neighbour too.
    """
    edge = _versions(connection, _newest_versions(connection, [memory_id]).values())
    seen, found = {*edge.values()}, list[Neighbour]()
    for hop in range(1, min(hops, MOST_HOPS) + 1):
        reached = _one_step(connection, edge, seen, hop)
        seen |= reached.keys()
        found += reached.values()
        if not reached or len(found) >= MOST:
            break
        edge = _versions(connection, reached)
    return found[:MOST]


def _one_step(
    connection: sqlite3.Connection, edge: Mapping[str, str], seen: Set[str], hop: int
) -> dict[str, Neighbour]:
    """What is one step away from the edge and was not seen: by its newest version."""
    links = set(_links(connection, list(edge)))
    newest = _newest_versions(connection, {other for _, _, other, _ in links})
    known = {
        (not is_stated, edge[near], kind, newest[other])
        for near, kind, other, is_stated in links
        if other in newest
    }
    reached: dict[str, Neighbour] = {}
    for is_back, near, kind, other in sorted(known):
        if other not in seen:
            reached.setdefault(other, Neighbour(other, kind, near, not is_back, hop))
    return reached


def _newest_versions(
    connection: sqlite3.Connection, ids: Iterable[str]
) -> dict[str, str]:
    """The newest version of each of these memories that exists."""
    rows = memory_rows(connection, sorted(ids))
    return {id_: row.superseded_by or id_ for id_, row in rows.items()}


def _versions(connection: sqlite3.Connection, heads: Iterable[str]) -> dict[str, str]:
    """Every version of these memories → the newest one."""
    known = {head: head for head in heads}
    return known | {
        member: chain.head
        for chain in chains_of(connection, known)
        for member in chain.members
    }


def _links(
    connection: sqlite3.Connection, ids: list[str]
) -> Iterator[tuple[str, str, str, bool]]:
    """Each link that one of these memories has or that leads to it: the memory, the relationship,
    the other memory, and whether the first states it.
    """
    for near, other, is_stated in (
        ("m.id", "l.target", True),
        ("l.target", "m.id", False),
    ):
        sql = (
            f"SELECT {near}, l.relationship, {other} FROM links l JOIN memories m"  # ours
            f" ON m.key = l.memory WHERE {near} IN ({{placeholders}})"
            " AND l.relationship IN (?, ?, ?)"
        )
        for one, kind, two in rows_in(connection, sql, ids, *RELATIONSHIPS):
            yield one, kind, two, is_stated
