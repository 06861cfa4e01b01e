"""Changing one key of ``keeplore.yaml`` and nothing else in it: the comments and the order are the
person's.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import yaml

from keeplore.config.settings import FILE, MAX_FILE
from keeplore.errors import ConfigError
from keeplore_hooks import durable

_VALUE = r""""(?:[^"\\]|\\.)*"|'[^']*'|[^\s#"'&*!|>{\[]\S*"""
_BARE = re.compile(r"[A-Za-z0-9./~][A-Za-z0-9._/~:@+#-]*")


def write_setting(root: Path, section: str, key: str, value: str) -> None:
    """Set ``section.key``. Raises ConfigError, with the line to write by hand, where the file's
    form is unusual.
    """
    path = root / FILE
    by_hand = ConfigError(
        f"{path} is not written as the template is",
        f"Write `{section}: {{{key}: {_quoted(value)}}}`",
    )
    try:
        before = path.read_bytes()[:MAX_FILE].decode()
        after = _changed(before, section, key, _quoted(value))
        is_right = yaml.safe_load(after) == _wanted(before, section, key, value)
    except (
        OSError,
        ValueError,
        TypeError,
        AttributeError,
        RecursionError,
        yaml.YAMLError,
    ) as e:
        raise by_hand from e
    if not is_right or path.is_symlink():
        raise by_hand
    durable.write(path, after.encode(), path.stat().st_mode & 0o777)


def _changed(text: str, section: str, key: str, value: str) -> str:
    lines = text.splitlines(keepends=True)
    heading = re.compile(rf"{section}:\s*(#.*)?$")
    for number, line in enumerate(lines):
        if heading.match(line):
            return _changed_in_block(lines, number + 1, key, value)
    return _changed_in_line(text, section, key, value)


def _wanted(text: str, section: str, key: str, value: str) -> dict[str, Any]:
    """What is to be read after the change."""
    data: dict[str, Any] = yaml.safe_load(text) or {}
    data[section] = {**(data.get(section) or {}), key: value}
    return data


def _changed_in_block(lines: list[str], start: int, key: str, value: str) -> str:
    """In a section whose keys stand below its name, from the line ``start`` on."""
    entry = re.compile(rf"(\s+{key}:)[^\S\n]*({_VALUE})?([^\S\n]*)(#.*)?\n?$")
    for number, line in enumerate(lines[start:], start):
        if line.strip() and not line[0].isspace():
            break
        if found := entry.match(line):
            lines[number] = _with_value(found, value)
            return "".join(lines)
    lines.insert(start, f"  {key}: {value}\n")
    return "".join(lines)


def _with_value(line: re.Match[str], value: str) -> str:
    """The line with another value, its comment in the same column where there is room."""
    name, old, gap, comment = line.groups(default="")
    room = max(len(old) + len(gap) - len(value), 2) if comment else 0
    return f"{name} {value}{' ' * room}{comment}\n"


def _changed_in_line(text: str, section: str, key: str, value: str) -> str:
    """In a section that is written on one line, or is not there yet."""
    one_line = re.compile(rf"^{section}: *\{{ *{key}: *[^,{{}}]* *\}}", re.MULTILINE)
    if one_line.search(text):
        return one_line.sub(lambda _: f"{section}: {{{key}: {value}}}", text, count=1)
    if re.search(rf"^[\"']?{section}[\"']?\s*:", text, re.MULTILINE):
        raise ValueError("it is there, and not as we know it")
    return f"{text.rstrip()}\n{section}:\n  {key}: {value}\n".lstrip()


def _quoted(value: str) -> str:
    """As YAML writes it: bare where nothing in it means anything else."""
    is_bare = (
        _BARE.fullmatch(value) and ": " not in value and yaml.safe_load(value) == value
    )
    return value if is_bare and not value.endswith(":") else json.dumps(value)
