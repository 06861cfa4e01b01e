"""What of a conversation answers a question: of all its statements that hold, those that tell most,
the best one first.

A linear score, fitted by logistic regression on questions of people about recorded sessions; see
``benchmarks/train_told.py``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from keeplore.recall.prepare import PreparedQuery
from keeplore.recall.question import ParsedQuestion, Word, is_word_in, stems_of
from keeplore.recall.request import BREAK, HeldStatement, Said
from keeplore.recall.weights import EXCERPT_CHARS, Weights

if TYPE_CHECKING:
    from keeplore.index import Index

TOLD = {
    "asked": 7.4,  # share of the question's words, the rare ones of the conversation first
    "asked beside": 2.84,  # the same of the sentence before or after
    # how much farther its exchange is from the question than the nearest, as a share of what is
    # above the model's floor
    "behind": 8.13,
    "salience": 0.72,
    "decided": 0.91,
    "new words": 1.4,
    "few words": -1.02,
    "long": -0.48,
    "pasted": -0.92,
}
FEW_STEMS, MANY_STEMS = 4, 8
LONG = 250  # characters


@dataclass(frozen=True, slots=True)
class _Compared:
    """A statement with its stems and the weighed share of the question's words that it has."""

    statement: HeldStatement
    stems: frozenset[str]
    asked: float


def told_statements(
    index: Index,
    query: PreparedQuery,
    memory_id: str,
    held: Sequence[HeldStatement],
    w: Weights,
) -> list[Said]:
    """The statements that answer best, as many as there is room for, without those far behind the
    best one.
    """
    near = nearness(index, query, memory_id)
    return fitting(held, told_scores(held, query.question, near), w)


def fitting(
    held: Sequence[HeldStatement], scores: Sequence[float], w: Weights
) -> list[Said]:
    """As many of the statements as there is room for, the best first; behind it none that is far
    less likely or says next to nothing.
    """
    order = sorted(range(len(held)), key=lambda place: (-scores[place], place))
    lines: dict[str, str] = {}
    room = EXCERPT_CHARS
    for place in order:
        if scores[order[0]] - scores[place] > w.beside_best:
            break
        text = held[place].text
        length = len(text) + len(BREAK)
        is_slight = bool(lines) and len(stems_of(text)) < FEW_STEMS
        if length <= room and text not in lines and not is_slight:
            lines[text] = held[place].turn
            room -= length
    return [*lines.items()]


def told_scores(
    held: Sequence[HeldStatement], question: ParsedQuestion, near: Mapping[str, float]
) -> list[float]:
    """For each statement the log-odds that it answers, up to a constant; ``near`` says of each turn
    how near it is to the question.
    """
    return [
        sum(TOLD[name] * value for name, value in features)
        for features in told_features(held, question, near)
    ]


def told_features(
    held: Sequence[HeldStatement], question: ParsedQuestion, near: Mapping[str, float]
) -> Iterator[list[tuple[str, float]]]:
    """Names and values for each statement, those of 0 left out."""
    compared = _compared(held, question)
    nearest = max(near.values(), default=0.0)
    spellings = (spelling for word in question.words for spelling in word)
    own = frozenset[str]().union(*spellings)
    for place, one in enumerate(compared):
        statement = one.statement
        marks = {
            "decided": statement.is_decision,
            "few words": len(one.stems) < FEW_STEMS,
            "long": len(statement.text) > LONG,
            "pasted": statement.is_pasted,
        }
        yield [
            ("asked", one.asked),
            ("asked beside", _asked_beside(compared, place)),
            ("behind", near.get(statement.turn, 0.0) - nearest),
            ("salience", statement.salience),
            ("new words", min(MANY_STEMS, len(one.stems - own)) / MANY_STEMS),
            *((name, 1.0) for name, holds in marks.items() if holds),
        ]


def _compared(
    held: Sequence[HeldStatement], question: ParsedQuestion
) -> list[_Compared]:
    stems = [stems_of(statement.text) for statement in held]
    rarity = [(word, _rarity(word, stems)) for word in question.words]
    total = sum(rare for _, rare in rarity) or 1.0
    return [
        _Compared(statement, own, _rarity_in(own, rarity) / total)
        for statement, own in zip(held, stems, strict=True)
    ]


def _rarity_in(stems: frozenset[str], rarity: Sequence[tuple[Word, float]]) -> float:
    """The rarity of the words that stems have, added up."""
    return sum(rare for word, rare in rarity if is_word_in(word, stems))


def _rarity(word: Word, stems: Sequence[frozenset[str]]) -> float:
    """The inverse frequency of a word among the statements."""
    return math.log(
        (len(stems) + 1) / (1 + sum(is_word_in(word, own) for own in stems))
    )


def _asked_beside(compared: Sequence[_Compared], place: int) -> float:
    message = compared[place].statement.message
    beside = (*compared[max(0, place - 1) : place], *compared[place + 1 : place + 2])
    return max((c.asked for c in beside if c.statement.message == message), default=0.0)


def nearness(index: Index, query: PreparedQuery, memory_id: str) -> dict[str, float]:
    """How near each exchange is to the question by its nearest piece, 0..1; nothing without a
    vector.
    """
    if query.vector is None or query.floor is None:
        return {}
    rows = index.passages_of(memory_id, {"exchange"})
    cosines = index.cosines(query.vector, [row.id for row in rows], model=query.model)
    near: dict[str, float] = {}
    for row in rows:
        above = max(0.0, cosines.get(row.id, 0.0) - query.floor) / (1.0 - query.floor)
        near[row.turn] = max(near.get(row.turn, 0.0), above)
    return near
