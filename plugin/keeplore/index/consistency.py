"""Proving that the index says what the files say: everything is made anew from the text and
compared with the rows.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from keeplore.index import file_rows, revision_rows
from keeplore.index.database import IndexDatabase
from keeplore.index.file_rows import IndexedFile, ParsedFile, TextSource
from keeplore.index.graph import graph_rows
from keeplore.index.passages import embedded_text
from keeplore.index.schema import FTS_WEIGHTS
from keeplore.index.sql import column, last_passage, raise_version, value, vector_sum
from keeplore.index.vectors import block_files
from keeplore.index.vectors.block_files import model_id
from keeplore.index.vectors.quantization import dequantize, width
from keeplore.memory import Memory
from keeplore_hooks.contracts import Embedder

FILES_AT_ONCE = 200
VECTORS_AT_ONCE = 2000
# vectors that the model makes again: a second; the sums tell of every one whether it has changed
SAMPLE = 8
# cosine of a vector with the one made again; what a batch is padded to moves it by some thousandths
ALIKE = 0.98
UNIT = 1e-3  # how far from 1 the length of a vector may be
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class IndexFlaw:
    """A difference between the index and the text; ``path`` is "" where it is not about one
    file.
    """

    part: str  # database | text | words | vectors | engine
    path: str
    message: str
    key: bytes = b""  # of a vector: the hash of its text


def database_flaws(database: IndexDatabase) -> Iterator[IndexFlaw]:
    """What SQLite finds wrong with its file, its full-text index, and rows that belong to
    nothing.
    """
    damage = database.read(_integrity)
    yield from (IndexFlaw("database", "", message) for message in damage)
    if damage:
        return
    if said := database.write(_full_text):
        yield IndexFlaw(
            "words", "", f"the full-text index is not that of the passages: {said}"
        )
    for table, sql in _ORPHANS.items():
        count = database.read(value, f"SELECT count(*) {sql}")
        if count:
            yield IndexFlaw("text", "", f"{count} rows of {table} belong to no file")


_ORPHANS = {
    "memories": "FROM memories WHERE path NOT IN (SELECT path FROM files)",
    "passages": "FROM passages WHERE memory NOT IN (SELECT key FROM memories)",
    "revisions": "FROM revisions WHERE passage NOT IN (SELECT id FROM passages)",
    "endings": "FROM endings WHERE memory NOT IN (SELECT key FROM memories)",
    "turns": "FROM turns WHERE memory NOT IN (SELECT key FROM memories)",
    "links": "FROM links WHERE memory NOT IN (SELECT key FROM memories)",
    "mentions": "FROM mentions WHERE memory NOT IN (SELECT key FROM memories)",
    "aspects": "FROM aspects WHERE memory NOT IN (SELECT key FROM memories)",
    "relations": "FROM relations WHERE path NOT IN (SELECT path FROM files)",
    "definitions": "FROM definitions WHERE path NOT IN (SELECT path FROM files)",
}


def text_flaws(
    database: IndexDatabase,
    files: Sequence[IndexedFile],
    source: TextSource,
    progress: Progress,
) -> Iterator[IndexFlaw]:
    """Read every file again and compare; one that changed since it was indexed is passed over, and
    is none.
    """
    for start in range(0, len(files), FILES_AT_ONCE):
        now_ns = time.time_ns()
        batch = files[start : start + FILES_AT_ONCE]
        items = [
            item for file in batch if (item := file_rows.parse(source, file, now_ns))
        ]
        yield from database.read(_text_flaws, items)
        progress(start + len(batch), len(files))


def vector_flaws(database: IndexDatabase, embedder: Embedder) -> Iterator[IndexFlaw]:
    """Vectors that changed since they were made, that no model makes, or that this one makes
    otherwise.

    Raises ModelUnavailable.
    """
    fingerprint, dim = embedder.fingerprint, embedder.dim
    bad: set[bytes] = set()
    for hash_, message in database.read(_unsound_vectors, fingerprint, dim):
        bad.add(hash_)
        yield _vector_flaw(database, hash_, message)
    for hash_, stored, text in database.read(_sample, fingerprint):
        if hash_ in bad:
            continue
        alike = float(embedder.embed([text])[0] @ dequantize([stored], dim)[0])
        if not alike >= ALIKE:
            message = f"the model makes another vector of this text: cosine {alike:.2f}"
            yield _vector_flaw(database, hash_, message)


def _vector_flaw(database: IndexDatabase, hash_: bytes, message: str) -> IndexFlaw:
    """A flaw of the vector of a text, with the path of a file that has the text."""
    return IndexFlaw("vectors", database.read(_path_of, hash_), message, hash_)


def take_out(database: IndexDatabase, flaws: Iterable[IndexFlaw]) -> None:
    """Take out what is wrong, so that the next refresh and the next vectors make it anew; text is
    never touched.
    """
    found = list(flaws)
    if any(flaw.part == "database" for flaw in found):
        database.discard()
        return
    if any(flaw.part in ("text", "words") for flaw in found):
        # first, for rows can only be taken out of a full-text index that has them
        database.write(
            lambda c: c.execute(
                "INSERT INTO passages_fts(passages_fts) VALUES ('rebuild')"
            )
        )
    database.write(_take_out, found)


def _take_out(connection: sqlite3.Connection, flaws: Sequence[IndexFlaw]) -> None:
    for flaw in flaws:
        if flaw.part == "text" and flaw.path:
            file_rows.drop(connection, flaw.path)
        elif flaw.part == "vectors":
            connection.execute("DELETE FROM embeddings WHERE hash = ?", (flaw.key,))
    for sql in _ORPHANS.values():
        connection.execute(f"DELETE {sql}")
    for model in column(connection, "SELECT id FROM models"):
        block_files.invalidate(connection, model)
    raise_version(connection)


def _integrity(connection: sqlite3.Connection) -> list[str]:
    try:
        found = column(connection, "PRAGMA integrity_check(5)")
    except sqlite3.DatabaseError as e:
        return [str(e)]
    return [message for message in found if message != "ok"]


def _full_text(connection: sqlite3.Connection) -> str:
    """What FTS5's own check says, against the passages too; "" where all is well."""
    sql = "INSERT INTO passages_fts(passages_fts, rank) VALUES ('integrity-check', 1)"
    try:
        connection.execute(sql)
    except sqlite3.DatabaseError as e:  # of the full text alone, which can be made anew
        return str(e)
    return ""


