"""The likeliest statements judged once more by the embedding model, which reads each of them: it
tells what shares no word with the question. Too slow for what is told beside a prompt.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from keeplore.errors import ModelUnavailable
from keeplore.index.embedding.capabilities import is_remote
from keeplore.recall.ranking.fuse import above_floor
from keeplore.recall.request import HeldStatement
from keeplore_hooks.contracts import Embedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# statements that are read for a question, some 8 ms each; measured on people's questions, where
# four to eight do as well
READ = 8
NEAR = 4.74  # log-odds of one that says what was asked against one that is unrelated


class StatementReader:
    """Reads statements for one question, ``READ`` in all: those of the first memory that is asked,
    and of the next only where these are fewer. A model that is reached over the network reads none.
    """

    def __init__(self, embedder: Embedder, question: NDArray[np.float32]) -> None:
        self._embedder = embedder
        self._question = question
        self._nearness: dict[str, float] = {}

    def judged(
        self, statements: Sequence[HeldStatement], odds: Sequence[float]
    ) -> list[float]:
        """The log-odds with what the model says of the likeliest; those that it does not read
        count as the farthest of these.
        """
        likeliest = sorted(range(len(odds)), key=lambda place: -odds[place])[:READ]
        nearness = self._nearness_of(
            [statements[place].in_context for place in likeliest]
        )
        if not nearness:
            return [*odds]
        near = dict(zip(likeliest, nearness, strict=True))
        farthest = min(nearness)
        return [
            one + NEAR * near.get(place, farthest) for place, one in enumerate(odds)
        ]

    def _nearness_of(self, texts: Sequence[str]) -> list[float]:
        """How far each is above the model's floor; nothing where they are not read."""
        unread = [text for text in dict.fromkeys(texts) if text not in self._nearness]
        is_enough = len(self._nearness) + len(unread) > READ
        if is_enough or is_remote(self._embedder):
            return []
        try:
            self._read(unread)
        except ModelUnavailable:
            return []
        return [self._nearness[text] for text in texts]

    def _read(self, texts: Sequence[str]) -> None:
        """Compare each with the question. Raises ModelUnavailable."""
        if not texts:
            return
        cosines = self._embedder.embed(texts) @ self._question
        floor = self._embedder.floor
        for text, cosine in zip(texts, cosines.tolist(), strict=True):
            self._nearness[text] = above_floor(cosine, floor)
