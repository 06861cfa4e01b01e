"""What is asked of the tables, other than by words or by vector."""

from __future__ import annotations

import itertools
import re
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from keeplore.index.full_text import in_list, scope_ids
from keeplore.index.rows import MemoryFilter, MemoryRow, PassageRow, ScopeFilter
from keeplore.index.vectors import block_files
from keeplore.memory.chains import Chain, ChainPosition, chain_positions, chains

_T = TypeVar("_T")

ASK_AT_ONCE = 500  # parameters of a statement; old SQLite allows 999
ORPHANS = (
    2000  # vectors without a passage that are kept, for text that comes back under another name
)
_COLUMNS = (
    "m.id, m.path, m.title, m.kind, s.scope, s.project, m.category, m.created_at, m.updated_at, "
    "m.permanent, m.trust,"
    " m.session, m.host, m.is_open, m.is_archived"
)
# Two files may carry one id: a copy, or a move that is half done. What is not archived counts, then
# the file whose name carries the id, then what is newer: `Store.find` and `memory.lint` choose the
# same one.
_RANK = (
    "(1 - m.is_archived, m.path LIKE '%-' || substr(m.id, 5, 8) || '.md' OR m.path LIKE '%/' || "
    "m.id || '.md',"
    " m.updated_at, m.path)"
)
_IS_FIRST = (
    f"NOT EXISTS (SELECT 1 FROM memories b WHERE b.id = m.id AND "
    f"{_RANK.replace('m.', 'b.')} > {_RANK})"
)  # ours


def meta(connection: sqlite3.Connection, key: str) -> str:
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return str(row[0]) if row else ""


def set_meta(connection: sqlite3.Connection, key: str, value: str) -> None:
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))


def raise_version(connection: sqlite3.Connection) -> None:
    """Tell whoever keeps vectors in memory that passages or vectors have changed."""
    set_meta(connection, "version", str(int(meta(connection, "version") or 0) + 1))


def state(connection: sqlite3.Connection) -> tuple[str, int]:
    """Which database this is, and the version of its passages and vectors."""
    found = dict(
        connection.execute("SELECT key, value FROM meta WHERE key IN ('database', 'version')")
    )
    return str(found["database"]), int(found.get("version", 0))


def passage_rows(connection: sqlite3.Connection, ids: Sequence[int]) -> list[PassageRow]:
    """The passages with these ids, in this order; one that is gone is left out."""
    found: dict[int, PassageRow] = {}
    for chunk in chunks(list(ids)):
        rows = connection.execute(
            "SELECT p.id, m.id, m.path, p.kind, p.turn, p.at, p.head || p.body, "
            "m.title,"  # marks
            " (SELECT count(*) FROM passages o WHERE o.memory = p.memory) FROM passages p"
            f" JOIN memories m ON m.key = p.memory WHERE p.id IN ({marks(chunk)})",
            chunk,
        )
        found.update({row[0]: PassageRow(*row) for row in rows})
    return [found[id_] for id_ in ids if id_ in found]


def memory_rows(connection: sqlite3.Connection, ids: Sequence[str]) -> dict[str, MemoryRow]:
    heads = chain_positions(chains_of(connection, ids))
    found = {}
    for chunk in chunks(list(ids)):
        rows = connection.execute(
            f"SELECT {_COLUMNS} FROM memories m JOIN scopes s ON s.id = "
            f"m.scope_id"  # our own words
            f" WHERE m.id IN ({marks(chunk)}) AND {_IS_FIRST}",
            chunk,
        )
        found.update({row[0]: _memory_row(row, heads.get(row[0], ChainPosition())) for row in rows})
    return found


def path_of(connection: sqlite3.Connection, memory_id: str) -> str | None:
    """The path of a file with this id, None without one."""
    row = connection.execute(
        "SELECT path FROM memories WHERE id = ? LIMIT 1", (memory_id,)
    ).fetchone()
    return str(row[0]) if row else None


def known_turns(connection: sqlite3.Connection, ids: Iterable[str]) -> dict[str, str]:
    """Turn → memory that holds its words; of several the one with the smallest id."""
    found: dict[str, str] = {}
    for chunk in chunks(list(ids)):
        rows = connection.execute(
            "SELECT t.turn, min(m.id) FROM turns t JOIN memories m ON m.key = "
            "t.memory"  # marks alone
            f" WHERE t.turn IN ({marks(chunk)}) GROUP BY t.turn",
            chunk,
        )
        found.update(rows)
    return found


