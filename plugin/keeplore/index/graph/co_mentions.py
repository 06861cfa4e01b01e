"""What is near: what else the memories of an entity mention, where no relation is stated; and names
spelt alike.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Sequence
from difflib import get_close_matches

from keeplore.index.graph.graph_values import canonical_name
from keeplore.index.sql import column, in_list, rows_in, scope_ids
from keeplore_hooks.contracts import ScopeFilter

# names, the most mentioned: comparing them takes a fraction of a second
COMPARED = 10_000
LONGER = 4  # letters that another spelling may have more or less


def co_mentioned(
    connection: sqlite3.Connection, memories: Sequence[str], limit: int, at_least: int
) -> list[tuple[str, int]]:
    """The names of entities that at least so many of these memories mention, each with their
    number, the closest first.

    Close is what is seldom mentioned elsewhere: ordered by n² / mentions, as the cosine of two sets
    of memories is.
    """
    shared: Counter[str] = Counter()
    mentions: dict[str, int] = {}
    sql = (
        "SELECT n.name, n.mentions, count(DISTINCT m.id) FROM memories m"
        " JOIN mentions x ON x.memory = m.key JOIN names n ON n.id = x.name"
        " WHERE m.id IN ({placeholders}) AND n.defined > 0 GROUP BY n.id"
    )
    for name, total, number in rows_in(connection, sql, memories):
        shared[name] += number
        mentions[name] = total
    enough = [(name, number) for name, number in shared.items() if number >= at_least]
    enough.sort(key=lambda item: (-(item[1] ** 2) / max(1, mentions[item[0]]), item[0]))
    return enough[:limit]


def mention_counts(
    connection: sqlite3.Connection, allowed: ScopeFilter, limit: int
) -> list[tuple[str, int]]:
    """The names of entities in the memories of these scopes, each with the number of memories, the
    most mentioned first.
    """
    return connection.execute(
        "SELECT n.name, count(*) FROM mentions x JOIN names n ON n.id = x.name"  # ours
        f" WHERE n.defined > 0 AND {in_list('x.scope_id', scope_ids(connection, allowed))}"
        " GROUP BY n.id ORDER BY count(*) DESC, n.name LIMIT ?",
        (limit,),
    ).fetchall()


def similar_names(connection: sqlite3.Connection, name: str, limit: int) -> list[str]:
    """Names of what is known that are spelt much like this one, the most alike first, then those
    that hold it.
    """
    wanted = canonical_name(name)
    names = column(
        connection,
        "SELECT name FROM names WHERE defined > 0 AND (abs(length(name) - ?) <= ?"
        " OR instr(name, ?)) ORDER BY mentions DESC, name LIMIT ?",
        (len(wanted), LONGER, wanted, COMPARED),
    )
    holding = [found for found in names if wanted and wanted in found]
    return list(dict.fromkeys([*get_close_matches(wanted, names, limit), *holding]))[
        :limit
    ]
