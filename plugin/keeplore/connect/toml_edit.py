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
Values = tuple[tuple[str, Value], ...]  # of a table: key and value


def block(text: str, name: str, values: Values) -> str:
    """What is appended to ``text`` for the table ``name``, in its line ends."""
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = [
        MARK,
        f"[{name}]",
        *(f"{key} = {_toml_value(value)}" for key, value in values),
    ]
    before = newline if text else ""
    if not text.endswith("\n"):
        before *= 2
    return before + newline.join(lines) + newline


def append(text: str, name: str, piece: str) -> str:
    """The text with the table ``piece`` at its end. Raises ValueError where it cannot be read, or
    would mean something else beside the table.
    """
    before = tomllib.loads(text)
    try:
        after = tomllib.loads(text + piece)
    except tomllib.TOMLDecodeError as e:
        raise ValueError(f"a table [{name}] cannot be added to it ({e})") from None
    is_new = table_at(before, name) is None and table_at(after, name) is not None
    if not is_new or without(after, name) != without(before, name):
        raise ValueError(f"a table [{name}] cannot be added to it")
    return text + piece


def cut(text: str, name: str, pieces: tuple[str, ...], expected: Values) -> str | None:
    """``text`` without the table, where it still says what we wrote; None where it is another's by
    now.
    """
    for piece in pieces:
        if piece in text:
            return _checked_removal(text, text.replace(piece, "", 1), name)
    if table_at(tomllib.loads(text), name) != as_read(expected):
        return None
    return _checked_removal(text, _table_pattern(name).sub("", text, count=1), name)


def _table_pattern(name: str) -> re.Pattern[str]:
    """Our mark, the header of the table, and its lines up to the first empty one, with the empty
    line that stands before.
    """
    mark = rf"(?:(?<=\n)\r?\n)?(?:{re.escape(MARK)}\r?\n)?"
    # a host that writes the file anew may put space and quotation marks around the keys
    keys = (rf"[ \t]*(?:{key}|\"{key}\"|'{key}')[ \t]*" for key in name.split("."))
    path = r"\.".join(keys)
    header = rf"[ \t]*\[{path}\][^\n]*"
    line = r"(?![ \t]*\[)[^\n]*\S[^\n]*"
    end = r"(?:\n|\Z)"
    return re.compile(rf"{mark}^{header}{end}(?:{line}{end})*", re.MULTILINE)


def as_read(values: Values) -> dict[str, Any]:
    """The table as ``tomllib`` gives it."""
    return {
        key: list(value) if isinstance(value, tuple) else value for key, value in values
    }


def table_at(data: Mapping[str, Any], name: str) -> Any:
    """The table of that name, None where there is none."""
    found: Any = data
    for key in name.split("."):
        found = found.get(key) if isinstance(found, dict) else None
    return found


def without(data: Mapping[str, Any], name: str) -> dict[str, Any]:
    """``data`` without the table, and without what holds nothing else."""
    key, _, rest = name.partition(".")
    inner = data.get(key)
    left = without(inner, rest) if rest and isinstance(inner, dict) else {}
    others = {other: value for other, value in data.items() if other != key}
    return {**others, key: left} if left else others


def _checked_removal(text: str, after: str, name: str) -> str | None:
    try:
        read = tomllib.loads(after)
    except tomllib.TOMLDecodeError:
        return None
    is_same = without(read, name) == without(tomllib.loads(text), name)
    return after if is_same and table_at(read, name) is None else None


def _toml_value(value: Value) -> str:
    # a basic string of TOML escapes as JSON does, but for U+007F
    if isinstance(value, tuple):
        return f"[{', '.join(map(_toml_value, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
