"""Migration of an index that has the schema of an older Keeplore: its vectors are taken over, since
they take hours to make; the rest is made anew from the text in minutes.
"""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

from keeplore.errors import IndexUnavailable
from keeplore.index.sql import value, vector_sum
from keeplore.index.vectors.quantization import quantize_16_bit

NAME = (
    "before.sqlite3"  # what the older file is called until its vectors are taken over
)
NARROW_SINCE = 14  # the schema from which on a number of a vector takes 8 bits


class OlderSchema(sqlite3.DatabaseError):
    """The file is sound, and an older Keeplore made it."""


def other_schema(version: int, wanted: int) -> Exception:
    """What is wrong with a file of this schema; 0 is that of a file without tables. A newer one is
    left as it is: two programs would else make it anew in turns.
    """
    if version > wanted:
        return IndexUnavailable(
            f"the index is of a newer Keeplore: its format is {version}, this one knows {wanted}",
            "Run `keeplore upgrade`; to stay with this one, delete the index, which is made anew",
        )
    return (OlderSchema if version else sqlite3.DatabaseError)("another schema")


def set_aside(file: Path, before: Path) -> None:
    """Give a file with what its log holds another name. Raises OSError."""
    unlink(before)
    for suffix in ("-wal", ""):
        with contextlib.suppress(FileNotFoundError):
            file.with_name(file.name + suffix).replace(f"{before}{suffix}")


def take_over(connection: sqlite3.Connection, before: Path) -> None:
    """Add the vectors of an older file: they stand for texts by their hashes, whatever else has
    changed.

    Raises sqlite3.Error, and then nothing was added.
    """
    connection.create_function("vector_sum", 2, vector_sum, deterministic=True)
    connection.create_function("narrowed", 1, quantize_16_bit, deterministic=True)
    connection.execute("ATTACH ? AS old", (str(before),))
    is_narrow = value(connection, "PRAGMA old.user_version") >= NARROW_SINCE
    vector = "e.vector" if is_narrow else "narrowed(e.vector)"
    try:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(
            "INSERT OR IGNORE INTO models (fingerprint, is_placed)"
            " SELECT fingerprint, NOT EXISTS (SELECT 1 FROM main.passages) FROM old.models"
        )
        connection.execute(
            "INSERT OR IGNORE INTO embeddings SELECT model, hash, vector, vector_sum(hash, vector)"
            f" FROM (SELECT m.id AS model, e.hash AS hash, {vector} AS vector FROM "  # ours
            "old.embeddings e JOIN old.models o ON o.id = e.model"
            " JOIN main.models m ON m.fingerprint = o.fingerprint"
            " WHERE vector_sum(e.hash, e.vector) = e.sum)"
        )
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.rollback()
        connection.execute("DETACH old")


def unlink(file: Path) -> None:
    """Delete a database with its log."""
    for suffix in ("", "-wal", "-shm"):
        file.with_name(file.name + suffix).unlink(missing_ok=True)
