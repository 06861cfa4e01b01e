"""Which passages still lack a vector, the newest first, without going over all passages each
time.
"""

from __future__ import annotations

import sqlite3

from keeplore.index.passages import embedded_text
from keeplore.index.queries import count_vectors, counts, last_passage
from keeplore.index.vectors import block_files

_MOST = 2**62  # above every id
MEMORIES_AT_ONCE = 100  # looked through in one query
_MISSING = (
    "FROM passages p WHERE NOT EXISTS (SELECT 1 FROM embeddings e WHERE e.model = ? AND e.hash = "
    "p.hash)"
    " AND p.id > ? AND p.id < ?"
)


def count_pending(connection: sqlite3.Connection, fingerprint: str) -> int:
    """How many passages have no vector of this model."""
    model = block_files.model_id(connection, fingerprint)
    if block_files.are_placed(connection, model):
        return max(0, counts(connection)[1] - count_vectors(connection, fingerprint))
    return int(connection.execute(f"SELECT count(*) {_MISSING}", (model, 0, _MOST)).fetchone()[0])


class PendingWalk:
    """A walk from the memory changed last to the oldest; what was given once is not looked at again
    until all was.
    """

    def __init__(self, fingerprint: str) -> None:
        self._fingerprint = fingerprint
        self._memories: list[int] = []  # their keys, the newest last
        self._passages: list[
            int
        ] = []  # of the next ones, those without a vector, the next to be given last
        self._top = 0  # passages above this one came since
        self._has_given = False
        self.clean = 0  # up to this one none lacked a vector when the walk ended

    def take(self, connection: sqlite3.Connection, limit: int) -> list[tuple[bytes, str]]:
        """Hash and text of ``limit`` passages at most; none only where no passage lacks a
        vector.
        """
        row = connection.execute(
            "SELECT id, settled FROM models WHERE fingerprint = ?", (self._fingerprint,)
        ).fetchone()
        model, settled = row or (-1, 0)
        found = self._walk(connection, model, settled, limit)
        if (
            not found and self._has_given
        ):  # what was given and not embedded then, after an interruption
            self._has_given, self._top = False, 0
            found = self._walk(connection, model, settled, limit)
        if found:
            self._has_given = True
        else:
            self.clean, self._top = self._top, 0  # the next walk begins where this one is settled
        return list(dict(found).items())

    def settle(self, connection: sqlite3.Connection) -> None:
        """Note where the walk ended, for those that come later."""
        connection.execute(
            "UPDATE models SET settled = ? WHERE fingerprint = ? AND settled < ?",
            (self.clean, self._fingerprint, self.clean),
        )

    def _walk(
        self, connection: sqlite3.Connection, model: int, settled: int, limit: int
    ) -> list[tuple[bytes, str]]:
        if (last := last_passage(connection)) > self._top:
            self._memories += _memories_above(connection, max(settled, self._top))
            self._top = last
        found: list[tuple[bytes, str]] = []
        while len(found) < limit and (self._passages or self._memories):
            if not self._passages:
                keys = [
                    self._memories.pop() for _ in range(min(MEMORIES_AT_ONCE, len(self._memories)))
                ]
                self._passages = _lacking(connection, model, keys)
                continue
            ids = [
                self._passages.pop() for _ in range(min(limit - len(found), len(self._passages)))
            ]
            rows = connection.execute(
                f"SELECT p.id, p.hash, p.title, p.head || p.body, p.context {_MISSING}"
                f" AND p.id IN ({', '.join('?' * len(ids))})",
                (model, 0, _MOST, *ids),
            )
            texts = {
                id_: (hash_, embedded_text(title, body, context))
                for id_, hash_, title, body, context in rows
            }
            found += [texts[id_] for id_ in ids if id_ in texts]
        return found


def _memories_above(connection: sqlite3.Connection, passage: int) -> list[int]:
    """Keys of the memories that have passages above this one, the one changed last at the end."""
    some = "WHERE key IN (SELECT memory FROM passages WHERE id > ?)" if passage else "WHERE ? = 0"
    sql = f"SELECT key FROM memories {some} ORDER BY updated_at"  # our own words
    return [int(key) for (key,) in connection.execute(sql, (passage,))]


def _lacking(connection: sqlite3.Connection, model: int, keys: list[int]) -> list[int]:
    """Passages of these memories without a vector, those of the last memory first, and of each the
    last.
    """
    places = {key: place for place, key in enumerate(keys)}
    rows = connection.execute(
        f"SELECT p.memory, p.id {_MISSING} AND p.memory IN ({', '.join('?' * len(keys))})",
        (model, 0, _MOST, *keys),
    )
    return [id_ for _, id_ in sorted(rows, key=lambda row: (-places[row[0]], row[1]))]
