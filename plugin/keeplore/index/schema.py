"""The tables of an index, and the version of this schema: everything in them is made from the
workspace's text.

A file of another version is begun anew, so whoever changes a table raises ``VERSION``.
"""

from __future__ import annotations

import secrets
import sqlite3

VERSION = 38
# A word of the title says most about a passage, one that only a neighbour used says least.
FTS_WEIGHTS = {"title": 3.0, "head": 1.5, "body": 1.0, "context": 0.25, "extra": 0.5}
TOKENIZER = "porter unicode61 remove_diacritics 2"
_MEMORIES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE files (
    path TEXT PRIMARY KEY, mtime_ns INTEGER, size INTEGER, inode INTEGER, is_settled INTEGER,
    content BLOB, problem TEXT
) WITHOUT ROWID;
CREATE TABLE scopes (id INTEGER PRIMARY KEY, scope TEXT, project TEXT, UNIQUE (scope, project));
CREATE TABLE memories (
    key INTEGER PRIMARY KEY, path TEXT UNIQUE, id TEXT, scope_id INTEGER REFERENCES scopes,
    title TEXT, kind TEXT,
    category TEXT, created_at TEXT, updated_at TEXT, permanent INTEGER, trust TEXT, session
    TEXT, host TEXT, machine TEXT,
    is_open INTEGER, is_archived INTEGER, says BLOB
);
CREATE INDEX memories_id ON memories (id);
CREATE INDEX memories_updated ON memories (updated_at);
CREATE INDEX memories_says ON memories (says);
CREATE TABLE links (
    memory INTEGER REFERENCES memories, relationship TEXT, target TEXT, PRIMARY KEY (memory,
    relationship, target)
) WITHOUT ROWID;
CREATE INDEX links_target ON links (target);
CREATE INDEX links_superseding ON links (memory, target) WHERE relationship = 'supersedes';
CREATE TABLE turns (turn TEXT, memory INTEGER REFERENCES memories, PRIMARY KEY (turn, memory))
    WITHOUT ROWID;
CREATE INDEX turns_memory ON turns (memory);
-- ids are never used twice: vectors in memory and in the graph file are kept by them
CREATE TABLE passages (
    id INTEGER PRIMARY KEY AUTOINCREMENT, memory INTEGER REFERENCES memories, scope_id INTEGER,
    hash BLOB,
    kind TEXT, turn TEXT, at TEXT, title TEXT, head TEXT, body TEXT, context TEXT, extra TEXT,
    scope_word TEXT GENERATED ALWAYS AS ('zs' || scope_id)
);
CREATE INDEX passages_memory ON passages (memory);
CREATE INDEX passages_hash ON passages (hash);
CREATE INDEX passages_scope ON passages (scope_id);
-- content words of what decisions and notes say that holds no more: see ``keeplore.text.revisions``
CREATE TABLE revisions (
    term TEXT, scope_id INTEGER, passage INTEGER, PRIMARY KEY (term, scope_id, passage)
) WITHOUT ROWID;
CREATE INDEX revisions_passage ON revisions (passage);
-- words of a turn that hold no more because of what a note says
CREATE TABLE endings (
    turn TEXT, memory INTEGER REFERENCES memories, words TEXT, PRIMARY KEY (turn, memory)
) WITHOUT ROWID;
CREATE INDEX endings_memory ON endings (memory);
CREATE VIRTUAL TABLE passages_fts USING fts5(
    {columns}, scope_word,
    content='passages', content_rowid='id', tokenize='{tokenizer}'
);
CREATE TRIGGER passages_added AFTER INSERT ON passages BEGIN
    INSERT INTO passages_fts(rowid, title, head, body, context, extra, scope_word)
    VALUES (new.id, new.title, new.head, new.body, new.context, new.extra, new.scope_word);
END;
CREATE TRIGGER passages_removed AFTER DELETE ON passages BEGIN
    DELETE FROM revisions WHERE passage = old.id;
    INSERT INTO passages_fts(passages_fts, rowid, title, head, body, context, extra, scope_word)
    VALUES ('delete', old.id, old.title, old.head, old.body, old.context, old.extra,
    old.scope_word);
END;
-- what this machine has put on a shared engine or seen there; empty without one
CREATE TABLE points (
    passage INTEGER, place TEXT, point BLOB, has_vector INTEGER, PRIMARY KEY (passage, place)
) WITHOUT ROWID;
CREATE INDEX points_point ON points (point);
CREATE INDEX points_bare ON points (place) WHERE NOT has_vector;
-- settled: passages up to this one have their vectors; is_placed: their vectors are in the
-- blocks
CREATE TABLE models (
    id INTEGER PRIMARY KEY, fingerprint TEXT UNIQUE, settled INTEGER DEFAULT 0, is_placed
    INTEGER DEFAULT 1
);
-- sum: of hash and vector as they were made, so that a change on the disk is seen
CREATE TABLE embeddings (
    model INTEGER REFERENCES models, hash BLOB, vector BLOB, sum INTEGER, UNIQUE (model, hash)
);
CREATE TRIGGER embeddings_removed AFTER DELETE ON embeddings BEGIN
    UPDATE models SET settled = 0, is_placed = 0 WHERE id = old.model;
