"""``audit/<machine>/YYYY-MM.jsonl``: what was decided and why, one line each; a machine writes its own files alone."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from keeplore.errors import NotFound, StoreError
from keeplore.store import files
from keeplore.store.paths import check_written

FOLDER = "audit"
MAX_FILE = 64 * 1024 * 1024  # bytes; a line has some hundred


def path_of(machine: str, at: str) -> str:
    return f"{FOLDER}/{machine}/{at[:7]}.jsonl"


def append(root: Path, machine: str, entry: Mapping[str, Any]) -> None:
    """Add one line, durably: the file is written anew, since a line that is appended tears when its writer is killed.

    The caller sees to it that one at a time does this. Raises UnsafePath or OSError.
    """
    path = path_of(machine, str(entry["at"]))
    check_written(path)
    try:
        known = files.read(root, path, MAX_FILE)
    except NotFound:
        known = b""
    if known and not known.endswith(b"\n"):
        known += b"\n"
    line = json.dumps(dict(entry), ensure_ascii=False, sort_keys=True)
    files.write(root, path, known + line.encode("utf-8", "replace") + b"\n")


def entries(root: Path) -> Iterator[dict[str, Any]]:
    """Every line of every machine that can be read, in the order of its files; others are passed over."""
    for file in sorted(files.walk(root, FOLDER, []), key=lambda found: found.path):
        if not file.path.endswith(".jsonl"):
            continue
        try:
            text = files.read(root, file.path, MAX_FILE)
        except (StoreError, OSError):
            continue
        for line in text.splitlines():
            try:
                entry = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(entry, dict):
                yield entry
