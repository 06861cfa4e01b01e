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
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice
from pathlib import Path
from typing import NamedTuple

from keeplore.index.sql import column, value, vector_sum
from keeplore_hooks.contracts import EngineDatabase

AT_ONCE = 2000  # rows copied at once
ID_BYTES = 8
WORN_FROM = 100  # rows of passages that are gone; fewer cost nothing
WORN_SHARE = 0.2
PREFIX = "vectors-"  # of the names of all our files
_BLOCKS = "SELECT scope_id, name, width, rows, gone FROM blocks"


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
    """The paths of a block's vectors and ids."""
    return directory / f"{name}.rows", directory / f"{name}.ids"


def model_id(connection: sqlite3.Connection, fingerprint: str) -> int:
    """The number of a model in this database, -1 for one that has no vectors yet."""
    found = value(
        connection, "SELECT id FROM models WHERE fingerprint = ?", (fingerprint,)
    )
    return int(found or -1)


def are_placed(connection: sqlite3.Connection, model: int) -> bool:
    """Whether the blocks hold all vectors that passages have, as far as the database knows."""
    return bool(
        value(connection, "SELECT is_placed FROM models WHERE id = ?", (model,)) != 0
    )


def of_model(
    connection: sqlite3.Connection, model: int, scopes: Sequence[int] | None = None
) -> list[VectorBlock]:
    """The blocks of a model, of all scopes or of some."""
    rows = connection.execute(f"{_BLOCKS} WHERE model = ?", (model,))
    return [VectorBlock(*row) for row in rows if scopes is None or row[0] in scopes]


def of_fingerprint(
    connection: sqlite3.Connection, fingerprint: str
) -> list[VectorBlock]:
    """The blocks of the model with this fingerprint."""
    return of_model(connection, model_id(connection, fingerprint))


def add_rows(
    connection: sqlite3.Connection, model: int, found: Iterable[tuple[int, int, bytes]]
) -> int:
    """Add passages (id, scope, vector) to the blocks of their scopes; returns how many.

    A vector of another size than its block's is passed over. Where blocks are to be made anew, all
    waits for that.
    """
    if not are_placed(connection, model):
        return 0
    placed = 0
    for scope, rows in groupby(
        sorted(found, key=lambda row: row[1]), key=lambda row: row[1]
    ):
        placed += _append(
            connection, model, scope, [(id_, vector) for id_, _, vector in rows]
        )
    return placed


def add_moved(connection: sqlite3.Connection, after: int) -> None:
    """Add the passages with ids above ``after`` whose texts have vectors already, since their file
    was only moved.
    """
    for model in column(connection, "SELECT id FROM models"):
        add_rows(
            connection, model, list(_vectors(connection, model, "p.id > ?", after))
        )


def mark_gone(connection: sqlite3.Connection, memory: int) -> None:
    """Count the passages of a memory (its key), which are about to be deleted, as gone from their
    block.
    """
    connection.execute(
        "UPDATE blocks SET gone = gone + (SELECT count(*) FROM passages p"
        " JOIN embeddings e ON e.model = blocks.model AND e.hash = p.hash WHERE p.memory = ?)"
        " WHERE scope_id = (SELECT scope_id FROM memories WHERE key = ?)",
        (memory, memory),
    )


def rebuild(
    connection: sqlite3.Connection, model: int, scopes: Sequence[int] | None = None
) -> None:
    """Write the blocks of a model again from the embeddings table, those of ``scopes`` or all,
    under new names.
    """
    if scopes is not None:
        for scope in scopes:
            _rebuild_scope(connection, model, scope)
        return
    connection.execute("DELETE FROM blocks WHERE model = ?", (model,))
    for scope in column(connection, "SELECT id FROM scopes"):
        _rebuild_scope(connection, model, scope)
    # one of another size is made again, for nobody could find its passage
    connection.execute(
        "DELETE FROM embeddings WHERE model = ? AND length(vector) !="
        " (SELECT max(width) FROM blocks WHERE model = embeddings.model)",
        (model,),
    )
    connection.execute("UPDATE models SET is_placed = 1 WHERE id = ?", (model,))


