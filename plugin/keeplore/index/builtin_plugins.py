"""Keeplore's own embedders and search engines as plugins."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from keeplore_hooks.specs import hookimpl_last

if TYPE_CHECKING:
    from keeplore.index.embedding.embedding_models import EmbeddingModels
    from keeplore_hooks.contracts import Embedder, EngineMaker, EngineServer

EMBEDDED = "embedded"
QDRANT_KEY = "QDRANT_API_KEY"


class BuiltinEmbedders:
    """Answers where no other plugin has an embedder for the configured model."""

    def __init__(self, models: EmbeddingModels) -> None:
        self._models = models

    @hookimpl_last
    def keeplore_embedder(self, model: str) -> Embedder:
        return self._models.named(model)


class BuiltinEngines:
    @hookimpl_last
    def keeplore_engine(self, backend: str, url: str, name: str) -> EngineMaker | None:
        # here, because each is only needed where a workspace names it
        from keeplore.index.backends.embedded_engine import EmbeddedEngine
        from keeplore.index.backends.shared_engine import SharedEngine

        if backend == EMBEDDED:
            return EmbeddedEngine
        connect = {"postgres": _postgres, "qdrant": _qdrant}.get(backend)
        if connect is None:
            return None
        return partial(
            SharedEngine, name, f"{backend} {url} {name}", partial(connect, url, name)
        )


def _postgres(url: str, name: str, layout: str, dim: int) -> EngineServer:
    from keeplore.index.backends.postgres import Postgres  # here, as above

    return Postgres(url, name, layout, dim)


def _qdrant(url: str, name: str, layout: str, dim: int) -> EngineServer:
    from keeplore.index.backends.qdrant import Qdrant  # here, as above

    return Qdrant(url.split(","), os.environ.get(QDRANT_KEY, ""), name, layout, dim)
