"""A plan as a unified diff."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator

from keeplore.connect.connect_plan import Change

NOWHERE = "/dev/null"
NO_END = "\\ No newline at end of file"


def unified(changes: Iterable[Change]) -> Iterator[str]:
    """Lines without their ends; a file that is new or goes is told from ``/dev/null``."""
    for change in changes:
        before, after = (
            NOWHERE if data is None else str(change.target)
            for data in (change.before, change.after)
        )
        for line in difflib.unified_diff(
            _lines(change.before), _lines(change.after), before, after
        ):
            yield line.removesuffix("\n").removesuffix("\r")
            if not line.endswith("\n"):
                yield NO_END


def _lines(data: bytes | None) -> list[str]:
    # splitlines would also split at characters that are no ends of lines to a host
    text = (data or b"").decode(errors="replace")
    parts = text.split("\n")
    return [f"{part}\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])
