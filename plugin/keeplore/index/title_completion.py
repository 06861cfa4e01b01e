"""Ids and titles for a shell that completes what a person types: quick, and without opening
anything else.
"""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

from keeplore.index.database import IndexDatabase


def beginning_with(directory: Path, text: str, limit: int) -> list[tuple[str, str]]:
    """Id and title of the memories whose id begins with ``text`` or whose title holds it, the one
    changed last first.

    As the index in ``directory`` has them, which may be behind; none where there is no index.
    Earlier versions are found by their ids alone. Raises IndexUnavailable.
    """
    if not (directory / "index.sqlite3").exists():
        return []
    words, digits = (
        re.sub(r"([%_\\])", r"\\\1", part) for part in (text, text.removeprefix("mem_"))
    )
    like = (f"mem\\_{digits}%", f"%{words}%")

    def ask(connection: sqlite3.Connection) -> list[tuple[str, str]]:
        rows = connection.execute(
            "SELECT id, title FROM memories WHERE (id LIKE ? ESCAPE '\\' OR title LIKE ? ESCAPE "
            "'\\')"
            " AND (id LIKE ? ESCAPE '\\' OR id NOT IN (SELECT target FROM links WHERE relationship "
            "= 'supersedes'))"
            " GROUP BY id ORDER BY max(updated_at) DESC, id LIMIT ?",
            (*like, like[0] if digits else "", limit),
        )
        return [(str(id_), str(title)) for id_, title in rows]

    database = IndexDatabase(directory)
    try:
        return database.read(ask)
    finally:
        database.close()
