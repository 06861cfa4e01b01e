"""BM25 as a product of two sparse vectors, so that a server that knows no words ranks as SQLite's
full text does.

A passage's weights hold how often its words stand where, a question's how rare they are in this
workspace: both come from the same tokenizer, SQLite's own, and the second from the full text that
every machine has. The formula is that of FTS5's bm25(), with one difference: the usual length of a
passage is a constant, because points are the same for all.
"""

from __future__ import annotations

import hashlib
import math
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from keeplore.index.schema import FTS_WEIGHTS, TOKENIZER
from keeplore.text.query_terms import query_terms

K1, B = 1.2, 0.75  # as in FTS5
USUAL_WORDS = 130  # of a passage with title and context; measured on talk
LEAST_RARITY = 1e-6  # as in FTS5, for words that more than half of all passages have
MOST_WORDS = 12  # of a question that are looked for, its rarest
# passages that have one of them: each is scored, at 2 µs in PostgreSQL
MOST_POSTINGS = 10_000
LEAST_WORDS = 3  # that are looked for in any case
# pgvector's sparse vectors end here; two of a million words share a number once in a thousand
NUMBERS = 10**9
_COLUMNS = tuple(FTS_WEIGHTS)


class FtsTokenizer:
    """Words as SQLite's full text sees them. Thread-safe."""

    def __init__(self) -> None:
        self._using = threading.Lock()
        self._connection = sqlite3.connect(
            ":memory:", check_same_thread=False, isolation_level=None
        )
        self._connection.execute(
            f"CREATE VIRTUAL TABLE texts USING fts5({', '.join(_COLUMNS)}, content='', "
            f"tokenize='{TOKENIZER}')"
        )
        self._connection.execute(
            "CREATE VIRTUAL TABLE words USING fts5vocab(texts, instance)"
        )

    def counted(
        self, texts: Sequence[Sequence[str]]
    ) -> list[dict[str, dict[str, int]]]:
        """For each row of texts, one for each column of the full text: word → column →
        how often.
        """
        marks = ", ".join("?" * (len(_COLUMNS) + 1))
        found: list[dict[str, dict[str, int]]] = [{} for _ in texts]
        with self._using:
            self._connection.execute("INSERT INTO texts(texts) VALUES ('delete-all')")
            self._connection.executemany(
                f"INSERT INTO texts(rowid, {', '.join(_COLUMNS)}) VALUES ({marks})",  # ours
                ((number, *row) for number, row in enumerate(texts)),
            )
            counts = Counter(
                self._connection.execute("SELECT doc, term, col FROM words")
            )
        for (number, word, column), count in counts.items():
            found[number].setdefault(word, {})[column] = count
        return found

    def words(self, texts: Iterable[str]) -> list[str]:
        """The distinct words of some texts."""
        rows = [(text, *[""] * (len(_COLUMNS) - 1)) for text in texts]
        return sorted({word for row in self.counted(rows) for word in row})


def passage_weights(counted: Mapping[str, Mapping[str, int]]) -> dict[int, float]:
    """A passage's side of BM25 by the numbers of its words."""
    length = sum(sum(columns.values()) for columns in counted.values())
    short = K1 * (1 - B + B * length / USUAL_WORDS)
    weights: dict[int, float] = {}
    for word, columns in counted.items():
        often = sum(FTS_WEIGHTS[column] * count for column, count in columns.items())
        weights[number_of(word)] = weights.get(number_of(word), 0.0) + often * (
            K1 + 1
        ) / (often + short)
    return weights


def question_weights(
    connection: sqlite3.Connection, tokenizer: FtsTokenizer, query: str
) -> dict[int, float]:
    """A question's side of BM25: how rare its words are in this index, for its rarest; empty where
    none is known.
    """
    spellings = [spelling for term in query_terms(query) for spelling in term]
    total = int(connection.execute("SELECT count(*) FROM passages").fetchone()[0])
    known = _passages_with(connection, tokenizer.words(spellings))
    weights: dict[int, float] = {}
    postings = 0
    for word in sorted(known, key=lambda word: (known[word], word))[:MOST_WORDS]:
        postings += known[word]
        if postings > MOST_POSTINGS and len(weights) >= LEAST_WORDS:
            break
        weights[number_of(word)] = rarity(known[word], total)
    return weights


def _passages_with(
    connection: sqlite3.Connection, words: Iterable[str]
) -> dict[str, int]:
    """Word → in how many passages it stands; words that stand in none are left out."""
    # temporary, so that a connection that only reads can have it
    connection.execute(
        "CREATE VIRTUAL TABLE IF NOT EXISTS temp.known_words USING fts5vocab(main, passages_fts, "
        "row)"
    )
    known = {}
    for word in words:
        sql = "SELECT doc FROM temp.known_words WHERE term = ?"
        row = connection.execute(sql, (word,)).fetchone()
        if row:
            known[word] = int(row[0])
    return known


def rarity(having: int, total: int) -> float:
    return max(LEAST_RARITY, math.log((total - having + 0.5) / (having + 0.5)))


def number_of(word: str) -> int:
    """1 to NUMBERS, the same on every machine."""
    return int.from_bytes(hashlib.sha256(word.encode()).digest()[:8]) % NUMBERS + 1


def formula() -> str:
    """What the numbers of a point depend on besides its text: points of another formula are not
    comparable.
    """
    return f"1 {TOKENIZER} {FTS_WEIGHTS} {K1} {B} {USUAL_WORDS}"
