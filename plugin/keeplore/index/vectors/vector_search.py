"""Search by vector: going over the rows of the allowed scopes, or a graph where a scope has very
many.

Rows are read from the block files, so a first search has nothing to load and memory holds no
vectors but those of graphs, which only the background makes or loads. Filtering by scope is
choosing blocks.
"""

from __future__ import annotations

import itertools
import os
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from keeplore.index.database import IndexDatabase
from keeplore.index.rows import PassageMatch
from keeplore.index.vectors import block_files
from keeplore.index.vectors.block_files import VectorBlock
from keeplore.index.vectors.hnsw import Floats, HnswGraph, Ids, damage, is_available
from keeplore.index.vectors.quantization import BYTES, STEPS, unpacked

# Where one scope has so many, a graph serves it. Going over 50,000 vectors of 384 takes 6 ms and
# misses none; below that a graph saves nothing that anybody would notice, and costs a minute to
# make, a file, and 1.8 kB of memory each.
GRAPH_FROM = 50_000
AT_A_TIME = 250  # rows that are read and multiplied; they stay in the processor's cache
CHUNK = 50  # rows added to a graph at once; queries come in between
SAVE_AFTER = 1000  # rows; adding them again at the next start costs a second
# rows asked of a graph beyond the limit where some of its rows are of passages that are gone
SPARE = 100
Numbers = NDArray[np.int16]
Found = tuple[Ids, Floats]  # rows or passages with their cosines, in no order


