"""What held before: beside the newest version of a memory the text that it replaced, where a
question asks for that.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from keeplore.index import MemoryRow
from keeplore.recall.question import Question
from keeplore.recall.request import Hit
from keeplore.recall.time_expressions import Span
from keeplore.recall.verify import Kept, hit_of

if TYPE_CHECKING:
    from keeplore.index import Index, TextSource

AT_MOST = 2  # earlier versions of one memory
_BEFORE = re.compile(
    r"\b(?:before|used to|previous\w*|earlier|former\w*|old|older|replaced?|back then|until "
    r"recently)\b",
    re.IGNORECASE,
)
_FIRST = re.compile(
    r"\b(?:original\w*|initial\w*|at first|first|begin with|in the beginning)\b", re.IGNORECASE
)
_HISTORY = re.compile(r"\b(?:history|evolved?|over time|changed?|changes)\b", re.IGNORECASE)


def with_earlier(
    index: Index,
    store: TextSource,
    hits: Sequence[Hit],
    question: Question,
    spans: Sequence[Span],
    wanted: Kept,
) -> list[Hit]:
    """Behind each hit that replaced others those of them that are asked for; never before it.

    These are the one before, for "originally" the first one, and whatever is from a time that the
    question names.
    """
    shown: list[Hit] = []
    for hit in hits:
        shown.append(hit)
        if hit.changes:
            found = _asked_for(_earlier(index, hit.memory_id), question.text, spans)
            told = (
                hit_of(store, row, question, wanted.trust) for row in found if not wanted.skip(row)
            )
            shown += [replace(old, score=hit.score) for old in told if old]
    known: dict[tuple[str, str], Hit] = {}
    for hit in shown:
        known.setdefault((hit.memory_id, hit.turn if wanted.by_exchange else ""), hit)
    return list(known.values())[: wanted.limit]


def _earlier(index: Index, memory_id: str) -> list[MemoryRow]:
    """The versions before the newest one, the latest first."""
    versions = index.versions(memory_id)
    rows = index.memories(versions)
    return [rows[id_] for id_ in reversed(versions) if id_ in rows and rows[id_].superseded_by]


def _asked_for(rows: Sequence[MemoryRow], text: str, spans: Sequence[Span]) -> list[MemoryRow]:
    then = [row for row in rows if any(span.holds(row.created_at) for span in spans)]
    if then:
        return then[:AT_MOST]
    if _HISTORY.search(text):
        return list(rows[:AT_MOST])
    if _FIRST.search(text):
        return list(rows[-1:])
    return list(rows[:1]) if _BEFORE.search(text) else []