END;
-- the vectors of a scope, side by side in files: how many rows count, and how many of those
-- are of passages gone
CREATE TABLE blocks (
    scope_id INTEGER, model INTEGER, name TEXT, width INTEGER, rows INTEGER, gone INTEGER,
    PRIMARY KEY (scope_id, model)
) WITHOUT ROWID;
"""
# who and what the memories are about: see ``keeplore.index.graph``
GRAPH_TABLES = """
-- first, second: its words, "" for none; mentions: memories that have it; defined: statements
-- that there is such a
-- thing; wordy: of these, how many make its words worth looking for; was_wordy: whether the
-- texts were looked through
CREATE TABLE names (
    id INTEGER PRIMARY KEY, name TEXT UNIQUE, first TEXT, second TEXT, mentions INTEGER DEFAULT
    0,
    defined INTEGER DEFAULT 0, wordy INTEGER DEFAULT 0, was_wordy INTEGER DEFAULT 0
);
CREATE INDEX names_first ON names (first, second, name) WHERE wordy > 0;
CREATE INDEX names_turned ON names (id) WHERE (wordy > 0) != was_wordy;
CREATE INDEX names_unused ON names (id) WHERE mentions = 0 AND defined = 0;
CREATE TABLE mentions (
    memory INTEGER, name INTEGER, scope_id INTEGER, is_linked INTEGER, spelling TEXT, count
    INTEGER, type INTEGER,
    is_word INTEGER, PRIMARY KEY (memory, name)
) WITHOUT ROWID;
CREATE INDEX mentions_name ON mentions (name, scope_id, type);
CREATE TABLE relations (
    path TEXT, place TEXT, source INTEGER, relationship TEXT, target INTEGER, confidence
    INTEGER,
    PRIMARY KEY (path, source, relationship, target)
) WITHOUT ROWID;
CREATE INDEX relations_source ON relations (source);
CREATE INDEX relations_target ON relations (target);
CREATE TABLE definitions (
    path TEXT, place TEXT, name INTEGER, spelling TEXT, type TEXT, entity INTEGER, PRIMARY KEY
    (path, name)
) WITHOUT ROWID;
CREATE INDEX definitions_name ON definitions (name);
CREATE INDEX definitions_entity ON definitions (entity);
CREATE TABLE aspects (
    memory INTEGER, name INTEGER, aspect TEXT, kind TEXT, type TEXT, PRIMARY KEY (memory, name,
    aspect)
) WITHOUT ROWID;
CREATE INDEX aspects_name ON aspects (name, aspect);
-- memories in whose words the known names are still to be looked for
CREATE TABLE unlinked (memory INTEGER PRIMARY KEY);
CREATE TRIGGER mentions_added AFTER INSERT ON mentions BEGIN
    UPDATE names SET mentions = mentions + 1, defined = defined + (new.type > 0), wordy = wordy
    + new.is_word
    WHERE id = new.name;
END;
CREATE TRIGGER mentions_removed AFTER DELETE ON mentions BEGIN
    UPDATE names SET mentions = mentions - 1, defined = defined - (old.type > 0), wordy = wordy
    - old.is_word
    WHERE id = old.name;
END;
CREATE TRIGGER definitions_added AFTER INSERT ON definitions BEGIN
    UPDATE names SET defined = defined + 1, wordy = wordy + 1 WHERE id = new.name;
END;
CREATE TRIGGER definitions_removed AFTER DELETE ON definitions BEGIN
    UPDATE names SET defined = defined - 1, wordy = wordy - 1 WHERE id = old.name;
END;
"""
# what use has shown: see ``keeplore.index.graph.feedback_weights``
_FEEDBACK = """
CREATE TABLE feedback (
    path TEXT, memory TEXT, used INTEGER, last TEXT, idle TEXT, PRIMARY KEY (path, memory)
) WITHOUT ROWID;
CREATE INDEX feedback_memory ON feedback (memory);
"""


def create(connection: sqlite3.Connection) -> None:
    """Make all tables in a file that has none."""
    connection.execute("PRAGMA journal_mode=WAL")
    tables = (
        f"BEGIN;{_MEMORIES}{GRAPH_TABLES}{_FEEDBACK}".replace(
            "{columns}", ", ".join(FTS_WEIGHTS)
        )
    ).replace("{tokenizer}", TOKENIZER)
    connection.executescript(tables)
    # the word of the scope keeps a search within a project from scoring those of all others, and
    # says nothing itself
    weights = ", ".join(str(weight) for weight in (*FTS_WEIGHTS.values(), 0.0))
    connection.execute(
        "INSERT INTO passages_fts(passages_fts, rank) VALUES ('rank', ?)",
        (f"bm25({weights})",),
    )
    # names this very file: passage ids of another one mean other passages
    connection.execute(
        "INSERT INTO meta VALUES ('database', ?)", (secrets.token_hex(8),)
    )
    connection.execute(f"PRAGMA user_version={VERSION}")
    connection.execute("COMMIT")


def version_of(connection: sqlite3.Connection) -> int:
    """The version of a file's tables, 0 without tables."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])
