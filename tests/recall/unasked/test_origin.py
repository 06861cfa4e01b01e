"""How much of what is told unasked may be other people's."""

from __future__ import annotations

import pytest

from keeplore.recall.unasked.origin import own_first, within_share


def is_own(item: str) -> bool:
    return item.isupper()


@pytest.mark.parametrize(
    ("items", "limit", "expected"),
    [
        ("abcd", 3, "a"),
        ("abcd", 4, "ab"),
        ("aAbBcC", 4, "aAbB"),
        ("ABCDa", 4, "ABCD"),
        ("aAB", 1, "A"),
        ("abA", 0, ""),
    ],
)
def test_of_the_places_others_take_half_in_order(
    items: str, limit: int, expected: str
) -> None:
    assert "".join(filter(within_share(limit, is_own), items)) == expected


@pytest.mark.parametrize(
    ("items", "limit", "expected"),
    [
        ("aAbB", 4, "ABab"),
        ("abcA", 5, "Aab"),
        ("aABCD", 4, "ABCD"),
        ("ab", 1, ""),
    ],
)
def test_ones_own_come_first_and_half_the_places_are_others(
    items: str, limit: int, expected: str
) -> None:
    assert "".join(own_first(items, limit, is_own)) == expected
