"""The rows of one file: what it says, read and put into the tables, and taken out again."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

from keeplore.errors import KeeploreError, NotFound, StoreError, reason_of
from keeplore.index import revision_rows
from keeplore.index.graph import graph_rows
from keeplore.index.graph.graph_rows import NOTHING, FileShare
from keeplore.index.passages import Passage, passages_of
from keeplore.index.sql import placeholders, value
from keeplore.index.vectors import block_files
from keeplore.memory import Memory
from keeplore.memory.conversation_body import turns_of
from keeplore.memory.note import hash_of
from keeplore.text.fences import without_surrogates

# A file written twice within one tick of the file system's clock can keep its time and size; so one
# that was young when it was read is read again at the next refresh. FAT's clock is the slowest.
SETTLED_NS = 2_000_000_000
_SOURCE = ("session", "host", "machine")  # columns by these names
MAX_SIDE = 4 * 1024 * 1024  # bytes of a file that is no memory


class IndexedFile(Protocol):
    """A file of memory as the store's scan reports it."""

    @property
    def path(self) -> str: ...
    @property
    def mtime_ns(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def inode(self) -> int: ...


class TextSource(Protocol):
    """What the index needs of a store."""

    def indexed(self) -> Iterator[IndexedFile]: ...
    def load(self, path: str, /) -> Memory: ...
    def read_text(self, path: str, limit_bytes: int, /) -> str: ...
    def head(self) -> str: ...


def load_or_none(source: TextSource, path: str) -> Memory | None:
    """The memory in a file; None where it cannot be read."""
    try:
        return source.load(path)
    except (StoreError, OSError):
        return None


class KnownFile(NamedTuple):
    """A file as the index remembers it."""

    mtime_ns: int
    size: int
    inode: int
    is_settled: bool

    def is_same(self, file: IndexedFile) -> bool:
        return (self.mtime_ns, self.size, self.inode) == (
            file.mtime_ns,
            file.size,
            file.inode,
        )

    def is_settled_as(self, file: IndexedFile) -> bool:
        """Whether a file is the one that was read, and was settled then. Asked of every file at
        every look, so in few steps.
        """
        is_here = self.inode == file.inode and self.mtime_ns == file.mtime_ns
        return is_here and self.size == file.size and self.is_settled


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """A file that was read: a memory with its passages, what else is indexed, or the problem that
    keeps it out.
    """

    file: IndexedFile
    is_settled: bool
    content: bytes  # sha256 of what it says
    memory: Memory | None = None
    passages: tuple[Passage, ...] = ()
    turns: tuple[str, ...] = ()
    problem: str = ""
    share: FileShare = NOTHING  # in the graph
    revisions: tuple[revision_rows.Revising, ...] = ()


def known_files(connection: sqlite3.Connection) -> dict[str, KnownFile]:
    rows = connection.execute(
        "SELECT path, mtime_ns, size, inode, is_settled FROM files"
    )
    return {row[0]: KnownFile._make(row[1:]) for row in rows}


def parse(source: TextSource, file: IndexedFile, now_ns: int) -> ParsedFile | None:
    """Read one file; None where it vanished since it was seen. Never raises: a bad file is one with
    a problem.
    """
    is_settled = file.mtime_ns < now_ns - SETTLED_NS
    try:
        if file.path.endswith(".md"):
            return _parse_memory(file, source.load(file.path), is_settled=is_settled)
        text = source.read_text(file.path, MAX_SIDE)
        return _parse_side(file, text, is_settled=is_settled)
    except NotFound:
        return None
    except KeeploreError as e:
        problem = str(e)
    except OSError as e:
        problem = f"the file cannot be read: {reason_of(e)}"
    # whatever one file does to a parser, the others must still be found
    except Exception as e:  # noqa: BLE001
        problem = f"the file cannot be read: {e!r}"
    return ParsedFile(file, is_settled, _sha256(problem), problem=problem)


def _parse_memory(file: IndexedFile, memory: Memory, *, is_settled: bool) -> ParsedFile:
    meta = json.dumps(dict(memory.meta), ensure_ascii=False, default=str)
    passages = tuple(passages_of(memory))
    return ParsedFile(
        file,
        is_settled,
        _sha256(f"{meta}\0{memory.body}"),
        memory,
        passages,
        tuple(turns_of(memory)),
        "; ".join(memory.problems),
        graph_rows.share_of(memory, place_of(memory)[1]),
        tuple(revision_rows.revising_terms(memory, passages)),
    )


def _parse_side(file: IndexedFile, text: str, *, is_settled: bool) -> ParsedFile:
    share, problem = NOTHING, ""
    try:
        share = graph_rows.share_of_side(file.path, text)
    except ValueError as e:
        problem = str(e)
    return ParsedFile(file, is_settled, _sha256(text), problem=problem, share=share)


def _sha256(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "replace")).digest()


