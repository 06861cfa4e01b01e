"""Full text: a person's words → an FTS5 query that cannot fail and does not score every passage
there is.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from keeplore.index.query_terms import query_terms
from keeplore.index.rows import PassageMatch, ScopeFilter

LEAST_OR = 3  # terms that are asked for however common they are, within what may be scored
COMMON_SHARE = 0.1  # of the passages
COMMON_FROM = 2000  # passages; fewer are scored in no time
MAX_OR = 8  # terms; FTS5 scores every posting of every term, so the time grows with each common one
# postings, at 1.6 µs each, so that the time does not grow with the memory; the rarest has any
MOST_SCORED = 16_000
MOST_COUNTED = 5 * MOST_SCORED  # of one term: how common it is beyond that makes no difference


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
    counts = {term: _count(connection, term) for term in terms}
    rarest = _telling(connection, counts)
    if not rarest:
        return []
    found: dict[int, float] = {}
    if len(terms) <= MAX_OR and all(
        counts.values()
    ):  # cheap also with common ones: the rarest leads
        found = _matches(connection, " AND ".join(terms), scopes, limit)
    if len(found) < limit and (len(rarest) > 1 or not found):
        found = {**_matches(connection, " OR ".join(rarest), scopes, limit), **found}
    best = sorted(found.items(), key=lambda match: (-match[1], match[0]))
    return [PassageMatch(passage, score) for passage, score in best[:limit]]


def _telling(connection: sqlite3.Connection, counts: dict[str, int]) -> list[str]:
    """The rarest terms, without those that stand everywhere and are dear to score: these say next
    to nothing.
    """
    found = sorted(
        (term for term in counts if counts[term]), key=lambda term: (counts[term], term)
    )[:MAX_OR]
    if (
        max((counts[term] for term in found), default=0) < COMMON_FROM
    ):  # counting goes over the whole table
        return found
    many = max(COMMON_FROM, COMMON_SHARE * _passages(connection))
    kept: list[str] = []
    for at, term in enumerate(found):
        is_dear = sum(map(counts.__getitem__, kept)) + counts[term] > MOST_SCORED
        if not kept or not (is_dear or (at >= LEAST_OR and counts[term] >= many)):
            kept.append(term)
    return kept


def _passages(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT count(*) FROM passages").fetchone()[0])


def scope_ids(connection: sqlite3.Connection, allowed: ScopeFilter) -> list[int] | None:
    """The scopes of the index that are allowed; None for all of them."""
    if not allowed.scopes:
        return None
    wanted = set(allowed.scopes)
    rows = connection.execute("SELECT id, scope, project FROM scopes")
    return [id_ for id_, scope, project in rows if (scope, project) in wanted]


def in_list(column: str, ids: Sequence[int] | None) -> str:
    """A condition on whole numbers of our own; ``1`` where everything is allowed."""
    return "1" if ids is None else f"{column} IN ({', '.join(map(str, ids))})"


def _any_of(spellings: tuple[str, ...]) -> str:
    # a quoted string is a phrase of plain words, whatever stands in it
    quoted = ['"{}"'.format(spelling.replace('"', '""')) for spelling in spellings]
    return quoted[0] if len(quoted) == 1 else f"({' OR '.join(quoted)})"


def _count(connection: sqlite3.Connection, term: str) -> int:
    sql = "SELECT count(*) FROM (SELECT 1 FROM passages_fts WHERE passages_fts MATCH ? LIMIT ?)"
    return int(connection.execute(sql, (term, MOST_COUNTED)).fetchone()[0])


def _matches(
    connection: sqlite3.Connection, expression: str, scopes: Sequence[int] | None, limit: int
) -> dict[int, float]:
    """Passage → BM25 with the table's weights, turned so that higher is better."""
    if scopes is not None:
        expression = (
            f"({expression}) AND scope_word : ({' OR '.join(f'zs{scope}' for scope in scopes)})"
        )
    sql = "SELECT rowid, -rank FROM passages_fts WHERE passages_fts MATCH ? ORDER BY rank LIMIT ?"
    return {
        int(passage): float(score)
        for passage, score in connection.execute(sql, (expression, limit))
    }