def _text_flaws(
    connection: sqlite3.Connection, items: Sequence[ParsedFile]
) -> list[IndexFlaw]:
    found = ((item.file.path, _difference(connection, item)) for item in items)
    return [IndexFlaw("text", path, message) for path, message in found if message]


def _difference(connection: sqlite3.Connection, item: ParsedFile) -> str:
    """What the rows of a file have that the file does not say; "" where both agree."""
    file = item.file
    row = connection.execute(
        "SELECT mtime_ns, size, inode, content, problem FROM files WHERE path = ?",
        (file.path,),
    ).fetchone()
    if row is None:
        return "the index does not have it"
    if row[:3] != (file.mtime_ns, file.size, file.inode):
        return ""  # somebody is writing it, and the next refresh reads it
    if row[3] != item.content or bool(row[4]) != bool(item.problem):
        return (
            "the file says something else than the index, although its time and size are the "
            "same"
        )
    return _row_difference(connection, item)


def _row_difference(connection: sqlite3.Connection, item: ParsedFile) -> str:
    """What the graph and the row of its memory have that the file does not say; "" where both
    agree.
    """
    path = item.file.path
    sql = "SELECT * FROM memories WHERE path = ?"
    stored = connection.execute(sql, (path,)).fetchone()
    key = stored[0] if stored else None
    if graph_rows.rows_differ(connection, path, item.share, key):
        return "what the graph has of it is not what the file says"
    if stored and item.memory:
        return _memory_difference(connection, item, item.memory, stored)
    if stored:
        return "it is no memory, and one is listed"
    return "it is listed, and its memory is not" if item.memory else ""