def problems(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    """Path and message of every file that is not as it should be, sorted by path."""
    wrong = connection.execute("SELECT path, problem FROM files WHERE problem != ''").fetchall()
    doubles = connection.execute(
        "SELECT m.path, f.path FROM memories m JOIN memories f ON f.id = m.id AND f.key != "
        "m.key"  # ours
        f" WHERE NOT {_IS_FIRST} AND {_IS_FIRST.replace('m.', 'f.')}"
    )
    same = [
        (path, f"its id is that of {first}, which is used; delete this one or give it another id")
        for path, first in doubles
    ]
    return sorted([*wrong, *same])


def last_passage(connection: sqlite3.Connection) -> int:
    """The highest id of a passage, 0 without one."""
    return int(connection.execute("SELECT coalesce(max(id), 0) FROM passages").fetchone()[0])


def counts(connection: sqlite3.Connection) -> tuple[int, int]:
    """How many memories and passages there are."""
    row = connection.execute(
        "SELECT (SELECT count(DISTINCT id) FROM memories), (SELECT count(*) FROM passages)"
    )
    found: tuple[int, int] = row.fetchone()
    return found


def add_vectors(
    connection: sqlite3.Connection, fingerprint: str, rows: Iterable[tuple[bytes, bytes]]
) -> int:
    """Store vectors (packed) by the hashes of their texts; returns how many passages have one that
    had none.
    """
    connection.execute("INSERT OR IGNORE INTO models (fingerprint) VALUES (?)", (fingerprint,))
    model = block_files.model_id(connection, fingerprint)
    new: list[tuple[int, int, bytes]] = []
    for hash_, vector in rows:
        added = connection.execute(
            "INSERT OR IGNORE INTO embeddings VALUES (?, ?, ?, ?)",
            (model, hash_, vector, block_files.vector_sum(hash_, vector)),
        ).rowcount
        if added:
            found = connection.execute("SELECT id, scope_id FROM passages WHERE hash = ?", (hash_,))
            new += [(id_, scope, vector) for id_, scope in found]
    placed = block_files.place(connection, model, new)
    raise_version(connection)
    return placed


def count_vectors(connection: sqlite3.Connection, fingerprint: str) -> int:
    """How many passages have a vector of this model."""
    model = block_files.model_id(connection, fingerprint)
    if block_files.are_placed(connection, model):
        return sum(block.rows - block.gone for block in block_files.of_model(connection, model))
    return sum(1 for _ in block_files.vectors(connection, model))


def has_orphans(connection: sqlite3.Connection) -> bool:
    """Whether the vectors that no passage needs have become more than what is worth keeping."""
    sql = "SELECT (SELECT count(*) FROM embeddings) > 2 * (SELECT count(*) FROM passages) + ?"
    return bool(connection.execute(sql, (ORPHANS,)).fetchone()[0])


def drop_orphans(connection: sqlite3.Connection, keep: Sequence[str]) -> None:
    """Delete the vectors of texts that no passage has, and those of models other than the ones to
    keep.
    """
    drop_models(connection, keep)
    before = connection.execute("SELECT settled, is_placed, id FROM models").fetchall()
    connection.execute("DELETE FROM embeddings WHERE hash NOT IN (SELECT hash FROM passages)")
    # no passage has lost its vector
    connection.executemany("UPDATE models SET settled = ?, is_placed = ? WHERE id = ?", before)


def drop_models(connection: sqlite3.Connection, keep: Sequence[str]) -> None:
    """Delete the vectors of every other model, given by fingerprint."""
    gone = f"(SELECT id FROM models WHERE fingerprint NOT IN ({marks(keep)}))"  # marks
    for table in ("embeddings", "blocks"):
        connection.execute(
            f"DELETE FROM {table} WHERE model IN {gone}", list(keep)
        )  # our own words


def drop_traces(connection: sqlite3.Connection) -> None:
    """Delete the vectors of texts that no passage has, whatever model made them, and write the word
    lists anew.
    """
    connection.execute("DELETE FROM embeddings WHERE hash NOT IN (SELECT hash FROM passages)")
    for (model,) in connection.execute("SELECT id FROM models").fetchall():
        block_files.make_anew(connection, model)
    connection.execute("INSERT INTO passages_fts(passages_fts) VALUES ('rebuild')")


def all_chains(connection: sqlite3.Connection) -> list[Chain]:
    """Every chain of memories that replaced one another."""
    return _chained(connection, connection.execute(_SUPERSEDING))


def versions(connection: sqlite3.Connection, memory_id: str) -> tuple[str, ...]:
    """The members of the chain that a memory takes part in, oldest first."""
    return next(
        (
            chain.members
            for chain in chains_of(connection, [memory_id])
            if memory_id in chain.members
        ),
        (),
    )


def superseded(connection: sqlite3.Connection, ids: Iterable[str]) -> set[str]:
    """Those of these memories for which a newer version stands."""
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
        new: set[tuple[str, str]] = set()
        for chunk in chunks(sorted(waiting)):
            for column in ("m.id", "l.target"):
                new.update(
                    connection.execute(f"{_SUPERSEDING} AND {column} IN ({marks(chunk)})", chunk)
                )
        found |= new
        waiting = {id_ for pair in new for id_ in pair} - known
    return _chained(connection, found)


_SUPERSEDING = (
    "SELECT m.id, l.target FROM links l JOIN memories m ON m.key = l.memory WHERE "
    "l.relationship = 'supersedes'"
)


def _chained(connection: sqlite3.Connection, links: Iterable[tuple[str, str]]) -> list[Chain]:
    supersedes: dict[str, list[str]] = {}
    for id_, target in links:
        supersedes.setdefault(id_, []).append(target)
    named = {*supersedes, *(target for targets in supersedes.values() for target in targets)}
    ages: dict[str, tuple[str, str]] = {}
    for chunk in chunks(sorted(named)):
        found = connection.execute(
            f"SELECT id, created_at FROM memories WHERE id IN ({marks(chunk)})", chunk
        )  # marks
        for id_, created_at in found:
            ages[id_] = max(ages.get(id_, ("", "")), (created_at, id_))
    return chains(supersedes, ages)


def dangling(connection: sqlite3.Connection) -> list[tuple[str, str, str]]:
    """Path, relationship and target of every link to a memory that does not exist, sorted."""
    rows = connection.execute(
        "SELECT m.path, l.relationship, l.target FROM links l JOIN memories m ON m.key = l.memory"
        " WHERE NOT EXISTS (SELECT 1 FROM memories t WHERE t.id = l.target) ORDER BY 1, 2, 3"
    )
    return [(str(path), str(relationship), str(target)) for path, relationship, target in rows]


def linking(connection: sqlite3.Connection, memory_id: str) -> list[tuple[str, str]]:
    """Relationship and id of every memory that names this one, sorted."""
    rows = connection.execute(
        "SELECT DISTINCT l.relationship, m.id FROM links l JOIN memories m ON m.key = l.memory"
        " WHERE l.target = ? AND m.id != l.target ORDER BY 1, 2",
        (memory_id,),
    )
    return [(str(relationship), str(id_)) for relationship, id_ in rows]


def linked(connection: sqlite3.Connection, relationship: str) -> list[tuple[str, str]]:
    """Memory and target of every link of this relationship, sorted."""
    rows = connection.execute(
        "SELECT DISTINCT m.id, l.target FROM links l JOIN memories m ON m.key = l.memory"
        " WHERE l.relationship = ? ORDER BY 1, 2",
        (relationship,),
    )
    return [(str(id_), str(target)) for id_, target in rows]


def listed(connection: sqlite3.Connection, wanted: MemoryFilter) -> list[MemoryRow]:
    """Memories that fit, the one changed last first."""
    heads = chain_positions(all_chains(connection))
    condition, values = _fitting(connection, wanted)
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM memories m JOIN scopes s ON s.id = "
        f"m.scope_id"  # our own words
        f" WHERE {condition} ORDER BY m.updated_at DESC, m.id",
        values,
    )
    kept = (row for row in rows if wanted.superseded or _is_head(heads, row[0]))
    return [
        _memory_row(row, heads.get(row[0], ChainPosition()))
        for row in itertools.islice(kept, wanted.limit)
    ]


