"""Keeplore's own embedders as a plugin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from keeplore_hooks.specs import hookimpl_last

if TYPE_CHECKING:
    from keeplore.index.embedding.embedder import Embedder, EmbeddingModels


class Builtin:
    def __init__(self, models: EmbeddingModels) -> None:
        self._models = models

    @hookimpl_last
    def keeplore_embedder(self, model: str) -> Embedder:
        return self._models.named(model)
