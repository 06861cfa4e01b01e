"""Which words of a text tell that an answer came of a memory. The keys stand in the inbox, so they
stay.
"""

import pytest

from keeplore.worker.usage.usage_terms import is_used, term_weights

PARSER, KASHA = "b10dab568b", "ebc1efdee2"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("kasha_api", {"825381f2b0": 1.5}),
        ("Kasha’s parser", {KASHA: 0.75, PARSER: 0.75}),
        ("parser Parser parsers", {PARSER: 0.75}),
        ("OAuth2 zügig", {"3a9ba49db5": 1.5, "6adf8a72f4": 0.75}),
        ("東京都", {"f2c021b2a4": 0.25, "5e95204826": 0.25}),
        ("the and ab", {}),
        ("", {}),
        (". " * 29_990 + "parser", {PARSER: 0.75}),
        (". " * 30_000 + "parser", {}),
    ],
)
def test_rare_words_tell_names_of_code_twice(
    text: str, found: dict[str, float]
) -> None:
    assert term_weights(text) == found


@pytest.mark.parametrize(
    ("told", "fresh", "used"),
    [
        ({"a": 1.5, "b": 1.5}, "ab", True),
        ({"a": 1.5, "b": 0.75, "c": 0.5}, "abc", False),
        ({"a": 1.5, "b": 1.5, "c": 12.0}, "ab", True),
        ({"a": 1.5, "b": 1.5, "c": 12.25}, "ab", False),
        ({"a": 3.0}, "b", False),
        ({}, "a", False),
    ],
)
def test_enough_words_and_a_share_of_them_are_a_use(
    told: dict[str, float], fresh: str, used: bool
) -> None:
    assert is_used(told, set(fresh)) is used
