"""Which passages still lack a vector, the newest first, without going over all passages each time."""

from __future__ import annotations

import sqlite3

from keeplore.index import blocks
from keeplore.index.passages import embedded_text
from keeplore.index.queries import count_vectors, counts, last_passage

_MOST = 2**62  # above every id
_MISSING = (
    "FROM passages p WHERE NOT EXISTS (SELECT 1 FROM embeddings e WHERE e.model = ? AND e.hash = p.hash)"
    " AND p.id > ? AND p.id < ?"
)


def count_pending(connection: sqlite3.Connection, fingerprint: str) -> int:
    """How many passages have no vector of this model."""
    model = blocks.model_id(connection, fingerprint)
    if blocks.are_placed(connection, model):
        return max(0, counts(connection)[1] - count_vectors(connection, fingerprint))
    return int(connection.execute(f"SELECT count(*) {_MISSING}", (model, 0, _MOST)).fetchone()[0])


class Pending:
    """A walk from the newest passage down; what was given once is not looked at again until all was."""

    def __init__(self, fingerprint: str) -> None:
        self._fingerprint = fingerprint
        self._given = range(0)  # ids of passages
        self.clean = 0  # up to this one none lacked a vector when the walk ended

    def take(self, connection: sqlite3.Connection, limit: int) -> list[tuple[bytes, str]]:
        """Hash and text of ``limit`` passages at most; none only where no passage lacks a vector."""
        last = last_passage(connection)
        found = self._walk(connection, limit)
        if not found and self._given:  # what was given and not embedded then, after an interruption
            self._given = range(0)
            found = self._walk(connection, limit)
        if found:
            self._given = range(found[-1][0], last + 1)
        else:
            self.clean = last
        return list({hash_: text for _, hash_, text in found}.items())

    def settle(self, connection: sqlite3.Connection) -> None:
        """Note where the walk ended, for those that come later."""
        connection.execute(
            "UPDATE models SET settled = ? WHERE fingerprint = ? AND settled < ?",
            (self.clean, self._fingerprint, self.clean),
        )

    def _walk(self, connection: sqlite3.Connection, limit: int) -> list[tuple[int, bytes, str]]:
        row = connection.execute(
            "SELECT id, settled FROM models WHERE fingerprint = ?", (self._fingerprint,)
        ).fetchone()
        model, settled = row or (-1, 0)
        parts = [(settled, _MOST)]
        if self._given:
            parts = [(max(settled, self._given.stop - 1), _MOST), (settled, self._given.start)]
        found: list[tuple[int, bytes, str]] = []
        for low, high in parts:
            rows = connection.execute(
                f"SELECT p.id, p.hash, p.title, p.head || p.body, p.context {_MISSING} ORDER BY p.id DESC LIMIT ?",
                (model, low, high, limit - len(found)),
            )
            found += [(id_, hash_, embedded_text(title, body, context)) for id_, hash_, title, body, context in rows]
        return found
