"""Search by vector: going over the rows of the allowed scopes, a graph where a scope has very many,
and signs of the vectors where several scopes have so many together.

Rows are read from the block files, so a first search has nothing to load and memory holds no
vectors but those of graphs, and signs, which only the background makes or loads. Filtering by scope
is choosing blocks.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keeplore.index.sql import column, in_list, meta, scope_ids
from keeplore.index.vectors import block_files
from keeplore.index.vectors.block_files import VectorBlock
from keeplore.index.vectors.hnsw import Floats, HnswGraph, Ids, damage, is_available
from keeplore.index.vectors.quantization import (
    dequantize,
    floats,
    row_type,
    scales,
    width,
)
from keeplore.index.vectors.signs import Signs, differences, signs_of
from keeplore_hooks.contracts import EngineDatabase, PassageMatch, ScopeFilter

# Where one scope has so many, a graph serves it, and where several have so many together, signs.
# Going over 50,000 vectors of 384 takes 6 ms and misses none; below that a graph saves nothing that
# anybody would notice, and costs a minute to make, a file, and 1.8 kB of memory each.
GRAPH_FROM = 50_000
# rows that the signs choose for an exact score
CHOSEN = 4000
AT_A_TIME = 250  # rows that are read and multiplied; they stay in the processor's cache
CHUNK = 50  # rows added to a graph at once; queries come in between
SIGNED_AT_A_TIME = 5000  # rows that are read for their signs
SAVE_AFTER = 1000  # rows; adding them again at the next start costs a second
# rows asked of a graph beyond the limit where some of its rows are of passages that are gone
SPARE = 100
Rows = NDArray[Any]  # of ``row_type``
Found = tuple[Ids, Floats]  # rows or passages with their cosines, in no order


class VectorIndex:
    """The vectors of one model in one index directory. Safe to use from several threads."""

    def __init__(
        self, directory: Path, fingerprint: str, dim: int, graph_from: int
    ) -> None:
        self.fingerprint = fingerprint
        self.dim = dim
        # whether graphs were looked for, so that a search finds the quickest way
        self.is_held = False
        self._directory = directory
        self._graph_from = graph_from
        self._mutex = threading.Lock()  # of graphs and signs
        self._upkeep = threading.Lock()  # one thread adds to them
        self._graphs: dict[str, HnswGraph] = {}  # by the name of their block
        # of a block's first rows, by its name; an array is replaced, never changed
        self._signs: dict[str, Signs] = {}
        self._is_broken = False  # a block's files are not what the database says

    @property
    def uses_graph(self) -> bool:
        return bool(self._graphs)

    def search(
        self,
        connection: sqlite3.Connection,
        vector: Floats,
        allowed: ScopeFilter,
        limit: int,
    ) -> list[PassageMatch]:
        """The passages nearest to ``vector`` (float32, (dim,), L2-normalised) by cosine, best
        first.
        """
        model = block_files.model_id(connection, self.fingerprint)
        if limit < 1 or model < 0:
            return []
        scopes = scope_ids(connection, allowed)
        blocks = block_files.of_model(connection, model, scopes)
        try:
            if not block_files.are_placed(connection, model):
                raise FileNotFoundError("the blocks are not made yet")
            found = self._search_blocks(connection, blocks, vector, limit)
        # deleted or cut by somebody; the background makes them anew
        except (OSError, EOFError):
            self._is_broken = True
            found = [_search_table(connection, model, vector, scopes)]
        ids, scores = _merged_results(found)
        order = np.lexsort((ids, -scores))
        if any(block.gone for block in blocks):
            order = _living_passages(connection, ids, order, limit)
        best = order[:limit]
        return list(map(PassageMatch, ids[best].tolist(), scores[best].tolist()))

    def follow(self, database: EngineDatabase) -> None:
        """Load the graphs that there are, and have the system read the blocks, before somebody
        waits for it.
        """
        blocks = database.read(block_files.of_fingerprint, self.fingerprint)
        for block in blocks:
            if self._wants_graph(block):
                self._load(database, block)
            for file in block_files.files(self._directory, block.name):
                _read_ahead(file)
        self._hold_signs(blocks)
        self.is_held = True

    def maintain(self, database: EngineDatabase) -> None:
        """Mend and compact blocks, and make, extend or save graphs where there are enough rows.
        Runs in the background.
        """
        with self._upkeep:
            self._mend(database)
            blocks = database.read(block_files.of_fingerprint, self.fingerprint)
            self._hold_signs(blocks)
            self._maintain_graphs(database, blocks)
        self.is_held = True

    def graph_damage(self, database: EngineDatabase) -> str:
        """Why a block or a graph's file is not used, "" where all are sound."""
        model = database.read(block_files.model_id, self.fingerprint)
        if not database.read(block_files.are_placed, model):
            return ""
        key = database.read(self._key)
        blocks = database.read(block_files.of_model, model)
        return database.read(block_files.first_damage, model, self._directory) or next(
            filter(
                None, (damage(self._file(block), key, self.dim) for block in blocks)
            ),
            "",
        )

    def drop_graph(self, database: EngineDatabase) -> None:
        """Forget blocks and graphs; ``maintain`` makes them anew."""
        with self._mutex:
            self._graphs = {}
            self._signs = {}
        database.write(
            block_files.invalidate,
            database.read(block_files.model_id, self.fingerprint),
        )
        block_files.drop_strays(database)

    def _mend(self, database: EngineDatabase) -> None:
        model = database.read(block_files.model_id, self.fingerprint)
        blocks = database.read(block_files.of_model, model)
        are_placed = database.read(block_files.are_placed, model)
        are_whole = all(block.is_whole(self._directory) for block in blocks)
        worn = [block.scope for block in blocks if block.is_worn]
        if self._is_broken or not (are_placed and are_whole):
            database.write(block_files.rebuild, model)
        elif worn:
            database.write(block_files.rebuild, model, worn)
        self._is_broken = False
        block_files.drop_strays(database)

    def _search_blocks(
        self,
        connection: sqlite3.Connection,
        blocks: list[VectorBlock],
        vector: Floats,
        limit: int,
    ) -> list[Found]:
        """Passages of all blocks, together at least the ``limit`` nearest. Raises OSError,
        EOFError.
        """
        signed = self._blocks_with_signs(blocks)
        others = [block for block in blocks if block not in signed]
        return [
            *(self._search_block(connection, block, vector, limit) for block in others),
            *self._search_signs(signed, vector, limit),
        ]

    def _blocks_with_signs(self, blocks: list[VectorBlock]) -> dict[VectorBlock, Signs]:
        """The blocks to be searched by their signs: without a graph, and together with very many
        rows.
        """
        with self._mutex:
            signed = {
                # not of rows that came after the blocks were looked up
                block: self._signs[block.name][: block.rows]
                for block in blocks
                if block.name in self._signs and block.name not in self._graphs
            }
        are_many = sum(map(len, signed.values())) >= self._graph_from
        return signed if are_many else {}

    def _search_signs(
        self, signed: Mapping[VectorBlock, Signs], vector: Floats, limit: int
    ) -> Iterator[Found]:
        """Passages of these blocks: rows with signs most like the vector's, and rows that came
        after the signs.
        """
        distances = [differences(signs, vector) for signs in signed.values()]
        wanted = max(CHOSEN, limit) + sum(block.gone for block in signed)
        rows_by_distance = sum(
            np.bincount(differing, minlength=self.dim) for differing in distances
        )
        cutoff = np.searchsorted(np.cumsum(rows_by_distance), wanted)
        for block, differing in zip(signed, distances, strict=True):
            chosen = np.flatnonzero(differing <= cutoff)
            without_signs = self._search_exactly(
                block, vector, limit + block.gone, len(differing)
            )
            rows, scores = _merged_results(
                (self._scored_rows(block, chosen, vector), without_signs)
            )
            yield self._passages(block, rows), scores

    def _scored_rows(self, block: VectorBlock, chosen: Ids, vector: Floats) -> Found:
        """Some rows of a block with their cosines."""
        self._check(block)
        vectors, _ = block_files.files(self._directory, block.name)
        found: list[Found] = []
        with vectors.open("rb", buffering=0) as opened:
            read = partial(os.pread, opened.fileno(), block.width)
            # in parts, for which the library starts no threads
            for at in range(0, len(chosen), AT_A_TIME):
                part = chosen[at : at + AT_A_TIME]
                rows = [read(row * block.width) for row in part.tolist()]
                if len(rows[-1]) < block.width:
                    raise EOFError(f"{block.name} is cut off")
                found.append((part, dequantize(rows, self.dim) @ vector))
        return _merged_results(found)

    def _search_block(
        self,
        connection: sqlite3.Connection,
        block: VectorBlock,
        vector: Floats,
        limit: int,
    ) -> Found:
        """Passages of a block, ``limit`` that are still there among them where it has so many."""
        wanted = min(limit, block.rows - block.gone)
        if near := self._search_graph(block, vector, limit):
            rows, scores = near
            ids = self._passages(block, rows)
            living = _existing_ids(connection, ids.tolist()) if block.gone else ids
            if len(living) >= wanted:
                return ids, scores
        rows, scores = self._search_exactly(block, vector, limit + block.gone)
        return self._passages(block, rows), scores

    def _search_graph(
        self, block: VectorBlock, vector: Floats, limit: int
    ) -> Found | None:
        """Rows near a vector by the block's graph, and of those that it lacks; None without one."""
        with self._mutex:
            graph = self._graphs.get(block.name)
            spare = SPARE + limit if block.gone else 0
            near = graph.nearest(vector, limit + spare) if graph else None
        if not graph or not near:
            return None
        rows, scores = near
        is_known = rows < block.rows  # others came after the blocks were looked up
        known = rows[is_known], scores[is_known]
        return _merged_results(
            (known, self._search_exactly(block, vector, limit, graph.count))
        )

    def _search_exactly(
        self, block: VectorBlock, vector: Floats, limit: int, start: int = 0
    ) -> Found:
        """The ``limit`` nearest rows of those from ``start`` on, read piece by piece."""
        scores = np.empty(max(0, block.rows - start), np.float32)
        if not len(scores):
            return np.zeros(0, np.int64), scores
        numbers = np.empty((AT_A_TIME, self.dim), np.float32)
        for at, part in self._row_batches(block, start):
            shares = numbers[: len(part)]
            np.copyto(shares, part["shares"])
            scores[at - start : at - start + len(part)] = shares @ vector * scales(part)
        best = np.arange(len(scores))
        if limit < len(scores):
            best = np.argpartition(-scores, limit - 1)[:limit]
        return best + start, scores[best]

    def _row_batches(
        self, block: VectorBlock, start: int, size: int = AT_A_TIME
    ) -> Iterator[tuple[int, Rows]]:
        """Row number and rows; the array is used again for the next part. Raises OSError,
        EOFError.
        """
        self._check(block)
        room = memoryview(bytearray(size * block.width))
        part = np.frombuffer(room, row_type(self.dim))
        vectors, _ = block_files.files(self._directory, block.name)
        with vectors.open("rb", buffering=0) as opened:
            opened.seek(start * block.width)
            for at in range(start, block.rows, size):
                rows = min(size, block.rows - at)
                wanted = rows * block.width
                if opened.readinto(room[:wanted]) != wanted:
                    raise EOFError(f"{block.name} is cut off")
                yield at, part[:rows]

    def _check(self, block: VectorBlock) -> None:
        if block.width != width(self.dim):
            raise EOFError(f"{block.name} has vectors of another dimension")

    def _passages(self, block: VectorBlock, rows: Ids) -> Ids:
        ids = np.fromfile(
            block_files.files(self._directory, block.name)[1], np.int64, block.rows
        )
        if len(ids) < block.rows:
            raise EOFError(f"{block.name} is cut off")
        return ids[rows]

    def _hold_signs(self, blocks: list[VectorBlock]) -> None:
        """Have the signs of all rows in memory where a question may meet very many."""
        are_many = sum(block.rows for block in blocks) >= self._graph_from
        held = {block.name: self._signs_of(block) for block in blocks if are_many}
        with self._mutex:
            self._signs = held

    def _signs_of(self, block: VectorBlock) -> Signs:
        """The signs in memory, and those of rows that came since."""
        with self._mutex:
            held = self._signs.get(block.name, signs_of(np.empty((0, self.dim))))
        parts = self._row_batches(block, len(held), SIGNED_AT_A_TIME)
        try:
            new = [signs_of(part["shares"]) for _, part in parts]
        except (OSError, EOFError):  # the next search notices, and the block is mended
            return held
        return np.concatenate([held, *new]) if new else held

    def _maintain_graphs(
        self, database: EngineDatabase, blocks: list[VectorBlock]
    ) -> None:
        with self._mutex:
            names = {block.name for block in blocks}
            self._graphs = {
                name: graph for name, graph in self._graphs.items() if name in names
            }
        for block in blocks:
            if self._wants_graph(block):
                self._maintain_graph(database, block)

    def _maintain_graph(self, database: EngineDatabase, block: VectorBlock) -> None:
        """Bring the graph of a block up to date, in memory and on disk."""
        graph = self._load(database, block)
        graph = graph or HnswGraph(self.dim, block.rows + SAVE_AFTER)
        self._extend(graph, block)
        with self._mutex:
            self._graphs[block.name] = graph
        if graph.unsaved >= min(SAVE_AFTER, self._graph_from):
            with database.locked():
                graph.save(self._file(block), database.read(self._key))

    def _load(self, database: EngineDatabase, block: VectorBlock) -> HnswGraph | None:
        with self._mutex:
            known = self._graphs.get(block.name)
        graph = known or HnswGraph.load(
            self._file(block), database.read(self._key), self.dim
        )
        if graph is None or graph.count > block.rows:
            return None
        with self._mutex:
            self._graphs[block.name] = graph
        return graph

    def _extend(self, graph: HnswGraph, block: VectorBlock) -> None:
        for _, part in self._row_batches(block, graph.count, CHUNK):
            with self._mutex:
                graph.add(floats(part))

    def _wants_graph(self, block: VectorBlock) -> bool:
        return block.rows >= self._graph_from and is_available()

    def _file(self, block: VectorBlock) -> Path:
        return self._directory / f"{block.name}.hnsw"

    def _key(self, connection: sqlite3.Connection) -> dict[str, str]:
        return {
            "database": meta(connection, "database"),
            "fingerprint": self.fingerprint,
        }


