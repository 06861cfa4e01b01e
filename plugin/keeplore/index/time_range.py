"""What was said or written in a time, whatever its words."""

from __future__ import annotations

import sqlite3

from keeplore.index.full_text import in_list, scope_ids
from keeplore.index.queries import passage_rows
from keeplore.index.rows import PassageRow, ScopeFilter

_AFTER_ALL = "~"  # behind a day or a moment it comes after every moment that begins so


def said_between(
    connection: sqlite3.Connection, allowed: ScopeFilter, first: str, last: str, limit: int
) -> list[PassageRow]:
    """Of the memories of a time the newest ``limit``: their heads and sections, and what was said
    within.

    ``first`` and ``last`` are days or moments (RFC 3339), both within; ``first`` "" for the
    beginning. A conversation is of every day that it lasted, any other memory of the days when it
    was made and last changed.
    """
    scopes = in_list("scope_id", scope_ids(connection, allowed))
    until = last + _AFTER_ALL
    ids = connection.execute(
        "SELECT p.id FROM passages p JOIN ("  # our own words
        "  SELECT key FROM memories"
        f"   WHERE {scopes} AND updated_at >= ? AND created_at < ?"
        "    AND (kind = 'conversation' OR created_at >= ? OR updated_at < ?)"
        "   ORDER BY updated_at DESC, id LIMIT ?"
        ") m ON p.memory = m.key"
        " WHERE p.kind != 'exchange' OR (p.at >= ? AND p.at < ?) ORDER BY p.id",
        (first, until, first, until, limit, first, until),
    )
    return passage_rows(connection, [int(id_) for (id_,) in ids])
