"""Which words tell subjects apart."""

from __future__ import annotations

import math

from keeplore.text.common_words import COMMON, common
from keeplore.text.rarity import damped_counts, rare_terms


def test_common_words_are_stems_each_once_and_few() -> None:
    lines = COMMON.read_text(encoding="ascii").splitlines()
    assert lines == sorted(common())
    assert COMMON.stat().st_size < 40_000
    assert {"plan", "project"} <= common()


def test_names_identifiers_and_words_of_a_trade_are_rare() -> None:
    assert dict(
        rare_terms("plan the Postgres project: parse_header, then parse_header again")
    ) == {
        "postgr": 1,
        "parse_header": 2,
        "pars": 2,
        "header": 2,
    }


def test_what_is_said_ten_times_counts_less_than_ten_times() -> None:
    assert damped_counts(
        [rare_terms("kubernetes"), rare_terms("kubernetes terraform")]
    ) == {
        "kubernet": 1 + math.log(2),
        "terraform": 1.0,
    }
