"""Full text: a person's words → an FTS5 query that cannot fail and does not score every passage
there is.
"""

from __future__ import annotations

import functools
import json
import math
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from keeplore.index.sql import (
    count_passages,
    in_list,
    last_passage,
    rows_in,
    scope_ids,
    state,
    value,
)
from keeplore.text.query_terms import query_terms
from keeplore.text.unspaced import is_pair, is_single, runs
from keeplore_hooks.contracts import PassageMatch, ScopeFilter

if TYPE_CHECKING:
    from keeplore.index.vectors.hnsw import Ids

# terms that are asked for however common they are, within what may be scored
LEAST_OR = 3
COMMON_SHARE = 0.1  # of the passages
COMMON_FROM = 2000  # passages; fewer are scored in no time
MAX_OR = 8  # terms; FTS5 scores every posting of every term, so the time grows with each common one
MAX_PAIRS = (
    20  # the same where a question is looked up by pairs of letters: three make a word
)
# postings that are walked, at .4 µs each, so that the time does not grow with the memory; the
# rarest term has any
MOST_WALKED = 60_000
# postings that are scored, at 2 µs each; of more only the likeliest passages are, and those that
# have the same terms
MOST_SCORED = 16_000
LIKELIEST = 1000
# of one term: how common it is beyond that makes no difference
MOST_COUNTED = MOST_WALKED
# of BM25 over whole memories: the usual values (Robertson and Zaragoza 2009)
SATURATION, LENGTH_SHARE = 1.2, 0.75
_ALL = ""  # stands for no term, so for all passages
# the columns that hold what a memory says itself: its title stands beside every passage
_OWN = "{head body extra}"


def text_search(
    connection: sqlite3.Connection, query: str, allowed: ScopeFilter, limit: int
) -> list[PassageMatch]:
    """Passages with all the words of the query, then passages with some of its rarest ones, best
    first.
    """
    terms = [_any_of(spellings) for spellings in query_terms(query)]
    scopes = scope_ids(connection, allowed)
    if not terms or scopes == [] or limit < 1:
        return []
    found = _scored_passages(connection, terms, scopes, limit, most=_most_terms(query))
    best = sorted(found.items(), key=lambda match: (-match[1], match[0]))
    return [PassageMatch(passage, score) for passage, score in best[:limit]]


def _scored_passages(
    connection: sqlite3.Connection,
    terms: list[str],
    scopes: list[int] | None,
    limit: int,
    *,
    most: int,
) -> dict[int, float]:
    """Passages with their scores, whatever their number; ``most`` terms are asked for."""
    counts = _counts(connection, terms)
    rarest = _rarest(connection, counts, most, MOST_WALKED)
    match = " OR ".join([*rarest, *_whole_words(rarest)])
    postings = sum(counts[term] for term in rarest)
    is_dear = postings > MOST_SCORED  # at least where all scopes are asked
    if is_dear and postings * _scope_fraction(connection, scopes) > MOST_SCORED:
        likeliest = _best_passages(connection, rarest, counts, scopes)
        return dict(_matches_among(connection, "rowid, -rank", match, likeliest))
    found: dict[int, float] = {}
    if rarest and len(terms) <= MAX_OR and all(counts.values()):
        # cheap also with common ones: the rarest leads
        found = _matches(connection, " AND ".join(terms), scopes, limit)
    if len(found) < limit and (len(rarest) > 1 or (rarest and not found)):
        found = {**_matches(connection, match, scopes, limit), **found}
    return found


def _best_passages(
    connection: sqlite3.Connection,
    terms: Sequence[str],
    counts: Mapping[str, int],
    scopes: Sequence[int] | None,
) -> list[int]:
    """The passages with most of these terms, rare ones counting for more: to score all that have
    one would take five times as long.
    """
    import numpy as np  # here, because it costs 40 ms and a small index needs none

    passages = _count_passages(connection)
    weights = np.zeros(last_passage(connection) + 1, np.float32)
    for term in terms:
        sql = "SELECT group_concat(rowid) FROM passages_fts WHERE passages_fts MATCH ?"
        weights[_ids(connection, sql, term)] += _rarity(counts[term], passages)
    found = np.flatnonzero(weights)
    if scopes is not None:
        is_there = in_list("scope_id", scopes)
        sql = f"SELECT group_concat(id) FROM passages WHERE {is_there}"
        found = found[np.isin(found, _ids(connection, sql))]
    if len(found) > LIKELIEST:
        least = np.partition(weights[found], -LIKELIEST)[-LIKELIEST]
        found = found[weights[found] >= least]
    likeliest: list[int] = found.tolist()
    return likeliest


def _ids(connection: sqlite3.Connection, sql: str, *parameters: str) -> Ids:
    """The ids that a statement returns joined by commas, as an array: one row for each would take
    four times as long.
    """
    import numpy as np  # here, as above

    return np.fromstring(value(connection, sql, parameters) or "0", np.int64, sep=",")


def _whole_words(terms: Sequence[str]) -> list[str]:
    """The words among pairs of letters, to be asked for once more: a word of three letters is asked
    for by two pairs.
    """
    words = [term for term in terms if not is_pair(term.strip('"*'))]
    return words if len(words) < len(terms) else []


def _most_terms(query: str) -> int:
    return MAX_PAIRS if runs(query) else MAX_OR