def drop(connection: sqlite3.Connection, path: str) -> None:
    """Forget a file and what was made from it; vectors stay, for the text may come back under
    another name.
    """
    _drop_rows(connection, path)
    connection.execute("DELETE FROM files WHERE path = ?", (path,))


def put(connection: sqlite3.Connection, item: ParsedFile) -> bool:
    """Store what was read in place of what was known; False where the file says what it said
    before.
    """
    file = item.file
    known = value(connection, "SELECT content FROM files WHERE path = ?", (file.path,))
    is_same = known == item.content
    if not is_same:
        _drop_rows(connection, file.path)
        key = _add_memory(connection, item, item.memory) if item.memory else None
        graph_rows.put(connection, file.path, item.share, key)
    state = (file.mtime_ns, file.size, file.inode, item.is_settled)
    connection.execute(
        "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?)",
        (file.path, *state, item.content, without_surrogates(item.problem)),
    )
    return not is_same


def _drop_rows(connection: sqlite3.Connection, path: str) -> None:
    key = value(connection, "SELECT key FROM memories WHERE path = ?", (path,))
    graph_rows.drop(connection, path, key)
    if key is not None:
        block_files.mark_gone(connection, key)
        for table in ("passages", "turns", "links", "endings"):
            connection.execute(f"DELETE FROM {table} WHERE memory = ?", (key,))  # ours
        connection.execute("DELETE FROM memories WHERE key = ?", (key,))


def _add_memory(
    connection: sqlite3.Connection, item: ParsedFile, memory: Memory
) -> int:
    """Insert the rows of a memory; returns its key."""
    path = item.file.path
    scope_id = _scope_id(connection, memory)
    id_, *rest = columns(memory, path)
    row = (path, id_, scope_id, *rest)
    sql = f"INSERT INTO memories VALUES (NULL, {placeholders(row)})"  # no value in it
    key = connection.execute(sql, row).lastrowid or 0
    connection.executemany(
        "INSERT INTO turns VALUES (?, ?)", ((turn, key) for turn in turn_columns(item))
    )
    connection.executemany(
        "INSERT INTO links VALUES (?, ?, ?)",
        ((key, *link) for link in link_columns(memory)),
    )
    connection.executemany(
        "INSERT INTO passages VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        ((key, scope_id, *passage_columns(passage)) for passage in item.passages),
    )
    revision_rows.put(connection, key, scope_id, item.revisions)
    revision_rows.put_ending(connection, key, memory)
    return key


def columns(memory: Memory, path: str) -> tuple[Any, ...]:
    """What the table of memories says of one: after its path, without its scope."""
    dates = (memory.created_at, memory.updated_at)
    texts = (memory.id, memory.title, memory.kind, memory.category, *dates)
    source = (str(memory.source.get(key) or "") for key in _SOURCE)
    return (
        *map(without_surrogates, texts),
        int(memory.is_permanent),
        memory.trust,
        *map(without_surrogates, source),
        int(memory.is_open),
        int(is_archived(path)),
        bytes.fromhex(hash_of(memory)),
    )


def turn_columns(item: ParsedFile) -> list[str]:
    return sorted({without_surrogates(turn) for turn in item.turns})


def link_columns(memory: Memory) -> list[tuple[str, str]]:
    return sorted(
        {
            (relationship, without_surrogates(target))
            for relationship, target in memory.links
        }
    )


def passage_columns(passage: Passage) -> tuple[bytes | str, ...]:
    head, body = (passage.body, "") if passage.kind == "head" else ("", passage.body)
    where = (passage.kind, passage.turn, passage.at)
    texts = (*where, passage.title, head, body, passage.context, passage.extra)
    return (passage.hash, *map(without_surrogates, texts))


def place_of(memory: Memory) -> tuple[str, str]:
    """Scope and project, "" for none."""
    scope, project = memory.place
    return scope, without_surrogates(project)


def _scope_id(connection: sqlite3.Connection, memory: Memory) -> int:
    pair = place_of(memory)
    connection.execute(
        "INSERT OR IGNORE INTO scopes (scope, project) VALUES (?, ?)", pair
    )
    sql = "SELECT id FROM scopes WHERE scope = ? AND project = ?"
    return int(value(connection, sql, pair))


def is_archived(path: str) -> bool:
    """Whether the path lies under ``archive/`` of its memory folder: archiving moves a
    file there.
    """
    return ("memory", "archive") in pairwise(path.split("/"))
