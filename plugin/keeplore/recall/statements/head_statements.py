"""What of a conversation's head answers a question: its statements, the one that answers best
first, and beside them the exchange that was found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from keeplore.index import PassageRow
from keeplore.index.passages import STATEMENTS
from keeplore.recall.excerpt import excerpt
from keeplore.recall.prepare import PreparedQuery
from keeplore.recall.question import stems_of
from keeplore.recall.ranking.fuse import above_floor
from keeplore.recall.request import BREAK, Said
from keeplore.recall.weights import EXCERPT_CHARS, Weights
from keeplore.text.sentences import Sentence

if TYPE_CHECKING:
    from keeplore.index import Index
    from keeplore.memory import Conversation

LEAST_EXCERPT = 120  # characters of an exchange that are worth showing


@dataclass(frozen=True, slots=True)
class RankedStatements:
    """The statements of a head, best first, without those far behind it, and how far the best one
    is behind what was found, in log-odds.
    """

    rows: tuple[PassageRow, ...]
    behind: float = 0.0


def ranked_statements(
    index: Index,
    query: PreparedQuery,
    memory_id: str,
    found: PassageRow | None,
    w: Weights,
) -> RankedStatements:
    """All statements of a memory, compared by meaning and by their own words: of these a search
    finds only the ones that are among the best of everything.

    ``found`` is the passage by which the memory was found.
    """
    rows = index.passages_of(memory_id, STATEMENTS)
    if not rows:
        return RankedStatements(())
    passages = [*rows, found] if found else rows
    cosines: Mapping[int, float] = {}
    if query.vector is not None:
        ids = [passage.id for passage in passages]
        cosines = index.cosines(query.vector, ids, model=query.model)
    odds = {passage.id: _odds(passage, cosines, query, w) for passage in passages}
    ranked = sorted(rows, key=lambda row: (-odds[row.id], row.id))
    best = odds[ranked[0].id]
    near = tuple(row for row in ranked if best - odds[row.id] <= w.beside_best)
    return RankedStatements(near, odds[found.id] - best if found else 0.0)


def reply_to(statement: PassageRow, conversation: Conversation) -> str:
    """What the assistant said to a statement that is a question; "" for others."""
    if not Sentence(statement.text).is_question:
        return ""
    exchanges = conversation.exchanges
    return next((e.assistant for e in exchanges if e.id == statement.turn), "")


def statements_and_exchange(
    statements: RankedStatements,
    exchange: Said,
    query: PreparedQuery,
    w: Weights,
) -> list[Said]:
    """The statements and the exchange ("" for none), as much as there is room for; the exchange
    first where it is much likelier.
    """
    text, turn = exchange
    if text and statements.behind >= w.before_statements:
        said = excerpt(text, query.question, EXCERPT_CHARS // 2)
        lines = _lines_within(EXCERPT_CHARS - _length(said), statements.rows)
        return [(said, turn), *_not_in(said, lines)]
    lines = _lines_within(EXCERPT_CHARS, statements.rows)
    room = EXCERPT_CHARS - sum(_length(line) for line, _ in lines)
    if text and room >= LEAST_EXCERPT:
        said = excerpt(text, query.question, room)
        lines = [*_not_in(said, lines), (said, turn)]
    return lines


def _lines_within(room: int, rows: Sequence[PassageRow]) -> list[Said]:
    """The best statements that fit into ``room`` characters, in their order."""
    lines: list[Said] = []
    for row in rows:
        if _length(row.text) <= room:
            lines.append((row.text, row.turn))
            room -= _length(row.text)
    return lines


def _length(line: str) -> int:
    return len(line) + len(BREAK)


def _not_in(said: str, lines: Sequence[Said]) -> Iterator[Said]:
    return (line for line in lines if line[0] not in said)


def _odds(
    row: PassageRow, cosines: Mapping[int, float], query: PreparedQuery, w: Weights
) -> float:
    """The log-odds that a passage answers, up to a constant, by the model and its own words: the
    title, which all of a memory share, does not tell which one does.
    """
    question, floor = query.question, query.floor or 0.0
    nearness = above_floor(cosines.get(row.id, floor), floor)
    coverage = question.coverage(stems_of(row.text))
    is_asked_for = row.kind == "decision" and question.is_about_decision
    return w.vector * nearness + w.own_words * coverage + w.decision * is_asked_for