def _rarest(
    connection: sqlite3.Connection, counts: dict[str, int], most: int, postings: int
) -> list[str]:
    """The rarest terms, with so many postings together, without those that stand everywhere: these
    say next to nothing.
    """
    found = sorted((count, term) for term, count in counts.items() if count)[:most]
    if not found or found[-1][0] < COMMON_FROM:  # counting goes over the whole table
        return [term for _, term in found]
    many = max(COMMON_FROM, COMMON_SHARE * _count_passages(connection))
    kept: list[str] = []
    taken = 0  # postings of those that are kept
    for at, (count, term) in enumerate(found):
        is_dear = taken + count > postings
        is_common = at >= LEAST_OR and count >= many
        if not kept or not (is_dear or is_common):
            kept.append(term)
            taken += count
    return kept


def _any_of(spellings: tuple[str, ...]) -> str:
    # a quoted string is a phrase of plain words, whatever stands in it
    quoted = [
        '"{}"{}'.format(spelling.replace('"', '""'), "*" * is_single(spelling))
        for spelling in spellings
    ]
    return quoted[0] if len(quoted) == 1 else f"({' OR '.join(quoted)})"


def _counts(connection: sqlite3.Connection, terms: Sequence[str]) -> dict[str, int]:
    """How many passages have each term; a question asks for the same ones more than once."""
    known = _count_cache(*state(connection))
    for term in terms:
        if term not in known:
            known[term] = _count(connection, term)
    return {term: known[term] for term in terms}


@functools.lru_cache(maxsize=8)
def _count_cache(_database: str, _version: int) -> dict[str, int]:
    """What was counted in this state of a database: with a change of its passages it is another
    one.
    """
    return {}


def _count_passages(connection: sqlite3.Connection) -> int:
    """How many passages there are, counted once in a state of the database."""
    known = _count_cache(*state(connection))
    if _ALL not in known:
        known[_ALL] = count_passages(connection)
    return known[_ALL]


def _scope_fraction(
    connection: sqlite3.Connection, scopes: Sequence[int] | None
) -> float:
    """The part of all passages that is in these scopes, 0..1."""
    if scopes is None:
        return 1.0
    sql = f"SELECT count(*) FROM passages WHERE {in_list('scope_id', scopes)}"
    return int(value(connection, sql)) / (_count_passages(connection) or 1)


def _count(connection: sqlite3.Connection, term: str) -> int:
    """How many passages have a term, MOST_COUNTED at most."""
    sql = "SELECT count(*) FROM (SELECT 1 FROM passages_fts WHERE passages_fts MATCH ? LIMIT ?)"
    return int(value(connection, sql, (term, MOST_COUNTED)))


def _matches(
    connection: sqlite3.Connection,
    expression: str,
    scopes: Sequence[int] | None,
    limit: int,
) -> dict[int, float]:
    """Passage → BM25 with the table's weights, turned so that higher is better."""
    if scopes is not None:
        expression = (
            f"({expression}) AND scope_word : "
            f"({' OR '.join(f'zs{scope}' for scope in scopes)})"
        )
    sql = "SELECT rowid, -rank FROM passages_fts WHERE passages_fts MATCH ? ORDER BY rank LIMIT ?"
    return dict(connection.execute(sql, (expression, limit)).fetchall())


def memory_scores(
    connection: sqlite3.Connection, query: str, memories: Sequence[str]
) -> dict[str, float]:
    """How much of the query each of these memories speaks of as a whole: BM25, where a word counts
    once for each passage that has it.

    A word that nearly every passage has says next to nothing and is not looked up.
    """
    terms = [_any_of(spellings) for spellings in query_terms(query)]
    counts = _counts(connection, terms)
    owners = _owners(connection, memories)
    lengths = Counter(owners.values())
    average_length = len(owners) / (len(lengths) or 1)
    passages = _count_passages(connection)
    scores = dict.fromkeys(lengths, 0.0)
    for term in _rarest(connection, counts, _most_terms(query), MOST_SCORED):
        weight = _rarity(counts[term], passages)
        for memory, frequency in _term_frequencies(connection, term, owners).items():
            relative_length = (
                1.0 - LENGTH_SHARE + LENGTH_SHARE * lengths[memory] / average_length
            )
            scores[memory] += (
                weight * frequency / (frequency + SATURATION * relative_length)
            )
    return scores


def _rarity(count: int, passages: int) -> float:
    """What a term weighs that so many of the passages have."""
    return math.log(1.0 + passages / (1.0 + count))


def _owners(connection: sqlite3.Connection, memories: Sequence[str]) -> dict[int, str]:
    """The memory (id) of each of their passages."""
    rows = rows_in(
        connection,
        "SELECT p.id, m.id FROM memories m JOIN passages p ON p.memory = m.key"
        " WHERE m.id IN ({placeholders})",
        memories,
    )
    return dict(rows)


def _term_frequencies(
    connection: sqlite3.Connection, term: str, owners: Mapping[int, str]
) -> Counter[str]:
    """How many passages of each memory have a term."""
    found = _matches_among(connection, "rowid", f"{_OWN} : ({term})", [*owners])
    return Counter(owners[passage] for (passage,) in found)


def _matches_among(
    connection: sqlite3.Connection,
    columns: str,
    expression: str,
    passages: Sequence[int],
) -> list[Any]:
    """Columns of the passages that match and are among these."""
    # with the plus SQLite goes over the matches once, not once for each of these
    sql = (
        f"SELECT {columns} FROM passages_fts WHERE passages_fts MATCH ?"
        " AND +rowid IN (SELECT value FROM json_each(?))"
    )
    return connection.execute(sql, (expression, json.dumps(passages))).fetchall()
