"""The table of embeddings: which texts have a vector of which model, and which still lack one.

Vectors stand under the hash of their text, so they outlive files that are moved or come back.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from keeplore.index.passages import embedded_text
from keeplore.index.sql import (
    column,
    count_passages,
    last_passage,
    placeholders,
    raise_version,
    rows_in,
    value,
    vector_sum,
)
from keeplore.index.vectors import block_files
from keeplore.index.vectors.quantization import dequantize, width

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# vectors without a passage that are kept, for text that comes back under another name
ORPHANS = 2000
MEMORIES_AT_ONCE = 100  # looked through in one query
_LACKING = (
    "FROM passages p WHERE NOT EXISTS"
    " (SELECT 1 FROM embeddings e WHERE e.model = ? AND e.hash = p.hash)"
)
_UNNEEDED = "DELETE FROM embeddings WHERE hash NOT IN (SELECT hash FROM passages)"


def add_vectors(
    connection: sqlite3.Connection,
    fingerprint: str,
    rows: Iterable[tuple[bytes, bytes]],
) -> int:
    """Store vectors (packed) by the hashes of their texts; returns how many passages have one that
    had none.
    """
    connection.execute(
        "INSERT OR IGNORE INTO models (fingerprint) VALUES (?)", (fingerprint,)
    )
    model = block_files.model_id(connection, fingerprint)
    new: list[tuple[int, int, bytes]] = []
    for hash_, vector in rows:
        added = connection.execute(
            "INSERT OR IGNORE INTO embeddings VALUES (?, ?, ?, ?)",
            (model, hash_, vector, vector_sum(hash_, vector)),
        ).rowcount
        if added:
            found = connection.execute(
                "SELECT id, scope_id FROM passages WHERE hash = ?", (hash_,)
            )
            new += [(id_, scope, vector) for id_, scope in found]
    placed = block_files.add_rows(connection, model, new)
    raise_version(connection)
    return placed


def cosines(
    connection: sqlite3.Connection,
    fingerprint: str,
    vector: NDArray[np.float32],
    passages: Sequence[int],
) -> dict[int, float]:
    """The cosine of each of these passages to a vector of this model (float32, (dim,)); none for
    one that lacks a vector.
    """
    rows = rows_in(
        connection,
        "SELECT p.id, e.vector FROM passages p JOIN embeddings e ON e.hash = p.hash"
        " WHERE p.id IN ({placeholders}) AND e.model = ?",
        passages,
        block_files.model_id(connection, fingerprint),
    )
    size = width(len(vector))
    found = {id_: blob for id_, blob in rows if len(blob) == size}
    values = dequantize(list(found.values()), len(vector)) @ vector
    return dict(zip(found, values.tolist(), strict=True))


def count_vectors(connection: sqlite3.Connection, fingerprint: str) -> int:
    """How many passages have a vector of this model."""
    model = block_files.model_id(connection, fingerprint)
    if block_files.are_placed(connection, model):
        return sum(
            block.rows - block.gone for block in block_files.of_model(connection, model)
        )
    return sum(1 for _ in block_files.vectors(connection, model))


def count_pending(connection: sqlite3.Connection, fingerprint: str) -> int:
    """How many passages have no vector of this model."""
    model = block_files.model_id(connection, fingerprint)
    if block_files.are_placed(connection, model):
        return max(
            0, count_passages(connection) - count_vectors(connection, fingerprint)
        )
    return int(value(connection, f"SELECT count(*) {_LACKING}", (model,)))


def has_orphans(connection: sqlite3.Connection) -> bool:
    """Whether the vectors that no passage needs have become more than what is worth keeping."""
    sql = "SELECT (SELECT count(*) FROM embeddings) > 2 * (SELECT count(*) FROM passages) + ?"
    return bool(value(connection, sql, (ORPHANS,)))


def drop_orphans(connection: sqlite3.Connection, keep: Sequence[str]) -> None:
    """Delete the vectors of texts that no passage has, and those of models other than the ones to
    keep.
    """
    drop_models(connection, keep)
    before = connection.execute("SELECT settled, is_placed, id FROM models").fetchall()
    connection.execute(_UNNEEDED)
    # no passage has lost its vector
    connection.executemany(
        "UPDATE models SET settled = ?, is_placed = ? WHERE id = ?", before
    )


def drop_models(connection: sqlite3.Connection, keep: Sequence[str]) -> None:
    """Delete the vectors of every other model, given by fingerprint."""
    gone = f"(SELECT id FROM models WHERE fingerprint NOT IN ({placeholders(keep)}))"  # bound
    for table in ("embeddings", "blocks"):
        connection.execute(f"DELETE FROM {table} WHERE model IN {gone}", list(keep))


def drop_traces(connection: sqlite3.Connection) -> None:
    """Delete the vectors of texts that no passage has, whatever model made them, and write the word
    lists anew.
    """
    connection.execute(_UNNEEDED)
    for model in column(connection, "SELECT id FROM models"):
        block_files.rebuild(connection, model)
    connection.execute("INSERT INTO passages_fts(passages_fts) VALUES ('rebuild')")


class EmbeddingBacklog:
    """The texts without a vector, given in batches; those of the memory changed last come first.

    What was given once is not looked at again before all others were given.
    """

    def __init__(self, fingerprint: str) -> None:
        self._fingerprint = fingerprint
        # keys of the memories not looked through yet, the next one last
        self._memories: list[int] = []
        # of those looked through last, the passages without a vector, the next one last
        self._passages: list[int] = []
        self._listed_to = 0  # the memories of passages above this one are not listed
        self._has_given = False
        self._complete_to = 0  # at the end no passage up to this one lacked a vector

    def take(
        self, connection: sqlite3.Connection, limit: int
    ) -> list[tuple[bytes, str]]:
        """Hash and text of ``limit`` passages at most; none only where no passage lacks a
        vector.
        """
        row = connection.execute(
            "SELECT id, settled FROM models WHERE fingerprint = ?", (self._fingerprint,)
        ).fetchone()
        model, settled = row or (-1, 0)
        found = self._next_texts(connection, model, settled, limit)
        if not found and self._has_given:
            # from the start: what was given may not have been embedded
            self._has_given, self._listed_to = False, 0
            found = self._next_texts(connection, model, settled, limit)
        if found:
            self._has_given = True
        else:
            self._complete_to, self._listed_to = self._listed_to, 0
        return list(dict(found).items())

    def settle(self, connection: sqlite3.Connection) -> None:
        """Note up to where nothing lacks a vector: later runs begin there."""
        connection.execute(
            "UPDATE models SET settled = ? WHERE fingerprint = ? AND settled < ?",
            (self._complete_to, self._fingerprint, self._complete_to),
        )

    def _next_texts(
        self, connection: sqlite3.Connection, model: int, settled: int, limit: int
    ) -> list[tuple[bytes, str]]:
        last = last_passage(connection)
        if last > self._listed_to:
            self._memories += _memories_above(connection, max(settled, self._listed_to))
            self._listed_to = last
        found: list[tuple[bytes, str]] = []
        while len(found) < limit and (self._passages or self._memories):
            if self._passages:
                ids = _pop_last(self._passages, limit - len(found))
                found += _texts_lacking(connection, model, ids)
            else:
                keys = _pop_last(self._memories, MEMORIES_AT_ONCE)
                self._passages = _passages_lacking(connection, model, keys)
        return found


def _pop_last(items: list[int], most: int) -> list[int]:
    """Take up to so many from the end of a list, the last first."""
    return [items.pop() for _ in range(min(most, len(items)))]


def _memories_above(connection: sqlite3.Connection, passage: int) -> list[int]:
    """Keys of the memories that have passages above this one, the one changed last at the end."""
    some = (
        "WHERE key IN (SELECT memory FROM passages WHERE id > ?)"
        if passage
        else "WHERE ? = 0"
    )
    sql = f"SELECT key FROM memories {some} ORDER BY updated_at"  # our own words
    return column(connection, sql, (passage,))


def _passages_lacking(
    connection: sqlite3.Connection, model: int, keys: list[int]
) -> list[int]:
    """Passages of these memories without a vector, those of the last memory first, and of each the
    last.
    """
    places = {key: place for place, key in enumerate(keys)}
    rows = connection.execute(
        f"SELECT p.memory, p.id {_LACKING} AND p.memory IN ({placeholders(keys)})",
        (model, *keys),
    )
    return [id_ for _, id_ in sorted(rows, key=lambda row: (-places[row[0]], row[1]))]


def _texts_lacking(
    connection: sqlite3.Connection, model: int, ids: list[int]
) -> list[tuple[bytes, str]]:
    """Hash and text of those of these passages that still have no vector, in their order."""
    rows = connection.execute(
        f"SELECT p.id, p.hash, p.title, p.head || p.body, p.context {_LACKING}"
        f" AND p.id IN ({placeholders(ids)})",
        (model, *ids),
    )
    texts = {id_: (hash_, embedded_text(*parts)) for id_, hash_, *parts in rows}
    return [texts[id_] for id_ in ids if id_ in texts]
