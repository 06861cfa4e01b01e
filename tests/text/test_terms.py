"""How much two bags of terms have in common."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from keeplore.text.terms import cosine, overlap


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ({"a": 3.0}, {"a": 4.0}, 1.0),
        ({"a": 3.0, "b": 4.0}, {"a": 1.0}, 0.6),
        ({"a": 1.0, "b": 2.0}, {"a": 2.0, "c": 1.0, "d": 2.0}, 2 / 45**0.5),
        ({"a": 1.0}, {"b": 1.0}, 0.0),
        ({}, {"a": 1.0}, 0.0),
        ({}, {}, 0.0),
    ],
)
def test_the_cosine_of_weighted_terms(
    one: Mapping[str, float], other: Mapping[str, float], expected: float
) -> None:
    assert cosine(one, other) == pytest.approx(expected)
    assert cosine(other, one) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("ab", "bcd", 0.5),
        ("abc", "abc", 1.0),
        ("aab", "ab", 1.0),
        ("a", "b", 0.0),
        ("", "a", 0.0),
        ("", "", 0.0),
    ],
)
def test_the_share_of_the_smaller_set_that_both_have(
    one: str, other: str, expected: float
) -> None:
    assert overlap(one, other) == overlap(other, one) == expected
