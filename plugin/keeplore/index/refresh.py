"""Bringing the text part of the index in line with the files: first a plan, then one transaction
for each batch.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

from keeplore.errors import KeeploreError, NotFound
from keeplore.index.graph import graph_tables
from keeplore.index.graph.graph_tables import NOTHING, FileShare
from keeplore.index.passages import Passage, passages_of
from keeplore.index.vectors import block_files
from keeplore.memory import Memory
from keeplore.memory.conversation_body import turns_of
from keeplore.memory.note import hash_of

# A file written twice within one tick of the file system's clock can keep its time and size; so one
# that was young when it was read is read again at the next refresh. FAT's clock is the slowest.
SETTLED_NS = 2_000_000_000
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


class FileState(NamedTuple):
    """A file as the index remembers it."""

    mtime_ns: int
    size: int
    inode: int
    is_settled: bool

    def is_same(self, file: IndexedFile) -> bool:
        return (self.mtime_ns, self.size, self.inode) == (file.mtime_ns, file.size, file.inode)

    def is_settled_as(self, file: IndexedFile) -> bool:
        """Asked of every file at every look, so in few steps."""
        is_here = self.inode == file.inode and self.mtime_ns == file.mtime_ns
        return is_here and self.size == file.size and self.is_settled


@dataclass(frozen=True, slots=True)
class RefreshPlan:
    to_read: tuple[IndexedFile, ...]
    gone: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """A file that was read: a memory with its passages, what else is indexed, or the problem that
    keeps it out.
    """

    file: IndexedFile
    is_settled: bool
    content: bytes  # sha256 of what it says
    memory: Memory | None
    passages: tuple[Passage, ...]
    turns: tuple[str, ...]
    problem: str
    share: FileShare = NOTHING  # in the graph


def plan(known: Mapping[str, FileState], seen: Iterable[IndexedFile]) -> RefreshPlan:
    """What has to be read and what to be dropped so that the index is that of the files seen."""
    files = {file.path: file for file in seen}
    to_read = [
        file
        for path, file in files.items()
        if path not in known or not known[path].is_settled_as(file)
    ]
    return RefreshPlan(
        tuple(sorted(to_read, key=_urgency)), tuple(path for path in known if path not in files)
    )


def _urgency(file: IndexedFile) -> tuple[bool, int]:
    """Talks come last, and of all the newest first, by the date that their names begin with.

    There may be a hundred thousand, and whoever asks meanwhile mostly asks about what was said
    lately or is a rule.
    """
    name = file.path.rpartition("/")[2]
    day = name[:4] + name[5:7] + name[8:10]
    return "/conversations/" in file.path, -int(day) if day.isdecimal() and day.isascii() else 0


def known_files(connection: sqlite3.Connection) -> dict[str, FileState]:
    rows = connection.execute("SELECT path, mtime_ns, size, inode, is_settled FROM files")
    return {row[0]: FileState._make(row[1:]) for row in rows}


def read(source: TextSource, file: IndexedFile, now_ns: int) -> ParsedFile | None:
    """Read one file; None where it vanished since it was seen. Never raises: a bad file is a Read
    with a problem.
    """
    is_settled = file.mtime_ns < now_ns - SETTLED_NS
    try:
        if not file.path.endswith(".md"):
            return _read_side(source, file, is_settled=is_settled)
        memory = source.load(file.path)
        said = json.dumps(dict(memory.meta), ensure_ascii=False, default=str)
        passages, turns = tuple(passages_of(memory)), tuple(turns_of(memory))
        share = graph_tables.share_of(memory, place_of(memory)[1])
        problem = "; ".join(memory.problems)
        return ParsedFile(
            file,
            is_settled,
            _sum(f"{said}\0{memory.body}"),
            memory,
            passages,
            turns,
            problem,
            share,
        )
    except NotFound:
        return None
    except KeeploreError as e:
        problem = str(e)
    except Exception as e:  # noqa: BLE001  # whatever one file does to a parser, the others must still be found
        problem = f"the file cannot be read: {e!r}"
    return ParsedFile(file, is_settled, _sum(problem), None, (), (), problem)


def _read_side(source: TextSource, file: IndexedFile, *, is_settled: bool) -> ParsedFile:
    text = source.read_text(file.path, MAX_SIDE)
    share, problem = NOTHING, ""
    try:
        share = graph_tables.share_of_side(file.path, text)
    except ValueError as e:
        problem = str(e)
    return ParsedFile(file, is_settled, _sum(text), None, (), (), problem, share)


def _sum(text: str) -> bytes:
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
    row = connection.execute("SELECT content FROM files WHERE path = ?", (file.path,)).fetchone()
    is_same = row is not None and row[0] == item.content
    if not is_same:
        _drop_rows(connection, file.path)
        key = None if item.memory is None else _add_memory(connection, file.path, item.memory, item)
        graph_tables.put(connection, file.path, item.share, key)
    connection.execute(
        "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            file.path,
            file.mtime_ns,
            file.size,
            file.inode,
            item.is_settled,
            item.content,
            _text(item.problem),
        ),
    )
    return not is_same


def _drop_rows(connection: sqlite3.Connection, path: str) -> None:
    row = connection.execute("SELECT key FROM memories WHERE path = ?", (path,)).fetchone()
    graph_tables.drop(connection, path, row[0] if row else None)
    if row:
        block_files.lose(connection, row[0])
        for statement in (
            "DELETE FROM passages WHERE memory = ?",
            "DELETE FROM turns WHERE memory = ?",
            "DELETE FROM links WHERE memory = ?",
            "DELETE FROM memories WHERE key = ?",
        ):
            connection.execute(statement, row)


def _add_memory(connection: sqlite3.Connection, path: str, memory: Memory, item: ParsedFile) -> int:
    scope_id = _scope_id(connection, memory)
    row = (path, *columns(memory, path))
    marks = ", ".join("?" * (len(row) + 1))
    key = connection.execute(
        f"INSERT INTO memories VALUES (NULL, {marks})",  # marks alone
        (*row[:2], scope_id, *row[2:]),
    ).lastrowid
    connection.executemany(
        "INSERT INTO turns VALUES (?, ?)", ((turn, key) for turn in turn_columns(item))
    )
    connection.executemany(
        "INSERT INTO links VALUES (?, ?, ?)", ((key, *link) for link in link_columns(memory))
    )
    connection.executemany(
        "INSERT INTO passages VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        ((key, scope_id, *passage_columns(passage)) for passage in item.passages),
    )
    return int(key or 0)


def columns(memory: Memory, path: str) -> tuple[Any, ...]:
    """What the table of memories says of one: after its path, without its scope."""
    return (
        *map(
            _text,
            (
                memory.id,
                memory.title,
                memory.kind,
                memory.category,
                memory.created_at,
                memory.updated_at,
            ),
        ),
        int(memory.is_permanent),
        memory.trust,
        *(_text(str(memory.source.get(key) or "")) for key in ("session", "host")),
        int(memory.is_open),
        int(is_archived(path)),
        bytes.fromhex(hash_of(memory)),
    )


def turn_columns(item: ParsedFile) -> list[str]:
    return sorted({_text(turn) for turn in item.turns})


def link_columns(memory: Memory) -> list[tuple[str, str]]:
    return sorted({(relationship, _text(target)) for relationship, target in memory.links})


def passage_columns(passage: Passage) -> tuple[bytes | str, ...]:
    is_head = passage.kind == "head"
    head, body = (passage.body, "") if is_head else ("", passage.body)
    texts = (
        passage.kind,
        passage.turn,
        passage.at,
        passage.title,
        head,
        body,
        passage.context,
        passage.extra,
    )
    return (passage.hash, *map(_text, texts))


def place_of(memory: Memory) -> tuple[str, str]:
    """Scope and project, "" for none."""
    return (memory.scope, _text(memory.project) if memory.scope == "project" else "")


def _scope_id(connection: sqlite3.Connection, memory: Memory) -> int:
    pair = place_of(memory)
    connection.execute("INSERT OR IGNORE INTO scopes (scope, project) VALUES (?, ?)", pair)
    found = connection.execute(
        "SELECT id FROM scopes WHERE scope = ? AND project = ?", pair
    ).fetchone()
    return int(found[0])


def is_archived(path: str) -> bool:
    """Archiving moves a file under ``archive/`` of its memory folder; the path is the state."""
    folders = path.split("/")
    return any(pair == ("memory", "archive") for pair in pairwise(folders))


def _text(value: str) -> str:
    """SQLite takes no lone surrogates; YAML escapes can make them."""
    return value.encode("utf-8", "replace").decode()
