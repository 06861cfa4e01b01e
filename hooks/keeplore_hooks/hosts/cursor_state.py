"""What adapters keep in a cursor between two readings."""

from __future__ import annotations

from typing import TypeVar

from keeplore_hooks.hosts.base import Cursor
from keeplore_hooks.hosts.jsonl import Json, load_text
from keeplore_hooks.typed_json import MALFORMED, decoded

_T = TypeVar("_T")


def stored_state(cursor: Cursor) -> Json:
    """What an adapter keeps in a cursor, an empty object where it is damaged."""
    return load_text(cursor.pending) or {}


def stored_object(data: Json, key: str, kind: type[_T]) -> _T:
    """The object of this class that is kept under ``key``, an empty one where it is damaged."""
    try:
        return decoded(kind, data[key])
    except MALFORMED:
        return kind()
