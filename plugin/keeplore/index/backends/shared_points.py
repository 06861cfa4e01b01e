"""Which passages of this machine stand for which points of a shared engine: the table ``points``.

Several passages may stand for one point: a copied file says twice what one point says.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from keeplore.index.passages import embedded_text
from keeplore.index.schema import FTS_WEIGHTS
from keeplore.index.sql import raise_version, rows_in, value
from keeplore.index.vectors.block_files import model_id
from keeplore.index.vectors.quantization import width

AT_ONCE = 256  # points
_TEXTS = ", ".join(f"p.{column}" for column in FTS_WEIGHTS)
_WITHOUT_VECTOR = (
    "FROM points s JOIN passages p ON p.id = s.passage LEFT JOIN embeddings e ON e.model = ? AND "
    "e.hash = p.hash"
    " WHERE NOT s.has_vector AND s.place = ?"
)


class UnsharedPassage(NamedTuple):
    """A passage that stands for no point yet; ``vector`` is packed, where this machine has one."""

    passage: int
    vector: bytes | None
    memory: str
    scope: str
    project: str
    texts: tuple[str, ...]  # one for each column of the full text


def new_passages(
    connection: sqlite3.Connection, place: str, fingerprint: str, dim: int
) -> list[UnsharedPassage]:
    """Up to ``AT_ONCE`` passages that stand for no point yet, newest first."""
    rows = connection.execute(
        "SELECT p.id, (SELECT e.vector FROM embeddings e WHERE e.model = ? AND e.hash = p.hash"
        f" AND length(e.vector) = ?), m.id, c.scope, c.project, {_TEXTS} FROM passages p"  # ours
        " JOIN memories m ON m.key = p.memory JOIN scopes c ON c.id = p.scope_id"
        " LEFT JOIN points s ON s.passage = p.id AND s.place = ?"
        " WHERE s.passage IS NULL ORDER BY p.id DESC LIMIT ?",
        (model_id(connection, fingerprint), width(dim), place, AT_ONCE),
    )
    return [UnsharedPassage._make((*row[:5], row[5:])) for row in rows]


def count_new(connection: sqlite3.Connection, place: str) -> int:
    sql = (
        "SELECT count(*) FROM passages p LEFT JOIN points s ON s.passage = p.id AND s.place = ? "
        "WHERE s.passage IS NULL"
    )
    return int(value(connection, sql, (place,)))


def save(
    connection: sqlite3.Connection, rows: Iterable[tuple[int, str, bytes, bool]]
) -> None:
    """Store passage, place, point, and whether the point has its vector."""
    connection.executemany("INSERT OR REPLACE INTO points VALUES (?, ?, ?, ?)", rows)
    raise_version(connection)


class RemovedPoint(NamedTuple):
    """The point of a passage that is gone."""

    passage: int
    point: bytes
    is_needed: bool  # by another passage, with the same text


def removed_points(connection: sqlite3.Connection, place: str) -> list[RemovedPoint]:
    """The points of some passages that are gone."""
    rows = connection.execute(
        "SELECT s.passage, s.point, EXISTS (SELECT 1 FROM points o JOIN passages p ON p.id = "
        "o.passage"
        " WHERE o.point = s.point AND o.place = s.place)"
        " FROM points s WHERE s.place = ? AND NOT EXISTS (SELECT 1 FROM passages p WHERE p.id = "
        "s.passage) LIMIT ?",
        (place, AT_ONCE),
    )
    return [RemovedPoint(passage, point, bool(used)) for passage, point, used in rows]


def drop(connection: sqlite3.Connection, place: str, passages: Iterable[int]) -> None:
    rows = ((passage, place) for passage in passages)
    connection.executemany("DELETE FROM points WHERE passage = ? AND place = ?", rows)


def drop_all(connection: sqlite3.Connection, place: str) -> None:
    connection.execute("DELETE FROM points WHERE place = ?", (place,))
    raise_version(connection)


def vectors_to_send(
    connection: sqlite3.Connection, place: str, fingerprint: str, dim: int
) -> dict[bytes, bytes]:
    """Point → packed vector, for some of those whose vector is on this machine and not on the
    server.
    """
    rows = connection.execute(
        f"SELECT s.point, e.vector {_WITHOUT_VECTOR} AND length(e.vector) = ? LIMIT ?",
        (model_id(connection, fingerprint), place, width(dim), AT_ONCE),
    )
    return dict(rows.fetchall())


def save_vectors(
    connection: sqlite3.Connection, place: str, points: Iterable[bytes]
) -> None:
    rows = ((point, place) for point in points)
    connection.executemany(
        "UPDATE points SET has_vector = 1 WHERE point = ? AND place = ?", rows
    )
    raise_version(connection)


def passages_to_embed(
    connection: sqlite3.Connection, place: str, fingerprint: str, limit: int
) -> list[tuple[bytes, str]]:
    """Hash and text of passages of which neither the server nor this machine has a vector, newest
    first.
    """
    rows = connection.execute(
        # our own words
        f"SELECT p.hash, p.title, p.head || p.body, p.context {_WITHOUT_VECTOR} AND e.hash IS NULL"
        " GROUP BY p.hash ORDER BY max(p.id) DESC LIMIT ?",
        (model_id(connection, fingerprint), place, limit),
    )
    return [(hash_, embedded_text(*parts)) for hash_, *parts in rows]


def count_pending(connection: sqlite3.Connection, place: str, fingerprint: str) -> int:
    sql = f"SELECT count(*) {_WITHOUT_VECTOR} AND e.hash IS NULL"
    return int(value(connection, sql, (model_id(connection, fingerprint), place)))


def count_vectors(connection: sqlite3.Connection, place: str) -> int:
    sql = (
        "SELECT count(*) FROM points s JOIN passages p ON p.id = s.passage WHERE s.has_vector "
        "AND s.place = ?"
    )
    return int(value(connection, sql, (place,)))


def known_points(connection: sqlite3.Connection, place: str) -> dict[bytes, bool]:
    """Every point that this machine believes to be on the server, and whether it has its vector."""
    rows = connection.execute(
        "SELECT point, has_vector FROM points WHERE place = ?", (place,)
    )
    return {point: bool(has_vector) for point, has_vector in rows}


def save_held(
    connection: sqlite3.Connection, place: str, held: Mapping[bytes, bool]
) -> None:
    """Store which points are really there, and forget that the others were."""
    believed = known_points(connection, place)
    lost = [(point, place) for point in believed if point not in held]
    changed = [
        (held[point], point, place)
        for point, has in believed.items()
        if point in held and held[point] != has
    ]
    connection.executemany("DELETE FROM points WHERE point = ? AND place = ?", lost)
    connection.executemany(
        "UPDATE points SET has_vector = ? WHERE point = ? AND place = ?", changed
    )
    raise_version(connection)


def passages_of(
    connection: sqlite3.Connection, place: str, points: Sequence[bytes]
) -> dict[bytes, list[int]]:
    """The passages that stand for each of these points, as far as there are any."""
    found: dict[bytes, list[int]] = {}
    sql = (
        "SELECT s.point, s.passage FROM points s JOIN passages p ON p.id = s.passage"
        " WHERE s.point IN ({placeholders}) AND s.place = ?"
    )
    for point, passage in rows_in(connection, sql, points, place):
        found.setdefault(point, []).append(passage)
    return found
