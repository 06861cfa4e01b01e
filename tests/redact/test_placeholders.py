"""What stands in the place of a secret."""

from __future__ import annotations

import pytest

from keeplore.redact.placeholders import is_placeholder

SECRET = "k3F9zQ7x2M5w8R1t6Y4v0B7n3C9d5G1h8J2p6S4q" * 3


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (f"{SECRET[:76]}xxxx", True),
        (f"{SECRET[:77]}xxxx", False),
        ("Pass" * 10, True),
        ("Pass" * 10 + "1", False),
        ("password12", True),
        ("password47", True),
        ("password471", False),
        ("password123", True),
    ],
    ids=[
        "a filler within 80 characters",
        "a filler behind them",
        "words of 40 characters",
        "words of more",
        "two digits that count",
        "any two digits",
        "any three digits",
        "three digits that count",
    ],
)
def test_a_stand_in_is_short_and_made_of_words_for_what_is_meant(
    value: str, *, expected: bool
) -> None:
    assert is_placeholder(value) is expected
