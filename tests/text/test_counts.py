"""Numbers of things as a person reads them."""

from __future__ import annotations

import pytest

from keeplore.text.counts import counted


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
