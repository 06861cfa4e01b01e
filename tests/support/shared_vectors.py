"""Vectors of texts in memory that all processes of a test run share: tests let the model read the
same texts again and again, in many processes.
"""

from __future__ import annotations

import hashlib
import os
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

FILE = "VECTORS_OF_TESTS"  # the variable that names it
DIM = 384
PLACE = np.dtype([("key", "u8", 2), ("check", "u4"), ("vector", "f4", DIM)])
PLACES = 1 << 16
SIZE = PLACES * PLACE.itemsize  # bytes, of which those take room that were written


class SharedVectors:
    """What ``runner``, a model of this ``key``, makes of a text, asked for once a run.

    What two processes wrote into one place at once, or only half, is taken for nothing.
    """

    def __init__(self, runner: Any, key: str, file: Path) -> None:
        self._runner = runner
        self._key = key.encode()
        self._table = np.memmap(file, dtype=PLACE, mode="r+", shape=(PLACES,))

    def vector(self, text: str) -> NDArray[np.float32]:
        said = hashlib.blake2b(text.encode(), digest_size=16, key=self._key).digest()
        key = np.frombuffer(said, dtype="u8")
        place = self._table[int(key[0]) % PLACES : int(key[0]) % PLACES + 1]
        found = place.copy()[0]
        if (found["key"] == key).all() and found["check"] == _check(
            said, found["vector"]
        ):
            return np.array(found["vector"])
        vector: NDArray[np.float32] = self._runner.vector(text)
        if vector.shape == (DIM,):
            place["vector"], place["check"] = vector, _check(said, vector)
            place["key"] = key
        return vector


def shared(runner: Any, *about: object) -> Any:
    """The runner of a model, with the vectors of this run if it keeps any."""
    file = os.environ.get(FILE)
    if not file:
        return runner
    key = hashlib.blake2b(repr(about).encode(), digest_size=32).hexdigest()
    return SharedVectors(runner, key, Path(file))


def _check(said: bytes, vector: NDArray[np.float32]) -> int:
    return zlib.crc32(vector.tobytes(), zlib.crc32(said))
