"""Full text: a person's words → an FTS5 query that cannot fail and does not score every passage
there is.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from keeplore.index.query_terms import query_terms
from keeplore.index.sql import count_passages, scope_ids, value
from keeplore_hooks.contracts import PassageMatch, ScopeFilter

# terms that are asked for however common they are, within what may be scored
LEAST_OR = 3
COMMON_SHARE = 0.1  # of the passages
COMMON_FROM = 2000  # passages; fewer are scored in no time
MAX_OR = 8  # terms; FTS5 scores every posting of every term, so the time grows with each common one
# postings, at 1.6 µs each, so that the time does not grow with the memory; the rarest has any
MOST_SCORED = 16_000
# of one term: how common it is beyond that makes no difference
MOST_COUNTED = 5 * MOST_SCORED


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
    found = _found(connection, terms, scopes, limit)
    best = sorted(found.items(), key=lambda match: (-match[1], match[0]))
    return [PassageMatch(passage, score) for passage, score in best[:limit]]


def _found(
    connection: sqlite3.Connection,
    terms: list[str],
    scopes: list[int] | None,
    limit: int,
) -> dict[int, float]:
    """Passages with their scores, whatever their number."""
    counts = {term: _count(connection, term) for term in terms}
    rarest = _rarest(connection, counts)
    found: dict[int, float] = {}
    if rarest and len(terms) <= MAX_OR and all(counts.values()):
        # cheap also with common ones: the rarest leads
        found = _matches(connection, " AND ".join(terms), scopes, limit)
    if len(found) < limit and (len(rarest) > 1 or (rarest and not found)):
        found = {**_matches(connection, " OR ".join(rarest), scopes, limit), **found}
    return found


def _rarest(connection: sqlite3.Connection, counts: dict[str, int]) -> list[str]:
    """The rarest terms, without those that stand everywhere and are dear to score: these say next
    to nothing.
    """
    found = sorted((count, term) for term, count in counts.items() if count)[:MAX_OR]
    if not found or found[-1][0] < COMMON_FROM:  # counting goes over the whole table
        return [term for _, term in found]
    many = max(COMMON_FROM, COMMON_SHARE * count_passages(connection))
    kept: list[str] = []
    scored = 0  # postings of those that are kept
    for at, (count, term) in enumerate(found):
        is_dear = scored + count > MOST_SCORED
        is_common = at >= LEAST_OR and count >= many
        if not kept or not (is_dear or is_common):
            kept.append(term)
            scored += count
    return kept


def _any_of(spellings: tuple[str, ...]) -> str:
    # a quoted string is a phrase of plain words, whatever stands in it
    quoted = ['"{}"'.format(spelling.replace('"', '""')) for spelling in spellings]
    return quoted[0] if len(quoted) == 1 else f"({' OR '.join(quoted)})"


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
