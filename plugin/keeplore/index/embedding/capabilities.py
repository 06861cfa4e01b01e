"""What only some embedders can do, with what holds for those that cannot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from keeplore.errors import ModelUnavailable
from keeplore_hooks.contracts import (
    BatchEmbedder,
    Embedder,
    LoadingEmbedder,
    PreparedEmbedder,
    QuestionEmbedder,
    RemoteEmbedder,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# texts; of 168 tokens 18 a core-second within 270 MB; 12 with four, 10 with eight in 700 MB
BATCH = 1


def embed_questions(embedder: Embedder, texts: Sequence[str]) -> NDArray[np.float32]:
    """Vectors of what is looked for, which some models make otherwise than those of what is found.

    As ``Embedder.embed``. Raises ModelUnavailable.
    """
    if isinstance(embedder, QuestionEmbedder):
        return embedder.embed_questions(texts)
    return embedder.embed(texts)


def batch_of(embedder: Embedder) -> int:
    """How many texts are best given at once."""
    return embedder.batch if isinstance(embedder, BatchEmbedder) else BATCH


def is_loaded(embedder: Embedder | None) -> bool:
    """False while asking it something would load a model first; one of a plugin's has none of ours
    to load.
    """
    return embedder.is_loaded if isinstance(embedder, LoadingEmbedder) else True


def is_remote(embedder: Embedder) -> bool:
    """Whether time is spent waiting for somebody else's answer, and none of this machine's
    processor.
    """
    return isinstance(embedder, RemoteEmbedder) and embedder.is_remote


def prepare(embedder: Embedder) -> None:
    """Let a model that runs elsewhere say who it is, where that is not known yet. Raises
    ModelUnavailable.
    """
    if isinstance(embedder, PreparedEmbedder):
        embedder.prepare()


def fingerprint_of(embedder: Embedder | None) -> str:
    """The fingerprint, "" while the model cannot be had."""
    try:
        return embedder.fingerprint if embedder else ""
    except ModelUnavailable:
        return ""
