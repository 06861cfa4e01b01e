"""Digests among what is recalled: first for broad questions, none for exact ones, which have their
statement.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from keeplore.index import MemoryRow
from keeplore.memory import Memory
from keeplore.memory.digest import KIND, lines_of
from keeplore.recall.fuse import Ranked
from keeplore.recall.prepare import RecallContext
from keeplore.recall.question import ParsedQuestion, stems_of
from keeplore.recall.request import RecallHit
from keeplore.recall.weights import DIGEST_CHARS

LOOKED_AT = 5  # memories whose digests are looked for
MOST_DIGESTS = 2  # of an answer


def without_digests(
    ranked: Sequence[Ranked], memories: Mapping[str, MemoryRow]
) -> list[Ranked]:
    """What was found by its own words: a digest holds those of others."""
    return [entry for entry in ranked if memories[entry.memory].kind != KIND]


def with_digests(
    context: RecallContext, ranked: Sequence[Ranked], *, is_wide: bool
) -> tuple[list[Ranked], dict[str, MemoryRow]]:
    """The same with the digests of the best memories, each before the first of its sources, and
    the rows of these.
    """
    index = context.deps.index
    found: list[Ranked] = []
    rows: dict[str, MemoryRow] = {}
    for place, entry in enumerate(ranked):
        asked = place < LOOKED_AT and len(rows) < MOST_DIGESTS
        linking = index.linking(entry.memory) if asked else ()
        near = index.memories([id_ for _, id_ in linking]) if linking else {}
        for id_, row in sorted(near.items()):
            is_shown = not row.is_archived and context.may_show(row, is_wide=is_wide)
            if row.kind == KIND and is_shown and id_ not in rows:
                rows[id_] = row
                found.append(replace(entry, memory=id_, passage=None, by=None))
        found.append(entry)
    return found, rows


def told_lines(memory: Memory, question: ParsedQuestion, known: Collection[str]) -> str:
    """The lines of a digest that have most of the question's words, of others the newest, in their
    order; only words of memories that are ``known``.
    """
    lines = [line for line in lines_of(memory) if line.memory_id in known]
    worth = {
        number: (question.coverage(stems_of(line.told)), line.day, number)
        for number, line in enumerate(lines)
    }
    room, chosen = DIGEST_CHARS, list[int]()
    for number in sorted(worth, key=worth.__getitem__, reverse=True):
        size = len(lines[number].told) + 1
        if size <= room:
            chosen.append(number)
            room -= size
    return "\n".join(lines[number].told for number in sorted(chosen))


def without_told(hit: RecallHit, told: Sequence[RecallHit]) -> RecallHit:
    """A hit without the lines that a digest before it shows."""
    digests = [other.passage for other in told if other.kind == KIND]
    lines = hit.passage.split("\n")
    left = [line for line in lines if not any(line in said for said in digests)]
    return replace(hit, passage="\n".join(left)) if len(left) < len(lines) else hit