def _merged_results(results: Iterable[Found]) -> Found:
    """Several results one after the other."""
    parts = (np.zeros(0, np.int64), np.zeros(0, np.float32)), *results
    ids = np.concatenate([ids for ids, _ in parts])
    return ids, np.concatenate([scores for _, scores in parts])


def _living_passages(
    connection: sqlite3.Connection, ids: Ids, order: Ids, limit: int
) -> Ids:
    """The first ``limit`` of an order whose passages are still there, asked for in parts, for most
    are not needed.
    """
    found: list[int] = []
    for start in range(0, len(order), limit):
        part = order[start : start + limit]
        present = _existing_ids(connection, ids[part].tolist())
        found += [at for at in part.tolist() if ids[at] in present]
        if len(found) >= limit:
            break
    return np.array(found[:limit], np.int64)


def _existing_ids(connection: sqlite3.Connection, ids: list[int]) -> set[int]:
    return set(
        column(connection, f"SELECT id FROM passages WHERE {in_list('id', ids)}")
    )


def _search_table(
    connection: sqlite3.Connection, model: int, vector: Floats, scopes: list[int] | None
) -> Found:
    """All passages of these scopes, from the embeddings themselves: slow, and right while blocks
    are missing.
    """
    rows = []
    for id_, scope, blob in block_files.vectors(connection, model):
        is_sound = isinstance(blob, bytes) and len(blob) == width(len(vector))
        if is_sound and (scopes is None or scope in scopes):
            rows.append((id_, blob))
    scores = dequantize([blob for _, blob in rows], len(vector)) @ vector
    return np.array([id_ for id_, _ in rows], np.int64), scores


def _read_ahead(file: Path) -> None:
    """Have the system read a file into its cache while nobody waits; not every system can be
    asked.
    """
    if hasattr(os, "posix_fadvise") and file.exists():
        with file.open("rb") as opened:
            os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_WILLNEED)
