"""The earlier versions of a memory that a question asks for: the one before, for "originally" the
first one, and what is from a time that it names.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from keeplore.index import MemoryRow
from keeplore.text.times.time_expressions import Span

if TYPE_CHECKING:
    from keeplore.index import Index

EARLIER = 2  # earlier versions of one memory, at most
_BEFORE = re.compile(
    r"\b(?:before|used to|previous\w*|earlier|former\w*|old|older|replaced?|back then|until "
    r"recently)\b",
    re.IGNORECASE,
)
_FIRST = re.compile(
    r"\b(?:original\w*|initial\w*|at first|first|begin with|in the beginning)\b",
    re.IGNORECASE,
)
_HISTORY = re.compile(
    r"\b(?:history|evolved?|over time|changed?|changes)\b", re.IGNORECASE
)


def asked_versions(
    index: Index, memory_id: str, text: str, spans: Sequence[Span]
) -> Sequence[MemoryRow]:
    """The earlier versions of a memory that a question with this text and these times asks for, the
    latest first.
    """
    versions = index.versions(memory_id)
    known = index.memories(versions)
    rows = [
        known[id_]
        for id_ in reversed(versions)
        if id_ in known and known[id_].superseded_by
    ]
    return _asked_for(rows, text, spans)


def _asked_for(
    rows: Sequence[MemoryRow], text: str, spans: Sequence[Span]
) -> Sequence[MemoryRow]:
    def is_of_time(row: MemoryRow) -> bool:
        return any(span.holds(row.created_at) for span in spans)

    if of_time := list(filter(is_of_time, rows)):
        return of_time[:EARLIER]
    if _HISTORY.search(text):
        return rows[:EARLIER]
    if _FIRST.search(text):
        return rows[-1:]
    return rows[:1] if _BEFORE.search(text) else ()
