"""The signs of vectors, a bit for each number: they tell soon which rows are worth an exact score.

The share of signs in which two vectors differ grows with their angle (Charikar 2002, "Similarity
estimation techniques from rounding algorithms"). What it costs and misses stands in
docs/benchmarks.md.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

WORD = 64  # bits that are compared at once

Signs = NDArray[np.uint64]  # (vectors, words); bits beyond the last number are 0


def signs_of(vectors: NDArray[np.number]) -> Signs:
    """The signs of vectors (n, dim), whatever their scale."""
    padding = -vectors.shape[1] % WORD
    bits = np.packbits(np.pad(vectors < 0, ((0, 0), (0, padding))), axis=1)
    return bits.view(np.uint64)


def differences(signs: Signs, vector: NDArray[np.float32]) -> NDArray[np.uint16]:
    """In how many numbers the sign of each row differs from that of the vector
    ((dim,)): (rows,).
    """
    asked = signs_of(vector[None])
    total = np.zeros(len(signs), np.uint16)
    for word in range(signs.shape[1]):
        total += np.bitwise_count(signs[:, word] ^ asked[0, word])
    return total