def count_listed(connection: sqlite3.Connection, wanted: MemoryFilter) -> int:
    """How many memories fit, whatever the limit."""
    heads = chain_positions(all_chains(connection))
    condition, values = _fitting(connection, wanted)
    old = [] if wanted.superseded else [id_ for id_ in heads if not _is_head(heads, id_)]
    sql = f"SELECT count(*) FROM memories m WHERE {condition}"  # our own words
    found = int(connection.execute(sql, values).fetchone()[0])
    for chunk in chunks(old):
        found -= int(
            connection.execute(f"{sql} AND m.id IN ({marks(chunk)})", (*values, *chunk)).fetchone()[
                0
            ]
        )
    return found


def _is_head(heads: dict[str, ChainPosition], memory_id: str) -> bool:
    place = heads.get(memory_id)
    return place is None or not place.superseded_by


def _fitting(connection: sqlite3.Connection, wanted: MemoryFilter) -> tuple[str, tuple[str, ...]]:
    """A condition on ``memories m``, and the values for its marks."""
    archived = {"without": " AND NOT m.is_archived", "only": " AND m.is_archived", "with": ""}[
        wanted.archived
    ]
    permanent = "" if wanted.permanent is None else f" AND m.permanent = {int(wanted.permanent)}"
    condition = (
        f"{in_list('m.scope_id', scope_ids(connection, wanted.allowed))}{archived}{permanent}"
        " AND ? IN ('', m.kind) AND ? IN ('', m.category) AND ? IN ('', m.session)"
        f" AND m.updated_at >= ? AND (? = '' OR m.updated_at < ?) AND {_IS_FIRST}"
    )
    return condition, (
        wanted.kind, wanted.category, wanted.session, wanted.since, wanted.before, wanted.before,
    )  # fmt: skip


