"""The likeliest statements, read by the embedding model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from keeplore.errors import ModelUnavailable
from keeplore.recall.request import HeldStatement
from keeplore.recall.statement_reader import NEAR, READ, StatementReader

FLOOR = 0.2
QUESTION = np.array([1.0, 0.0], np.float32)


class AngleEmbedder:
    """Of "0.6 …" a vector with that cosine to the question."""

    model = fingerprint = "angle"
    dim = 2
    floor = FLOOR

    def __init__(self, *, is_remote: bool = False, is_broken: bool = False) -> None:
        self.is_remote = is_remote
        self._is_broken = is_broken
        self.read: list[list[str]] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self._is_broken:
            raise ModelUnavailable("no model", "set one")
        self.read.append([*texts])
        cosines = np.array([float(text.split()[0]) for text in texts])
        return np.stack([cosines, np.sqrt(1 - cosines**2)], axis=1).astype(np.float32)


def held(*texts: str) -> list[HeldStatement]:
    return [HeldStatement(text, "t", 0, 0.0) for text in texts]


def gain(cosine: float) -> float:
    return NEAR * (cosine - FLOOR) / (1 - FLOOR)


def test_what_is_read_gains_by_its_nearness_and_the_rest_counts_as_the_farthest() -> (
    None
):
    embedder = AngleEmbedder()
    statements = held(*(f"0.{n} said" for n in range(1, READ + 1)), "0.9 not read")
    odds = [float(n) for n in range(READ, 0, -1)] + [-1.0]
    judged = StatementReader(embedder, QUESTION).judged(statements, odds)
    expected = [one + gain(n / 10) for n, one in enumerate(odds[:-1], 1)]
    assert judged == pytest.approx([*expected, -1.0 + gain(0.1)])
    assert embedder.read == [[one.text for one in statements[:-1]]]


def test_an_item_is_read_behind_its_heading_and_what_introduces_its_list() -> None:
    embedder = AngleEmbedder()
    item = replace(*held("is not read"), heading="0.5 Why", lead="They differ:")
    judged = StatementReader(embedder, QUESTION).judged([item], [1.0])
    assert embedder.read == [["0.5 Why They differ: is not read"]]
    assert judged == pytest.approx([1.0 + gain(0.5)])


def test_only_the_first_memory_is_read_and_each_statement_once() -> None:
    embedder = AngleEmbedder()
    reader = StatementReader(embedder, QUESTION)
    first, second = held("0.3 a", "0.8 b"), held(*(f"0.5 {n}" for n in range(READ - 1)))
    once = reader.judged(first, [1.0, 0.0])
    assert once == pytest.approx([1.0 + gain(0.3), gain(0.8)])
    assert reader.judged(first, [1.0, 0.0]) == once
    odds = [0.0] * len(second)
    assert reader.judged(second, odds) == odds
    assert embedder.read == [["0.3 a", "0.8 b"]]


@pytest.mark.parametrize(
    "embedder", [AngleEmbedder(is_remote=True), AngleEmbedder(is_broken=True)]
)
def test_a_model_that_is_far_away_or_broken_changes_nothing(
    embedder: AngleEmbedder,
) -> None:
    reader = StatementReader(embedder, QUESTION)
    assert reader.judged(held("0.3 a", "0.8 b"), [1.0, 0.0]) == [1.0, 0.0]
    assert reader.judged([], []) == []
    assert embedder.read == []
