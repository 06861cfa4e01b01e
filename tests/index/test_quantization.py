from __future__ import annotations

import numpy as np
import pytest

from keeplore.index.vectors.quantization import dequantize, quantize, width


def unit(vectors: np.ndarray) -> np.ndarray:
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


@pytest.mark.parametrize("dim", [3, 16, 384, 1024])
def test_lengths_stay_and_cosines_are_right_to_three_digits(dim: int) -> None:
    vectors = unit(np.random.default_rng(dim).normal(size=(400, dim)))
    blobs = quantize(vectors)
    assert {len(blob) for blob in blobs} == {width(dim)} == {dim + 2}
    again = dequantize(blobs, dim)
    assert again.dtype == np.float32
    assert np.abs(np.linalg.norm(again, axis=1) - 1).max() < 1e-4
    wrong = np.abs(again @ vectors.T - vectors @ vectors.T)
    assert wrong.max() < 0.008 and wrong.mean() < 0.002


def test_numbers_that_are_none_and_lengths_of_zero_are_kept_as_zero() -> None:
    vectors = np.array([[np.nan, 0, 0], [0, 0, 0], [0, -1, 0]], np.float32)
    assert dequantize(quantize(vectors), 3).tolist() == [
        [0, 0, 0],
        [0, 0, 0],
        [0, -1, 0],
    ]


def test_no_bytes_stand_for_more_than_one_or_for_no_number() -> None:
    draw = np.random.default_rng(1)
    found = dequantize([draw.bytes(width(8)) for _ in range(500)], 8)
    assert np.abs(found).max() < 1.01


def test_no_vectors_are_none() -> None:
    assert dequantize([], 4).shape == (0, 4)