def session_span(
    connection: sqlite3.Connection, allowed: ScopeFilter, number: int
) -> tuple[str, str] | None:
    """When the n-th session in these scopes began and ended, the last one for -1; None where there
    are fewer.
    """
    order, offset = ("DESC", -number - 1) if number < 0 else ("ASC", number - 1)
    row = connection.execute(
        "SELECT min(created_at), max(updated_at) FROM memories WHERE kind = "
        "'conversation'"  # our own words
        f" AND {in_list('scope_id', scope_ids(connection, allowed))} GROUP BY "
        f"coalesce(nullif(session, ''), id)"
        f" ORDER BY 1 {order} LIMIT 1 OFFSET ?",
        (offset,),
    ).fetchone()
    return (str(row[0]), str(row[1])) if row else None


def scopes(connection: sqlite3.Connection) -> tuple[tuple[str, str], ...]:
    rows = connection.execute("SELECT scope, project FROM scopes ORDER BY scope, project")
    return tuple((str(scope), str(project)) for scope, project in rows)


def ids_like(connection: sqlite3.Connection, beginning: str) -> list[str]:
    """Ids that begin so, with or without ``mem_``; 20 at most."""
    start = beginning if beginning.startswith("mem_") else f"mem_{beginning}"
    rows = connection.execute(
        "SELECT DISTINCT id FROM memories WHERE id >= ? AND id < ? ORDER BY id LIMIT 20",
        (start, f"{start}g"),
    )
    return [str(id_) for (id_,) in rows]


def ids_at(connection: sqlite3.Connection, path: str) -> list[str]:
    """Ids of the memories at a path, or in files of that name."""
    rows = connection.execute(
        "SELECT DISTINCT id FROM memories WHERE path = ? OR path LIKE ? ESCAPE '\\' ORDER BY id "
        "LIMIT 20",
        (path, "%/" + re.sub(r"([%_\\])", r"\\\1", path)),
    )
    return [str(id_) for (id_,) in rows]


def ids_saying(connection: sqlite3.Connection, content: str, scope: str, project: str) -> list[str]:
    """Ids of the memories in a scope that say exactly what this content hash stands for."""
    rows = connection.execute(
        "SELECT m.id FROM memories m JOIN scopes s ON s.id = m.scope_id"
        " WHERE m.says = ? AND s.scope = ? AND s.project = ? AND m.kind = 'note' AND NOT "
        "m.is_archived ORDER BY m.id",
        (bytes.fromhex(content), scope, project if scope == "project" else ""),
    )
    return [str(id_) for (id_,) in rows]


def _memory_row(row: tuple[Any, ...], place: ChainPosition) -> MemoryRow:
    *texts, permanent, trust, session, host, is_open, is_archived = row
    flags = (bool(is_open), bool(is_archived), place.superseded_by, place.changes)
    values: tuple[Any, ...] = (*texts, bool(permanent), trust, session, host, *flags)
    return MemoryRow(*values)


def chunks(items: Sequence[_T]) -> Iterable[Sequence[_T]]:
    """As many at a time as one statement may ask for."""
    return (items[start : start + ASK_AT_ONCE] for start in range(0, len(items), ASK_AT_ONCE))


def marks(items: Sequence[object]) -> str:
    """A mark for each, to stand within ``IN ()``."""
    return ", ".join("?" * len(items))
