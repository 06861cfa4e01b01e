"""The rows of the graph: what each file says of it, and where in all texts the known names stand.

What a file says itself is stored with the file. That a name of one file stands in the words of
another is found after that, a few memories at a time: those that are new, and those in which a name
stands that there was not before or is no more. They are found by the full text, so that a new name
costs what it is mentioned, not what there is.
"""

from __future__ import annotations

import itertools
import json
import re
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from keeplore.index.graph import feedback_weights
from keeplore.index.graph.definitions import definitions_in, place_of
from keeplore.index.graph.evidence import aspects_of, mentions_of, relations_of
from keeplore.index.graph.graph_values import (
    TYPES,
    Definition,
    EntityAspect,
    EntityRelation,
    Mention,
)
from keeplore.index.graph.linker import UNSPACED, first_word, first_words, names_in
from keeplore.index.sql import column, rows_in, value
from keeplore.memory import Memory
from keeplore.memory.feedback_counters import UsageCounters, parse

LINKED_AT_ONCE = 200  # memories in one transaction
TURNED_AT_ONCE = 200  # names whose texts are looked up in one transaction
# the rows of one file, or of one memory
_RELATIONS = (
    "SELECT s.name, relationship, t.name, confidence FROM relations JOIN names s ON s.id = source"
    " JOIN names t ON t.id = target WHERE path = ?"
)
_DEFINITIONS = (
    "SELECT place, n.name, spelling, type, e.name FROM definitions d"
    " JOIN names n ON n.id = d.name JOIN names e ON e.id = d.entity WHERE path = ?"
)
_MENTIONS = (
    "SELECT n.name, spelling, count, type, is_word FROM mentions m"
    " JOIN names n ON n.id = m.name WHERE memory = ? AND NOT is_linked"
)
_LINKED = (
    "SELECT n.name, spelling, count FROM mentions m"
    " JOIN names n ON n.id = m.name WHERE memory = ? AND is_linked"
)
_ASPECTS = (
    "SELECT n.name, aspect, kind, type FROM aspects a JOIN names n ON n.id = a.name"
    " WHERE memory = ?"
)
_NOT_TURNED = "FROM names WHERE (wordy > 0) != was_wordy"
_T = TypeVar("_T")
# of what a mention shows
CODES = {"": 0, **{type_: code for code, type_ in enumerate(TYPES, 1)}}
MILLION = 1_000_000  # of a confidence


@dataclass(frozen=True, slots=True)
class FileShare:
    """What one file gives to the graph, each thing once."""

    place: str = ""  # project, "" for what all inherit
    mentions: tuple[Mention, ...] = ()
    relations: tuple[EntityRelation, ...] = ()
    aspects: tuple[EntityAspect, ...] = ()
    definitions: tuple[Definition, ...] = ()
    # of what was of use, by memory
    tallies: Mapping[str, UsageCounters] = field(default_factory=dict)


NOTHING = FileShare()
StatedRows = dict[
    str, list[tuple[object, ...]]
]  # SELECT → the rows that it should give


def share_of(memory: Memory, place: str) -> FileShare:
    """The share of a memory of this place."""
    found = (
        tuple(mentions_of(memory)),
        tuple(relations_of(memory)),
        tuple(aspects_of(memory)),
    )
    return FileShare(place, *found)


def share_of_side(path: str, text: str) -> FileShare:
    """The share of a file that is no memory. Raises ValueError for one that is not what its place
    says.
    """
    if feedback_weights.is_feedback(path):
        return FileShare(tallies=parse(text))
    definitions, relations = definitions_in(path, text)
    # of two that say the same the first
    related = {(r.source, r.relationship, r.target): r for r in reversed(relations)}
    named = {d.name: d for d in reversed(definitions)}
    return FileShare(
        place_of(path),
        relations=tuple(reversed(related.values())),
        definitions=tuple(reversed(named.values())),
    )


def put(
    connection: sqlite3.Connection, path: str, share: FileShare, memory: int | None
) -> None:
    """Store the share of a file; ``memory`` is the key of its memory, which is stored, None for a
    file that is none.
    """
    ids = _ids(connection, sorted(_names_of(share)))
    if memory is not None:
        _add_mentions(connection, memory, share.mentions, ids, is_linked=False)
        aspects = (
            (memory, ids[a.entity], a.aspect, a.kind, a.type) for a in share.aspects
        )
        connection.executemany("INSERT INTO aspects VALUES (?, ?, ?, ?, ?)", aspects)
        connection.execute("INSERT OR IGNORE INTO unlinked VALUES (?)", (memory,))
    feedback_weights.put(connection, path, share.tallies)
    _add_relations(connection, path, share, ids)
    _add_definitions(connection, path, share, ids)


