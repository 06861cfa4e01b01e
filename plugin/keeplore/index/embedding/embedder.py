"""Text → vectors by a model on this machine: the packaged one, a local directory, or a fetched one.

Making an embedder costs nothing; the model is looked at when its fingerprint is asked for and
loaded at the first ``embed``. The query path never downloads: a name of fastembed's list must have
been fetched before.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from keeplore.errors import ModelUnavailable
from keeplore.index.embedding.model_files import (
    PACKAGED,
    ModelFiles,
    fetched,
    floor_of,
    in_directory,
    packaged,
    text_embedding,
)
from keeplore.index.embedding.onnx_runner import OnnxRunner
from keeplore.index.embedding.prefixes import prefixes_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BATCH = (
    1  # texts; of 168 tokens 18 a core-second within 270 MB; 12 with four, 10 with eight in 700 MB
)
LONG = 500  # characters; from here on a text leaves memory behind that is worth giving back
MAX_THREADS = 2  # more of them would be felt by whoever works at the machine


class Embedder(Protocol):
    """What the index needs of a model; vectors of different fingerprints are never compared."""

    @property
    def model(self) -> str:
        """The name by which a person chose it."""

    @property
    def fingerprint(self) -> str:
        """``<model>:<sha256 of the model file>:<max tokens>``. Raises ModelUnavailable."""

    @property
    def dim(self) -> int: ...

    @property
    def floor(self) -> float:
        """The cosine at or below which two texts are unrelated with this model."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors as float32, (len(texts), dim), L2-normalised. Raises ModelUnavailable."""


