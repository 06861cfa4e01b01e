"""The engine that needs no server: SQLite's full text and the vectors of this machine."""

from __future__ import annotations

import sqlite3
import threading
from typing import TYPE_CHECKING

from keeplore.index import full_text
from keeplore.index.vectors import embedding_rows
from keeplore_hooks.contracts import Embedder, EngineDatabase, PassageMatch, ScopeFilter

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from keeplore.index.vectors.vector_search import VectorIndex


class EmbeddedEngine:
    """Rows are searched where they are, so nothing has to be brought but what is kept in memory."""

    def __init__(
        self,
        database: EngineDatabase,
        embedder: Embedder | None,
        graph_from: int | None = None,
        note: str = "",
    ) -> None:
        """``graph_from`` is the number of vectors from which on a graph is used instead of exact
        search.

        ``note`` says why it stands in for another engine.
        """
        self.is_remote = False
        self.note = note
        self._database = database
        self._embedder = embedder
        self._graph_from = graph_from
        self._opening = threading.Lock()
        self._vectors: VectorIndex | None = None
        self._backlog: embedding_rows.EmbeddingBacklog | None = None

    @property
    def is_warm(self) -> bool:
        return self._vectors is not None and self._vectors.is_held

    def warm_up(self) -> None:
        if self._embedder is not None:
            self.vectors(self._embedder).follow(self._database)

    # nothing here waits for anybody else, so nobody needs patience, and there is nothing to bring
    # in parts
    def text_search(
        self,
        query: str,
        allowed: ScopeFilter,
        limit: int,
        *,
        is_patient: bool = False,  # noqa: ARG002  # as above
    ) -> list[PassageMatch]:
        return self._database.read(full_text.text_search, query, allowed, limit)

    def vector_search(
        self,
        vector: NDArray[np.float32],
        allowed: ScopeFilter,
        limit: int,
        *,
        is_patient: bool = False,  # noqa: ARG002  # as above
    ) -> list[PassageMatch]:
        if self._embedder is None:
            return []
        vectors = self.vectors(self._embedder)
        return self._database.read(vectors.search, vector, allowed, limit)

    def bring_words(self, limit: int | None) -> int:  # noqa: ARG002  # as above
        return 0

    def bring_vectors(self, limit: int | None, made: int) -> int:  # noqa: ARG002  # as above
        """Make or extend the graph where there are enough vectors for one, and what is in
        memory.
        """
        if self._embedder is None or (not made and self._vectors is None):
            # whoever only looks whether there is something to do loads nothing
            return 0
        self.vectors(self._embedder).maintain(self._database)
        return 0

    def pending(self, limit: int) -> list[tuple[bytes, str]]:
        if self._backlog is None:
            self._backlog = embedding_rows.EmbeddingBacklog(self._fingerprint())
        texts = self._database.read(self._backlog.take, limit)
        if not texts:
            self._database.write(self._backlog.settle)
        return texts

    def count_pending(self) -> int:
        return self._database.read(embedding_rows.count_pending, self._fingerprint())

    def count_vectors(self, connection: sqlite3.Connection) -> int:
        return embedding_rows.count_vectors(connection, self._fingerprint())

    def damage(self) -> str:
        if self._embedder is None:
            return ""
        return self.vectors(self._embedder).graph_damage(self._database)

    def mend(self) -> None:
        if self._embedder is not None:
            self.vectors(self._embedder).drop_graph(self._database)

    def rebuild(self) -> None:
        self.mend()

    def close(self) -> None:
        """Close nothing: only the database is open, and the index closes that."""

    def vectors(self, embedder: Embedder) -> VectorIndex:
        # here, because numpy costs 40 ms and text needs none
        from keeplore.index.vectors.vector_search import GRAPH_FROM, VectorIndex

        with self._opening:
            if self._vectors is None:
                graph_from = (
                    GRAPH_FROM if self._graph_from is None else self._graph_from
                )
                directory = self._database.directory
                self._vectors = VectorIndex(
                    directory, embedder.fingerprint, embedder.dim, graph_from
                )
            return self._vectors

    def _fingerprint(self) -> str:
        return self._embedder.fingerprint if self._embedder else ""
