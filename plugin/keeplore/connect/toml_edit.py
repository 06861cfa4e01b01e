"""One table of ours in a person's TOML file: appended under a line that says whose it is, and taken
out again.

What the change means is proved by reading the file before and after with ``tomllib``.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any

MARK = "# written by `keeplore connect`; `keeplore disconnect` takes it out"

Value = str | bool | int | tuple[str, ...]


def block(text: str, name: str, values: Mapping[str, Value]) -> str:
    """What is appended to ``text`` for the table ``name``, in its line ends."""
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = [MARK, f"[{name}]", *(f"{key} = {_written(value)}" for key, value in values.items())]
    before = newline if not text or text.endswith("\n") else newline * 2
    return ("" if not text else before) + newline.join(lines) + newline


def append(text: str, name: str, piece: str) -> str:
    """Raises ValueError where the file cannot be read, or would not mean the same and the table."""
    before = tomllib.loads(text)
    after = text + piece
    try:
        read = tomllib.loads(after)
    except tomllib.TOMLDecodeError as e:
        raise ValueError(f"a table [{name}] cannot be added to it ({e})") from None
    if (
        without(read, name) != without(before, name)
        or at(read, name) is None
        or at(before, name) is not None
    ):
        raise ValueError(f"a table [{name}] cannot be added to it")
    return after


def cut(text: str, name: str, pieces: tuple[str, ...], expected: Mapping[str, Value]) -> str | None:
    """``text`` without the table, where it still says what we wrote; None where it is another's by
    now.
    """
    for piece in pieces:
        if piece in text:
            return _proved(text, text.replace(piece, "", 1), name)
    if at(tomllib.loads(text), name) != plain(expected):
        return None
    header = re.escape(f"[{name}]")
    lines = (
        rf"(?:{re.escape(MARK)}\r?\n)?^[ \t]*{header}[^\n]*(?:\n|\Z)(?:(?![ "
        rf"\t]*\[)[^\n]*\S[^\n]*(?:\n|\Z))*"
    )
    return _proved(text, re.sub(lines, "", text, count=1, flags=re.MULTILINE), name)


def plain(values: Mapping[str, Value]) -> dict[str, Any]:
    return {
        key: list(value) if isinstance(value, tuple) else value for key, value in values.items()
    }


def at(data: Mapping[str, Any], name: str) -> Any:
    """The table of that name, None where there is none."""
    found: Any = data
    for key in name.split("."):
        found = found.get(key) if isinstance(found, dict) else None
    return found


def without(data: Mapping[str, Any], name: str) -> dict[str, Any]:
    """``data`` without the table, and without what holds nothing else."""
    key, _, rest = name.partition(".")
    kept = dict(data)
    if rest and isinstance(inner := kept.get(key), dict):
        kept[key] = without(inner, rest)
    else:
        kept.pop(key, None)
    if kept.get(key) == {}:
        del kept[key]
    return kept


def _proved(text: str, after: str, name: str) -> str | None:
    try:
        is_same = without(tomllib.loads(after), name) == without(tomllib.loads(text), name)
    except tomllib.TOMLDecodeError:
        return None
    return after if is_same and at(tomllib.loads(after), name) is None else None


def _written(value: Value) -> str:
    # a basic string of TOML escapes as JSON does, but for U+007F
    if isinstance(value, tuple):
        return f"[{', '.join(map(_written, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
