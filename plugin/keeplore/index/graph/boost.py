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

from keeplore.index.graph.graph_values import canonical
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
        for memory, name, source in _reached_memories(
            connection, text, allowed, is_over
        ):
            if memory in found or len(found) < MEMORIES:
                found[memory] = found.get(memory, BoostReason()).with_name(name, source)
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
            name = canonical(" ".join(words[start : start + length]))
            for spelling in (name, name.removesuffix("'s").removesuffix("’s")):
                if spelling:
                    runs.setdefault(spelling)
    return list(runs)


def _reached_memories(
    connection: sqlite3.Connection,
    text: str,
    allowed: ScopeFilter,
    is_over: Callable[[], bool],
) -> Iterator[tuple[str, str, str]]:
    """Memory, name, and the entity from which it was reached ("" for one that the question
    names).
    """
    scopes = scope_ids(connection, allowed)
    places = None if scopes is None else {"", *(place for _, place in allowed.scopes)}
    entities = _entities(connection, text, places)
    for id_, name in entities.items():
        if is_over():
            return
        for memory in _memories(connection, id_, scopes, ""):
            yield memory, name, ""
    if is_over() or not entities:
        return
    for id_, name, source, place in _neighbours(connection, entities, places):
        if is_over():
            return
        for memory in _memories(connection, id_, scopes, place):
            yield memory, name, source


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


def _neighbours(
    connection: sqlite3.Connection, entities: dict[int, str], places: Set[str] | None
) -> list[tuple[int, str, str, str]]:
    """Id, name, the entity that it is a neighbour of, and the place where the two are related; the
    surest first.
    """
    best: dict[tuple[int, str], tuple[int, str, str]] = {}
    for source, id_, name, place, confidence in _related_entities(
        connection, list(entities)
    ):
        if id_ not in entities and (places is None or place in places):
            new = (confidence, name, entities[source])
            best[id_, place] = max(best.get((id_, place), new), new)
    found = [
        (-confidence, name, id_, source, place)
        for (id_, place), (confidence, name, source) in best.items()
    ]
    found.sort(key=lambda row: row[:3])
    best_ones = found[:NEIGHBOURS]
    return [(id_, name, source, place) for _, name, id_, source, place in best_ones]


def _related_entities(
    connection: sqlite3.Connection, entities: list[int]
) -> Iterator[tuple[int, int, str, str, int]]:
    """Entity, its neighbour, the neighbour's name, place and confidence, in both directions;
    entities that are too common are left out as neighbours.
    """
    for way, other in (("source", "target"), ("target", "source")):
        condition = f"{in_list(f'r.{way}', entities)} AND n.mentions <= {COMMON_FROM} AND {_HELD}"
        yield from connection.execute(
            f"SELECT r.{way}, r.{other}, n.name, r.place, max(r.confidence) FROM relations r"
            f" JOIN names n ON n.id = r.{other} WHERE {condition} GROUP BY 1, 2, 4"  # ours
        )


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
