"""What use has shown: rows of the machines' counters, and the weight of a memory that they come to
together.

A memory is weighed by its aspects, each with the counters of all memories that share it; one
without aspects is its own. Versions of one memory share theirs. Rows belong to the file of the
machine that counted; sums are made when asked.
"""

from __future__ import annotations

import itertools
import json
import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from statistics import fmean

from keeplore.config.feedback_settings import FeedbackSettings
from keeplore.index.memory_queries import chains_of
from keeplore.index.sql import column, rows_in
from keeplore.memory.feedback_counters import FOLDER, UsageCounters, total

MOST_SHARING = 200  # memories of one aspect whose counters are looked at
_Aspect = tuple[int, int, str]  # of a scope and an entity, by their ids


def put(
    connection: sqlite3.Connection, path: str, tallies: Mapping[str, UsageCounters]
) -> None:
    """Store what a machine's file says, which ``drop`` has taken out before."""
    connection.executemany(
        "INSERT INTO feedback VALUES (?, ?, ?, ?, ?)",
        (
            (
                path,
                id_,
                tally.used,
                tally.last,
                json.dumps(dict(tally.idle), sort_keys=True),
            )
            for id_, tally in sorted(tallies.items())
        ),
    )


def drop(connection: sqlite3.Connection, path: str) -> None:
    connection.execute("DELETE FROM feedback WHERE path = ?", (path,))


def is_feedback(path: str) -> bool:
    return path.startswith(f"{FOLDER}/")


def count_uses(connection: sqlite3.Connection) -> tuple[int, int]:
    """How often memories that still exist were of use, once a session and memory; and how many
    memories that were.
    """
    row = connection.execute(
        "SELECT sum(used), count(DISTINCT memory) FROM feedback WHERE used > 0 AND memory IN "
        "(SELECT id FROM memories)"
    ).fetchone()
    return int(row[0] or 0), int(row[1])


def weights(
    connection: sqlite3.Connection,
    ids: Sequence[str],
    now: datetime,
    rates: FeedbackSettings,
) -> dict[str, float]:
    """The weight of each memory of which anything is known; 1.0, which is neutral, is left out."""
    if (
        not ids
        or connection.execute("SELECT 1 FROM feedback LIMIT 1").fetchone() is None
    ):
        return {}
    today = now.astimezone(UTC).date()
    groups = _groups(connection, _versions(connection, ids))
    shared = itertools.chain.from_iterable(groups.values())
    known = _counters_by_memory(connection, frozenset[str]().union(*shared))
    if not known:
        return {}
    found = {
        id_: fmean(weight(_total_of(known, group), today, rates) for group in own)
        for id_, own in groups.items()
    }
    return {id_: value for id_, value in found.items() if value != 1.0}


def counters(connection: sqlite3.Connection, memory_id: str) -> UsageCounters:
    """What its weight comes from: its own counters with those of its versions and of what shares
    its aspects, each memory once.
    """
    [groups] = _groups(connection, _versions(connection, [memory_id])).values()
    members = frozenset[str]().union(*groups)
    return _total_of(_counters_by_memory(connection, members), members)


def _total_of(
    known: Mapping[str, UsageCounters], group: Iterable[str]
) -> UsageCounters:
    return total(known[member] for member in group if member in known)


def weight(tally: UsageCounters, today: date, rates: FeedbackSettings) -> float:
    """What counters come to: use adds, and sessions that were told of it for nothing let it fade.

    A memory that nobody was told of keeps what it has: that nobody needed it says nothing about it.
    """
    earned = min(1.0 + rates.delta * tally.used, rates.ceiling)
    until = today.isoformat()
    days = sorted(day for day in tally.idle if day <= until)
    start = min(tally.last, until) or min(days, default="")
    if not start:
        return max(earned, rates.floor)
    try:
        graced = _day_after(start, rates.grace_days)
    except (ValueError, OverflowError):  # 2026-02-31, written by hand
        return earned
    idle = sum(tally.idle[day] for day in days if day > graced)
    return max(earned * rates.fade ** (idle // rates.every), rates.floor)


def _day_after(day: str, days: int) -> str:
    """The day that many days later. Raises ValueError for text that is not a date."""
    return (date.fromisoformat(day) + timedelta(days=days)).isoformat()


def _versions(
    connection: sqlite3.Connection, ids: Iterable[str]
) -> dict[str, frozenset[str]]:
    """Each memory with all that it replaced or that replaced it."""
    chains = {
        member: frozenset(chain.members)
        for chain in chains_of(connection, ids)
        for member in chain.members
    }
    return {id_: chains.get(id_, frozenset((id_,))) for id_ in ids}


def _groups(
    connection: sqlite3.Connection, versions: Mapping[str, frozenset[str]]
) -> dict[str, list[frozenset[str]]]:
    """Memory → for each of its aspects, the memories that share it; where it has no aspect, its
    versions alone.
    """
    own = _aspects(connection, frozenset[str]().union(*versions.values()))
    named = set[_Aspect]().union(*own.values())
    sharing = {aspect: _memories_with_aspect(connection, aspect) for aspect in named}
    groups = {}
    for id_, same in versions.items():
        aspects = set[_Aspect]().union(*(own.get(member, ()) for member in same))
        groups[id_] = [same | sharing[aspect] for aspect in sorted(aspects)] or [same]
    return groups


def _aspects(
    connection: sqlite3.Connection, memories: frozenset[str]
) -> dict[str, set[_Aspect]]:
    sql = (
        "SELECT m.id, m.scope_id, a.name, a.aspect FROM memories m"
        " JOIN aspects a ON a.memory = m.key WHERE m.id IN ({placeholders})"
    )
    found: dict[str, set[_Aspect]] = {}
    for memory, scope, name, aspect in rows_in(connection, sql, sorted(memories)):
        found.setdefault(memory, set()).add((scope, name, aspect))
    return found


def _memories_with_aspect(
    connection: sqlite3.Connection, aspect: _Aspect
) -> frozenset[str]:
    sql = (
        "SELECT m.id FROM aspects a JOIN memories m ON m.key = a.memory WHERE m.scope_id = ?"
        " AND a.name = ? AND a.aspect = ? ORDER BY m.updated_at DESC, m.id LIMIT ?"
    )
    return frozenset(column(connection, sql, (*aspect, MOST_SHARING)))


def _counters_by_memory(
    connection: sqlite3.Connection, ids: Collection[str]
) -> Mapping[str, UsageCounters]:
    """What all machines have counted together."""
    found: dict[str, list[UsageCounters]] = {}
    sql = (
        "SELECT memory, used, last, idle FROM feedback WHERE memory IN ({placeholders})"
    )
    for memory, used, last, idle in rows_in(connection, sql, sorted(ids)):
        days = json.loads(idle) if idle != "{}" else {}
        found.setdefault(memory, []).append(UsageCounters(used, last, days))
    return {memory: total(tallies) for memory, tallies in found.items()}