class FilesEmbedder:
    """A model that is run from local files: by us, or by fastembed where it is one of its list."""

    def __init__(self, model: str, cache: Path, *, fetch: bool = False) -> None:
        self.model = model
        self._cache = cache
        self._fetch = fetch
        self._prefixes = prefixes_of(model)
        self._loading = threading.Lock()
        self._embedding = threading.Lock()  # several at once are no faster, and each takes memory
        self._loaded: Callable[[str], Any] | None = None

    @cached_property
    def _located(self) -> ModelFiles:
        if self.model == PACKAGED:
            return packaged(self._cache)
        directory = Path(self.model).expanduser()
        if directory.is_absolute() or self.model.startswith("."):
            return in_directory(directory, self._cache)
        return fetched(self.model, self._cache, fetch=self._fetch)

    @property
    def fingerprint(self) -> str:
        found = self._located
        return f"{found.id}:{found.sha256}:{found.max_tokens}{self._prefixes.mark}"

    @property
    def dim(self) -> int:
        return self._located.dim

    @cached_property
    def floor(self) -> float:
        return floor_of(self._located, self._cache, self)

    @property
    def is_loaded(self) -> bool:
        """Whether the next ``embed`` waits for nothing but the model itself."""
        return self._loaded is not None

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._vectors([f"{self._prefixes.passage}{text}" for text in texts])

    def embed_questions(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._vectors([f"{self._prefixes.question}{text}" for text in texts])

    def _vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np  # here, because it costs 40 ms and most commands embed nothing

        if not texts:
            return np.zeros((0, self.dim), dtype=np.float32)
        clean = [
            text.encode("utf-8", "replace").decode() for text in texts
        ]  # the tokenizer refuses lone surrogates
        vector = self._model()
        found = []
        for text in clean:
            with self._embedding:
                found.append(vector(text))
        if sum(map(len, clean)) > LONG:
            give_back()
        vectors = np.asarray(found, dtype=np.float32)
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        normalised: NDArray[np.float32] = vectors / np.maximum(norms, np.finfo(np.float32).tiny)
        return normalised

    def _model(self) -> Callable[[str], Any]:
        with self._loading:
            if self._loaded is None:
                self._loaded = self._load()
        return self._loaded

    def _load(self) -> Callable[[str], Any]:
        threads = min(MAX_THREADS, os.cpu_count() or 1)
        try:
            found = self._located
            loaded = (
                OnnxRunner(found, threads).vector
                if found.pooling
                else _listed(found, self._cache, threads)
            )
            give_back()
            return loaded
        except (
            Exception
        ) as e:  # onnxruntime and tokenizers raise classes of their own, and plain Exception
            raise ModelUnavailable(
                f"the embedding model {self.model!r} cannot be loaded: {e}",
                "Choose another with `embedding: {model: packaged}` in keeplore.yaml, or reinstall "
                "keeplore",
            ) from e


def _listed(found: ModelFiles, cache: Path, threads: int) -> Callable[[str], Any]:
    """A model of fastembed's list."""
    model = text_embedding()(
        found.id,
        specific_model_path=str(found.directory),
        cache_dir=str(cache),
        threads=threads,
        enable_cpu_mem_arena=False,  # as in Runner
    )
    return lambda text: next(iter(model.embed([text])))


def give_back() -> None:
    """Return to the system what was needed for a moment; of loading a model glibc would keep some
    60 MB.
    """
    import ctypes  # here, because whoever loads no model needs none

    with contextlib.suppress(OSError, AttributeError, TypeError):  # not Linux, or another C library
        ctypes.CDLL(None).malloc_trim(0)


class DeferredEmbedder:
    """An embedder that is looked up when something of it is first asked."""

    def __init__(self, find: Callable[[], Embedder]) -> None:
        self._find = find

    @cached_property
    def _found(self) -> Embedder:
        return self._find()

    @property
    def model(self) -> str:
        return self._found.model

    @property
    def fingerprint(self) -> str:
        return self._found.fingerprint

    @property
    def dim(self) -> int:
        return self._found.dim

    @property
    def floor(self) -> float:
        return self._found.floor

    @property
    def is_loaded(self) -> bool:
        return "_found" in vars(self) and is_loaded(self._found)

    @property
    def batch(self) -> int:
        return batch_of(self._found)

    @property
    def is_remote(self) -> bool:
        """Whether time is spent waiting for somebody else's answer, and none of this machine's
        processor.
        """
        return bool(getattr(self._found, "is_remote", False))

    def prepare(self) -> None:
        prepare(self._found)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._found.embed(texts)

    def embed_questions(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return embed_questions(self._found, texts)


def embedder_for(model: str, cache: Path, *, fetch: bool = False) -> Embedder:
    """The embedder for ``packaged``, a directory, a name of fastembed's list, or a server's model.

    A directory is absolute or begins with ``.`` or ``~``; how a server is named stands at
    ``address_of``. ``cache`` keeps what a model needs beside its own file; only ``fetch`` allows a
    download into it. Raises ModelUnavailable.
    """
    # here, because few machines have a server
    from keeplore.index.embedding.embedding_server import (
        ServerEmbedder,
        address_of,
    )

    address = address_of(model)
    return (
        ServerEmbedder(model, address, cache)
        if address
        else FilesEmbedder(model, cache, fetch=fetch)
    )


def embed_questions(embedder: Embedder, texts: Sequence[str]) -> NDArray[np.float32]:
    """Vectors of what is looked for, which some models make otherwise than those of what is found.

    As ``Embedder.embed``; a plugin's embedder may have a method of this name. Raises
    ModelUnavailable.
    """
    made: NDArray[np.float32] = getattr(embedder, "embed_questions", embedder.embed)(texts)
    return made


def batch_of(embedder: Embedder) -> int:
    """How many texts are best given at once."""
    return int(getattr(embedder, "batch", BATCH))


def is_loaded(embedder: Embedder | None) -> bool:
    """False while asking it something would load a model first; one of a plugin's has none of ours
    to load.
    """
    return getattr(embedder, "is_loaded", True)


def fingerprint_of(embedder: Embedder | None) -> str:
    """The fingerprint, "" while the model cannot be had."""
    try:
        return embedder.fingerprint if embedder else ""
    except ModelUnavailable:
        return ""


def prepare(embedder: Embedder) -> None:
    """Let a model that runs elsewhere say who it is, where that is not known yet. Raises
    ModelUnavailable.
    """
    ready = getattr(embedder, "prepare", None)
    if ready is not None:
        ready()


class EmbeddingModels:
    """The models of this machine, each made once: workspaces that share them share 110 MB.
    Thread-safe.
    """

    def __init__(self, cache: Path) -> None:
        self._cache = cache
        self._made: dict[str, Embedder] = {}
        self._making = threading.Lock()

    def named(self, model: str) -> Embedder:
        with self._making:
            if model not in self._made:
                self._made[model] = embedder_for(model, self._cache)
            return self._made[model]

    @property
    def are_loaded(self) -> bool:
        """Whether one of them takes memory of this machine."""
        with self._making:
            return any(
                isinstance(made, FilesEmbedder) and made.is_loaded for made in self._made.values()
            )

    def fetch(self, model: str) -> None:
        """Download a model of fastembed's list, unless it is here. Raises ModelUnavailable."""
        _ = embedder_for(model, self._cache, fetch=True).fingerprint
        with self._making:
            self._made.pop(model, None)

    def plugin(self) -> object:
        """The plugin that answers when no other one has an embedder for the configured model."""
        # here, because pluggy takes 10 ms and search by text needs none
        from keeplore.index.embedding.builtin_embedders import Builtin

        return Builtin(self)
