"""What a plugin's hosts, embedder, language model or search engine must have: typed contracts.

Nothing has to be inherited: an object with these members will do. Vectors are numpy arrays of
float32, L2-normalised. The errors that the docstrings name stand in ``keeplore.errors``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    ParamSpec,
    Protocol,
    TypeVar,
    runtime_checkable,
)

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from keeplore_hooks.hosts.base import Host, SessionSource

_P = ParamSpec("_P")
_T = TypeVar("_T")


class Embedder(Protocol):
    """Text → vectors; vectors of different fingerprints are never compared."""

    @property
    def model(self) -> str:
        """The name by which a person chose it."""

    @property
    def fingerprint(self) -> str:
        """``<model>:<sha256 of the model file>:<max tokens>``. Raises ModelUnavailable."""

    @property
    def dim(self) -> int:
        """How many numbers a vector has."""

    @property
    def floor(self) -> float:
        """The cosine at or below which two texts are unrelated with this model."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors as float32, (len(texts), dim), L2-normalised. Raises ModelUnavailable."""


@runtime_checkable
class QuestionEmbedder(Protocol):
    """An embedder that embeds what is looked for otherwise than what is found."""

    def embed_questions(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Like ``Embedder.embed``, for questions."""


@runtime_checkable
class BatchEmbedder(Protocol):
    """An embedder that says how many texts are best given at once."""

    @property
    def batch(self) -> int: ...


@runtime_checkable
class LoadingEmbedder(Protocol):
    """An embedder that loads its model at the first call."""

    @property
    def is_loaded(self) -> bool:
        """Whether the next ``embed`` waits for nothing but the model itself."""


@runtime_checkable
class PreparedEmbedder(Protocol):
    """An embedder that must find out which model it runs before vectors are made."""

    def prepare(self) -> None:
        """Find it out, unless it is known. Raises ModelUnavailable."""


@runtime_checkable
class RemoteEmbedder(Protocol):
    """An embedder that may wait for another machine, and is then asked in a thread of its own."""

    @property
    def is_remote(self) -> bool:
        """Whether time is spent waiting, and none of this machine's processor."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens. ``input_tokens`` are all that were read; ``cached_tokens`` are those of them that the
    server still had.
    """

    input_tokens: int
    output_tokens: int
    cached_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Completion:
    """``flaw`` says why a text that was paid for is no answer: cut off, declined, empty; "" for a
    good one.
    """

    text: str
    usage: Usage
    model: str
    flaw: str = ""


class LanguageModel(Protocol):
    """``name`` is the model's own, as prices are listed under it."""

    name: str

    def available(self) -> str:
        """Whether a request may be tried: "" or why not, within three seconds."""

    def complete(
        self, system: str, prompt: str, schema: Mapping[str, Any]
    ) -> Completion:
        """One attempt at an answer that fits ``schema``, a JSON schema.

        Raises TransientFailure (``keeplore.llm.base``) where the same may work soon, LlmUnavailable
        where something must be set up first, LlmRefused where this request will never work.
        """


class ModelSettings(Protocol):
    """The section ``llm`` of ``keeplore.yaml``, as far as a model needs it."""

    @property
    def provider(self) -> str: ...
    @property
    def model(self) -> str: ...
    @property
    def base_url(self) -> str:
        """ "" for the provider's own."""

    @property
    def timeout_s(self) -> float: ...


@dataclass(frozen=True, slots=True)
class ScopeFilter:
    """The (scope, project) pairs that may be found, project ``""`` for workspace and user; empty
    for everything.
    """

    scopes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class PassageMatch:
    passage: int
    # higher is better; BM25 or cosine, so comparable within one search alone
    score: float


class EngineDatabase(Protocol):
    """The rows of an index on this machine. Every method raises IndexUnavailable."""

    @property
    def directory(self) -> Path: ...

    def read(
        self,
        ask: Callable[Concatenate[sqlite3.Connection, _P], _T],
        *args: _P.args,
        **kwargs: _P.kwargs,
    ) -> _T:
        """What ``ask`` returns for a connection on one consistent state."""

    def write(
        self,
        act: Callable[Concatenate[sqlite3.Connection, _P], _T],
        *args: _P.args,
        **kwargs: _P.kwargs,
    ) -> _T:
        """Run ``act`` in one transaction of the one writer; it must be able to run twice."""

    def locked(self) -> AbstractContextManager[None]:
        """Hold the right to write."""


class SearchEngine(Protocol):
    """The passages of a workspace, ready to be searched. Safe to use from several threads.

    Files, memories, passages and links are rows of this machine in any case, and so is the full
    text that answers while a server does not. An engine only says which passages are near: whatever
    it says is looked up in these rows. Searching, bringing and rebuilding may raise
    EngineUnavailable: then this machine's full text answers.
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
        self,
        vector: NDArray[np.float32],
        allowed: ScopeFilter,
        limit: int,
        *,
        is_patient: bool,
    ) -> list[PassageMatch]:
        """Passages by cosine to ``vector`` (float32, (dim,), L2-normalised), best first."""

    def bring_words(self, limit: int | None) -> int:
        """Take over at most ``limit`` new passages and drop those that are gone; returns how many
        still wait.
        """

    def bring_vectors(self, limit: int | None, made: int) -> int:
        """Take over at most ``limit`` new vectors, of which ``made`` were made a moment ago;
        returns how many still wait.
        """

    def pending(self, limit: int) -> list[tuple[bytes, str]]:
        """Hash and text of the passages that have no vector yet, newest first."""

    def count_pending(self) -> int: ...

    def count_vectors(self, connection: sqlite3.Connection) -> int:
        """How many passages of this machine can be found by vector."""

    def damage(self) -> str:
        """What of the engine differs from the rows; "" where nothing does or the engine cannot be
        asked.
        """

    def mend(self) -> None:
        """Rebuild what ``damage`` reports."""

    def rebuild(self) -> None:
        """Forget all that the engine has of this workspace; it comes back from the rows."""

    def close(self) -> None: ...


EngineMaker = Callable[[EngineDatabase, Embedder | None], SearchEngine]


@dataclass(frozen=True, slots=True)
class Point:
    """A passage as a server keeps it: numbers, without its text."""

    id: bytes  # 16 of them, the same on every machine
    scope: str  # 16 hexadecimal digits that stand for its scope and project
    words: Mapping[int, float]  # weights by the number of a word
    vector: Sequence[float] | None = None  # L2-normalised


FoundPoints = list[tuple[bytes, float]]  # points and their scores, highest first


class EngineServer(Protocol):
    """A connection to what a server keeps of one workspace and model. Used by one thread at a time.

    The smaller contract, which ``keeplore.index.backends.shared_engine`` makes an engine of. Every
    method raises EngineUnavailable where the server does not answer or refuses. Scopes are those of
    points, None for all of them.
    """

    def put(self, points: Sequence[Point]) -> None:
        """Store, in place of what had the same id."""

    def add_vectors(self, vectors: Mapping[bytes, Sequence[float]]) -> None:
        """Give vectors to points that are there; one that is gone meanwhile is left out."""

    def remove(self, ids: Collection[bytes]) -> None: ...

    def held(self, ids: Collection[bytes]) -> dict[bytes, bool]:
        """Which of these points are there, and for each whether it has a vector."""

    def all_held(self) -> Iterator[tuple[bytes, bool]]:
        """Every point that is there, and whether it has a vector."""

    def matching(
        self, words: Mapping[int, float], scopes: Sequence[str] | None, limit: int
    ) -> FoundPoints:
        """Points with one of the words at least, by the sum of products of weights, highest
        first.
        """

    def nearest(
        self, vector: Sequence[float], scopes: Sequence[str] | None, limit: int
    ) -> FoundPoints:
        """Points by cosine, highest first."""

    def clear(self) -> None:
        """Drop all points of this workspace and model."""

    def close(self) -> None: ...


# called with the layout's name, 12 hexadecimal digits, and the vectors' dimension
ConnectServer = Callable[[str, int], EngineServer]


@dataclass(frozen=True, slots=True)
class HostPlugin:
    """A host program. ``name`` is of small letters, digits and dashes; ``adapter`` is called once,
    when it is first needed; ``documentation`` is where a person reads about it.
    """

    name: str
    adapter: Callable[[], Host]
    documentation: str = ""
    keeps_sessions: bool = True  # on disk, so that they can be imported


@dataclass(frozen=True, slots=True)
class SourcePlugin:
    """Like ``HostPlugin``, for a program that keeps sessions and reports no events."""

    name: str
    adapter: Callable[[], SessionSource]
    documentation: str = ""


AdapterPlugin = HostPlugin | SourcePlugin
