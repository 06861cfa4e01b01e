"""The embedders of this machine by the names that people choose them by."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from keeplore.index.embedding import capabilities
from keeplore.index.embedding.local_embedder import LocalEmbedder
from keeplore.index.embedding.model_files import PACKAGED, entry_of
from keeplore_hooks.contracts import Embedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


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
        return "_found" in vars(self) and capabilities.is_loaded(self._found)

    @property
    def batch(self) -> int:
        return capabilities.batch_of(self._found)

    @property
    def is_remote(self) -> bool:
        return capabilities.is_remote(self._found)

    def prepare(self) -> None:
        capabilities.prepare(self._found)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._found.embed(texts)

    def embed_questions(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return capabilities.embed_questions(self._found, texts)


def embedder_for(model: str, cache: Path, *, fetch: bool = False) -> Embedder:
    """The embedder for ``packaged``, a directory, a name of fastembed's list, or a server's model.

    A directory is absolute or begins with ``.`` or ``~``; how a server is named stands at
    ``address_of``. ``cache`` keeps what a model needs beside its own file; only ``fetch`` allows a
    download into it. Raises ModelUnavailable.
    """
    # here, because few machines have a server
    from keeplore.index.embedding.server_embedder import ServerEmbedder, address_of

    if address := address_of(model):
        return ServerEmbedder(model, address, cache)
    return LocalEmbedder(model, cache, fetch=fetch)


def expect_possible(model: str) -> None:
    """Raise ModelUnavailable for what is neither a model of a list nor a directory's or server's
    name.
    """
    # here, as above
    from keeplore.index.embedding.server_embedder import address_of

    is_place = model.startswith((".", "~")) or Path(model).is_absolute()
    if model != PACKAGED and not is_place and address_of(model) is None:
        entry_of(model)


class EmbeddingModels:
    """The models of this machine, each made once: workspaces that share them share 110 MB.
    Thread-safe.
    """

    def __init__(self, cache: Path) -> None:
        self._cache = cache
        self._made: dict[str, Embedder] = {}
        self._making = threading.Lock()

    def named(self, model: str) -> Embedder:
        """The embedder of a model, made once."""
        with self._making:
            if model not in self._made:
                self._made[model] = embedder_for(model, self._cache)
            return self._made[model]

    @property
    def are_loaded(self) -> bool:
        """Whether any of the models is in this machine's memory."""
        with self._making:
            return any(
                isinstance(made, LocalEmbedder) and made.is_loaded
                for made in self._made.values()
            )

    def fetch(self, model: str) -> None:
        """Download a model of fastembed's list, unless it is here. Raises ModelUnavailable."""
        _ = embedder_for(model, self._cache, fetch=True).fingerprint
        with self._making:
            self._made.pop(model, None)
