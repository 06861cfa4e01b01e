"""Numbers of things as a person reads them."""

from __future__ import annotations

import pytest

from keeplore.text.counts import counted, first_of, size_text


@pytest.mark.parametrize(
    ("number", "words", "expected"),
    [
        (0, ("commit",), "0 commits"),
        (1, ("commit",), "1 commit"),
        (1, ("memory", "memories"), "1 memory"),
        (2000, ("memory", "memories"), "2,000 memories"),
    ],
)
def test_one_is_no_plural(number: int, words: tuple[str, ...], expected: str) -> None:
    assert counted(number, *words) == expected


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (0, "0 kB"),
        (1, "1 kB"),
        (999_999, "1000 kB"),
        (1_000_000, "1.0 MB"),
        (2_345_678_901, "2,345.7 MB"),
    ],
)
def test_a_small_size_is_not_rounded_to_nothing(size: int, expected: str) -> None:
    assert size_text(size) == expected


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ([], ""),
        (["a"], "a"),
        (["a", "b"], "a, b"),
        (["a", "b", "c", "d"], "a, b and 2 more"),
    ],
)
def test_of_many_the_first_are_named(texts: list[str], expected: str) -> None:
    assert first_of(iter(texts), 2) == expected
