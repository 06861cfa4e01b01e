"""Digests among what is recalled: first for broad questions, none for exact ones, which have their
statement.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from keeplore.index import MemoryRow
from keeplore.memory import Memory
from keeplore.memory.digest import KIND, lines_of
from keeplore.recall.prepare import PreparedQuery, RecallContext
from keeplore.recall.question import ParsedQuestion, stems_of
from keeplore.recall.ranking.model import Ranked
from keeplore.recall.request import BREAK, RecallHit, lines_with_turns, turns_of
from keeplore.recall.search import SearchResults
from keeplore.recall.weights import DIGEST_CHARS
from keeplore.text.sentences import clip

LOOKED_AT = 5  # memories whose digests are looked for
MOST_DIGESTS = 1  # of an answer
BEHIND = 2  # memories behind a digest that it does not stand for
BEHIND_CHARS = 150  # of each


def without_digests(
    ranked: Sequence[Ranked], memories: Mapping[str, MemoryRow]
) -> list[Ranked]:
    """What was found by its own words: a digest holds those of others."""
    return [entry for entry in ranked if memories[entry.memory].kind != KIND]


def with_digests(
    context: RecallContext,
    query: PreparedQuery,
    ranked: Sequence[Ranked],
    results: SearchResults,
    *,
    is_wide: bool,
) -> tuple[list[Ranked], SearchResults]:
    """What was ranked and found, for a broad question with the digests of the best memories added,
    each before the first of its sources.
    """
    if not query.question.is_broad or context.request.by_exchange:
        return [*ranked], results
    rows: dict[str, MemoryRow] = {}
    found: list[Ranked] = []
    for place, entry in enumerate(ranked):
        if place < LOOKED_AT and len(rows) < MOST_DIGESTS:
            for row in _digests_of(context, entry.memory, is_wide=is_wide):
                if row.id not in rows:
                    rows[row.id] = row
                    found.append(replace(entry, memory=row.id, passage=None, by=None))
        found.append(entry)
    return found, replace(results, memories={**results.memories, **rows})


def _digests_of(
    context: RecallContext, memory_id: str, *, is_wide: bool
) -> list[MemoryRow]:
    """The digests with words of a memory that may be shown here."""
    index = context.deps.index
    linking = index.memories([id_ for _, id_ in index.linking(memory_id)]).values()
    digests = [row for row in linking if row.kind == KIND and not row.is_archived]
    shown = (row for row in digests if context.may_show(row, is_wide=is_wide))
    return sorted(shown, key=lambda row: row.id)


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


def most_with(hits: Sequence[RecallHit]) -> float:
    """How many hits an answer has that begins with these: few behind a digest."""
    at = next((n for n, hit in enumerate(hits, 1) if hit.kind == KIND), math.inf)
    return at + BEHIND


def stands_in(
    context: RecallContext, row: MemoryRow, hits: Sequence[RecallHit]
) -> bool:
    """Whether a digest among the hits is told in the place of this memory."""
    digests = {hit.memory_id for hit in hits if hit.kind == KIND}
    linking = context.deps.index.linking(row.id) if digests else ()
    return not digests.isdisjoint(id_ for _, id_ in linking)


def without_digest_lines(hit: RecallHit, hits: Sequence[RecallHit]) -> RecallHit:
    """The hit without what a digest before it already shows."""
    digests = "\n".join(other.passage for other in hits if other.kind == KIND)
    if not digests:
        return hit
    said = lines_with_turns(hit.passage, hit.turns, hit.turn)
    left = [(line, turn) for line, turn in said if line not in digests]
    passage = clip(BREAK.join(line for line, _ in left), BEHIND_CHARS)
    turns = turns_of(left[: len(passage.split(BREAK))], hit.turn)
    return replace(hit, passage=passage, turns=turns, marks=())
