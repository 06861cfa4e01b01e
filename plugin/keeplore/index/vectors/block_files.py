"""Block files: the vectors of one scope and model side by side, so that a search reads them and
nothing else.

They are copies from the embeddings table, which is what counts. A block is two files that only
grow, one row for each passage: its vector in ``.rows``, its id in ``.ids``. How many rows count
stands in the database and is raised after they were synced, in the transaction that gives the
passages their vectors: what a crash left behind those is written over. The rows of passages that
are gone stay until a new block, under a new name, is made without them.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import zlib
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

AT_ONCE = 2000  # rows copied at once
ID_BYTES = 8
WORN_FROM = 100  # rows of passages that are gone; fewer cost nothing
WORN_SHARE = 0.2
PREFIX = "vectors-"  # of the names of all our files


class VectorBlock(NamedTuple):
    scope: int
    name: str
    width: int  # bytes of a vector
    rows: int
    gone: int  # of these, of passages that are gone

    @property
    def is_worn(self) -> bool:
        return self.gone > max(WORN_FROM, WORN_SHARE * self.rows)

    def is_whole(self, directory: Path) -> bool:
        """Whether the files have all rows that count."""
        try:
            sizes = [path.stat().st_size for path in files(directory, self.name)]
        except OSError:
            return False
        return sizes[0] >= self.rows * self.width and sizes[1] >= self.rows * ID_BYTES


def files(directory: Path, name: str) -> tuple[Path, Path]:
    """Those of the vectors and of the ids."""
    return directory / f"{name}.rows", directory / f"{name}.ids"


def model_id(connection: sqlite3.Connection, fingerprint: str) -> int:
    """The number of a model in this database, -1 for one that has no vectors yet."""
    row = connection.execute(
        "SELECT id FROM models WHERE fingerprint = ?", (fingerprint,)
    ).fetchone()
    return int(row[0]) if row else -1


def are_placed(connection: sqlite3.Connection, model: int) -> bool:
    """Whether the blocks hold all vectors that passages have, as far as the database knows."""
    row = connection.execute("SELECT is_placed FROM models WHERE id = ?", (model,)).fetchone()
    return row is None or bool(row[0])


def of_model(
    connection: sqlite3.Connection, model: int, scopes: Sequence[int] | None = None
) -> list[VectorBlock]:
    """Those of a model, of all scopes or of some."""
    rows = connection.execute(
        "SELECT scope_id, name, width, rows, gone FROM blocks WHERE model = ?", (model,)
    )
    return [VectorBlock(*row) for row in rows if scopes is None or row[0] in scopes]


def place(
    connection: sqlite3.Connection, model: int, found: Iterable[tuple[int, int, bytes]]
) -> int:
    """Add passages (id, scope, vector) to the blocks of their scopes; returns how many.

    A vector of another size than its block's is passed over. Where blocks are to be made anew, all
    waits for that.
    """
    if not are_placed(connection, model):
        return 0
    placed = 0
    for scope, rows in groupby(sorted(found, key=lambda row: row[1]), key=lambda row: row[1]):
        placed += _append(connection, model, scope, [(id_, vector) for id_, _, vector in rows])
    return placed


def place_new(connection: sqlite3.Connection, after: int) -> None:
    """Add the passages with higher ids than ``after`` whose texts have vectors already: a file was
    moved.
    """
    for (model,) in connection.execute("SELECT id FROM models").fetchall():
        place(connection, model, list(_vectors(connection, model, "p.id > ?", after)))


def lose(connection: sqlite3.Connection, memory: int) -> None:
    """Note that the passages of a memory (its key) are about to go."""
    connection.execute(
        "UPDATE blocks SET gone = gone + (SELECT count(*) FROM passages p"
        " JOIN embeddings e ON e.model = blocks.model AND e.hash = p.hash WHERE p.memory = ?)"
        " WHERE scope_id = (SELECT scope_id FROM memories WHERE key = ?)",
        (memory, memory),
    )


def make_anew(
    connection: sqlite3.Connection, model: int, scopes: Iterable[int] | None = None
) -> None:
    """Write the blocks of a model again from the embeddings table, those of ``scopes`` or all,
    under new names.
    """
    if scopes is None:
        connection.execute("DELETE FROM blocks WHERE model = ?", (model,))
        wanted = [int(scope) for (scope,) in connection.execute("SELECT id FROM scopes").fetchall()]
    else:
        wanted = list(scopes)
    for scope in wanted:
        connection.execute("DELETE FROM blocks WHERE scope_id = ? AND model = ?", (scope, model))
        batch: list[tuple[int, bytes]] = []
        for id_, _, vector in _vectors(connection, model, "p.scope_id = ?", scope):
            batch.append((id_, vector))
            if len(batch) == AT_ONCE:
                _append(connection, model, scope, batch)
                batch = []
        _append(connection, model, scope, batch)
    if scopes is None:
        # one of another size is made again, for nobody could find its passage
        connection.execute(
            "DELETE FROM embeddings WHERE model = ? AND length(vector) !="
            " (SELECT max(width) FROM blocks WHERE model = embeddings.model)",
            (model,),
        )
        connection.execute("UPDATE models SET is_placed = 1 WHERE id = ?", (model,))


def vector_sum(hash_: bytes, vector: bytes) -> int:
    """By which a vector that changed on the disk, or stands beside another text's hash, is
    known.
    """
    return zlib.crc32(hash_ + vector)


def forget(connection: sqlite3.Connection, model: int) -> None:
    """Have the blocks of a model made anew; until then searches read the embeddings table."""
    connection.execute("DELETE FROM blocks WHERE model = ?", (model,))
    connection.execute("UPDATE models SET is_placed = 0 WHERE id = ?", (model,))


def strays(connection: sqlite3.Connection, directory: Path) -> list[Path]:
    """Our files that no block names any more."""
    named = {name for (name,) in connection.execute("SELECT name FROM blocks")}
    return [
        path for path in directory.glob(f"{PREFIX}*") if path.name.partition(".")[0] not in named
    ]


def damaged(connection: sqlite3.Connection, model: int, directory: Path) -> Iterator[str]:
    """In which scopes a block is not what the embeddings table makes."""
    for block in of_model(connection, model):
        held = dict(_rows_of(block, directory)) if block.is_whole(directory) else {}
        rows = connection.execute(
            "SELECT p.id, e.hash, e.vector, e.sum FROM passages p CROSS JOIN embeddings e"
            " ON e.model = ? AND e.hash = p.hash WHERE p.scope_id = ?",
            (model, block.scope),
        )
        if any(
            held.get(id_) != vector
            for id_, hash_, vector, sum_ in rows
            if vector_sum(hash_, vector) == sum_
        ):
            yield f"the file {block.name}.rows is not what the vectors make"


def vectors(connection: sqlite3.Connection, model: int) -> Iterator[tuple[int, int, bytes]]:
    """Passage, scope and vector of every passage that has one."""
    return _vectors(connection, model, "p.id > ?", 0)


def _vectors(
    connection: sqlite3.Connection, model: int, which: str, value: int
) -> Iterator[tuple[int, int, bytes]]:
    # CROSS JOIN keeps the order: left to itself SQLite goes over all embeddings
    yield from connection.execute(
        "SELECT p.id, p.scope_id, e.vector FROM passages p CROSS JOIN embeddings "
        "e"  # our own words
        f" ON e.model = ? AND e.hash = p.hash WHERE {which} ORDER BY p.id",
        (model, value),
    )


def _rows_of(block: VectorBlock, directory: Path) -> Iterator[tuple[int, bytes]]:
    rows, ids = files(directory, block.name)
    numbers = array("q", ids.read_bytes()[: block.rows * ID_BYTES])
    with rows.open("rb") as opened:
        for id_ in numbers:
            yield id_, opened.read(block.width)


def _append(
    connection: sqlite3.Connection, model: int, scope: int, rows: Sequence[tuple[int, bytes]]
) -> int:
    directory = Path(connection.execute("PRAGMA database_list").fetchone()[2]).parent
    known = connection.execute(
        "SELECT scope_id, name, width, rows, gone FROM blocks WHERE scope_id = ? AND model = ?",
        (scope, model),
    ).fetchone()
    name = f"{PREFIX}{model}-{scope}-{secrets.token_hex(4)}"
    block = (
        VectorBlock(*known)
        if known
        else VectorBlock(scope, name, max((len(v) for _, v in rows), default=0), 0, 0)
    )
    sound = [(id_, vector) for id_, vector in rows if block.width and len(vector) == block.width]
    if not sound:
        return 0
    if block.rows and not block.is_whole(
        directory
    ):  # what came after a hole would be nobody's vector
        connection.execute("UPDATE models SET is_placed = 0 WHERE id = ?", (model,))
        return len(sound)
    vectors, ids = files(directory, block.name)
    _write(vectors, block.rows * block.width, b"".join(vector for _, vector in sound))
    _write(ids, block.rows * ID_BYTES, array("q", [id_ for id_, _ in sound]).tobytes())
    connection.execute(
        "INSERT OR REPLACE INTO blocks VALUES (?, ?, ?, ?, ?, ?)",
        (scope, model, block.name, block.width, block.rows + len(sound), block.gone),
    )
    return len(sound)


def _write(file: Path, offset: int, data: bytes) -> None:
    with os.fdopen(os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), "r+b") as opened:
        opened.seek(offset)
        opened.write(data)
        opened.flush()
        os.fsync(opened.fileno())
