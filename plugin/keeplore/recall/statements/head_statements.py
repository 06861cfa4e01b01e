"""What of a conversation's head answers a question: its statements, the one that answers best
first, and beside them the exchange that was found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from keeplore.index import PassageRow
from keeplore.index.passages import STATEMENTS
from keeplore.recall.excerpt import excerpt
from keeplore.recall.prepare import PreparedQuery
from keeplore.recall.question import stems_of
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
    """All statements of a memory by meaning and by their own words: a search has only those that
    come among the best of everything.

    ``found`` is the passage by which the memory was found.
    """
    rows = index.passages_of(memory_id, STATEMENTS)
    if not rows:
        return RankedStatements(())
    compared = [*rows, *([found] if found else [])]
    cosines: Mapping[int, float] = {}
    if query.vector is not None:
        ids = [row.id for row in compared]
        cosines = index.cosines(query.vector, ids, model=query.model)
    odds = {row.id: _odds(row, cosines, query, w) for row in compared}
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


def told_beside(
    statements: RankedStatements,
    exchange: Said,
    query: PreparedQuery,
    w: Weights,
) -> tuple[list[Said], str]:
    """The statements and the exchange ("" for none), as much as there is room for, and the turn of
    what comes first: the exchange where it is much likelier.
    """
    text, turn = exchange
    if text and statements.behind >= w.before_statements:
        said = excerpt(text, query.question, EXCERPT_CHARS // 2)
        lines = _fitting(statements.rows, EXCERPT_CHARS - len(said) - len(BREAK))
        return [(said, turn), *(line for line in lines if line[0] not in said)], turn
    lines = _fitting(statements.rows, EXCERPT_CHARS)
    room = EXCERPT_CHARS - sum(len(line) + len(BREAK) for line, _ in lines)
    if text and room >= LEAST_EXCERPT:
        said = excerpt(text, query.question, room)
        lines = [*(line for line in lines if line[0] not in said), (said, turn)]
    return lines, statements.rows[0].turn


def _fitting(rows: Sequence[PassageRow], room: int) -> list[Said]:
    """As many of the statements as fit into so many characters, the best first."""
    lines: list[Said] = []
    for row in rows:
        length = len(row.text) + len(BREAK)
        if length <= room:
            lines.append((row.text, row.turn))
            room -= length
    return lines


def _odds(
    row: PassageRow, cosines: Mapping[int, float], query: PreparedQuery, w: Weights
) -> float:
    """What the model and the passage's own words say of it; the title, which all have, says
    nothing of which one answers.
    """
    question, floor = query.question, query.floor or 0.0
    near = (cosines.get(row.id, floor) - floor) / (1.0 - floor)
    own = question.coverage(stems_of(row.text))
    is_asked_for = row.kind == "decision" and question.is_about_decision
    return w.vector * near + w.own_words * own + w.decision * is_asked_for
