"""Changing the embedding model: until the new one's vectors are complete, those of the one before
answer.

Which models had every vector, and when last, stands in the database, with the name by which each is
found again. Their vectors stay for the way back, the newest two models' at most, unless the earlier
one's take too much room.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from keeplore.errors import KeeploreError, ModelUnavailable
from keeplore.index import sql
from keeplore.index.database import IndexDatabase
from keeplore.index.embedding.capabilities import fingerprint_of
from keeplore.index.rows import ModelChange
from keeplore.index.vectors import embedding_rows
from keeplore_hooks.contracts import Embedder, EngineMaker, SearchEngine

KEPT = 2  # models whose vectors are kept
KEPT_BYTES = 512 * 1024 * 1024  # of vectors that are kept for the way back alone
KEY = "complete_models"  # in the table of what is known of the database
Find = Callable[[str], Embedder]


class CompleteModel(NamedTuple):
    """A model that had every vector."""

    name: str
    fingerprint: str


class KeptVectors(NamedTuple):
    """The vectors of one model that the database holds."""

    name: str
    vectors: int
    bytes: int


@dataclass(frozen=True, slots=True)
class ActiveModel:
    """The model that a question is turned into a vector by, and the engine that has its vectors."""

    embedder: Embedder | None
    engine: SearchEngine
    switch: ModelChange | None = None


class ModelSwitch:
    """Thread-safe. ``find`` gives the embedder of a name, None where there is no other than
    ``embedder``.
    """

    def __init__(
        self,
        database: IndexDatabase,
        embedder: Embedder | None,
        make: EngineMaker,
        find: Find | None,
    ) -> None:
        self._database = database
        self._embedder = embedder
        self._make = make
        self._find = find
        self._mutex = threading.Lock()
        self._engine = make(database, embedder)
        self._engine_of = ""  # the fingerprint of its model, once that is known
        self._before: dict[str, ActiveModel] = {}
        self._seen: tuple[object, ActiveModel] | None = None

    @property
    def engine(self) -> SearchEngine:
        """The engine of the wanted model, as it is, without asking for the model."""
        return self._engine

    def renewed(self) -> SearchEngine:
        """The engine of the wanted model, made anew where a server now runs another model."""
        wanted = self.wanted()
        with self._mutex:
            if wanted and self._engine_of not in ("", wanted):
                self._engine.close()
                self._engine = self._make(self._database, self._embedder)
            self._engine_of = wanted or self._engine_of
            return self._engine

    def wanted(self) -> str:
        """The fingerprint of the wanted model, "" while it cannot be had."""
        return fingerprint_of(self._embedder)

    def now(self) -> ActiveModel:
        """What answers a question of this moment. Asks no server."""
        wanted, seen = self.wanted(), self._seen
        mark = (*self._database.read(sql.state), wanted)
        if seen is None or seen[0] != mark:
            self._seen = seen = (mark, self._choose_model(wanted))
        return seen[1]

    def engine_for(self, fingerprint: str) -> SearchEngine | None:
        """The engine with a model's vectors; None where they are not kept."""
        if fingerprint == self.wanted():
            return self.renewed()
        for known in self._database.read(complete_models):
            if known.fingerprint == fingerprint and (
                found := self._earlier_model(known)
            ):
                return found.engine
        return None

    def mark_complete(self) -> None:
        """Record that no passage lacks a vector of the wanted model, and reduce what is kept of
        other models to its limit.
        """
        entry = CompleteModel(self._own_name(), self.wanted())
        if self._database.read(complete_models)[:1] == [entry]:
            return
        self._database.write(_put_first, entry)
        with self._mutex:
            before, self._before, self._seen = self._before, {}, None
        for other in before.values():
            other.engine.close()

    def drop_orphans(self) -> None:
        """Delete vectors that are not worth keeping any more, once there are many."""
        if self._database.read(embedding_rows.has_orphans):
            keep = models_to_keep(self.wanted(), self._database.read(complete_models))
            self._database.write(embedding_rows.drop_orphans, keep)

    def kept_vectors(self) -> list[KeptVectors]:
        """What is held of each model, that of the wanted one first."""
        wanted = self.wanted()
        names = {
            model.fingerprint: model.name
            for model in self._database.read(complete_models)
        }
        names[wanted] = self._own_name()
        sizes = self._database.read(sizes_of)
        order = sorted(
            sizes, key=lambda fingerprint: (fingerprint != wanted, fingerprint)
        )
        return [KeptVectors(names.get(one, name_of(one)), *sizes[one]) for one in order]

    def close(self) -> None:
        for engine in (
            self._engine,
            *(other.engine for other in self._before.values()),
        ):
            engine.close()

    def _choose_model(self, wanted: str) -> ActiveModel:
        own = ActiveModel(self._embedder, self.renewed())
        before = self._database.read(complete_models)[:1]
        if self._find is None or not before or before[0].fingerprint == wanted:
            return own
        passages = self._database.read(sql.count_passages)
        vectors = self._database.read(own.engine.count_vectors) if wanted else 0
        old = self._earlier_model(before[0]) if vectors < passages else None
        if old is None or not self._database.read(old.engine.count_vectors):
            return own
        change = ModelChange(self._own_name(), vectors, passages, before[0].name)
        return ActiveModel(old.embedder, old.engine, change)

    def _own_name(self) -> str:
        try:
            return self._embedder.model if self._embedder else ""
        except ModelUnavailable:
            return "that is set"

    def _earlier_model(self, entry: CompleteModel) -> ActiveModel | None:
        """The model of before, None where its files are gone or are those of another."""
        with self._mutex, contextlib.suppress(KeeploreError):
            known = self._before.get(entry.fingerprint)
            if known is None and self._find is not None:
                embedder = self._find(entry.name)
                if embedder.fingerprint == entry.fingerprint:
                    known = ActiveModel(embedder, self._make(self._database, embedder))
                    self._before[entry.fingerprint] = known
            return known
        return None


