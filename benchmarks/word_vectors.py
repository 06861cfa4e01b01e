"""Write the vectors of words by which recall sees that "repaired" is near to "fix".

    python benchmarks/word_vectors.py

Each piece of English letters in the packaged model's vocabulary is read by the model alone. The
first principal components of these vectors are kept, each row in whole numbers of few steps, so
that the file stays below a megabyte: with the steps of a byte ``train_told.py`` answered 67 and 324
questions, with these 64 and 319.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
from logistic import Matrix
from numpy.typing import NDArray
from onnxruntime import InferenceSession
from tokenizers import Tokenizer

from keeplore.config.places import Places
from keeplore.index.embedding.model_files import packaged_model
from keeplore.index.embedding.word_vectors import VECTORS

DIMENSIONS = 96
STEPS = 3  # in both directions
FARTHEST = 2.5  # standard deviations of a row, at which the last step stands
AT_ONCE = 256


def main() -> int:
    found = packaged_model(Places.from_environment(os.environ).cache)
    tokenizer = Tokenizer.from_file(str(found.directory / "tokenizer.json"))
    vectors = piece_vectors(tokenizer, found.directory / found.file)
    np.savez_compressed(VECTORS, vectors=in_steps(components(vectors)))
    print(f"{VECTORS}: {VECTORS.stat().st_size:,} bytes")
    return 0


def piece_vectors(tokenizer: Tokenizer, model: Path) -> Matrix:
    """What the model makes of each piece between a beginning and an end: (pieces, dimensions); 0
    for those that are no English letters.
    """
    session = InferenceSession(model, providers=["CPUExecutionProvider"])
    begin, end = (tokenizer.token_to_id(mark) for mark in ("[CLS]", "[SEP]"))
    vocabulary = tokenizer.get_vocab()
    pieces = sorted(id_ for piece, id_ in vocabulary.items() if is_english(piece))
    states = []
    for start in range(0, len(pieces), AT_ONCE):
        batch = pieces[start : start + AT_ONCE]
        rows = np.array([[begin, piece, end] for piece in batch], np.int64)
        given = {
            "input_ids": rows,
            "attention_mask": np.ones_like(rows),
            "token_type_ids": np.zeros_like(rows),
        }
        states.append(session.run(None, given)[0][:, 1])
    read = np.concatenate(states)
    vectors = np.zeros((len(vocabulary), read.shape[1]))
    vectors[pieces] = read
    return vectors


def is_english(piece: str) -> bool:
    letters = piece.removeprefix("##")
    return letters.isascii() and letters.isalpha() and len(piece) > 1


def components(vectors: Matrix) -> Matrix:
    """The first principal components; rows of 0 stay so."""
    is_read = vectors.any(axis=1)
    read = vectors[is_read]
    centred = read - read.mean(axis=0)
    _, _, directions = np.linalg.svd(centred, full_matrices=False)
    kept = np.zeros((len(vectors), DIMENSIONS))
    kept[is_read] = centred @ directions[:DIMENSIONS].T
    return kept


def in_steps(vectors: Matrix) -> NDArray[np.int8]:
    """The rows in whole numbers from -STEPS to STEPS, each scaled by its own spread."""
    farthest = FARTHEST * vectors.std(axis=1, keepdims=True)
    steps = np.round(vectors / np.maximum(farthest, np.finfo(float).tiny) * STEPS)
    return steps.clip(-STEPS, STEPS).astype(np.int8)


if __name__ == "__main__":
    sys.exit(main())
