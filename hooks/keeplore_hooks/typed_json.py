"""JSON as dataclasses: what is kept between two runs in cursors and small files."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import is_dataclass
from functools import cache
from pathlib import Path
from types import NoneType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

_T = TypeVar("_T")
# what a value of another shape raises
MALFORMED = (ValueError, LookupError, TypeError, AttributeError)


def load(path: Path, kind: type[_T]) -> _T | None:
    """The object of this class that a JSON file holds; None where the file is gone or holds
    something else.
    """
    try:
        return decoded(kind, json.loads(path.read_bytes()))
    except (OSError, *MALFORMED):
        return None


def decoded(kind: type[_T], value: Any) -> _T:
    """A value from JSON as what ``kind`` says: a dataclass, a list, tuple or dict of one kind, one
    or None, or a plain type. A field that is missing has its default; an unknown one is left out.

    Raises one of ``MALFORMED`` where the value has another shape.
    """
    some_kind: Any = kind
    made: _T = _reader(some_kind)(value)
    return made


@cache
def _reader(kind: Any) -> Callable[[Any], Any]:
    """The function that makes a value from JSON what ``kind`` says."""
    if is_dataclass(kind):
        return _object_reader(kind)
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is None:
        return kind  # type: ignore[no-any-return] # a plain type
    read = _reader(arguments[0])
    if NoneType in arguments:
        return lambda value: read(value) if value else None
    if origin in (list, tuple):
        return lambda value: origin(map(read, value))
    read = _reader(arguments[1])
    return lambda value: {str(key): read(item) for key, item in value.items()}


def _object_reader(kind: Any) -> Callable[[Any], Any]:
    readers = {name: _reader(hint) for name, hint in get_type_hints(kind).items()}
    return lambda value: kind(
        **{name: read(value[name]) for name, read in readers.items() if name in value}
    )
