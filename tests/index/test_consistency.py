"""Whatever is damaged in an index is named by the proof, and nothing else is; mending makes it
equal to the text.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from keeplore.index import Index, ScopeFilter

DAMAGES = {
    "title": (
        "UPDATE memories SET title = 'another' WHERE path LIKE '%redis%'",
        "text",
        "front matter",
    ),
    "scope": (
        "UPDATE memories SET is_archived = 1 WHERE path LIKE '%redis%'",
        "text",
        "front matter",
    ),
    "link": ("DELETE FROM links", "text", "links"),
    "turn": (
        "UPDATE turns SET turn = 'x' WHERE turn = (SELECT min(turn) FROM turns)",
        "text",
        "turns",
    ),
    "missing passage": (
        "DELETE FROM passages WHERE kind = 'exchange'",
        "text",
        "passages",
    ),
    "missing memory": ("DELETE FROM memories WHERE path LIKE '%redis%'", "text", "not"),
    "missing file": (
        "DELETE FROM files WHERE path LIKE '%redis%'",
        "text",
        "belong to no file",
    ),
    "content": (
        "UPDATE files SET content = x'00' WHERE path LIKE '%redis%'",
        "text",
        "something else",
    ),
    "words of a passage": (
        (
            "INSERT INTO passages_fts (rowid, title) SELECT id, 'words that nobody wrote' FROM "
            "passages WHERE id = 1"
        ),
        "words",
        "full-text",
    ),
    "all words": ("DELETE FROM passages_fts_data WHERE id > 10", "words", "full-text"),
    "text of a passage": (
        "UPDATE passages SET body = 'Oracle' WHERE kind = 'exchange'",
        "text",
        "passages",
    ),
    "vector": (
        "UPDATE embeddings SET vector = zeroblob(66) WHERE rowid = 1",
        "vectors",
        "changed",
    ),
    "short vector": (
        "UPDATE embeddings SET vector = x'00' WHERE rowid = 1",
        "vectors",
        "dimension",
    ),
    "swapped vectors": (
        (
            "UPDATE embeddings SET vector = (SELECT vector FROM embeddings WHERE rowid = 2) WHERE "
            "rowid = 1"
        ),
        "vectors",
        "changed",
    ),
}


@pytest.fixture
def built(files, index: Index, make_note, make_conversation) -> Index:
    redis = make_note("Redis is gone", "Postgres holds the queue")
    files.put(redis)
    files.put(
        make_note(
            "Queue", "One table", related=[{"id": redis.id, "relationship": "refines"}]
        )
    )
    files.put(
        make_conversation(
            "Ledger",
            ("Append only?", "Yes, for the auditors"),
            ("And cents?", "Integers"),
        )
    )
    files.write("memory/facts/broken.md", b"---\nid: [\n---\n")
    files.settle()
    index.refresh()
    index.embed_pending()
    return index


def tamper(directory: Path, sql: str) -> None:
    with closing(
        sqlite3.connect(directory / "index.sqlite3", isolation_level=None)
    ) as connection:
        connection.execute(sql)
        assert connection.total_changes


def test_a_sound_index_has_no_flaws(built: Index) -> None:
    seen: list[tuple[int, int]] = []
    assert list(built.flaws(lambda done, total: seen.append((done, total)))) == []
    assert seen == [(4, 4)]


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damage_is_named_and_mended(
    built: Index, index_directory: Path, name: str
) -> None:
    sql, part, message = DAMAGES[name]
    tamper(index_directory, sql)
    flaws = list(built.flaws())
    assert any(flaw.part == part and message in flaw.message for flaw in flaws), flaws
    built.mend(flaws)
    built.embed_pending()
    assert list(built.flaws()) == []
    assert built.state().vectors == built.state().passages
    assert built.text_search("postgres", ScopeFilter(), 5)


def test_a_vector_names_the_memory_that_it_stands_for(
    built: Index, index_directory: Path
) -> None:
    tamper(
        index_directory,
        "UPDATE embeddings SET vector = zeroblob(66) WHERE hash IN"
        " (SELECT p.hash FROM passages p JOIN memories m ON m.key = p.memory WHERE m.path LIKE "
        "'%redis%')",
    )
    assert [flaw.path.rpartition("-")[0] for flaw in built.flaws()] == [
        "memory/facts/2026-02-09-redis-is-gone"
    ]


def test_a_model_that_makes_other_vectors_than_it_did_is_noticed(
    built: Index, files, index_directory, make_embedder
):
    class Turned(make_embedder):
        def embed(self, texts):
            return super().embed(texts)[:, ::-1]

    with closing(Index(index_directory, files, Turned())) as other:
        assert {flaw.message.split(":")[0] for flaw in other.flaws()} == {
            "the model makes another vector of this text"
        }


def test_an_edit_that_keeps_time_and_size_is_found_by_reading(
    built: Index, files
) -> None:
    (path,) = files.root.glob("memory/facts/*redis*.md")
    before = path.stat()
    with path.open("r+b") as file:  # the same inode
        data = file.read()
        file.seek(0)
        file.write(data.replace(b"Postgres", b"MongoDB!"))
    os.utime(path, ns=(before.st_mtime_ns, before.st_mtime_ns))
    assert built.refresh().changed == 0 and built.lag() == 0
    (flaw,) = built.flaws()
    assert (
        flaw.path == path.relative_to(files.root).as_posix()
        and "although its time and size" in flaw.message
    )
    built.mend([flaw])
    assert list(built.flaws()) == [] and built.text_search("MongoDB", ScopeFilter(), 5)


def test_a_file_that_is_being_written_is_no_flaw(
    built: Index, files, make_note
) -> None:
    files.put(make_note("Redis is gone", "Postgres holds the queue and the locks"))
    assert list(built.flaws()) == []


def test_a_damaged_page_is_found_and_the_index_is_made_anew(
    built: Index, index_directory: Path
) -> None:
    built.close()
    with closing(sqlite3.connect(index_directory / "index.sqlite3")) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    file = index_directory / "index.sqlite3"
    data = bytearray(file.read_bytes())
    at = data.rindex(
        b"Postgres holds"
    )  # in a page of the passages: its header is some bytes of the page before it
    page = at // 8192 * 8192
    data[page : page + 8] = b"\xff" * 8
    file.write_bytes(data)
    flaws = list(built.flaws())
    assert "database" in {flaw.part for flaw in flaws} or any(
        "does not have it" in flaw.message for flaw in flaws
    )
    built.mend(flaws)
    built.embed_pending()
    assert list(built.flaws()) == []


def test_a_graph_file_that_changed_is_found_and_made_anew(
    files, embedder, index_directory: Path, make_note: Callable[..., object]
) -> None:
    pytest.importorskip("hnswlib")
    for number in range(12):
        files.put(make_note(f"Number {number}"))
    files.settle()
    with closing(Index(index_directory, files, embedder, graph_from=10)) as index:
        index.refresh()
        index.embed_pending()
        (graph,) = index_directory.glob("*.hnsw")
        assert list(index.flaws()) == []
        data = bytearray(graph.read_bytes())
        data[-1] ^= 1
        graph.write_bytes(data)
        (flaw,) = index.flaws()
        assert (flaw.part, flaw.message) == (
            "engine",
            f"{graph.name} has changed on the disk",
        )
        index.mend([flaw])
        assert not graph.exists()
        index.embed_pending()
        assert (
            len(list(index_directory.glob("*.hnsw"))) == 1 and list(index.flaws()) == []
        )
