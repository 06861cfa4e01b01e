"""Every row that the index makes of a few files, and what each question to it gives.

To write them anew: WRITE_GOLDEN=1 pytest tests/index -k every_row, then read the difference.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from keeplore.index import Index
from keeplore.memory import Memory

GOLDEN = Path(__file__).parents[1] / "golden"
ROWS = GOLDEN / "index" / "rows.txt"
VECTORS = ("embeddings", "blocks", "points", "models")
LEFT_OUT = ("mtime_ns", "inode", "is_settled")  # of a file
CONVERSATION = "memory/conversations/2026/02/2026-02-09-vat-1f0c9a2e.md"


@pytest.fixture
def index(
    files: Any, tmp_path: Path, embedder: Any, make_note: Callable[..., Memory]
) -> Iterator[Index]:
    files.write(CONVERSATION, (GOLDEN / "conversation.md").read_bytes())
    files.write("memory/gotchas/odd.md", (GOLDEN / "odd-but-sound.md").read_bytes())
    files.write("memory/gotchas/broken.md", b"---\nid: [\n---\n")
    first = make_note("Retries", "Jobs are retried five times in `jobs/queue.py`.")
    files.put(first)
    files.put(
        make_note(
            "Retries again",
            "Jobs are retried three times in `jobs/queue.py`, see #12.",
            supersedes=first.id,
            related=[{"id": first.id, "relationship": "supersedes"}],
            entities=[
                {
                    "source": "shop",
                    "relationship": "uses",
                    "target": "Postgres",
                    "confidence": 0.9,
                }
            ],
        )
    )
    files.put(
        make_note("Old", "We used Redis.", scope="project", project="shop"),
        "projects/shop/memory/archive/gotchas/2026-01-01-old-00000000.md",
    )
    index = Index(tmp_path / "index", files, embedder)
    index.refresh()
    index.graph.link(steps=0)
    yield index
    index.close()


def test_every_row_is_as_written_down(index: Index, tmp_path: Path) -> None:
    (file,) = (
        path
        for path in (tmp_path / "index").iterdir()
        if path.read_bytes()[:6] == b"SQLite"
    )
    connection = sqlite3.connect(file)
    seen = "\n".join(_told(connection))
    connection.close()
    if os.environ.get("WRITE_GOLDEN"):
        ROWS.parent.mkdir(exist_ok=True)
        ROWS.write_text(seen + "\n", encoding="utf-8")
    assert seen.splitlines() == ROWS.read_text(encoding="utf-8").splitlines()


def _told(connection: sqlite3.Connection) -> Iterator[str]:
    tables = connection.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE '%_fts%' ORDER BY name"
    )
    for (table,) in tables.fetchall():
        if table in VECTORS or table == "meta":
            continue
        rows = connection.execute(f"SELECT * FROM {table}")
        names = [column[0] for column in rows.description]
        yield f"# {table}"
        for row in rows:
            told = zip(names, row, strict=True)
            yield ", ".join(
                f"{name}={value!r}" for name, value in told if name not in LEFT_OUT
            )
