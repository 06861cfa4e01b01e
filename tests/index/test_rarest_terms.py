"""Which words of a question are looked up: its rarest ones, within what may be walked."""

from __future__ import annotations

import pytest

from keeplore.index import Index
from keeplore.index.full_text import _rarest


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ({"b": 20, "a": 10, "gone": 0}, ["a", "b"]),
        ({"a": 1, "b": 2, "c": 3, "d": 4}, ["a", "b", "c"]),
        ({"a": 10, "b": 20, "c": 2_000}, ["a", "b", "c"]),
        ({"a": 60_001}, ["a"]),
        ({"a": 10, "b": 59_990}, ["a", "b"]),
        ({"a": 10, "b": 59_991}, ["a"]),
        ({}, []),
    ],
    ids=[
        "the rarest first, none that nowhere stands",
        "three at most",
        "a common one among the first three",
        "the rarest, however common",
        "two that may just be walked",
        "two that may not",
        "none",
    ],
)
def test_the_rarest_terms(
    index: Index, counts: dict[str, int], expected: list[str]
) -> None:
    assert index._database.read(_rarest, counts, 3, 60_000) == expected


def test_behind_the_first_three_a_term_of_2000_passages_is_common(index: Index) -> None:
    first = {"a": 1, "b": 2, "c": 3}
    rare = index._database.read(_rarest, {**first, "d": 1_999}, 8, 60_000)
    common = index._database.read(_rarest, {**first, "d": 2_000}, 8, 60_000)
    assert (rare, common) == (["a", "b", "c", "d"], ["a", "b", "c"])