def _add_relations(
    connection: sqlite3.Connection, path: str, share: FileShare, ids: dict[str, int]
) -> None:
    rows = [
        (
            path,
            share.place,
            ids[r.source],
            r.relationship,
            ids[r.target],
            _millionths(r),
        )
        for r in share.relations
    ]
    connection.executemany("INSERT INTO relations VALUES (?, ?, ?, ?, ?, ?)", rows)


def _add_definitions(
    connection: sqlite3.Connection, path: str, share: FileShare, ids: dict[str, int]
) -> None:
    rows = [
        (path, d.place, ids[d.name], d.spelling, d.type, ids[d.entity])
        for d in share.definitions
    ]
    connection.executemany("INSERT INTO definitions VALUES (?, ?, ?, ?, ?, ?)", rows)


def _names_of(share: FileShare) -> set[str]:
    """All names that rows of a share are about."""
    found = {m.name for m in share.mentions} | {a.entity for a in share.aspects}
    for relation in share.relations:
        found |= {relation.source, relation.target}
    for definition in share.definitions:
        found |= {definition.name, definition.entity}
    return found


def _millionths(relation: EntityRelation) -> int:
    """The confidence: sums of whole numbers are the same in any order."""
    return round(relation.confidence * MILLION)


def drop(connection: sqlite3.Connection, path: str, memory: int | None = None) -> None:
    """Take out the share of a file."""
    feedback_weights.drop(connection, path)
    connection.execute("DELETE FROM relations WHERE path = ?", (path,))
    connection.execute("DELETE FROM definitions WHERE path = ?", (path,))
    if memory is not None:
        for table in ("mentions", "aspects", "unlinked"):
            connection.execute(f"DELETE FROM {table} WHERE memory = ?", (memory,))


def rows_differ(
    connection: sqlite3.Connection, path: str, share: FileShare, memory: int | None
) -> bool:
    """Whether the rows of a file are other ones than its share gives."""
    if not _are_stored(connection, _rows_of_file(share), path):
        return True
    if memory is None:
        return False
    expected = _rows_of_memory(share)
    if not waiting(connection):
        links = links_in(connection, memory)
        expected[_LINKED] = [(m.name, _other_spelling(m), m.count) for m in links]
    return not _are_stored(connection, expected, memory)


def _are_stored(
    connection: sqlite3.Connection, expected: StatedRows, key: str | int
) -> bool:
    return all(
        sorted(rows) == sorted(connection.execute(sql, (key,)).fetchall())
        for sql, rows in expected.items()
    )


def _rows_of_file(share: FileShare) -> StatedRows:
    """How the stored rows of a file are asked for → the rows that its share gives."""
    return {
        _RELATIONS: [
            (r.source, r.relationship, r.target, _millionths(r))
            for r in share.relations
        ],
        _DEFINITIONS: [
            (d.place, d.name, d.spelling, d.type, d.entity) for d in share.definitions
        ],
    }


def _rows_of_memory(share: FileShare) -> StatedRows:
    """How the stored rows of a memory are asked for → the rows that its share gives, without the
    names of other files in its words.
    """
    return {
        _MENTIONS: [
            (m.name, _other_spelling(m), m.count, CODES[m.type], int(m.is_word))
            for m in share.mentions
        ],
        _ASPECTS: [(a.entity, a.aspect, a.kind, a.type) for a in share.aspects],
    }


def waiting(connection: sqlite3.Connection) -> int:
    """How many memories and names there are whose mentions are not known yet."""
    memories = value(connection, "SELECT count(*) FROM unlinked")
    return int(memories + value(connection, f"SELECT count(*) {_NOT_TURNED}"))


def link_some(connection: sqlite3.Connection) -> None:
    """Look for new names in some texts, or for all names in some new texts: one short transaction's
    worth.
    """
    if not _mark_turned(connection):
        sql = "SELECT memory FROM unlinked LIMIT ?"
        for key in column(connection, sql, (LINKED_AT_ONCE,)):
            _link(connection, key)
            connection.execute("DELETE FROM unlinked WHERE memory = ?", (key,))
    drop_unused(connection)


def links_in(connection: sqlite3.Connection, memory: int) -> list[Mention]:
    """The known names that stand in the words of a memory."""
    rows = connection.execute(
        "SELECT title, head || body FROM passages WHERE memory = ? ORDER BY id",
        (memory,),
    )
    texts = list(filter(None, dict.fromkeys(itertools.chain.from_iterable(rows))))
    names = _beginning_with(connection, first_words(texts))
    found = names_in(texts, names) if names else []
    if not found:
        return []
    shown = {name for name, *_ in connection.execute(_MENTIONS, (memory,))}
    return sorted((m for m in found if m.name not in shown), key=lambda m: m.name)


