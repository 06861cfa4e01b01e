"""Vectors as small whole numbers: a quarter of the room of floats, read faster, and cosines right
to three digits.

A row is the largest number of the vector, and each of its numbers as a share of that one. So no
bytes whatever stand for more than 1 or for no number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

SHARES = 127  # of the largest number
LARGEST = 65_535  # steps between 0 and 1
_LARGEST_BYTES = 2


def width(dim: int) -> int:
    """Bytes of a row."""
    return _LARGEST_BYTES + dim


def row_type(dim: int) -> np.dtype[Any]:
    """A row as numpy reads it: ``largest``, and ``shares`` of (dim,)."""
    import numpy as np  # here, because it costs 40 ms and search by text needs none

    return np.dtype([("largest", "<u2"), ("shares", "i1", (dim,))])


def quantize(vectors: NDArray[np.float32]) -> list[bytes]:
    """float32, (n, dim), each between -1 and 1 → ``width(dim)`` bytes each; what is no number is
    0.
    """
    import numpy as np  # here, as above

    sound = np.clip(np.nan_to_num(vectors), -1.0, 1.0)
    largest = np.maximum(np.abs(sound).max(axis=1, keepdims=True), 1 / LARGEST)
    shares = np.rint(sound / largest * SHARES)
    # a little off the largest, so that the row is as long as the vector
    lengths = np.linalg.norm(sound, axis=1) / np.maximum(
        np.linalg.norm(shares, axis=1), 1.0
    )
    rows = np.empty(len(sound), row_type(sound.shape[1]))
    rows["shares"] = shares
    rows["largest"] = np.minimum(np.rint(lengths * SHARES * LARGEST), LARGEST)
    return [row.tobytes() for row in rows]


def quantize_16_bit(words: bytes) -> bytes:
    """A row of what an older index holds: 16 bits a number, 32,767 for 1."""
    import numpy as np  # here, as above

    numbers = np.frombuffer(words, "<i2").astype(np.float32)
    return quantize(numbers[None] / np.float32(32_767))[0]


def dequantize(blobs: Sequence[bytes], dim: int) -> NDArray[np.float32]:
    """float32, (len(blobs), dim); every blob has ``width(dim)`` bytes."""
    import numpy as np  # here, as above

    return floats(np.frombuffer(b"".join(blobs), row_type(dim)))


def floats(rows: NDArray[Any]) -> NDArray[np.float32]:
    """Rows of ``row_type`` → float32, (len(rows), dim)."""
    vectors: NDArray[np.float32] = rows["shares"] * scales(rows)[:, None]
    return vectors


def scales(rows: NDArray[Any]) -> NDArray[np.float32]:
    """What a share of each row stands for: float32, (len(rows),)."""
    import numpy as np  # here, as above

    largest: NDArray[np.float32] = rows["largest"].astype(np.float32)
    return largest / np.float32(LARGEST * SHARES)