def _rebuild_scope(connection: sqlite3.Connection, model: int, scope: int) -> None:
    """Write the block of one scope again."""
    connection.execute(
        "DELETE FROM blocks WHERE scope_id = ? AND model = ?", (scope, model)
    )
    found = _vectors(connection, model, "p.scope_id = ?", scope)
    while batch := [(id_, vector) for id_, _, vector in islice(found, AT_ONCE)]:
        _append(connection, model, scope, batch)


def invalidate(connection: sqlite3.Connection, model: int) -> None:
    """Have the blocks of a model rebuilt; until then searches read the embeddings table."""
    connection.execute("DELETE FROM blocks WHERE model = ?", (model,))
    connection.execute("UPDATE models SET is_placed = 0 WHERE id = ?", (model,))


def _unused_files(connection: sqlite3.Connection, directory: Path) -> list[Path]:
    """Our files that no block names any more."""
    named = set(column(connection, "SELECT name FROM blocks"))
    ours = directory.glob(f"{PREFIX}*")
    return [path for path in ours if path.name.partition(".")[0] not in named]


def drop_strays(database: EngineDatabase) -> None:
    """Delete the files of blocks and graphs that no block names any more."""
    directory = database.directory
    if database.read(_unused_files, directory):
        # somebody may just be writing one that no block names yet
        with database.locked():
            for file in database.read(_unused_files, directory):
                file.unlink(missing_ok=True)


def first_damage(connection: sqlite3.Connection, model: int, directory: Path) -> str:
    """Where a block is not what the embeddings table makes, "" where all are."""
    for block in of_model(connection, model):
        held = dict(_rows_of(block, directory)) if block.is_whole(directory) else {}
        rows = connection.execute(
            "SELECT p.id, e.hash, e.vector, e.sum FROM passages p CROSS JOIN embeddings e"
            " ON e.model = ? AND e.hash = p.hash WHERE p.scope_id = ?",
            (model, block.scope),
        )
        for id_, hash_, vector, sum_ in rows:
            if held.get(id_) != vector and vector_sum(hash_, vector) == sum_:
                return f"the file {block.name}.rows is not what the vectors make"
    return ""


def vectors(
    connection: sqlite3.Connection, model: int
) -> Iterator[tuple[int, int, bytes]]:
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
    connection: sqlite3.Connection,
    model: int,
    scope: int,
    rows: Sequence[tuple[int, bytes]],
) -> int:
    """Add rows to the block of a scope, which is made where there is none; returns how many."""
    width = max(len(vector) for _, vector in rows)
    block = _block_of(connection, model, scope, width=width)
    sound = [row for row in rows if block.width and len(row[1]) == block.width]
    if not sound:
        return 0
    directory = Path(connection.execute("PRAGMA database_list").fetchone()[2]).parent
    if block.rows and not block.is_whole(directory):
        # what came after a hole would be nobody's vector
        connection.execute("UPDATE models SET is_placed = 0 WHERE id = ?", (model,))
        return len(sound)
    _write_rows(directory, block, sound)
    connection.execute(
        "INSERT OR REPLACE INTO blocks VALUES (?, ?, ?, ?, ?, ?)",
        (scope, model, block.name, block.width, block.rows + len(sound), block.gone),
    )
    return len(sound)


def _write_rows(
    directory: Path, block: VectorBlock, rows: Sequence[tuple[int, bytes]]
) -> None:
    """Write vectors and ids behind those of a block."""
    vectors, ids = files(directory, block.name)
    _write(vectors, block.rows * block.width, b"".join(vector for _, vector in rows))
    _write(ids, block.rows * ID_BYTES, array("q", [id_ for id_, _ in rows]).tobytes())


def _block_of(
    connection: sqlite3.Connection, model: int, scope: int, width: int
) -> VectorBlock:
    """The block of a scope, an empty one with vectors of this width where there is none."""
    if known := of_model(connection, model, [scope]):
        return known[0]
    return VectorBlock(
        scope, f"{PREFIX}{model}-{scope}-{secrets.token_hex(4)}", width, 0, 0
    )


def _write(file: Path, offset: int, data: bytes) -> None:
    with os.fdopen(
        os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), "r+b"
    ) as opened:
        opened.seek(offset)
        opened.write(data)
        opened.flush()
        os.fsync(opened.fileno())
