"""Numbers of things as a person reads them."""

from __future__ import annotations


def counted(number: int, one: str, many: str = "") -> str:
    """``1 memory``, ``2,000 memories``; without ``many`` an s is added."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"
