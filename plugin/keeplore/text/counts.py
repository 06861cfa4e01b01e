"""Numbers of things as a person reads them."""

from __future__ import annotations


def counted(number: int, one: str, many: str = "") -> str:
    """``1 memory``, ``2,000 memories``; without ``many`` an s is added."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def size_text(size: int) -> str:
    """So many bytes as ``12 kB``, rounded up, or as ``1.4 MB``."""
    if size < 1_000_000:
        return f"{-(-size // 1000)} kB"
    return f"{size / 1_000_000:,.1f} MB"
