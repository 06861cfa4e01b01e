"""Words that share no letters and are near in meaning."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from onnxruntime import InferenceSession

from keeplore.index.embedding.model_files import packaged_model
from keeplore.index.embedding.word_vectors import (
    MODEL,
    VECTORS,
    english_words,
    word_cosines,
)

# whole words of the vocabulary, and a piece
READ = [
    "queue",
    "database",
    "server",
    "bank",
    "river",
    "money",
    "table",
    "chair",
    "drop",
    "remove",
    "fix",
    "repair",
    "banana",
    "port",
    "file",
    "folder",
    "directory",
    "commit",
    "branch",
    "tree",
    "test",
    "fail",
    "error",
    "crash",
    "user",
    "person",
    "agent",
    "week",
    "month",
    "##ing",
]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The queue, the Queue: a queue.", ["the", "queue"]),
        (
            "getFirstPrompt() of HTTPServer",
            ["get", "first", "prompt", "of", "http", "server"],
        ),
        ("`src/mail_queue.py` at v2, utf8", ["src", "mail", "queue", "py", "at"]),
        ("Die Größe und メール", ["die", "und"]),
        ("1 + 2 = 3", []),
    ],
)
def test_words_of_a_text(text: str, words: list[str]) -> None:
    assert english_words(text) == words


def test_words_near_in_meaning_are_told_from_others() -> None:
    words = ["repaired", "deleted", "queue"]
    others = ["fix", "removed", "queues", "banana"]
    near = word_cosines(words, others)
    assert near.shape == (3, 4)
    assert near.argmax(axis=1).tolist() == [0, 1, 2]
    assert (near[:, 3] < near.max(axis=1) / 2).all()
    assert word_cosines(["queue"], ["queue"])[0, 0] == pytest.approx(1.0)


@pytest.mark.parametrize("unread", ["", "☃"])
def test_what_the_vocabulary_does_not_read_is_near_to_nothing(unread: str) -> None:
    assert word_cosines([unread], [unread, "queue"]).tolist() == [[0.0, 0.0]]


def test_without_words_there_is_nothing_to_compare() -> None:
    assert word_cosines([], ["queue"]).shape == (0, 1)
    assert word_cosines(["queue"], []).shape == (1, 0)


def test_the_table_is_of_the_packaged_model(tmp_path: Path) -> None:
    vocabulary = json.loads((MODEL / "tokenizer.json").read_text("utf-8"))["model"][
        "vocab"
    ]
    table = np.load(VECTORS)["vectors"]
    assert (len(table), table.dtype) == (len(vocabulary), np.int8)
    assert VECTORS.stat().st_size < 1_000_000
    found = packaged_model(tmp_path)
    session = InferenceSession(
        found.directory / found.file, providers=["CPUExecutionProvider"]
    )
    rows = np.array(
        [[vocabulary["[CLS]"], vocabulary[word], vocabulary["[SEP]"]] for word in READ]
    )
    given = {
        "input_ids": rows,
        "attention_mask": np.ones_like(rows),
        "token_type_ids": np.zeros_like(rows),
    }
    states = session.run(None, given)[0][:, 1]
    kept = table[rows[:, 1]].astype(float)
    pairs = np.triu_indices(len(READ), 1)
    ours, theirs = (_cosines(vectors)[pairs] for vectors in (kept, states))
    assert np.corrcoef(ours, theirs)[0, 1] > 0.85


def _cosines(vectors: np.ndarray) -> np.ndarray:
    centred = vectors - vectors.mean(axis=0)
    unit = centred / np.linalg.norm(centred, axis=1, keepdims=True)
    return unit @ unit.T
