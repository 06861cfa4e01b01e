"""Marks that an index or a server keeps: a new version reads what an earlier one has made."""

from __future__ import annotations

import pytest

from keeplore.index.backends.sparse_bm25 import NUMBERS, number_of
from keeplore.index.embedding.prefixes import Prefixes
from keeplore.index.sql import vector_sum


@pytest.mark.parametrize(
    ("prefixes", "mark"),
    [
        (Prefixes(), ""),
        (Prefixes("q: ", ""), "-07991aa0"),
        (Prefixes("", "p: "), "-ab0f226c"),
    ],
)
def test_vectors_of_other_prefixes_are_others(prefixes: Prefixes, mark: str) -> None:
    assert prefixes.mark == mark


def test_the_sum_of_a_vector_is_made_of_its_text_too() -> None:
    assert vector_sum(b"ab", b"cd") == 3984772369
    assert vector_sum(b"ax", b"cd") != vector_sum(b"ab", b"cd")


def test_a_word_has_the_same_number_on_every_machine() -> None:
    assert (number_of("ledger"), number_of("")) == (264794372, 824261653)
    assert NUMBERS == 1_000_000_000
