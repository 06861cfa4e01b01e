"""The rows of the graph: what each file says of it, and where in all texts the known names stand.

What a file says itself is stored with the file. That a name of one file stands in the words of
another is found after that, a few memories at a time: those that are new, and those in which a name
stands that there was not before or is no more. They are found by the full text, so that a new name
costs what it is mentioned, not what there is.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from keeplore.index.graph import feedback_weights
from keeplore.index.graph.definitions import defined, place_of
from keeplore.index.graph.evidence import aspects_of, evident, relations_of
from keeplore.index.graph.graph_values import (
    TYPES,
    Definition,
    EntityAspect,
    EntityRelation,
    Mention,
)
from keeplore.index.graph.linker import UNSPACED, first_word, first_words, linked
from keeplore.index.queries import chunks, marks
from keeplore.memory import Memory
from keeplore.memory.feedback_counters import UsageCounters, parse

LINKED_AT_ONCE = 200  # memories in one transaction
TURNED_AT_ONCE = 200  # names whose texts are looked up in one transaction
_SHOWN = (
    "SELECT n.name FROM mentions m JOIN names n ON n.id = m.name WHERE m.memory = ? AND NOT "
    "m.is_linked"
)
_T = TypeVar("_T")
CODES = {"": 0, **{type_: code for code, type_ in enumerate(TYPES, 1)}}  # of what a mention shows
MILLION = 1_000_000  # of a confidence: sums of whole numbers are the same in any order
TABLES = """
-- first, second: its words, "" for none; mentions: memories that have it; defined: statements that there is such a
-- thing; wordy: of these, how many make its words worth looking for; was_wordy: whether the texts were looked through
CREATE TABLE names (
    id INTEGER PRIMARY KEY, name TEXT UNIQUE, first TEXT, second TEXT, mentions INTEGER DEFAULT 0,
    defined INTEGER DEFAULT 0, wordy INTEGER DEFAULT 0, was_wordy INTEGER DEFAULT 0
);
CREATE INDEX names_first ON names (first, second, name) WHERE wordy > 0;
CREATE INDEX names_turned ON names (id) WHERE (wordy > 0) != was_wordy;
CREATE INDEX names_unused ON names (id) WHERE mentions = 0 AND defined = 0;
CREATE TABLE mentions (
    memory INTEGER, name INTEGER, scope_id INTEGER, is_linked INTEGER, spelling TEXT, count INTEGER, type INTEGER,
    is_word INTEGER, PRIMARY KEY (memory, name)
) WITHOUT ROWID;
CREATE INDEX mentions_name ON mentions (name, scope_id, type);
CREATE TABLE relations (
    path TEXT, place TEXT, source INTEGER, relationship TEXT, target INTEGER, confidence INTEGER,
    PRIMARY KEY (path, source, relationship, target)
) WITHOUT ROWID;
CREATE INDEX relations_source ON relations (source);
CREATE INDEX relations_target ON relations (target);
CREATE TABLE definitions (
    path TEXT, place TEXT, name INTEGER, spelling TEXT, type TEXT, entity INTEGER, PRIMARY KEY (path, name)
) WITHOUT ROWID;
CREATE INDEX definitions_name ON definitions (name);
CREATE INDEX definitions_entity ON definitions (entity);
CREATE TABLE aspects (
    memory INTEGER, name INTEGER, aspect TEXT, kind TEXT, type TEXT, PRIMARY KEY (memory, name, aspect)
) WITHOUT ROWID;
CREATE INDEX aspects_name ON aspects (name, aspect);
-- memories in whose words the known names are still to be looked for
CREATE TABLE unlinked (memory INTEGER PRIMARY KEY);
CREATE TRIGGER mentions_added AFTER INSERT ON mentions BEGIN
    UPDATE names SET mentions = mentions + 1, defined = defined + (new.type > 0), wordy = wordy + new.is_word
    WHERE id = new.name;
