"""What of a conversation's head answers a question: its statements, the one that answers best
first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from keeplore.index import PassageRow
from keeplore.recall.prepare import PreparedQuery
from keeplore.recall.question import stems_of
from keeplore.recall.weights import Weights

if TYPE_CHECKING:
    from keeplore.index import Index


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
    rows = index.statements(memory_id)
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
