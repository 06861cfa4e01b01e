"""What adapters keep in a cursor between two readings: JSON ↔ dataclasses."""

from __future__ import annotations

from dataclasses import is_dataclass
from functools import cache
from types import NoneType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from keeplore_hooks.hosts.base import Cursor
from keeplore_hooks.hosts.jsonl import Json, load_text

_T = TypeVar("_T")


def pending(cursor: Cursor) -> Json:
    """What an adapter keeps in a cursor, an empty object where it is damaged."""
    return load_text(cursor.pending) or {}


def stored(
    data: Json,
    key: str,
    kind: type[_T],
) -> _T:
    """The object of this class that is kept under ``key``, an empty one where it is damaged."""
    try:
        value: _T = decoded(kind, data[key])
    except (
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        IndexError,
    ):
        return kind()
    return value


def decoded(kind: Any, value: Any) -> Any:
    """A value from JSON as what ``kind`` says: a dataclass, a list, tuple or dict of one kind, one
    or None, or a plain type.

    Raises ValueError, KeyError, TypeError or AttributeError where the value has another shape.
    """
    build: Any = kind
    if is_dataclass(kind):
        hints = _hints(build)
        return build(**{name: decoded(hint, value[name]) for name, hint in hints})
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is None:
        return kind(value)
    if NoneType in arguments:
        return decoded(arguments[0], value) if value else None
    if origin in (list, tuple):
        return origin(decoded(arguments[0], item) for item in value)
    return {str(key): decoded(arguments[1], item) for key, item in value.items()}


@cache
def _hints(kind: Any) -> list[tuple[str, Any]]:
    """Name and kind of each field of a dataclass, which Python would compile anew each time."""
    return [*get_type_hints(kind).items()]
