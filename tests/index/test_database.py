from __future__ import annotations

import contextlib
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from keeplore.errors import IndexUnavailable
from keeplore.index import Index, MemoryFilter, ScopeFilter
from keeplore.index.database import IndexDatabase
from keeplore.index.schema import VERSION
from keeplore.index.sql import vector_sum
from keeplore.index.vectors.quantization import dequantize
from keeplore.memory import Memory

EVERYTHING = ScopeFilter()
FILE = "index.sqlite3"
NOTES = 60


@pytest.fixture
def filled(files: Any, index: Index, make_note: Callable[..., Memory]) -> Index:
    for n in range(NOTES):
        files.put(make_note(f"Note {n}", f"tabs and word{n} " * 30))
    index.refresh()
    index.embed_pending()
    index.close()
    with contextlib.closing(
        sqlite3.connect(index._database.file)
    ) as connection:  # all of it in the one file
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return index


def test_its_size_is_that_of_all_files_beside_it(filled: Index) -> None:
    database = filled._database
    sizes = [path.stat().st_size for path in database.directory.iterdir()]
    assert database.size_bytes() == sum(sizes) > 0
    (database.directory / "more").write_bytes(b"12345")
    (database.directory / "folder").mkdir()
    (database.directory / "folder" / "file").write_bytes(b"12345")
    assert database.size_bytes() == sum(sizes) + 5
    shutil.rmtree(database.directory)
    assert database.size_bytes() == 0


def name_of(index: Index) -> str:
    """Another one after a rebuild."""
    return index._database.read(
        lambda c: str(
            c.execute("SELECT value FROM meta WHERE key = 'database'").fetchone()
        )
    )


def answers(index: Index, embedder: Any) -> list[list[tuple[str, float]]]:
    """What queries bring, free of the passage ids, which differ from one build to the next."""
    by_text = [
        index.text_search(query, EVERYTHING, 10)
        for query in ("word7", "tabs word30", "note 12")
    ]
    by_vector = [
        index.vector_search(embedder.embed([query])[0], EVERYTHING, 10)
        for query in ("word7", "tabs")
    ]
    found = []
    for matches in (*by_text, *by_vector):
        rows = index.passages([match.passage for match in matches])
        pairs = zip(rows, matches, strict=True)
        found.append(sorted((row.text, round(match.score, 4)) for row, match in pairs))
    return found


def truncate(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 3])


def empty(file: Path) -> None:
    file.write_bytes(b"")


def zero_the_header(file: Path) -> None:
    file.write_bytes(bytes(100) + file.read_bytes()[100:])


