"""What is done with a note that is kept with the code, for tests that kill it midway."""

from __future__ import annotations

from pathlib import Path

from keeplore.memory import Memory, new_id, new_meta
from keeplore.store import Store
from keeplore.store.code_store import CodeStore

AT = "2026-03-01T10:00:00Z"
KEPT = new_id("Kept")


def note(title: str, body: str = "It is so.\n") -> Memory:
    meta = {
        "id": new_id(title),
        "kind": "note",
        "title": title,
        "scope": "project",
        "project": "shop",
        "category": "patterns",
    }
    return Memory(new_meta(**meta, created_at="2026-02-09T14:03:11Z"), body)


def opened(place: Path) -> CodeStore:
    """The notes of the code in a directory, with the workspace beside it."""
    return CodeStore(
        place / "shop",
        "shop",
        Store(place / "workspace", branch="main"),
        lambda memory: memory,
        is_elsewhere=lambda _: False,
    )


def write(store: CodeStore) -> None:
    store.save(note("New", "New words.\n"))


def change(store: CodeStore) -> None:
    store.save(note("Kept", "Other words.\n"), store.find(KEPT) or "")


def archive(store: CodeStore) -> None:
    path = store.find(KEPT) or ""
    store.move(path, path.replace("memory/", "memory/archive/", 1))


def forget(store: CodeStore) -> None:
    store.forget_all([KEPT], "studio", AT)


DEEDS = {"write": write, "change": change, "archive": archive, "forget": forget}
