"""Search by vector: going over all of them, or a graph where there are very many.

The embeddings table is the source; what is in memory follows it by passage id, which is never used twice.
"""

from __future__ import annotations

import hashlib
import sqlite3
import threading
from functools import partial
from pathlib import Path

import numpy as np

from keeplore.index.database import Database
from keeplore.index.graph import Floats, Graph, Ids, damage, is_available, remove
from keeplore.index.queries import count_vectors, model_id, state
from keeplore.index.rows import Match

# From here on the graph serves. Going over 50,000 vectors of 384 takes 5 ms and misses none; below that a graph
# saves nothing that anybody would notice, and costs minutes to build and a file to keep.
GRAPH_FROM = 50_000
CATCH_UP = 1000  # vectors that a query may still add to a graph (a second at most); more are added in the background
AT_ONCE = 4000  # vectors read from the database at once
SPARE = 50  # rows
GROWTH = 1.1  # room made at once where a scope has outgrown it
STEPS = 32767  # between 0 and 1
AT_A_TIME = 250  # rows that are multiplied; they stay in the processor's cache
CHUNK = 500  # vectors added or fetched at once
SAVE_AFTER = 1000  # changes; adding them again at the next start costs a second
SELECTIVE = 10_000  # where fewer rows are allowed, going over them is faster than a graph with a filter
SELECTIVE_SHARE = 0.1


class Exact:
    """Vectors by passage id and scope, searched scope by scope: at a prompt nobody asks for all projects."""

    def __init__(self, dim: int) -> None:
        self._dim = dim
        self._blocks: dict[int, Block] = {}

    @property
    def ids(self) -> Ids:
        """Sorted."""
        return np.sort(np.concatenate([np.zeros(0, np.int64), *(block.ids for block in self._blocks.values())]))

    def reserve(self, scopes: Ids) -> None:
        """Make room for as many vectors as there are ``scopes``, each of the scope that stands there."""
        for scope, rows in zip(*np.unique(scopes, return_counts=True), strict=True):
            self._block(int(scope)).reserve(int(rows) + SPARE)

    def add(self, ids: Ids, vectors: Floats, scopes: Ids) -> None:
        for scope in np.unique(scopes).tolist():
            self._block(scope).add(ids[scopes == scope], vectors[scopes == scope])

    def remove(self, ids: Ids) -> None:
        if len(ids):
            for block in self._blocks.values():
                block.remove(ids)

    def nearest(self, vector: Floats, scopes: list[int] | None, limit: int) -> tuple[Ids, Floats]:
        """Ids and cosines of at most ``limit`` of each scope, in no order."""
        wanted = self._blocks.keys() if scopes is None else self._blocks.keys() & set(scopes)
        found = [self._blocks[scope].nearest(vector, limit) for scope in wanted]
        ids = [np.zeros(0, np.int64), *(ids for ids, _ in found)]
        return np.concatenate(ids), np.concatenate([np.zeros(0, np.float32), *(scores for _, scores in found)])

    def _block(self, scope: int) -> Block:
        return self._blocks.setdefault(scope, Block(self._dim))


class Block:
    """The vectors of one scope as whole numbers: half the memory and read faster, with cosines right to four digits."""

    def __init__(self, dim: int) -> None:
        self.ids: Ids = np.zeros(0, np.int64)
        self._room = np.zeros((0, dim), np.int16)  # behind the rows in use is some for the next

    def reserve(self, rows: int) -> None:
        if rows > len(self._room):
            room = np.zeros((rows, self._room.shape[1]), np.int16)
            room[: len(self.ids)] = self._room[: len(self.ids)]
            self._room = room

    def add(self, ids: Ids, vectors: Floats) -> None:
        before, after = len(self.ids), len(self.ids) + len(ids)
        if after > len(self._room):
            self.reserve(int(after * GROWTH) + SPARE)
        self._room[before:after] = np.rint(np.clip(vectors, -1.0, 1.0) * STEPS)
        self.ids = np.concatenate([self.ids, ids])

    def remove(self, ids: Ids) -> None:
        keep = ~np.isin(self.ids, ids)
        if not keep.all():
            self._room = self._room[: len(self.ids)][keep]
            self.ids = self.ids[keep]

    def nearest(self, vector: Floats, limit: int) -> tuple[Ids, Floats]:
        scores = np.empty(len(self.ids), np.float32)
        rows = np.empty((AT_A_TIME, self._room.shape[1]), np.float32)
        scaled = vector / np.float32(STEPS)
        for start in range(0, len(scores), AT_A_TIME):
            end = min(start + AT_A_TIME, len(scores))
            part = rows[: end - start]
            np.copyto(part, self._room[start:end])
            np.dot(part, scaled, out=scores[start:end])
        if limit >= len(scores):
            return self.ids, scores
        best = np.argpartition(-scores, limit - 1)[:limit]
        return self.ids[best], scores[best]


