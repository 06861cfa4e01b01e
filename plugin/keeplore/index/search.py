"""Full text: a person's words → an FTS5 query that cannot fail and does not score every passage there is."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from keeplore.index.rows import Allowed, Match
from keeplore.index.words import query_terms

MAX_OR = 8  # terms; FTS5 scores every posting of every term, so the time grows with each common one


def text_search(connection: sqlite3.Connection, query: str, allowed: Allowed, limit: int) -> list[Match]:
    """Passages with all the words of the query, then passages with some of its rarest ones, best first."""
    terms = [_any_of(spellings) for spellings in query_terms(query)]
    scopes = scope_ids(connection, allowed)
    if not terms or scopes == [] or limit < 1:
        return []
    counts = {term: _count(connection, term) for term in terms}
    rarest = sorted((term for term in terms if counts[term]), key=lambda term: (counts[term], term))[:MAX_OR]
    if not rarest:
        return []
    found: dict[int, float] = {}
    if len(rarest) == len(terms):
        found = _matches(connection, " AND ".join(rarest), scopes, limit)
    if len(found) < limit and (len(rarest) > 1 or not found):
        found = {**_matches(connection, " OR ".join(rarest), scopes, limit), **found}
    best = sorted(found.items(), key=lambda match: (-match[1], match[0]))
    return [Match(passage, score) for passage, score in best[:limit]]


def scope_ids(connection: sqlite3.Connection, allowed: Allowed) -> list[int] | None:
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
    row = connection.execute("SELECT count(*) FROM passages_fts WHERE passages_fts MATCH ?", (term,)).fetchone()
    return int(row[0])


def _matches(
    connection: sqlite3.Connection, expression: str, scopes: Sequence[int] | None, limit: int
) -> dict[int, float]:
    """Passage → BM25 with the table's weights, turned so that higher is better."""
    if scopes is None:
        sql = "SELECT rowid, -rank FROM passages_fts WHERE passages_fts MATCH ? ORDER BY rank LIMIT ?"
    else:
        allowed = in_list("passages.scope_id", scopes)
        sql = (
            "SELECT passages_fts.rowid, -passages_fts.rank FROM passages_fts"  # noqa: S608  # numbers of our own
            " CROSS JOIN passages ON passages.id = passages_fts.rowid"
            f" WHERE passages_fts MATCH ? AND {allowed} ORDER BY passages_fts.rank LIMIT ?"
        )
    return {int(passage): float(score) for passage, score in connection.execute(sql, (expression, limit))}
