"""Vectors as whole numbers: half the room of floats, read faster, and cosines right to four
digits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

STEPS = 32767  # between 0 and 1
BYTES = 2  # of a number


def packed(vectors: NDArray[np.float32]) -> list[bytes]:
    """float32, (n, dim), each between -1 and 1 → ``dim * BYTES`` bytes each, little-endian; what is
    no number is 0.
    """
    import numpy as np  # here, because it costs 40 ms and search by text needs none

    numbers = np.rint(np.clip(np.nan_to_num(vectors), -1.0, 1.0) * STEPS).astype("<i2")
    return [row.tobytes() for row in numbers]


def unpacked(blobs: Sequence[bytes], dim: int) -> NDArray[np.float32]:
    """float32, (len(blobs), dim); every blob has ``dim * BYTES`` bytes."""
    import numpy as np  # here, as above

    numbers = np.frombuffer(b"".join(blobs), "<i2").reshape(-1, dim)
    vectors: NDArray[np.float32] = numbers.astype(np.float32) / np.float32(STEPS)
    return vectors
