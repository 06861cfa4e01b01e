"""What is asked of the rows of memories: what they are, which there are, how they are linked."""

from __future__ import annotations

import itertools
import re
import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from keeplore.index.database import IndexDatabase
from keeplore.index.rows import MemoryFilter, MemoryRow, PassageRow
from keeplore.index.sql import (
    column,
    escaped_like,
    in_list,
    placeholders,
    rows_in,
    scope_ids,
    value,
)
from keeplore.memory.chains import Chain, ChainPosition, chain_positions, chains
from keeplore_hooks.contracts import ScopeFilter

MOST_MEANT = 20  # memories that a reference may mean
_AFTER_ALL = "~"  # behind a day or a moment it comes after every moment that begins so
_MEMORIES = (
    "SELECT m.id, m.path, m.title, m.kind, s.scope, s.project, m.category, m.created_at,"
    " m.updated_at, m.permanent, m.trust, m.session, m.host, m.machine, m.is_open, m.is_archived"
    " FROM memories m JOIN scopes s ON s.id = m.scope_id WHERE"
)
# Two files may carry one id: a copy, or a move that is half done. What is not archived counts, then
# the file whose name carries the id, then what is newer: `Store.find` and `memory.lint` choose the
# same one.
_RANK = (
    "(1 - m.is_archived, m.path LIKE '%-' || substr(m.id, 5, 8) || '.md' OR m.path LIKE '%/' || "
    "m.id || '.md', m.updated_at, m.path)"
)
_IS_FIRST = (
    "NOT EXISTS (SELECT 1 FROM memories b WHERE b.id = m.id AND "
    f"{_RANK.replace('m.', 'b.')} > {_RANK})"
)
_PASSAGES = (
    "SELECT p.id, m.id, m.path, p.kind, p.turn, p.at, p.head || p.body, m.title,"
    " (SELECT count(*) FROM passages o WHERE o.memory = p.memory) FROM passages p"
    " JOIN memories m ON m.key = p.memory WHERE"
)
_SUPERSEDING = (
    "SELECT m.id, l.target FROM links l JOIN memories m ON m.key = l.memory WHERE "
    "l.relationship = 'supersedes'"
)


def passage_rows(
    connection: sqlite3.Connection, ids: Sequence[int]
) -> list[PassageRow]:
    """The passages with these ids, in this order; one that is gone is left out."""
    rows = rows_in(connection, f"{_PASSAGES} p.id IN ({{placeholders}})", ids)
    found = {row[0]: PassageRow(*row) for row in rows}
    return [found[id_] for id_ in ids if id_ in found]


def passages_of(
    connection: sqlite3.Connection, memory_id: str, kinds: Collection[str]
) -> list[PassageRow]:
    """The passages of a memory that are of these kinds, in their order."""
    wanted = sorted(kinds)
    sql = f"{_PASSAGES} m.id = ? AND p.kind IN ({placeholders(wanted)}) ORDER BY p.id"
    return [PassageRow(*row) for row in connection.execute(sql, (memory_id, *wanted))]


def memory_rows(
    connection: sqlite3.Connection, ids: Sequence[str]
) -> dict[str, MemoryRow]:
    """The memories with these ids; of two files with one id, the one that counts."""
    heads = chain_positions(chains_of(connection, ids))
    rows = rows_in(
        connection, f"{_MEMORIES} m.id IN ({{placeholders}}) AND {_IS_FIRST}", ids
    )
    return {row[0]: _memory_row(row, heads) for row in rows}


def path_of(connection: sqlite3.Connection, memory_id: str) -> str | None:
    """The path of a file with this id, None without one."""
    path: str | None = value(
        connection, "SELECT path FROM memories WHERE id = ?", (memory_id,)
    )
    return path


def known_turns(connection: sqlite3.Connection, ids: Iterable[str]) -> dict[str, str]:
    """Turn → memory that holds its words; of several the one with the smallest id."""
    rows = rows_in(
        connection,
        "SELECT t.turn, min(m.id) FROM turns t JOIN memories m ON m.key = t.memory"
        " WHERE t.turn IN ({placeholders}) GROUP BY t.turn",
        list(ids),
    )
    return dict(rows)


