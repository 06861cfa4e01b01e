"""A note whose id follows from its title."""

from __future__ import annotations

from typing import Any

from keeplore.memory import Memory, new_id, new_meta


def note(title: str, body: str = "It is so.\n", **fields: Any) -> Memory:
    meta = {
        "id": new_id(title),
        "kind": "note",
        "title": title,
        "created_at": "2026-02-09T14:03:11Z",
        "scope": "workspace",
        "category": "gotchas",
        **fields,
    }
    return Memory(new_meta(**meta), body)