def complete_models(connection: sqlite3.Connection) -> list[CompleteModel]:
    """Models that had every vector, the last first."""
    try:
        known = json.loads(sql.meta(connection, KEY) or "[]")
        return [
            CompleteModel(str(name), str(fingerprint)) for name, fingerprint in known
        ]
    except (ValueError, TypeError):
        return []


def models_to_keep(wanted: str, complete: Sequence[CompleteModel]) -> list[str]:
    known = [wanted, *(entry.fingerprint for entry in complete)]
    return list(dict.fromkeys(known))[:KEPT]


def _put_first(connection: sqlite3.Connection, entry: CompleteModel) -> None:
    """Record a model as the current one, and delete the vectors of models that are not kept any
    more.
    """
    others = [
        model
        for model in complete_models(connection)
        if model.fingerprint != entry.fingerprint
    ]
    known = [entry, *others][:KEPT]
    sizes = sizes_of(connection)
    if any(sizes.get(other.fingerprint, (0, 0))[1] > KEPT_BYTES for other in known[1:]):
        known = [entry]
    sql.set_meta(connection, KEY, json.dumps(known))
    embedding_rows.drop_models(connection, [other.fingerprint for other in known])


def sizes_of(connection: sqlite3.Connection) -> dict[str, tuple[int, int]]:
    """Fingerprint → number of vectors and their bytes."""
    rows = connection.execute(
        "SELECT m.fingerprint, count(*), sum(length(e.vector)) FROM embeddings e"
        " JOIN models m ON m.id = e.model GROUP BY m.id"
    )
    return {fingerprint: (number, size or 0) for fingerprint, number, size in rows}


def name_of(fingerprint: str) -> str:
    """A name for a model that no record names any more."""
    return fingerprint.rsplit(":", 2)[0]