def problems(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    """Path and message of every file that is not as it should be, sorted by path."""
    damaged = connection.execute(
        "SELECT path, problem FROM files WHERE problem != ''"
    ).fetchall()
    duplicates = connection.execute(
        "SELECT m.path, f.path FROM memories m JOIN memories f ON f.id = m.id AND f.key != m.key"
        f" WHERE NOT {_IS_FIRST} AND {_IS_FIRST.replace('m.', 'f.')}"
    )
    message = (
        "its id is that of {}, which is used; delete this one or give it another id"
    )
    unused = [(path, message.format(used)) for path, used in duplicates]
    return sorted([*damaged, *unused])


def count_unreadable(connection: sqlite3.Connection) -> int:
    """How many markdown files hold no memory that can be read."""
    sql = (
        "SELECT count(*) FROM files WHERE path LIKE '%.md' AND problem != ''"
        " AND path NOT IN (SELECT path FROM memories)"
    )
    return int(value(connection, sql))


def count_memories(connection: sqlite3.Connection) -> int:
    return int(value(connection, "SELECT count(DISTINCT id) FROM memories"))


def all_chains(connection: sqlite3.Connection) -> list[Chain]:
    """Every chain of memories that replaced one another."""
    return _chains_of_links(connection, connection.execute(_SUPERSEDING))


def versions(connection: sqlite3.Connection, memory_id: str) -> tuple[str, ...]:
    """The members of the chain that a memory takes part in, oldest first."""
    for chain in chains_of(connection, [memory_id]):
        if memory_id in chain.members:
            return chain.members
    return ()


def superseded(connection: sqlite3.Connection, ids: Iterable[str]) -> set[str]:
    """The ids, among these, of memories for which a newer version stands."""
    asked = set(ids)
    heads = chain_positions(chains_of(connection, asked))
    return {id_ for id_ in asked if not _is_head(heads, id_)}


def chains_of(connection: sqlite3.Connection, ids: Iterable[str]) -> list[Chain]:
    """The chains that these memories take part in, link by link: of all others nothing is read."""
    found: set[tuple[str, str]] = set()
    known: set[str] = set()
    waiting = set(ids)
    while waiting:
        known |= waiting
        asked = sorted(waiting)
        new: set[tuple[Any, ...]] = set()
        for end in ("m.id", "l.target"):
            new.update(
                rows_in(
                    connection, f"{_SUPERSEDING} AND {end} IN ({{placeholders}})", asked
                )
            )
        found.update((newer, older) for newer, older in new)
        waiting = {id_ for pair in new for id_ in pair} - known
    return _chains_of_links(connection, found)


def _chains_of_links(
    connection: sqlite3.Connection, links: Iterable[tuple[str, str]]
) -> list[Chain]:
    """The chains that "newer supersedes older" links make, with the ages of their members."""
    supersedes: dict[str, list[str]] = {}
    for newer, older in links:
        supersedes.setdefault(newer, []).append(older)
    named = sorted(set(supersedes).union(*supersedes.values()))
    ages: dict[str, tuple[str, str]] = {}
    sql = "SELECT id, created_at FROM memories WHERE id IN ({placeholders})"
    for id_, created_at in rows_in(connection, sql, named):
        ages[id_] = max(ages.get(id_, ("", "")), (created_at, id_))
    return chains(supersedes, ages)


def dangling_links(connection: sqlite3.Connection) -> list[tuple[str, str, str]]:
    """Path, relationship and target of every link to a memory that does not exist, sorted."""
    return connection.execute(
        "SELECT m.path, l.relationship, l.target FROM links l JOIN memories m ON m.key = l.memory"
        " WHERE NOT EXISTS (SELECT 1 FROM memories t WHERE t.id = l.target) ORDER BY 1, 2, 3"
    ).fetchall()


def linking(connection: sqlite3.Connection, memory_id: str) -> list[tuple[str, str]]:
    """Relationship and id of every memory that names this one, sorted."""
    return connection.execute(
        "SELECT DISTINCT l.relationship, m.id FROM links l JOIN memories m ON m.key = l.memory"
        " WHERE l.target = ? AND m.id != l.target ORDER BY 1, 2",
        (memory_id,),
    ).fetchall()


def links_of_kind(
    connection: sqlite3.Connection, relationship: str
) -> list[tuple[str, str]]:
    """Memory and target of every link of this relationship, sorted."""
    return connection.execute(
        "SELECT DISTINCT m.id, l.target FROM links l JOIN memories m ON m.key = l.memory"
        " WHERE l.relationship = ? ORDER BY 1, 2",
        (relationship,),
    ).fetchall()


def listed(
    connection: sqlite3.Connection,
    wanted: MemoryFilter,
    keep: Callable[[MemoryRow], bool] = lambda _: True,
) -> list[MemoryRow]:
    """Memories that fit and are to be kept, the one changed last first."""
    heads = chain_positions(all_chains(connection))
    condition, values = _filter_condition(connection, wanted)
    rows = connection.execute(
        f"{_MEMORIES} {condition} ORDER BY m.updated_at DESC, m.id",  # our own words
        values,
    )
    current = (row for row in rows if wanted.superseded or _is_head(heads, row[0]))
    kept = filter(keep, (_memory_row(row, heads) for row in current))
    return list(itertools.islice(kept, wanted.limit))


def count_listed(connection: sqlite3.Connection, wanted: MemoryFilter) -> int:
    """How many memories fit, whatever the limit."""
    condition, values = _filter_condition(connection, wanted)
    ids = column(connection, f"SELECT m.id FROM memories m WHERE {condition}", values)
    if wanted.superseded:
        return len(ids)
    heads = chain_positions(all_chains(connection))
    return sum(_is_head(heads, id_) for id_ in ids)


def _is_head(heads: Mapping[str, ChainPosition], memory_id: str) -> bool:
    return memory_id not in heads or not heads[memory_id].superseded_by


def _filter_condition(
    connection: sqlite3.Connection, wanted: MemoryFilter
) -> tuple[str, tuple[str, ...]]:
    """A condition on ``memories m``, and the values for its placeholders."""
    archived = {
        "without": " AND NOT m.is_archived",
        "only": " AND m.is_archived",
        "with": "",
    }
    permanent = (
        ""
        if wanted.permanent is None
        else f" AND m.permanent = {int(wanted.permanent)}"
    )
    condition = (
        f"{in_list('m.scope_id', scope_ids(connection, wanted.allowed))}"
        f"{archived[wanted.archived]}{permanent}"
        " AND ? IN ('', m.kind) AND ? IN ('', m.category) AND ? IN ('', m.session)"
        f" AND m.updated_at >= ? AND (? = '' OR m.updated_at < ?) AND {_IS_FIRST}"
    )
    before = wanted.before
    return condition, (
        wanted.kind, wanted.category, wanted.session, wanted.since, before, before
    )  # fmt: skip


def session_span(
    connection: sqlite3.Connection, allowed: ScopeFilter, number: int
) -> tuple[str, str] | None:
    """When the n-th session in these scopes began and ended, the last one for -1; None where there
    are fewer.
    """
    order, offset = ("DESC", -number - 1) if number < 0 else ("ASC", number - 1)
    row: tuple[str, str] | None = connection.execute(
        "SELECT min(created_at), max(updated_at) FROM memories WHERE kind = 'conversation'"
        f" AND {in_list('scope_id', scope_ids(connection, allowed))}"
        f" GROUP BY coalesce(nullif(session, ''), id) ORDER BY 1 {order} LIMIT 1 OFFSET ?",
        (offset,),
    ).fetchone()
    return row


def said_between(
    connection: sqlite3.Connection,
    allowed: ScopeFilter,
    first: str,
    last: str,
    limit: int,
) -> list[PassageRow]:
    """The newest ``limit`` memories of a time, by their passages: heads and sections, and what was
    said within.

    ``first`` and ``last`` are days or moments (RFC 3339), both within; ``first`` "" for the
    beginning. A conversation is of every day that it lasted, any other memory of the days when it
    was made and last changed.
    """
    scopes = in_list("scope_id", scope_ids(connection, allowed))
    until = last + _AFTER_ALL
    ids = column(
        connection,
        "SELECT p.id FROM passages p JOIN ("  # our own words
        "  SELECT key FROM memories"
        f"   WHERE {scopes} AND updated_at >= ? AND created_at < ?"
        "    AND (kind = 'conversation' OR created_at >= ? OR updated_at < ?)"
        "   ORDER BY updated_at DESC, id LIMIT ?"
        ") m ON p.memory = m.key"
        " WHERE p.kind != 'exchange' OR (p.at >= ? AND p.at < ?) ORDER BY p.id",
        (first, until, first, until, limit, first, until),
    )
    return passage_rows(connection, ids)


def scopes(connection: sqlite3.Connection) -> tuple[tuple[str, str], ...]:
    """Every scope that there ever was memory of, with its project."""
    rows = connection.execute(
        "SELECT scope, project FROM scopes ORDER BY scope, project"
    )
    return tuple(rows.fetchall())


def referenced_memories(
    connection: sqlite3.Connection, reference: str
) -> list[MemoryRow]:
    """What an id, the beginning of one (4 digits at least), a path or a file's name may mean."""
    ids: list[str] = []
    if re.fullmatch(r"(mem_)?[0-9a-f]{4}[0-9a-f-]*", reference):
        start = f"mem_{reference.removeprefix('mem_')}"
        condition = f"id >= ? AND id < ? ORDER BY id LIMIT {MOST_MEANT}"
        sql = f"SELECT DISTINCT id FROM memories WHERE {condition}"
        ids = column(connection, sql, (start, f"{start}g"))
    if not ids:
        condition = (
            f"path = ? OR path LIKE ? ESCAPE '\\' ORDER BY id LIMIT {MOST_MEANT}"
        )
        sql = f"SELECT DISTINCT id FROM memories WHERE {condition}"
        ids = column(connection, sql, (reference, f"%/{escaped_like(reference)}"))
    return list(memory_rows(connection, ids).values())


def ids_saying(
    connection: sqlite3.Connection, content: str, scope: str, project: str
) -> list[str]:
    """Ids of the notes in a scope that say exactly what this content hash stands for."""
    return column(
        connection,
        "SELECT m.id FROM memories m JOIN scopes s ON s.id = m.scope_id"
        " WHERE m.says = ? AND s.scope = ? AND s.project = ? AND m.kind = 'note' AND NOT "
        "m.is_archived ORDER BY m.id",
        (bytes.fromhex(content), scope, project),
    )


def complete_reference(directory: Path, text: str, limit: int) -> list[tuple[str, str]]:
    """Id and title of memories, the one changed last first, for a shell's completion of ``text``.

    Their ids begin with it, or their titles hold it; superseded ones are found by the id alone. The
    index in ``directory`` may be behind; none are found where there is no index. Raises
    IndexUnavailable.
    """
    if not (directory / "index.sqlite3").exists():
        return []
    database = IndexDatabase(directory)
    try:
        return database.read(_completions, text, limit)
    finally:
        database.close()


def _completions(
    connection: sqlite3.Connection, text: str, limit: int
) -> list[tuple[str, str]]:
    digits = escaped_like(text.removeprefix("mem_"))
    id_begins = f"mem\\_{digits}%"
    title_holds = f"%{escaped_like(text)}%"
    superseded_id = id_begins if digits else ""
    return connection.execute(
        "SELECT id, title FROM memories"
        " WHERE (id LIKE ? ESCAPE '\\' OR title LIKE ? ESCAPE '\\') AND (id LIKE ? ESCAPE '\\'"
        " OR id NOT IN (SELECT target FROM links WHERE relationship = 'supersedes'))"
        " GROUP BY id ORDER BY max(updated_at) DESC, id LIMIT ?",
        (id_begins, title_holds, superseded_id, limit),
    ).fetchall()


def _memory_row(row: tuple[Any, ...], heads: Mapping[str, ChainPosition]) -> MemoryRow:
    *texts, permanent, trust, session, host, machine, is_open, is_archived = row
    place = heads.get(row[0], ChainPosition())
    flags = (bool(is_open), bool(is_archived), place.superseded_by, place.changes)
    before_flags = (*texts, bool(permanent), trust, session, host)
    values: tuple[Any, ...] = (*before_flags, *flags, machine)
    return MemoryRow(*values)
