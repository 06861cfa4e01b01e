"""Which passages say that something holds no more, by the words of what they replace."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence

from keeplore.index.passages import STATEMENTS, Passage
from keeplore.index.sql import column, in_list, rows_in, scope_ids
from keeplore.memory import Memory
from keeplore.memory.model import BELIEVED
from keeplore.text.revisions import revisions_in
from keeplore_hooks.contracts import ScopeFilter

# what others wrote puts an end to nothing
Revising = tuple[int, str]  # the number of a passage in its memory, a word


def revising_terms(memory: Memory, passages: Sequence[Passage]) -> Iterator[Revising]:
    """The words under which passages of a memory that replace something are found: those of
    decisions and of notes, and of all statements those that set a name of code's.
    """
    kinds = ("head", "section") if memory.kind == "note" else STATEMENTS
    if memory.trust not in BELIEVED:
        return
    for number, passage in enumerate(passages):
        if passage.kind in kinds:
            # a note of one sentence is its title
            said = passage.body or passage.title
            is_decided = passage.kind != "statement"
            keys = [
                revision.key
                for _, revision in revisions_in(said)
                if is_decided or revision.settings
            ]
            yield from ((number, term) for term in sorted(frozenset().union(*keys)))


def put(
    connection: sqlite3.Connection, key: int, scope_id: int, terms: Sequence[Revising]
) -> None:
    """Store the revising terms of the memory with this key, whose passages are stored already."""
    if not terms:
        return
    sql = "SELECT id FROM passages WHERE memory = ? ORDER BY id"
    ids = column(connection, sql, (key,))
    connection.executemany(
        "INSERT INTO revisions VALUES (?, ?, ?)",
        ((term, scope_id, ids[number]) for number, term in terms),
    )


def ending_of(memory: Memory) -> tuple[str, str] | None:
    """Turn and words of the statement that a note says no longer holds; None where it names
    none.
    """
    said = memory.source.get("ended")
    if memory.kind != "note" or not isinstance(said, Mapping):
        return None
    turn, words = (str(said.get(key) or "") for key in ("turn", "words"))
    return (turn, words) if turn and words and memory.trust in BELIEVED else None


def put_ending(connection: sqlite3.Connection, key: int, memory: Memory) -> None:
    """Store what this note puts an end to, for the memory with this key."""
    if ending := ending_of(memory):
        turn, words = ending
        connection.execute("INSERT INTO endings VALUES (?, ?, ?)", (turn, key, words))


def stored_ending(connection: sqlite3.Connection, key: int) -> tuple[str, str] | None:
    """The turn and words of it that this memory, a note, puts an end to; None for no such note."""
    sql = "SELECT turn, words FROM endings WHERE memory = ?"
    found: tuple[str, str] | None = connection.execute(sql, (key,)).fetchone()
    return found


def ended_statements(
    connection: sqlite3.Connection, turns: Collection[str]
) -> list[tuple[str, str]]:
    """The words from these turns that no longer hold, each with the note (id) that says so."""
    sql = (
        "SELECT e.words, m.id FROM endings e JOIN memories m ON m.key = e.memory"
        " WHERE e.turn IN ({placeholders})"
    )
    return sorted(rows_in(connection, sql, sorted(turns)))


def stored_terms(connection: sqlite3.Connection, key: int) -> tuple[Revising, ...]:
    """The stored revising terms of the memory with this key."""
    sql = (
        "SELECT (SELECT count(*) FROM passages p WHERE p.memory = ?1 AND p.id < r.passage), r.term"
        " FROM revisions r WHERE r.passage IN (SELECT id FROM passages WHERE memory = ?1)"
        " ORDER BY r.passage, r.term"
    )
    return tuple(connection.execute(sql, (key,)))


def revising(
    connection: sqlite3.Connection, allowed: ScopeFilter, terms: Collection[str]
) -> list[int]:
    """The passages (id) of these scopes that replace something with one of these words, in their
    order.
    """
    scopes = in_list("scope_id", scope_ids(connection, allowed))
    sql = f"SELECT passage FROM revisions WHERE term IN ({{placeholders}}) AND {scopes}"
    return sorted({row[0] for row in rows_in(connection, sql, sorted(terms))})
