"""Data as text: a heading for what holds more, a line for each value, so that a piece of it says
what it belongs to.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from keeplore.errors import SourceRefused
from keeplore.ingest.document_body import MAX_TEXT

DEPTH = 3  # levels that have headings; what is deeper has its place on its line
MAX_DEPTH = 200
_TITLES = ("title", "name", "$id", "id")


def from_json(text: str) -> Any:
    """The value of a JSON text, or the values of its lines. Raises SourceRefused."""
    try:
        return json.loads(text)
    except RecursionError:
        raise _too_deep() from None
    except ValueError as e:
        try:
            values = [json.loads(line) for line in text.splitlines() if line.strip()]
        except (ValueError, RecursionError):
            values = []
        if len(values) > 1:
            return values
        raise SourceRefused(
            f"that is no JSON: {e}", "Mend it, or save it as text"
        ) from e


def title_in(value: Any) -> str:
    """What data calls itself."""
    found = (value.get(key) for key in _TITLES) if isinstance(value, dict) else ()
    return next((name for name in found if isinstance(name, str) and name.strip()), "")


def outline(value: Any) -> str:
    """Markdown of what JSON can hold. Raises SourceRefused for what nests too deeply or says too
    much.
    """
    lines: list[str] = []
    size = 0
    for line in _lines(value, "", 0):
        size += len(line) + 1
        # paths stand on every line, so deep data grows beyond its own size
        if size > MAX_TEXT:
            raise SourceRefused(
                f"its text is longer than {MAX_TEXT // 1_000_000} MB",
                "Give a part of it",
            )
        if line or (lines and lines[-1]):  # one empty line is enough
            lines.append(line)
    return "\n".join(lines)


def _lines(value: Any, path: str, depth: int) -> Iterator[str]:
    if depth > MAX_DEPTH:
        raise _too_deep()
    if not isinstance(value, dict | list):
        yield _line(path, value)
        return
    items = list(_items(value, path if depth > DEPTH else ""))
    yield from (_line(name, item) for name, item in items if not _is_held(item))
    for name, item in items:
        if _is_held(item):
            below = _joined_path(path, name) if depth < DEPTH else name
            yield from _section(item, below, depth)


def _section(value: Any, path: str, depth: int) -> Iterator[str]:
    """The lines of a part, below a heading where it is not too deep."""
    if depth < DEPTH:
        yield from ("", f"{'#' * (depth + 2)} {path}", "")
    yield from _lines(value, path, depth + 1)


def _line(name: str, value: Any) -> str:
    """A list item of a simple value."""
    return f"- {name}: {_value(value)}" if name else f"- {_value(value)}"


def _items(value: dict[str, Any] | list[Any], path: str) -> Iterator[tuple[str, Any]]:
    """What it holds, by name; simple values of a list need none."""
    if isinstance(value, dict):
        yield from (
            (_joined_path(path, _one_line(key)), item) for key, item in value.items()
        )
        return
    for number, item in enumerate(value, 1):
        yield (f"{path}[{number}]" if _is_held(item) or path else ""), item


def _is_held(value: Any) -> bool:
    return isinstance(value, dict | list) and bool(value)


def _joined_path(path: str, name: str) -> str:
    return f"{path}{'' if name.startswith('[') or not path else '.'}{name}"


def _value(value: Any) -> str:
    if isinstance(value, str):
        return (
            _one_line(value)
            if len(value) < 200 or "\n" not in value
            else "\n\n  " + value.replace("\n", "\n  ")
        )
    return json.dumps(value)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _too_deep() -> SourceRefused:
    return SourceRefused("it nests too deeply", "Give a part of it")