class VectorIndex:
    """The vectors of one model in one index directory. Safe to use from several threads."""

    def __init__(
        self, directory: Path, fingerprint: str, dim: int, graph_from: int = GRAPH_FROM
    ) -> None:
        self.fingerprint = fingerprint
        self.dim = dim
        self.is_held = (
            False  # whether graphs were looked for, so that a search finds the quickest way
        )
        self._directory = directory
        self._graph_from = graph_from
        self._mutex = threading.Lock()  # of the graphs
        self._upkeep = threading.Lock()  # one thread adds to them
        self._graphs: dict[str, HnswGraph] = {}  # by the name of their block
        self._is_broken = False  # a block's files are not what the database says

    @property
    def uses_graph(self) -> bool:
        return bool(self._graphs)

    def search(
        self, connection: sqlite3.Connection, vector: Floats, scopes: list[int] | None, limit: int
    ) -> list[PassageMatch]:
        """The passages nearest to ``vector`` (float32, (dim,), L2-normalised) by cosine, best
        first.
        """
        model = block_files.model_id(connection, self.fingerprint)
        if limit < 1 or model < 0:
            return []
        allowed = block_files.of_model(connection, model, scopes)
        try:
            if not block_files.are_placed(connection, model):
                raise FileNotFoundError("the blocks are not made yet")
            found = [self._of_block(connection, block, vector, limit) for block in allowed]
        except (OSError, EOFError):  # deleted or cut by somebody; the background makes them anew
            self._is_broken = True
            found = [_of_table(connection, model, vector, scopes)]
        ids = np.concatenate([np.zeros(0, np.int64), *(ids for ids, _ in found)])
        scores = np.concatenate([np.zeros(0, np.float32), *(scores for _, scores in found)])
        order = np.lexsort((ids, -scores))
        is_sure = not any(block.gone for block in allowed)
        order = order[:limit] if is_sure else order
        matches = map(PassageMatch, ids[order].tolist(), scores[order].tolist())
        return list(
            matches if is_sure else itertools.islice(_living(connection, matches, limit), limit)
        )

    def follow(self, database: IndexDatabase) -> None:
        """Load the graphs that there are, and have the system read the blocks, before somebody
        waits for it.
        """
        for block in database.read(self._blocks):
            if self._wants_graph(block):
                self._load(database, block)
            for file in block_files.files(self._directory, block.name):
                _read_ahead(file)
        self.is_held = True

    def maintain(self, database: IndexDatabase) -> None:
        """In the background: mend and compact blocks, and make, extend or save graphs where there
        are enough rows.
        """
        with self._upkeep:
            self._mend(database)
            self._maintain_graphs(database)
        self.is_held = True

    def graph_damage(self, database: IndexDatabase) -> str:
        """Why a block or a graph's file is not used, "" where all are sound."""
        model, found, are_placed = database.read(self._state)
        key = database.read(self._key)
        if are_placed:
            wrong = database.read(
                lambda c: next(block_files.damaged(c, model, self._directory), "")
            )
            return wrong or next(
                filter(None, (damage(self._file(block), key, self.dim) for block in found)), ""
            )
        return ""

    def drop_graph(self, database: IndexDatabase) -> None:
        """Forget blocks and graphs; ``maintain`` makes them anew."""
        with self._mutex:
            self._graphs = {}
        database.write(lambda c: block_files.forget(c, block_files.model_id(c, self.fingerprint)))
        self._tidy(database)

    def _mend(self, database: IndexDatabase) -> None:
        model, found, are_placed = database.read(self._state)
        worn = [block.scope for block in found if block.is_worn]
        if (
            not are_placed
            or self._is_broken
            or not all(block.is_whole(self._directory) for block in found)
        ):
            database.write(lambda c: block_files.make_anew(c, model))
        elif worn:
            database.write(lambda c: block_files.make_anew(c, model, worn))
        self._is_broken = False
        self._tidy(database)

    def _tidy(self, database: IndexDatabase) -> None:
        if database.read(lambda c: block_files.strays(c, self._directory)):
            with database.locked():  # somebody may just be writing one that no block names yet
                for file in database.read(lambda c: block_files.strays(c, self._directory)):
                    file.unlink(missing_ok=True)

    def _of_block(
        self, connection: sqlite3.Connection, block: VectorBlock, vector: Floats, limit: int
    ) -> Found:
        """Passages of a block, ``limit`` that are still there among them where it has so many."""
        wanted = min(limit, block.rows - block.gone)
        with self._mutex:
            graph = self._graphs.get(block.name)
            near = (
                graph.nearest(vector, limit + (SPARE + limit if block.gone else 0))
                if graph
                else None
            )
        if graph and near:
            tail = self._exact(block, vector, limit, graph.count)
            rows, scores = np.concatenate([near[0], tail[0]]), np.concatenate([near[1], tail[1]])
            ids = self._passages(block, rows)
            if (len(_present(connection, ids.tolist())) if block.gone else len(ids)) >= wanted:
                return ids, scores
        rows, scores = self._exact(block, vector, limit + block.gone)
        return self._passages(block, rows), scores

    def _exact(self, block: VectorBlock, vector: Floats, limit: int, start: int = 0) -> Found:
        """The ``limit`` nearest rows of those from ``start`` on, read piece by piece."""
        scores = np.empty(max(0, block.rows - start), np.float32)
        if not len(scores):
            return np.zeros(0, np.int64), scores
        scaled = vector / np.float32(STEPS)
        numbers = np.empty((AT_A_TIME, self.dim), np.float32)
        for at, part in self._parts(block, start):
            floats = numbers[: len(part)]
            np.copyto(floats, part)
            np.dot(floats, scaled, out=scores[at - start : at - start + len(part)])
        best = (
            np.arange(len(scores))
            if limit >= len(scores)
            else np.argpartition(-scores, limit - 1)[:limit]
        )
        return best + start, scores[best]

    def _parts(
        self, block: VectorBlock, start: int, size: int = AT_A_TIME
    ) -> Iterator[tuple[int, Numbers]]:
        """Row number and rows, (n, dim); the array is used again for the next part. Raises OSError,
        EOFError.
        """
        if block.width != self.dim * BYTES:
            raise EOFError(f"{block.name} has vectors of another dimension")
        part: Numbers = np.empty((size, self.dim), "<i2")
        room = part.reshape(-1).view(np.uint8).data
        with block_files.files(self._directory, block.name)[0].open("rb", buffering=0) as opened:
            opened.seek(start * block.width)
            for at in range(start, block.rows, size):
                rows = min(size, block.rows - at)
                if opened.readinto(room[: rows * block.width]) != rows * block.width:
                    raise EOFError(f"{block.name} is cut off")
                yield at, part[:rows]

    def _passages(self, block: VectorBlock, rows: Ids) -> Ids:
        ids = np.fromfile(block_files.files(self._directory, block.name)[1], np.int64, block.rows)
        if len(ids) < block.rows:
            raise EOFError(f"{block.name} is cut off")
        return ids[rows]

    def _maintain_graphs(self, database: IndexDatabase) -> None:
        found = database.read(self._blocks)
        with self._mutex:
            names = {block.name for block in found}
            self._graphs = {name: graph for name, graph in self._graphs.items() if name in names}
        for block in found:
            if self._wants_graph(block):
                graph = self._load(database, block) or HnswGraph(self.dim, block.rows + SAVE_AFTER)
                self._extend(graph, block)
                with self._mutex:
                    self._graphs[block.name] = graph
                if graph.unsaved >= min(SAVE_AFTER, self._graph_from):
                    with database.locked():
                        graph.save(self._file(block), database.read(self._key))

    def _load(self, database: IndexDatabase, block: VectorBlock) -> HnswGraph | None:
        with self._mutex:
            known = self._graphs.get(block.name)
        graph = known or HnswGraph.load(self._file(block), database.read(self._key), self.dim)
        if graph is None or graph.count > block.rows:
            return None
        with self._mutex:
            self._graphs[block.name] = graph
        return graph

    def _extend(self, graph: HnswGraph, block: VectorBlock) -> None:
        for _, part in self._parts(block, graph.count, CHUNK):
            vectors = part.astype(np.float32) / np.float32(STEPS)
            with self._mutex:
                graph.add(vectors)

    def _wants_graph(self, block: VectorBlock) -> bool:
        return block.rows >= self._graph_from and is_available()

    def _file(self, block: VectorBlock) -> Path:
        return self._directory / f"{block.name}.hnsw"

    def _state(self, connection: sqlite3.Connection) -> tuple[int, list[VectorBlock], bool]:
        model = block_files.model_id(connection, self.fingerprint)
        return (
            model,
            block_files.of_model(connection, model),
            block_files.are_placed(connection, model),
        )

    def _blocks(self, connection: sqlite3.Connection) -> list[VectorBlock]:
        return self._state(connection)[1]

    def _key(self, connection: sqlite3.Connection) -> dict[str, str]:
        row = connection.execute("SELECT value FROM meta WHERE key = 'database'").fetchone()
        return {"database": str(row[0]), "fingerprint": self.fingerprint}


