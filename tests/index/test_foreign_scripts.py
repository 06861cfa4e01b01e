"""A model is not asked about a script that it does not read."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from keeplore.index import embedder_for
from keeplore.index.embedding.foreign_scripts import reads_script_of

QUESTIONS = ("队列用什么？", "キューは何ですか", "큐는 무엇인가요", "คิวใช้อะไร")


class ReadsAll:
    """A model for which every two texts are unrelated."""

    model = "reads-all"
    fingerprint = "reads-all:1:256"
    dim = 384
    floor = 0.3

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        seeds = [
            int(hashlib.sha256(text.encode()).hexdigest()[:8], 16) for text in texts
        ]
        rows = np.array(
            [np.random.default_rng(s).standard_normal(self.dim) for s in seeds]
        )
        unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit.astype(np.float32)


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_packaged_model_reads_none_of_these_scripts(
    question: str, tmp_path: Path
) -> None:
    assert not reads_script_of(embedder_for("packaged", tmp_path), question)


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_model_that_tells_their_sentences_apart_reads_them(question: str) -> None:
    assert reads_script_of(ReadsAll(), question)


@pytest.mark.parametrize(
    "question",
    [
        "why did we drop Redis?",
        "wo liegt die Datenbank für Müller?",
        "grep 队列 in handlers/order_queue.py",
        "ຄິວ",  # no sentences are known to try a model with
    ],
)
def test_other_questions_are_given_to_any_model(question: str, tmp_path: Path) -> None:
    assert reads_script_of(embedder_for("packaged", tmp_path), question)