class Vectors:
    """The vectors of one model in one index directory. Safe to use from several threads."""

    def __init__(self, directory: Path, fingerprint: str, dim: int, graph_from: int = GRAPH_FROM) -> None:
        self.fingerprint = fingerprint
        self.dim = dim
        self._graph_from = graph_from
        self._file = directory / f"vectors-{hashlib.sha256(fingerprint.encode()).hexdigest()[:12]}.hnsw"
        self._mutex = threading.RLock()
        self._held: Exact | Graph | None = None
        self._mark: tuple[str, int] = ("", -1)  # database and version that memory reflects
        self._ids: Ids = np.zeros(0, np.int64)  # of all passages with a vector, sorted
        self._scopes: Ids = np.zeros(0, np.int64)

    @property
    def uses_graph(self) -> bool:
        return isinstance(self._held, Graph)

    @property
    def is_held(self) -> bool:
        """Whether they are in memory, so that a search need not read them all."""
        return self._held is not None

    def follow(self, database: Database) -> None:
        """Bring memory in step with the database before somebody waits for it."""
        with self._mutex:
            database.read(self._follow)

    def search(
        self, connection: sqlite3.Connection, vector: Floats, scopes: list[int] | None, limit: int
    ) -> list[Match]:
        """The passages nearest to ``vector`` (float32, (dim,), L2-normalised) by cosine, best first."""
        if limit < 1:
            return []
        with self._mutex:
            held = self._follow(connection)
            if isinstance(held, Exact):
                return _matches(*held.nearest(vector, scopes, limit), limit)
            rows = self._ids if scopes is None else self._ids[np.isin(self._scopes, scopes)]
            limit = min(limit, len(rows))
            if len(rows) > max(SELECTIVE, SELECTIVE_SHARE * len(self._ids), limit):
                found = held.nearest(vector, None if scopes is None else rows, limit)
                if found is not None:
                    return _matches(*found, limit)
            return _matches(rows, held.scores(rows, vector), limit)

    def maintain(self, database: Database) -> None:
        """In the background: make, extend or save the graph where there are enough vectors for one."""
        if not is_available() or database.read(self._count) < self._graph_from:
            return
        with self._mutex:
            graph = self._held if isinstance(self._held, Graph) else None
        if graph is None or graph.is_worn:
            key = database.read(self._key)
            loaded = Graph.load(self._file, key, self.dim) if graph is None else None
            graph = loaded if loaded is not None and not loaded.is_worn else Graph(self.dim)
        self._extend(database, graph)
        with self._mutex:
            self._held, self._mark = graph, ("", -1)
            database.read(self._follow)
            if graph.unsaved >= min(SAVE_AFTER, self._graph_from):
                with database.locked():
                    graph.save(self._file, database.read(self._key))

    def graph_damage(self, database: Database) -> str:
        """Why the graph's file is not used, "" where it is sound or there is none."""
        return damage(self._file, database.read(self._key), self.dim)

    def drop_graph(self, database: Database) -> None:
        """Remove the graph's file, and what is kept in memory."""
        with self._mutex, database.locked():
            remove(self._file)
            self._held, self._mark = None, ("", -1)

    def _extend(self, database: Database, graph: Graph) -> None:
        """Bring a graph in step chunk by chunk, so that queries come in between."""
        present, _ = database.read(_passages)
        with self._mutex:
            graph.remove(np.setdiff1d(graph.ids, present))
            missing = np.setdiff1d(present, graph.ids)
        for start in range(0, len(missing), CHUNK):
            chunk = missing[start : start + CHUNK]
            ids, vectors = database.read(partial(self._fetch, wanted=chunk))
            with self._mutex:
                graph.add(ids, vectors)

    def _follow(self, connection: sqlite3.Connection) -> Exact | Graph:
        """Bring memory in step with the database."""
        name, version = state(connection)
        if self._held is not None and self._mark == (name, version):
            return self._held
        if self._held is None or (self._mark[0] not in ("", name)):
            self._held = self._first(connection)
        present, scopes = _passages(connection)
        held = self._held
        held.remove(np.setdiff1d(held.ids, present))
        missing = np.setdiff1d(present, held.ids)
        if isinstance(held, Graph) and len(missing) > CATCH_UP:
            held, missing = Exact(self.dim), present
        if isinstance(held, Exact) and not len(held.ids):
            held.reserve(scopes)
        # all at once would need several times the memory that they take
        for start in range(0, len(missing), AT_ONCE):
            ids, vectors = self._fetch(connection, missing[start : start + AT_ONCE])
            if isinstance(held, Exact):
                held.add(ids, vectors, scopes[np.searchsorted(present, ids)])
            else:
                held.add(ids, vectors)
        self._held, self._ids = held, held.ids
        self._scopes = scopes[np.searchsorted(present, self._ids)]
        self._mark = (name, version)
        return held

    def _first(self, connection: sqlite3.Connection) -> Exact | Graph:
        if is_available() and self._count(connection) >= self._graph_from:
            return Graph.load(self._file, self._key(connection), self.dim) or Exact(self.dim)
        return Exact(self.dim)

    def _fetch(self, connection: sqlite3.Connection, wanted: Ids) -> tuple[Ids, Floats]:
        """The vectors of these passages, where there are any; a blob of the wrong size or with NaN is passed over."""
        # CROSS JOIN keeps the order: left to itself SQLite goes over all embeddings for each chunk
        sql = (
            "SELECT passages.id, embeddings.vector FROM passages CROSS JOIN embeddings"
            " ON embeddings.hash = passages.hash AND embeddings.model = ?"
        )
        model = model_id(connection, self.fingerprint)
        if len(wanted) > 10 * CHUNK:
            allowed = set(wanted.tolist())
            found = [row for row in connection.execute(sql, (model,)) if row[0] in allowed]
        else:
            found = []
            for start in range(0, len(wanted), CHUNK):
                numbers = ", ".join(map(str, wanted[start : start + CHUNK].tolist()))
                found += connection.execute(f"{sql} WHERE passages.id IN ({numbers})", (model,)).fetchall()
        sound = sorted(row for row in found if isinstance(row[1], bytes) and len(row[1]) == 4 * self.dim)
        ids = np.array([id_ for id_, _ in sound], np.int64)
        vectors = np.frombuffer(b"".join(blob for _, blob in sound), "<f4").reshape(-1, self.dim)
        finite = np.isfinite(vectors).all(axis=1)
        return ids[finite], vectors[finite]

    def _count(self, connection: sqlite3.Connection) -> int:
        return count_vectors(connection, self.fingerprint)

    def _key(self, connection: sqlite3.Connection) -> dict[str, str]:
        return {"database": state(connection)[0], "fingerprint": self.fingerprint}


def _passages(connection: sqlite3.Connection) -> tuple[Ids, Ids]:
    """Ids of all passages, sorted, and the scope of each."""
    rows = connection.execute("SELECT id, scope_id FROM passages ORDER BY id").fetchall()
    both = np.array(rows, np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def _matches(ids: Ids, scores: Floats, limit: int) -> list[Match]:
    order = np.lexsort((ids, -scores))[:limit]
    return [Match(id_, score) for id_, score in zip(ids[order].tolist(), scores[order].tolist(), strict=True)]