def _mark_turned(connection: sqlite3.Connection) -> int:
    """Mark the memories with names that have turned into words, or back; returns how many names
    these were.
    """
    turned = connection.execute(
        f"SELECT id, name, wordy > 0 {_NOT_TURNED} ORDER BY id LIMIT ?",
        (TURNED_AT_ONCE,),
    ).fetchall()
    # where everything is new, as in a first build, nothing has to be found
    counts = "SELECT (SELECT count(*) FROM memories) > (SELECT count(*) FROM unlinked)"
    has_linked = turned and value(connection, counts)
    for id_, name, is_wordy in turned if has_linked else ():
        if is_wordy:
            _mark_unlinked(connection, name)
        else:
            connection.execute(
                "INSERT OR IGNORE INTO unlinked"
                " SELECT memory FROM mentions WHERE name = ? AND is_linked",
                (id_,),
            )
    connection.executemany(
        "UPDATE names SET was_wordy = wordy > 0 WHERE id = ?",
        ((id_,) for id_, *_ in turned),
    )
    return len(turned)


def _mark_unlinked(connection: sqlite3.Connection, name: str) -> None:
    """Mark every memory whose words may hold a name: more than do is no harm."""
    # the full text takes a run of these for one word
    if re.search(f"[{UNSPACED}]", name):
        phrase, found = (
            name,
            "SELECT id FROM passages WHERE instr(lower(title || head || body), ?)",
        )
    else:
        phrase = '{title head body} : "' + name.replace('"', '""') + '"'
        found = "SELECT rowid FROM passages_fts WHERE passages_fts MATCH ?"
    connection.execute(
        f"INSERT OR IGNORE INTO unlinked SELECT DISTINCT memory FROM passages WHERE id IN "
        f"({found})",  # ours
        (phrase,),
    )


def _link(connection: sqlite3.Connection, memory: int) -> None:
    found = links_in(connection, memory)
    connection.execute("DELETE FROM mentions WHERE memory = ? AND is_linked", (memory,))
    ids = _ids(connection, [m.name for m in found])
    _add_mentions(connection, memory, found, ids, is_linked=True)


def _add_mentions(
    connection: sqlite3.Connection,
    memory: int,
    mentions: Sequence[Mention],
    ids: dict[str, int],
    *,
    is_linked: bool,
) -> None:
    scope = value(connection, "SELECT scope_id FROM memories WHERE key = ?", (memory,))
    rows = [
        (
            memory,
            ids[m.name],
            scope,
            is_linked,
            _other_spelling(m),
            m.count,
            CODES[m.type],
            m.is_word,
        )
        for m in mentions
    ]
    connection.executemany("INSERT INTO mentions VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)


def _other_spelling(mention: Mention) -> str | None:
    """How it is written, where that is not the name itself: half of all rows can do without."""
    return mention.spelling if mention.spelling != mention.name else None


def _beginning_with(connection: sqlite3.Connection, words: Iterable[str]) -> set[str]:
    """The linkable names whose first word is one of these and whose second word is one of them too:
    many names may share a first word.
    """
    sql = (
        "WITH said AS MATERIALIZED (SELECT value FROM json_each(?))"
        " SELECT name FROM said JOIN names ON first = value"
        " WHERE wordy > 0 AND second IN (SELECT value FROM said)"
    )
    return set(column(connection, sql, (json.dumps(["", *sorted(words)]),)))


def _key(name: str) -> tuple[str, str]:
    first = first_word(name)
    return first, first_word(name.partition(first)[2]) if first else ""


def _ids(connection: sqlite3.Connection, names: Sequence[str]) -> dict[str, int]:
    connection.executemany(
        "INSERT OR IGNORE INTO names (name, first, second) VALUES (?, ?, ?)",
        ((name, *_key(name)) for name in names),
    )
    sql = "SELECT name, id FROM names WHERE name IN ({placeholders})"
    return dict(rows_in(connection, sql, names))


def drop_unused(connection: sqlite3.Connection) -> None:
    """Forget the names that no file has any more."""
    connection.execute(
        "DELETE FROM names WHERE mentions = 0 AND defined = 0"
        " AND NOT EXISTS (SELECT 1 FROM relations WHERE source = names.id OR target = names.id)"
        " AND NOT EXISTS (SELECT 1 FROM definitions WHERE entity = names.id)"
        " AND NOT EXISTS (SELECT 1 FROM aspects WHERE name = names.id)"
    )
