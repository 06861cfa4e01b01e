"""Ordinary text of a machine that can run Keeplore, a sample by a seed: what redaction leaves
alone.

The documentation and the sources of the packages installed beside Keeplore, and the standard
library with its tests.
"""

from __future__ import annotations

import random
import sysconfig
from collections.abc import Iterator
from pathlib import Path

DOCUMENTS = frozenset({".md", ".rst", ".txt"})
MAX_BYTES = 400_000  # of a file; what is larger is data
TESTS = ("test", "tests", "testing", "idlelib")


def ordinary(size: int, seed: int) -> dict[str, list[tuple[Path, str]]]:
    """Files by where they come from, up to ``size`` bytes of each source."""
    purelib, stdlib = (Path(sysconfig.get_path(n)) for n in ("purelib", "stdlib"))
    sources: dict[str, list[Path]] = {}
    for root in (purelib, stdlib):
        for path in sorted(root.rglob("*")):
            if kind := _kind(path.relative_to(root), is_library=root == stdlib):
                sources.setdefault(kind, []).append(path)
    rng = random.Random(seed)
    return {
        kind: list(_sample(paths, size, rng)) for kind, paths in sorted(sources.items())
    }


def _kind(path: Path, *, is_library: bool) -> str:
    """The name of the source that a file belongs to, ``""`` for none."""
    if "site-packages" in path.parts or "dist-packages" in path.parts:
        return ""
    if path.suffix in DOCUMENTS:
        return "" if is_library else "documentation of packages"
    if path.suffix != ".py":
        return ""
    is_test = any(part in TESTS for part in path.parts) or "test" in path.stem
    what = "the standard library" if is_library else "packages"
    return f"tests of {what}" if is_test else f"sources of {what}"


def _sample(
    paths: list[Path], size: int, rng: random.Random
) -> Iterator[tuple[Path, str]]:
    rng.shuffle(paths)
    for path in paths:
        text = path.read_text(encoding="utf-8", errors="replace")
        if not 0 < len(text) <= MAX_BYTES:
            continue
        yield path, text
        size -= len(text)
        if size <= 0:
            return
