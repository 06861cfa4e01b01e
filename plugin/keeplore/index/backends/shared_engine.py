"""An engine that the machines of a team share: points in a server, rows on every machine.

What is in the server follows from the text, so no machine's word about it is final. The rules:

- A point's id comes from what it says, so two machines that index one file put one point, whoever
  is first.
- A machine puts what it has and the server lacks. It removes only what it had put or seen there
  itself and has no more.
- A machine that is at an older commit, or on another branch, may so miss a point that a newer one
  removed. Every machine therefore compares the whole list now and then and puts what it misses.
  Once all are at one commit, the server has exactly that commit's points, but for those of machines
  that never came back: ``rebuild`` sweeps these away.
- A point without a row here is passed over in every answer, so nobody is shown what their own files
  do not say.
"""

from __future__ import annotations

import hashlib
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from keeplore.errors import EngineUnavailable, ModelUnavailable
from keeplore.index.backends import shared_points
from keeplore.index.backends.server_connection import ServerConnection
from keeplore.index.backends.sparse_bm25 import (
    FtsTokenizer,
    formula,
    passage_weights,
    question_weights,
)
from keeplore.index.vectors.quantization import dequantize
from keeplore.text.similarity import text_hash
from keeplore_hooks.contracts import (
    ConnectServer,
    Embedder,
    EngineDatabase,
    EngineServer,
    FoundPoints,
    PassageMatch,
    Point,
    ScopeFilter,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_T = TypeVar("_T")
# for a host's prompt, twice: both searches together stay within its deadline
WAITING_S = 0.08
PATIENT_S = 5.0  # for a person who asked
WHOLE_S = 600.0  # for what nobody waits for: it is brought in a thread of its own, or by a command
COMPARE_EVERY_S = 3600.0


class SharedEngine:
    """See the rules above; ``name`` is how the machines call this workspace among themselves,
    ``place`` the server.
    """

    def __init__(
        self,
        name: str,
        place: str,
        connect: ConnectServer,
        database: EngineDatabase,
        embedder: Embedder | None,
    ) -> None:
        self._name = name
        self._server_place = place
        self._connect = connect
        self._database = database
        self._embedder = embedder
        self._tokenizer = FtsTokenizer()
        # apart, so that no prompt waits for what the background brings
        self._asking = ServerConnection(self._connect_to_server)
        self._bringing = ServerConnection(self._connect_to_server)
        self._compare_at = 0.0
        self.is_remote = True

    @property
    def note(self) -> str:
        why = self._asking.why_not
        return f"searched by the full text of this machine alone: {why}" if why else ""

    @property
    def is_warm(self) -> bool:
        return self._asking.is_open

    def warm_up(self) -> None:
        self._asking.call(lambda _: None, PATIENT_S)

    def text_search(
        self, query: str, allowed: ScopeFilter, limit: int, *, is_patient: bool = False
    ) -> list[PassageMatch]:
        words = self._database.read(question_weights, self._tokenizer, query)
        if not words or limit < 1:
            return []
        scopes = _scopes(allowed)
        return self._ask_server(
            lambda server: server.matching(words, scopes, limit),
            limit,
            is_patient=is_patient,
        )

    def vector_search(
        self,
        vector: NDArray[np.float32],
        allowed: ScopeFilter,
        limit: int,
        *,
        is_patient: bool = False,
    ) -> list[PassageMatch]:
        if limit < 1:
            return []
        numbers, scopes = vector.tolist(), _scopes(allowed)
        return self._ask_server(
            lambda server: server.nearest(numbers, scopes, limit),
            limit,
            is_patient=is_patient,
        )

    def bring_words(self, limit: int | None) -> int:
        # with a limit one portion is brought, without one all
        place, fingerprint, dim = self._target()
        if time.monotonic() >= self._compare_at:
            self._compare()
            self._compare_at = time.monotonic() + COMPARE_EVERY_S
        while new := self._database.read(
            shared_points.new_passages, place, fingerprint, dim
        ):
            self._bring_passages(new)
            if limit is not None:
                break
        waiting = self._database.read(shared_points.count_new, place)
        # last, for a file that was written again says most of it again
        while not waiting and (
            gone := self._database.read(shared_points.removed_points, place)
        ):
            self._remove(gone)
        return waiting

    # the table knows what was made
    def bring_vectors(self, limit: int | None, made: int) -> int:  # noqa: ARG002
        place, fingerprint, dim = self._target()
        while found := self._database.read(
            shared_points.vectors_to_send, place, fingerprint, dim
        ):
            vectors = dequantize([*found.values()], dim).tolist()
            vector_of = dict(zip(found, vectors, strict=True))
            self._bring_to(partial(_add_vectors, vectors=vector_of))
            self._database.write(shared_points.save_vectors, place, found)
            if limit is not None:
                break
        return 0

    def pending(self, limit: int) -> list[tuple[bytes, str]]:
        place, fingerprint, _ = self._target()
        return self._database.read(
            shared_points.passages_to_embed, place, fingerprint, limit
        )

    def count_pending(self) -> int:
        place, fingerprint, _ = self._target()
        return self._database.read(shared_points.count_pending, place, fingerprint)

    def count_vectors(self, connection: sqlite3.Connection) -> int:
        return shared_points.count_vectors(connection, self._place)

    def damage(self) -> str:
        try:
            held = self._held_points()
        except EngineUnavailable:
            return ""
        known = self._database.read(shared_points.known_points, self._place)
        missing = sum(
            held.get(point, -1) < has_vector for point, has_vector in known.items()
        )
        if not missing:
            return ""
        return f"the shared engine lacks {missing} of {len(known)} passages or their vectors"

    def mend(self) -> None:
        self._compare_at = 0.0

    def rebuild(self) -> None:
        self._bringing.retry()
        self._bring_to(lambda server: server.clear())
        self._database.write(shared_points.drop_all, self._place)

    def close(self) -> None:
        self._asking.close()
        self._bringing.close()

    def _target(self) -> tuple[str, str, int]:
        """Place, fingerprint and dimension. Raises EngineUnavailable as ``_model`` does."""
        return (self._place, *self._model())

    @property
    def _place(self) -> str:
        """Server, model and formula: a point of another one says nothing of this one."""
        return text_hash(f"{self._server_place} {self._layout()}")[:12]

    def _layout(self) -> str:
        return text_hash(f"{formula()}\0{self._model()[0]}")[:12]

    def _model(self) -> tuple[str, int]:
        """Fingerprint and dimension. Raises EngineUnavailable: without a model it is not known what
        to ask for.
        """
        try:
            if self._embedder is not None:
                return self._embedder.fingerprint, self._embedder.dim
            why = "none is set"
        except ModelUnavailable as e:
            why = str(e)
        raise EngineUnavailable(
            f"the shared engine cannot be asked without the embedding model: {why}"
        )

    def _connect_to_server(self) -> EngineServer:
        return self._connect(self._layout(), self._model()[1])

    def _bring_to(self, act: Callable[[EngineServer], _T]) -> _T:
        """Have the server do something that nobody waits for."""
        return self._bringing.call(act, WHOLE_S)

    def _held_points(self) -> dict[bytes, bool]:
        return self._bring_to(lambda server: dict(server.all_held()))

    def _compare(self) -> None:
        """Have put again what somebody else removed and these files still say."""
        self._database.write(shared_points.save_held, self._place, self._held_points())

    def _bring_passages(self, new: Sequence[shared_points.UnsharedPassage]) -> None:
        """Put what the server lacks, and store of each passage whether the server has
        its vector.
        """
        ids = [point_id(self._name, row) for row in new]
        held = self._bring_to(lambda server: server.held(sorted(set(ids))))
        lacking = {
            id_: row for id_, row in zip(ids, new, strict=True) if id_ not in held
        }
        points = self._points(lacking)
        if points:
            self._bring_to(lambda server: server.put(points))
        has_vector = held | {point.id: point.vector is not None for point in points}
        rows = zip(new, ids, strict=True)
        noted = [(row.passage, self._place, id_, has_vector[id_]) for row, id_ in rows]
        self._database.write(shared_points.save, noted)

    def _points(
        self, lacking: Mapping[bytes, shared_points.UnsharedPassage]
    ) -> list[Point]:
        """Passages as the server keeps them."""
        dim = self._model()[1]
        counted = self._tokenizer.counted([row.texts for row in lacking.values()])
        points = []
        for (id_, row), counts in zip(lacking.items(), counted, strict=True):
            vector = dequantize([row.vector], dim)[0].tolist() if row.vector else None
            scope = scope_key(row.scope, row.project)
            points.append(Point(id_, scope, passage_weights(counts), vector))
        return points

    def _remove(self, gone: Sequence[shared_points.RemovedPoint]) -> None:
        unneeded = {one.point for one in gone if not one.is_needed}
        if unneeded:
            self._bring_to(lambda server: server.remove(unneeded))
        passages = [one.passage for one in gone]
        self._database.write(shared_points.drop, self._place, passages)

    def _ask_server(
        self,
        ask: Callable[[EngineServer], FoundPoints],
        limit: int,
        *,
        is_patient: bool,
    ) -> list[PassageMatch]:
        """The passages here that say what was found, best first."""
        found = self._asking.call(ask, PATIENT_S if is_patient else WAITING_S)
        points = [point for point, _ in found]
        here = self._database.read(shared_points.passages_of, self._place, points)
        matches = [
            PassageMatch(passage, score)
            for point, score in found
            for passage in here.get(point, ())
        ]
        return sorted(matches, key=lambda match: (-match.score, match.passage))[:limit]


def point_id(name: str, row: shared_points.UnsharedPassage) -> bytes:
    """The id of a passage on the server: the same on every machine for the same text of the same
    memory in the same place.
    """
    content = "\0".join((name, row.memory, row.scope, row.project, *row.texts))
    return hashlib.sha256(content.encode("utf-8", "replace")).digest()[:16]


def scope_key(scope: str, project: str) -> str:
    """A key that every server takes for a scope and a project, which may have hostile names."""
    return text_hash(f"{scope}\0{project}")[:16]


def _add_vectors(
    server: EngineServer, vectors: Mapping[bytes, Sequence[float]]
) -> None:
    server.add_vectors(vectors)


def _scopes(allowed: ScopeFilter) -> list[str] | None:
    return [scope_key(*pair) for pair in allowed.scopes] or None
