"""Which memories are about what a question names, or about what is related to that: a look at the
graph, with a limit.

The question's words → entities → their memories → one hop over their relations, both ways → the
neighbours' memories. The deadline is looked at after each step, and inside of SQLite; what was
collected until then is used.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass
from typing import NamedTuple

from keeplore.index.graph.graph_values import canonical_name
from keeplore.index.sql import column, in_list, rows_in, scope_ids
from keeplore_hooks.contracts import ScopeFilter

ENTITIES = 20  # that a question may name, the rarest first: these tell most
NEIGHBOURS = 50  # over one hop
MEMORIES = 200
# mentions: an entity with more says nothing, and its memories take long to sort
COMMON_FROM = 2_000
WORDS = 5  # of one name
CANDIDATES = 2_000  # runs of words that are looked up
OPS = 1_000  # steps of SQLite between two looks at the clock

# stated by no memory that another version replaced
_HELD = (
    "NOT EXISTS (SELECT 1 FROM memories k JOIN links l ON l.target = k.id"
    " AND l.relationship = 'supersedes' WHERE k.path = r.path)"
)


@dataclass(frozen=True, slots=True)
class BoostReason:
    """What of a question a memory is about: the names that it mentions, and those that were reached
    over a relation.
    """

    named: tuple[str, ...] = ()
    related: tuple[str, ...] = ()  # "fastembed → onnxruntime"

    def with_name(self, name: str, source: str) -> BoostReason:
        """This reason with one more name, reached from the name ``source`` unless that is ""."""
        if source:
            return BoostReason(self.named, (*self.related, f"{source} → {name}"))
        return BoostReason((*self.named, name), self.related)


Boost = dict[str, BoostReason]  # by memory id


def boosted(
    connection: sqlite3.Connection, text: str, allowed: ScopeFilter, until: float
) -> Boost:
    """At most ``MEMORIES`` memories of the scopes that are allowed; empty on any error.

    ``until`` is a moment of ``time.monotonic``.
    """
    found: Boost = {}

    def is_over() -> bool:
        return time.monotonic() > until or len(found) >= MEMORIES

    connection.set_progress_handler(lambda: time.monotonic() > until, OPS)
    try:
        for reached in _reached_memories(connection, text, allowed, is_over):
            memory = reached.memory
            if memory in found or len(found) < MEMORIES:
                reason = found.get(memory, BoostReason())
                found[memory] = reason.with_name(reached.name, reached.source)
    except sqlite3.OperationalError as e:
        if e.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT:
            return {}
    except Exception:  # noqa: BLE001  # a boost is never worth an answer: recall goes on without it
        return {}
    finally:
        connection.set_progress_handler(None, 0)
    return found


def runs_of(text: str) -> list[str]:
    """Every run of up to ``WORDS`` words as a canonical name, each once, shorter ones first."""
    words = text.split()
    runs: dict[str, None] = {}
    for length in range(1, WORDS + 1):
        for start in range(len(words) - length + 1):
            if len(runs) == CANDIDATES:
                return list(runs)
            name = canonical_name(" ".join(words[start : start + length]))
            for spelling in (name, name.removesuffix("'s").removesuffix("’s")):
                if spelling:
                    runs.setdefault(spelling)
    return list(runs)


class _ReachedMemory(NamedTuple):
    memory: str
    name: str  # of the entity that it mentions
    source: str  # the entity whose neighbour that is; "" where the question names it


class _Relation(NamedTuple):
    """An entity with a neighbour that it is related to; ``place`` is that of the relation."""

    entity: int
    neighbour: int
    name: str  # the neighbour's
    place: str
    confidence: int


def _reached_memories(
    connection: sqlite3.Connection,
    text: str,
    allowed: ScopeFilter,
    is_over: Callable[[], bool],
) -> Iterator[_ReachedMemory]:
    """The memories of the entities that a question names, then those of their neighbours."""
    scopes = scope_ids(connection, allowed)
    places = None if scopes is None else {"", *(place for _, place in allowed.scopes)}
    entities = _entities(connection, text, places)
    for id_, name in entities.items():
        if is_over():
            return
        for memory in _memories(connection, id_, scopes, ""):
            yield _ReachedMemory(memory, name, "")
    if is_over() or not entities:
        return
    for relation in _relations_to_neighbours(connection, entities, places):
        if is_over():
            return
        source = entities[relation.entity]
        for memory in _memories(connection, relation.neighbour, scopes, relation.place):
            yield _ReachedMemory(memory, relation.name, source)


def _entities(
    connection: sqlite3.Connection, text: str, places: Set[str] | None
) -> dict[int, str]:
    """The entities that a text names, the rarest first, each followed by its other names: id →
    name.
    """
    sql = (
        "SELECT mentions, name, id FROM names"
        f" WHERE name IN ({{placeholders}}) AND defined > 0 AND mentions <= {COMMON_FROM}"
    )
    found: dict[int, str] = {}
    for _, name, id_ in sorted(rows_in(connection, sql, runs_of(text)))[:ENTITIES]:
        found.setdefault(id_, name)
        for other, alias in _aliases(connection, id_, places):
            found.setdefault(other, alias)
    return dict(list(found.items())[:ENTITIES])


def _aliases(
    connection: sqlite3.Connection, name: int, places: Set[str] | None
) -> list[tuple[int, str]]:
    """Other names for what a name stands for, by definitions that count here."""
    rows = connection.execute(
        "SELECT n.id, n.name, one.place, other.place FROM definitions one"
        " JOIN definitions other ON other.entity = one.entity JOIN names n ON n.id = other.name"
        " WHERE one.name = ?1 AND n.id != ?1 AND n.mentions <= ?2 ORDER BY n.mentions, n.name",
        (name, COMMON_FROM),
    )
    return [
        (id_, alias)
        for id_, alias, *said in rows
        if places is None or {*said} <= places
    ]


def _relations_to_neighbours(
    connection: sqlite3.Connection, entities: dict[int, str], places: Set[str] | None
) -> list[_Relation]:
    """The surest relation to each neighbour at each place, the surest of all first."""

    def sureness(relation: _Relation) -> tuple[int, str]:
        return relation.confidence, entities[relation.entity]

    surest: dict[tuple[int, str], _Relation] = {}
    for relation in _relations(connection, list(entities)):
        is_allowed = places is None or relation.place in places
        if is_allowed and relation.neighbour not in entities:
            key = relation.neighbour, relation.place
            surest[key] = max(surest.get(key, relation), relation, key=sureness)
    ordered = sorted(
        surest.values(), key=lambda r: (-r.confidence, r.name, r.neighbour)
    )
    return ordered[:NEIGHBOURS]


def _relations(
    connection: sqlite3.Connection, entities: list[int]
) -> Iterator[_Relation]:
    """The relations of entities, in both directions, to neighbours that are not too common."""
    for way, other in (("source", "target"), ("target", "source")):
        condition = f"{in_list(f'r.{way}', entities)} AND n.mentions <= {COMMON_FROM} AND {_HELD}"
        rows = connection.execute(
            f"SELECT r.{way}, r.{other}, n.name, r.place, max(r.confidence) FROM relations r"
            f" JOIN names n ON n.id = r.{other} WHERE {condition} GROUP BY 1, 2, 4"  # ours
        )
        yield from map(_Relation._make, rows)


def _memories(
    connection: sqlite3.Connection, name: int, scopes: Sequence[int] | None, place: str
) -> list[str]:
    """Ids of the memories that mention a name, the newest first; where ``place`` is a project, only
    those of that project or of none.
    """
    return column(
        connection,
        "SELECT m.id FROM mentions x JOIN memories m ON m.key = x.memory"  # ours
        " JOIN scopes s ON s.id = x.scope_id"
        f" WHERE x.name = ?1 AND {in_list('x.scope_id', scopes)}"
        " AND (?2 = '' OR s.project IN ('', ?2))"
        f" GROUP BY m.id ORDER BY max(m.updated_at) DESC, m.id LIMIT {MEMORIES}",
        (name, place),
    )
