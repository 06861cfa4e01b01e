"""What the index asks of an engine, and what an engine that several machines share asks of its
server.

Files, memories, passages and links are rows of this machine in any case, and so is the full text
that answers while a server does not. An engine only says which passages are near: whatever it says
is looked up in these rows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from keeplore.index.database import IndexDatabase
from keeplore.index.rows import PassageMatch, ScopeFilter

if TYPE_CHECKING:
    import sqlite3

    import numpy as np
    from numpy.typing import NDArray

    from keeplore.index.embedding.embedder import Embedder


class Engine(Protocol):
    """One workspace's passages, ready to be searched. Safe to use from several threads.

    Searching, bringing and rebuilding may raise EngineUnavailable: then this machine's full text
    answers.
    """

    @property
    def is_remote(self) -> bool:
        """Whether it asks a server."""

    @property
    def note(self) -> str:
        """What whoever searches should know: why the engine does not answer just now, "" where it
        does.
        """

    @property
    def is_warm(self) -> bool:
        """Whether a search by vector reads nothing but what it finds."""

    def warm_up(self) -> None: ...

    def text_search(
        self, query: str, allowed: ScopeFilter, limit: int, *, is_patient: bool
    ) -> list[PassageMatch]:
        """Passages by their words, best first. Who is not patient is a host that waits for its
        prompt.
        """

    def vector_search(
        self, vector: NDArray[np.float32], allowed: ScopeFilter, limit: int, *, is_patient: bool
    ) -> list[PassageMatch]:
        """Passages by cosine to ``vector`` (float32, (dim,), L2-normalised), best first."""

    def bring_words(self, limit: int | None) -> int:
        """Take over passages that are new, drop those that are gone, some ``limit`` of them;
        returns how many wait.
        """

    def bring_vectors(self, limit: int | None, made: int) -> int:
        """The same for vectors; ``made`` were made a moment ago."""

    def pending(self, limit: int) -> list[tuple[bytes, str]]:
        """Hash and text of passages that nobody has made a vector of, newest first."""

    def count_pending(self) -> int: ...

    def count_vectors(self, connection: sqlite3.Connection) -> int:
        """How many passages of this machine can be found by vector."""

    def damage(self) -> str:
        """In what the engine is not what the rows make, "" where it is or cannot be asked."""

    def mend(self) -> None:
        """Make anew what ``damage`` tells of."""

    def rebuild(self) -> None:
        """Forget all that the engine has of this workspace; it comes back from the rows."""

    def close(self) -> None: ...


EngineMaker = Callable[[IndexDatabase, "Embedder | None"], Engine]


@dataclass(frozen=True, slots=True)
class Point:
    """A passage as a server keeps it: numbers, without its text.

    ``id`` is the same on every machine: see ``shared.point_id``. ``words`` are weights by the
    number of a word.
    """

    id: bytes  # 16 of them
    scope: str  # ``shared.scope_key`` of its scope and project
    words: Mapping[int, float]
    vector: Sequence[float] | None = None  # of length 1


Found = list[tuple[bytes, float]]  # points and their scores, highest first


class EngineServer(Protocol):
    """A connection to what a server keeps of one workspace and model. Used by one thread at a time.

    Every method raises EngineUnavailable where the server does not answer or refuses. Scopes are
    those of points, None for all of them.
    """

    def put(self, points: Sequence[Point]) -> None:
        """Store, in place of what had the same id."""

    def add_vectors(self, vectors: Mapping[bytes, Sequence[float]]) -> None:
        """Of points that are there; one that is gone meanwhile is left out."""

    def remove(self, ids: Collection[bytes]) -> None: ...

    def held(self, ids: Collection[bytes]) -> dict[bytes, bool]:
        """Which of these are there, each with whether it has a vector."""

    def all_held(self) -> Iterator[tuple[bytes, bool]]:
        """The same of all."""

    def matching(
        self, words: Mapping[int, float], scopes: Sequence[str] | None, limit: int
    ) -> Found:
        """Points with one of the words at least, by the sum of products of weights, highest
        first.
        """

    def nearest(self, vector: Sequence[float], scopes: Sequence[str] | None, limit: int) -> Found:
        """Points by cosine, highest first."""

    def clear(self) -> None:
        """Drop all points of this workspace and model."""

    def close(self) -> None: ...


Connect = Callable[
    [str, int], EngineServer
]  # with the layout's name, 12 hexadecimal digits, and the vectors' dimension