END;
CREATE TRIGGER mentions_removed AFTER DELETE ON mentions BEGIN
    UPDATE names SET mentions = mentions - 1, defined = defined - (old.type > 0), wordy = wordy - old.is_word
    WHERE id = old.name;
END;
CREATE TRIGGER definitions_added AFTER INSERT ON definitions BEGIN
    UPDATE names SET defined = defined + 1, wordy = wordy + 1 WHERE id = new.name;
END;
CREATE TRIGGER definitions_removed AFTER DELETE ON definitions BEGIN
    UPDATE names SET defined = defined - 1, wordy = wordy - 1 WHERE id = old.name;
END;
"""


@dataclass(frozen=True, slots=True)
class FileShare:
    """What one file gives to the graph, each thing once."""

    place: str = ""  # project, "" for what all inherit
    mentions: tuple[Mention, ...] = ()
    relations: tuple[EntityRelation, ...] = ()
    aspects: tuple[EntityAspect, ...] = ()
    definitions: tuple[Definition, ...] = ()
    tallies: Mapping[str, UsageCounters] = field(
        default_factory=dict
    )  # of what was of use, by memory


NOTHING = FileShare()


def share_of(memory: Memory, place: str) -> FileShare:
    """The share of a memory of this place."""
    return FileShare(
        place,
        _once(evident(memory), lambda m: m.name),
        _once(relations_of(memory), lambda r: (r.source, r.relationship, r.target)),
        _once(aspects_of(memory), lambda a: (a.entity, a.aspect)),
    )


def share_of_side(path: str, text: str) -> FileShare:
    """The share of a file that is no memory. Raises ValueError for one that is not what its place
    says.
    """
    if feedback_weights.is_feedback(path):
        return FileShare(tallies=parse(text))
    definitions, relations = defined(path, text)
    return FileShare(
        place_of(path),
        relations=_once(relations, lambda r: (r.source, r.relationship, r.target)),
        definitions=_once(definitions, lambda d: d.name),
    )


def _once(items: Iterable[_T], key: Callable[[_T], object]) -> tuple[_T, ...]:
    found: dict[object, _T] = {}
    for item in items:
        found.setdefault(key(item), item)
    return tuple(found.values())


def put(
    connection: sqlite3.Connection, path: str, share: FileShare, memory: int | None = None
) -> None:
    """Store the share of a file; ``memory`` is the key of its memory, which is stored, None for a
    file that is none.
    """
    names = {m.name for m in share.mentions} | {a.entity for a in share.aspects}
    names |= {name for r in share.relations for name in (r.source, r.target)}
    names |= {name for d in share.definitions for name in (d.name, d.entity)}
    ids = _ids(connection, sorted(names))
    if memory is not None:
        _add_mentions(connection, memory, share.mentions, ids, is_linked=False)
        rows = ((memory, ids[a.entity], a.aspect, a.kind, a.type) for a in share.aspects)
        connection.executemany("INSERT INTO aspects VALUES (?, ?, ?, ?, ?)", rows)
        connection.execute("INSERT OR IGNORE INTO unlinked VALUES (?)", (memory,))
    feedback_weights.put(connection, path, share.tallies)
    connection.executemany(
        "INSERT INTO relations VALUES (?, ?, ?, ?, ?, ?)",
        (
            (
                path,
                share.place,
                ids[r.source],
                r.relationship,
                ids[r.target],
                round(r.confidence * MILLION),
            )
            for r in share.relations
        ),
    )
    connection.executemany(
        "INSERT INTO definitions VALUES (?, ?, ?, ?, ?, ?)",
        (
            (path, d.place, ids[d.name], d.spelling, d.type, ids[d.entity])
            for d in share.definitions
        ),
    )


def drop(connection: sqlite3.Connection, path: str, memory: int | None = None) -> None:
    """Take out the share of a file."""
    feedback_weights.drop(connection, path)
    connection.execute("DELETE FROM relations WHERE path = ?", (path,))
    connection.execute("DELETE FROM definitions WHERE path = ?", (path,))
    if memory is not None:
        for table in ("mentions", "aspects", "unlinked"):
            connection.execute(f"DELETE FROM {table} WHERE memory = ?", (memory,))  # ours


def differs(
    connection: sqlite3.Connection, path: str, share: FileShare, memory: int | None
) -> bool:
    """Whether the rows of a file are other ones than its share gives."""
    for rows, sql, of in _compared(share, path, memory):
        if sorted(rows) != sorted(connection.execute(sql, (of,)).fetchall()):
            return True
    if memory is None or waiting(connection):
        return False
    sql = (
        "SELECT n.name, spelling, count FROM mentions m JOIN names n ON n.id = m.name WHERE "
        "memory = ? AND is_linked"
    )
    found = [(m.name, _unlike(m), m.count) for m in links_in(connection, memory)]
    return sorted(found) != sorted(connection.execute(sql, (memory,)).fetchall())


def _compared(
    share: FileShare, path: str, memory: int | None
) -> Iterator[tuple[list[tuple[object, ...]], str, object]]:
    """The rows that a share gives, and how those that are stored are asked for."""
    yield (
        [
            (r.source, r.relationship, r.target, round(r.confidence * MILLION))
            for r in share.relations
        ],
        (
            "SELECT s.name, relationship, t.name, confidence FROM relations JOIN names s ON s.id = "
            "source"
            " JOIN names t ON t.id = target WHERE path = ?"
        ),
        path,
    )
    yield (
        [(d.place, d.name, d.spelling, d.type, d.entity) for d in share.definitions],
        (
            "SELECT place, n.name, spelling, type, e.name FROM definitions d JOIN names n ON n.id "
            "= d.name"
            " JOIN names e ON e.id = d.entity WHERE path = ?"
        ),
        path,
    )
    if memory is not None:
        yield (
            [(m.name, _unlike(m), m.count, CODES[m.type], int(m.is_word)) for m in share.mentions],
            (
                "SELECT n.name, spelling, count, type, is_word FROM mentions m JOIN names n ON "
                "n.id = m.name"
                " WHERE memory = ? AND NOT is_linked"
            ),
            memory,
        )
        yield (
            [(a.entity, a.aspect, a.kind, a.type) for a in share.aspects],
            (
                "SELECT n.name, aspect, kind, type FROM aspects a JOIN names n ON n.id = a.name WHERE "
                "memory = ?"
            ),
            memory,
        )


def waiting(connection: sqlite3.Connection) -> int:
    """How many memories and names there are whose mentions are not known yet."""
    sql = (
        "SELECT (SELECT count(*) FROM unlinked), (SELECT count(*) FROM names WHERE (wordy > 0) "
        "!= was_wordy)"
    )
    return int(sum(connection.execute(sql).fetchone()))


def link_some(connection: sqlite3.Connection) -> None:
    """Look for new names in some texts, or for all names in some new texts: one short transaction's
    worth.
    """
    if not _turn(connection):
        keys = [
            key
            for (key,) in connection.execute(
                "SELECT memory FROM unlinked LIMIT ?", (LINKED_AT_ONCE,)
            )
        ]
        for key in keys:
            _link(connection, key)
        connection.executemany("DELETE FROM unlinked WHERE memory = ?", ((key,) for key in keys))
    drop_unused(connection)


def links_in(connection: sqlite3.Connection, memory: int) -> list[Mention]:
    """Which known names stand in the words of a memory."""
    rows = connection.execute(
        "SELECT title, head || body FROM passages WHERE memory = ? ORDER BY id", (memory,)
    )
    texts = _distinct(text for row in rows for text in row)
    names = _beginning_with(connection, first_words(texts))
    found = linked(texts, names) if names else []
    shown = {name for (name,) in connection.execute(_SHOWN, (memory,))} if found else set()
    return sorted((m for m in found if m.name not in shown), key=lambda m: m.name)


def _turn(connection: sqlite3.Connection) -> int:
    """Mark the memories in which names stand that are new as words, or no more; how many names
    these were.
    """
    turned = connection.execute(
        "SELECT id, name, wordy > 0 FROM names WHERE (wordy > 0) != was_wordy ORDER BY id LIMIT ?",
        (TURNED_AT_ONCE,),
    ).fetchall()
    # where everything is new, as in a first build, nothing has to be found
    counts = "SELECT (SELECT count(*) FROM memories) > (SELECT count(*) FROM unlinked)"
    has_linked = turned and connection.execute(counts).fetchone()[0]
    for id_, name, is_wordy in turned if has_linked else ():
        if is_wordy:
            _mark(connection, name)
        else:
            connection.execute(
                "INSERT OR IGNORE INTO unlinked SELECT memory FROM mentions WHERE name = ? AND "
                "is_linked",
                (id_,),
            )
    connection.executemany(
        "UPDATE names SET was_wordy = wordy > 0 WHERE id = ?", ((id_,) for id_, *_ in turned)
    )
    return len(turned)


def _mark(connection: sqlite3.Connection, name: str) -> None:
    """Mark every memory whose words may hold a name: more than do is no harm."""
    if re.search(f"[{UNSPACED}]", name):  # the full text takes a run of these for one word
        phrase, found = name, "SELECT id FROM passages WHERE instr(lower(title || head || body), ?)"
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
    _add_mentions(
        connection, memory, found, _ids(connection, [m.name for m in found]), is_linked=True
    )


def _add_mentions(
    connection: sqlite3.Connection,
    memory: int,
    mentions: Sequence[Mention],
    ids: dict[str, int],
    *,
    is_linked: bool,
) -> None:
    connection.executemany(
        "INSERT INTO mentions SELECT key, ?, scope_id, ?, ?, ?, ?, ? FROM memories WHERE key = ?",
        (
            (
                ids[m.name],
                int(is_linked),
                _unlike(m),
                m.count,
                CODES[m.type],
                int(m.is_word),
                memory,
            )
            for m in mentions
        ),
    )


def _unlike(mention: Mention) -> str | None:
    """How it is written, where that is not the name itself: half of all rows can do without."""
    return mention.spelling if mention.spelling != mention.name else None


def _beginning_with(connection: sqlite3.Connection, words: Iterable[str]) -> set[str]:
    """The names that are looked for in texts and begin with words of these: many may begin with the
    same one.
    """
    sql = (
        "WITH said AS MATERIALIZED (SELECT value FROM json_each(?)) SELECT name FROM said JOIN "
        "names ON first = value"
        " WHERE wordy > 0 AND second IN (SELECT value FROM said)"
    )
    return {name for (name,) in connection.execute(sql, (json.dumps(["", *sorted(words)]),))}


def _key(name: str) -> tuple[str, str]:
    first = first_word(name)
    return first, first_word(name.partition(first)[2]) if first else ""


def _ids(connection: sqlite3.Connection, names: Sequence[str]) -> dict[str, int]:
    connection.executemany(
        "INSERT OR IGNORE INTO names (name, first, second) VALUES (?, ?, ?)",
        ((name, *_key(name)) for name in names),
    )
    found: dict[str, int] = {}
    for chunk in chunks(names):
        found.update(
            connection.execute(f"SELECT name, id FROM names WHERE name IN ({marks(chunk)})", chunk)
        )  # marks
    return found


def drop_unused(connection: sqlite3.Connection) -> None:
    """Forget the names that no file has any more."""
    connection.execute(
        "DELETE FROM names WHERE mentions = 0 AND defined = 0"
        " AND NOT EXISTS (SELECT 1 FROM relations WHERE source = names.id OR target = names.id)"
        " AND NOT EXISTS (SELECT 1 FROM definitions WHERE entity = names.id)"
        " AND NOT EXISTS (SELECT 1 FROM aspects WHERE name = names.id)"
    )


def _distinct(texts: Iterable[str]) -> list[str]:
    return [text for text in dict.fromkeys(texts) if text]