def _living(
    connection: sqlite3.Connection, matches: Iterator[PassageMatch], at_once: int
) -> Iterator[PassageMatch]:
    """Those of passages that are still there, asked for in parts, for most are not needed."""
    while part := list(itertools.islice(matches, at_once)):
        present = _present(connection, [match.passage for match in part])
        yield from (match for match in part if match.passage in present)


def _present(connection: sqlite3.Connection, ids: list[int]) -> set[int]:
    numbers = ", ".join(map(str, ids))
    return {
        row[0] for row in connection.execute(f"SELECT id FROM passages WHERE id IN ({numbers})")
    }  # ours


def _of_table(
    connection: sqlite3.Connection, model: int, vector: Floats, scopes: list[int] | None
) -> Found:
    """All passages of these scopes, from the embeddings themselves: slow, and right while blocks
    are missing.
    """
    rows = [
        (id_, blob)
        for id_, scope, blob in block_files.vectors(connection, model)
        if (scopes is None or scope in scopes)
        and isinstance(blob, bytes)
        and len(blob) == len(vector) * BYTES
    ]
    scores = unpacked([blob for _, blob in rows], len(vector)) @ vector
    return np.array([id_ for id_, _ in rows], np.int64), scores


def _read_ahead(file: Path) -> None:
    """Have the system read a file into its cache while nobody waits; not every system can be
    asked.
    """
    if hasattr(os, "posix_fadvise") and file.exists():
        with file.open("rb") as opened:
            os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_WILLNEED)
