"""The weights by which a server ranks words are those of SQLite's full text."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from keeplore.index.backends.sparse_bm25 import LEAST_RARITY, rarity


@pytest.mark.parametrize("having", range(1, 10))
def test_a_word_is_as_rare_as_in_sqlite(having: int) -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE VIRTUAL TABLE passages USING fts5(text)")
        # all of one length, so that rarity alone is left of the formula
        connection.executemany(
            "INSERT INTO passages VALUES (?)",
            [("queue" if n < having else "other",) for n in range(10)],
        )
        best = (
            "SELECT -bm25(passages) FROM passages WHERE passages MATCH 'queue' LIMIT 1"
        )
        (weight,) = connection.execute(best).fetchone()
    assert rarity(having, 10) == pytest.approx(weight)


def test_no_word_counts_against_a_passage() -> None:
    assert rarity(10, 10) == LEAST_RARITY