def _memory_difference(
    connection: sqlite3.Connection,
    item: ParsedFile,
    memory: Memory,
    stored: tuple[Any, ...],
) -> str:
    """Where the rows of a memory differ from its file, "" where they do not."""
    key, _, id_, scope_id, *rest = stored
    sql = "SELECT scope, project FROM scopes WHERE id = ?"
    scope = connection.execute(sql, (scope_id,)).fetchone()
    columns = file_rows.columns(memory, item.file.path)
    if (id_, *rest) != columns or scope != file_rows.place_of(memory):
        return "the row of its memory is not what its front matter says"
    sql = "SELECT turn FROM turns WHERE memory = ? ORDER BY turn"
    if column(connection, sql, (key,)) != file_rows.turn_columns(item):
        return "its turns are not those of the file"
    sql = "SELECT relationship, target FROM links WHERE memory = ? ORDER BY relationship, target"
    if connection.execute(sql, (key,)).fetchall() != file_rows.link_columns(memory):
        return "its links are not those of the file"
    texts = f"scope_id, hash, kind, turn, at, {', '.join(FTS_WEIGHTS)}"  # ours
    sql = f"SELECT {texts} FROM passages WHERE memory = ? ORDER BY id"
    if connection.execute(sql, (key,)).fetchall() != _passage_rows(item, scope_id):
        return "its passages are not those of the file"
    if revision_rows.stored_terms(connection, key) != item.revisions:
        return "what it replaces is not what the file says"
    if revision_rows.stored_ending(connection, key) != revision_rows.ending_of(memory):
        return "what it puts an end to is not what the file says"
    return ""


def _passage_rows(item: ParsedFile, scope_id: int) -> list[tuple[object, ...]]:
    """The rows that the passages of a file should have."""
    return [
        (scope_id, *file_rows.passage_columns(passage)) for passage in item.passages
    ]


def _unsound_vectors(
    connection: sqlite3.Connection, fingerprint: str, dim: int
) -> list[tuple[bytes, str]]:
    """Hash and message of each vector that is not as one of this model is stored."""
    rows = connection.execute(
        "SELECT hash, vector, sum FROM embeddings WHERE model = ?",
        (model_id(connection, fingerprint),),
    )
    wrong: list[tuple[bytes, str]] = []
    while batch := rows.fetchmany(VECTORS_AT_ONCE):
        sound = []
        for hash_, vector, sum_ in batch:
            if not isinstance(vector, bytes) or len(vector) != width(dim):
                wrong.append((hash_, f"a vector has another dimension than {dim}"))
            elif vector_sum(hash_, vector) != sum_:
                wrong.append((hash_, "a vector has changed since it was made"))
            else:
                sound.append((hash_, vector))
        wrong += _not_normalised(sound, dim)
    return wrong


def _not_normalised(vectors: list[Any], dim: int) -> list[tuple[bytes, str]]:
    """The vectors whose length is not 1."""
    # here, because numpy costs 40 ms and text needs none
    import numpy as np

    lengths = np.linalg.norm(dequantize([vector for _, vector in vectors], dim), axis=1)
    is_unit = np.abs(lengths - 1) < UNIT
    return [
        (vectors[at][0], "a vector is not of length 1")
        for at in np.flatnonzero(~is_unit)
    ]


def _sample(
    connection: sqlite3.Connection, fingerprint: str
) -> list[tuple[bytes, bytes, str]]:
    """Hash, vector and text of some passages, spread over all."""
    model = model_id(connection, fingerprint)
    last = last_passage(connection)
    found: dict[bytes, tuple[bytes, bytes, str]] = {}
    for number in range(SAMPLE):
        row = connection.execute(
            "SELECT p.hash, e.vector, p.title, p.head || p.body, p.context FROM passages p"
            " CROSS JOIN embeddings e ON e.model = ? AND e.hash = p.hash WHERE p.id >= ? ORDER BY "
            "p.id LIMIT 1",
            (model, last * number // SAMPLE),
        ).fetchone()
        if row:
            found[row[0]] = (row[0], row[1], embedded_text(*row[2:]))
    return list(found.values())


def _path_of(connection: sqlite3.Connection, hash_: bytes) -> str:
    """The path of a file that has the text of this hash, "" for none."""
    sql = "SELECT m.path FROM passages p JOIN memories m ON m.key = p.memory WHERE p.hash = ?"
    return str(value(connection, sql, (hash_,)) or "")
