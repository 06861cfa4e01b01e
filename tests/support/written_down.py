"""What tests saw, compared with what is written down: in a file of lines, or below their names in
one YAML file.

To write it anew: WRITE_GOLDEN=1 pytest -n0 and the tests, then read the difference.
"""

from __future__ import annotations

import functools
import os
from pathlib import Path

import yaml

GOLDEN = Path(__file__).parents[1] / "golden"


def lines_of(file: str, name: str, seen: list[str] | None = None) -> list[str]:
    """What is written down below a name, nothing where there is none; what was ``seen`` where it is
    to be written anew.
    """
    path = GOLDEN / file
    written = _read(path)
    if os.environ.get("WRITE_GOLDEN") and seen is not None:
        written.pop(name, None)
        written |= {name: seen} if seen else {}
        text = yaml.safe_dump(written, allow_unicode=True, width=1000)
        path.write_text(text, encoding="utf-8")
    return [*written.get(name, ())]


def written_lines(file: str, seen: list[str]) -> list[str]:
    """The lines of a file; what was ``seen`` where it is to be written anew."""
    path = GOLDEN / file
    if os.environ.get("WRITE_GOLDEN"):
        path.write_text("\n".join((*seen, "")), encoding="utf-8")
    return path.read_text(encoding="utf-8").splitlines()


@functools.cache
def _read(path: Path) -> dict[str, list[str]]:
    text = path.read_text(encoding="utf-8")
    found: dict[str, list[str]] = yaml.load(text, yaml.CSafeLoader)
    return found
