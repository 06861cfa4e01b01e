"""Numbers of things as a person reads them."""

from __future__ import annotations

from collections.abc import Iterable


def counted(number: int, one: str, many: str = "") -> str:
    """``1 memory``, ``2,000 memories``; without ``many`` an s is added."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def first_of(texts: Iterable[str], most: int) -> str:
    """``a, b and 3 more``: the first in a row, and how many follow."""
    every = list(texts)
    more = f" and {len(every) - most} more" if len(every) > most else ""
    return ", ".join(every[:most]) + more


def size_text(size: int) -> str:
    """So many bytes as ``12 kB``, rounded up, or as ``1.4 MB``."""
    if size < 1_000_000:
        return f"{-(-size // 1000)} kB"
    return f"{size / 1_000_000:,.1f} MB"