def overwrite_pages(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[4096 : 4096 * 9] = b"\xa5" * (4096 * 8)
    file.write_bytes(data)


def make_it_no_schema(file: Path) -> None:
    with contextlib.closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA user_version=0")


def make_it_text(file: Path) -> None:
    file.write_text("not a database " * 1000)


@pytest.mark.parametrize(
    "damage",
    [
        truncate,
        empty,
        zero_the_header,
        overwrite_pages,
        make_it_no_schema,
        make_it_text,
    ],
)
def test_a_damaged_or_foreign_file_is_built_again_and_answers_as_before(
    damage: Callable[[Path], None],
    files: Any,
    filled: Index,
    index_directory: Path,
    embedder: Any,
) -> None:
    before, name = answers(filled, embedder), name_of(filled)
    filled.close()
    for suffix in ("-wal", "-shm"):
        (index_directory / (FILE + suffix)).unlink(missing_ok=True)
    damage(index_directory / FILE)
    again = Index(index_directory, files, embedder)
    again.refresh()
    assert again.embed_pending() == 0
    assert again.lag() == 0
    assert answers(again, embedder) == before
    assert name_of(again) != name
    again.close()


def test_the_index_of_a_newer_keeplore_is_left_as_it_is(
    files: Any, filled: Index, index_directory: Path, embedder: Any
) -> None:
    filled.close()
    with contextlib.closing(sqlite3.connect(index_directory / FILE)) as connection:
        connection.execute(f"PRAGMA user_version={VERSION + 1}")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    before = (index_directory / FILE).read_bytes()
    with pytest.raises(IndexUnavailable, match=r"newer Keeplore.*keeplore upgrade"):
        Index(index_directory, files, embedder).refresh()
    assert (index_directory / FILE).read_bytes() == before


def as_wide_numbers(connection: sqlite3.Connection, dim: int) -> None:
    """Store vectors as the schemas before 14 did: 16 bits a number."""
    connection.execute("PRAGMA user_version=13")
    for row, hash_, vector in connection.execute(
        "SELECT rowid, hash, vector FROM embeddings"
    ).fetchall():
        wide = np.rint(dequantize([vector], dim)[0] * 32_767).astype("<i2").tobytes()
        connection.execute(
            "UPDATE embeddings SET vector = ?, sum = ? WHERE rowid = ?",
            (wide, vector_sum(hash_, wide), row),
        )


def test_the_vectors_of_an_older_keeplore_are_kept(
    files: Any, filled: Index, index_directory: Path, embedder: Any, make_embedder: Any
) -> None:
    before, name = answers(filled, embedder), name_of(filled)
    filled.close()
    with contextlib.closing(sqlite3.connect(index_directory / FILE)) as connection:
        as_wide_numbers(connection, embedder.dim)
        connection.execute(
            "UPDATE embeddings SET vector = zeroblob(length(vector)) WHERE rowid = 1"
        )
        connection.execute("DROP TABLE names")
        connection.commit()
    other = make_embedder()
    again = Index(index_directory, files, other)
    again.refresh()
    assert again.embed_pending() == 0
    assert len(other.texts) == 1  # that of the vector that had changed on the disk
    assert answers(again, embedder)[:3] == before[:3] and name_of(again) != name
    assert again.state().vectors == again.state().passages == NOTES
    assert not list(index_directory.glob("before*"))
    assert list(again.flaws()) == []
    again.close()


def test_flipped_bytes_anywhere_end_in_an_answer_or_a_rebuild(
    files: Any, filled: Index, index_directory: Path, embedder: Any
) -> None:
    sound = (index_directory / FILE).read_bytes()
    for place in range(0, len(sound), len(sound) // 20):
        for suffix in ("-wal", "-shm"):
            (index_directory / (FILE + suffix)).unlink(missing_ok=True)
        flipped = bytes(b ^ 0xFF for b in sound[place : place + 16])
        (index_directory / FILE).write_bytes(
            sound[:place] + flipped + sound[place + 16 :]
        )
        again = Index(index_directory, files, embedder)
        again.refresh()
        again.embed_pending()
        again.text_search("tabs word3", EVERYTHING, 5)
        again.vector_search(embedder.embed(["tabs"])[0], EVERYTHING, 5)
        again.listed(MemoryFilter(EVERYTHING, limit=5))
        again.close()


def test_the_directory_explains_itself(filled: Index, index_directory: Path) -> None:
    assert "Safe to delete" in (index_directory / "README").read_text()


READER = """
import sys
from pathlib import Path
from keeplore.index import ScopeFilter, Index
index = Index(Path(sys.argv[1]), None, None)
for line in sys.stdin:
    print(len(index.text_search(line, ScopeFilter(), 100)), flush=True)
"""
HOLDER = """
import sys
from pathlib import Path
from keeplore.index.database import IndexDatabase
with IndexDatabase(Path(sys.argv[1])).locked():
    print("held", flush=True)
    sys.stdin.read()
"""
WRITER = """
import sys
from pathlib import Path
from keeplore.index.database import IndexDatabase
def act(connection):
    connection.execute("DELETE FROM passages")
    print("deleted", flush=True)
    sys.stdin.read()
IndexDatabase(Path(sys.argv[1])).write(act)
"""


class Child:
    """Another process at the same index."""

    def __init__(self, program: str, directory: Path) -> None:
        command = [sys.executable, "-c", program, str(directory)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, text: str) -> str:
        assert self.process.stdin
        self.process.stdin.write(f"{text}\n")
        self.process.stdin.flush()
        return self.line()

    def line(self) -> str:
        assert self.process.stdout
        return self.process.stdout.readline().strip()

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()


def test_another_process_reads_while_this_one_writes(
    files: Any, filled: Index, index_directory: Path, make_note: Callable[..., Memory]
) -> None:
    with Child(READER, index_directory) as reader:
        assert reader.ask("word7") == "1"
        seen: list[str] = []

        def ask_within(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM passages")
            seen.append(reader.ask("word7"))
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            filled._database.write(ask_within)
        assert seen == ["1"]
        files.put(make_note("Late", "word7 again"))
        filled.refresh()
        assert reader.ask("word7") == "2"


def test_another_process_notices_that_the_directory_was_made_anew(
    files: Any, filled: Index, index_directory: Path
) -> None:
    with Child(READER, index_directory) as reader:
        assert reader.ask("word7") == "1"
        shutil.rmtree(index_directory)
        assert reader.ask("word7") == "0"
        filled.refresh()
        assert reader.ask("word7") == "1"


def test_a_second_writer_waits_and_then_says_who_is_in_the_way(
    filled: Index, index_directory: Path
) -> None:
    with Child(HOLDER, index_directory) as holder:
        assert holder.line() == "held"
        with pytest.raises(IndexUnavailable, match="another process is writing"):
            IndexDatabase(index_directory, wait_s=0.1).write(lambda _: None)
        assert filled.text_search("word7", EVERYTHING, 5) != []
    IndexDatabase(index_directory, wait_s=5).write(lambda _: None)


def test_a_writer_killed_in_the_middle_costs_nothing(
    filled: Index, index_directory: Path
) -> None:
    with Child(WRITER, index_directory) as writer:
        assert writer.line() == "deleted"
        writer.process.send_signal(signal.SIGKILL)
        writer.process.wait()
    assert (index_directory / "writing").exists()
    assert len(filled.text_search("tabs", EVERYTHING, 100)) == NOTES
    filled.refresh()
    filled._database.write(lambda _: None)
    assert not (index_directory / "writing").exists()


def test_damage_left_by_a_killed_writer_is_found_before_anything_is_written(
    files: Any, filled: Index, index_directory: Path
) -> None:
    file = index_directory / FILE
    sql = (
        "SELECT (rootpage - 1) * (SELECT page_size FROM pragma_page_size) FROM sqlite_master "
        "WHERE name = 'passages'"
    )
    with contextlib.closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        ((start,),) = connection.execute(sql)
    data = bytearray(file.read_bytes())
    data[start : start + 4096] = b"\xa5" * 4096
    file.write_bytes(data)
    filled._database.write(lambda _: None)
    before = name_of(filled)
    (index_directory / "writing").touch()
    filled._database.write(lambda _: None)
    assert name_of(filled) != before
    filled.refresh()
    assert len(filled.text_search("tabs", EVERYTHING, 100)) == NOTES


def test_a_directory_that_cannot_be_written_is_said_with_a_next_step(
    tmp_path: Path, files: Any
) -> None:
    (tmp_path / "file").write_text("in the way")
    index = Index(tmp_path / "file" / "index", files, None)
    for ask in (index.refresh, lambda: index.text_search("tabs", EVERYTHING, 1)):
        with pytest.raises(IndexUnavailable, match=r"file is no folder\. Move it away"):
            ask()
    lock = tmp_path / "other" / "writer.lock"
    lock.mkdir(parents=True)
    with pytest.raises(
        IndexUnavailable, match=r"writer\.lock: Is a directory\. Move it away"
    ):
        Index(lock.parent, files, None).refresh()
    database = tmp_path / "third" / "index.sqlite3"
    database.mkdir(parents=True)
    with pytest.raises(IndexUnavailable, match=r"sqlite3 is no file\. Move it away"):
        Index(database.parent, files, None).refresh()
