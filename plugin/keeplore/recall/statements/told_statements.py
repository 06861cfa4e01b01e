"""What of a conversation answers a question: of all its statements that hold, those that tell most,
the best one first.

A linear score, fitted by logistic regression on questions of people about recorded sessions; see
``benchmarks/train_told.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from operator import itemgetter
from typing import TYPE_CHECKING

from keeplore.recall.prepare import PreparedQuery
from keeplore.recall.question import STOP_STEMS, ParsedQuestion, stems_of
from keeplore.recall.ranking.fuse import above_floor
from keeplore.recall.repeated_questions import ends_with_question_mark, is_echo
from keeplore.recall.request import BREAK, HeldStatement, Said
from keeplore.recall.statements.word_coverage import coverages, likenesses_of
from keeplore.recall.weights import Weights
from keeplore.text.sentences import question_and_answer

if TYPE_CHECKING:
    from keeplore.index import Index

FEATURE_WEIGHTS = {
    # share of the question's words, or of words near in meaning, the rare ones of the conversation
    # first
    "asked": 5.49,
    "asked beside": 1.7,  # the same of the sentence before or after
    # how like the question it is in all its words, beside the other sentences
    "like": 3.85,
    # how much farther its exchange is from the question than the nearest, as a share of what is
    # above the model's floor
    "behind": 6.62,
    "salience": 0.56,
    "decided": 0.69,
    "new words": 0.92,
    "few words": -0.68,
    "long": -0.77,
    "pasted": -0.89,
}
FEW_STEMS, MANY_STEMS = 4, 8
# words of a line that tell something; measured on the labelled sessions, where 4 loses an answer
TELLING_STEMS = 3
# of one that needs what was said before it; measured there, 4 to 7 is a plateau
SHORT_STEMS = 5
LONG = 250  # characters
# of room that a line takes at least: no long list of short ones; measured on the labelled sessions
CHARS_A_LINE = 60


@dataclass(frozen=True, slots=True)
class _AskedStatement:
    """A statement with its stems, the share of the question's words that it has, each word weighed
    by its rarity, and how like the question it is.
    """

    statement: HeldStatement
    stems: frozenset[str]
    coverage: float
    likeness: float


def told_statements(
    index: Index,
    query: PreparedQuery,
    memory_id: str,
    statements: Sequence[HeldStatement],
    w: Weights,
    room: int,
) -> list[Said]:
    """The lines that answer best within ``room`` characters, each with its turn."""
    nearness = nearness_of_turns(index, query, memory_id)
    odds = answer_odds(statements, query.question, nearness)
    if query.reader and query.is_patient:
        odds = query.reader.judged(statements, odds)
    told = [*zip(statements, odds, strict=True)]
    telling = [pair for pair in told if not is_echo(pair[0].text, query.question)]
    return best_lines(telling or told, w, room)


def best_lines(
    told: Sequence[tuple[HeldStatement, float]], w: Weights, room: int
) -> list[Said]:
    """As many statements as ``room`` characters hold, the likeliest first; ``told`` has their
    log-odds.

    After the first, none that is far less likely or says next to nothing, and no long list of short
    ones. A question at the beginning has behind it what the person decided on it in the next
    message, else what is likeliest of the answer, and a short line what was said right before it.
    """
    ranked = sorted(told, key=itemgetter(1), reverse=True)
    best = max((odds for _, odds in told), default=0.0)
    near = [one for one, odds in ranked if best - odds <= w.beside_best]
    lines = _fitting(near, room)
    if lines and ends_with_question_mark(lines[0].text):
        answers = [one for one, _ in ranked if _answers(one, lines[0])]
        if answers and not any(_answers(line, lines[0]) for line in lines):
            lines = _fitting([lines[0], answers[0], *lines[1:]], room)
        if settling := _settling([one for one, _ in ranked], lines[0]):
            lines = _fitting([lines[0], settling, *lines[1:]], room)
    in_context = _led_up_to(lines, [one for one, _ in told])
    return [(line.text, line.turn) for line in _fitting(in_context, room)]


def _led_up_to(
    lines: Sequence[HeldStatement], statements: Sequence[HeldStatement]
) -> Iterator[HeldStatement]:
    """The lines, one that is short or points back behind the line that introduces its list or what
    was said right before it, which often names what it is about.
    """
    before = {
        one: last for last, one in pairwise(statements) if last.message == one.message
    }
    for line in lines:
        is_short = len(stems_of(line.text) - STOP_STEMS) <= SHORT_STEMS
        if (is_short or line.points_back) and not _is_slight(line.text):
            lead = replace(line, text=line.lead)
            leading = [one for one in (lead, before.get(line)) if one]
            yield from [one for one in leading if not _is_slight(one.text)][:1]
        yield line


def _fitting(ranked: Iterable[HeldStatement], room: int) -> list[HeldStatement]:
    """The statements that there is room for, each once, and after the first none that says next to
    nothing. A question with its answer stands in the place of the question.
    """
    lines: list[HeldStatement] = []
    most = room // CHARS_A_LINE
    for one in _with_answers([*ranked]):
        length = len(one.text) + len(BREAK)
        is_slight = bool(lines) and _is_slight(one.text)
        is_told = any(one.text in line.text for line in lines)
        if length <= room and not is_told and not is_slight and len(lines) < most:
            lines.append(one)
            room -= length
    return lines


def _with_answers(ranked: Sequence[HeldStatement]) -> Iterator[HeldStatement]:
    """The statements, each question as the one of them that tells it with its answer."""
    answered = {question_and_answer(one.text)[0]: one for one in reversed(ranked)}
    for one in ranked:
        yield answered.get(one.text, one)


def _is_slight(text: str) -> bool:
    """Does a sentence say next to nothing, as "Does this look right?" does?"""
    stems = stems_of(text)
    return len(stems) < FEW_STEMS or len(stems - STOP_STEMS) < TELLING_STEMS


def _settling(
    ranked: Sequence[HeldStatement], question: HeldStatement
) -> HeldStatement | None:
    """The likeliest decision in the exchange after that of a question."""
    asked_in = {one.message for one in ranked if one.turn == question.turn}
    following = [one for one in ranked if one.message > max(asked_in)]
    turn = min(following, key=lambda one: one.message).turn if following else ""
    return next((one for one in ranked if one.turn == turn and one.is_decision), None)


def _answers(one: HeldStatement, question: HeldStatement) -> bool:
    """Is a statement of the reply to the message with the question?"""
    return one.turn == question.turn and one.message > question.message


def answer_odds(
    statements: Sequence[HeldStatement],
    question: ParsedQuestion,
    nearness: Mapping[str, float],
) -> list[float]:
    """The log-odds, up to a constant, that each statement answers; ``nearness`` says of each turn
    how near it is to the question, 0..1.
    """
    return [
        sum(FEATURE_WEIGHTS[name] * value for name, value in features)
        for features in answer_features(statements, question, nearness)
    ]


def answer_features(
    statements: Sequence[HeldStatement],
    question: ParsedQuestion,
    nearness: Mapping[str, float],
) -> Iterator[list[tuple[str, float]]]:
    """The features of each statement, names of ``FEATURE_WEIGHTS`` with values; those that it lacks
    are left out.
    """
    asked = _asked_statements(statements, question)
    nearest = max(nearness.values(), default=0.0)
    question_stems = question.stems
    for place, one in enumerate(asked):
        statement = one.statement
        marks = {
            "decided": statement.is_decision,
            "few words": len(one.stems) < FEW_STEMS,
            "long": len(statement.text) > LONG,
            "pasted": statement.is_pasted,
        }
        new_stems = len(one.stems - question_stems)
        yield [
            ("asked", one.coverage),
            ("asked beside", _coverage_beside(asked, place)),
            ("like", one.likeness),
            ("behind", nearness.get(statement.turn, 0.0) - nearest),
            ("salience", statement.salience),
            ("new words", min(MANY_STEMS, new_stems) / MANY_STEMS),
            *((name, 1.0) for name, holds in marks.items() if holds),
        ]


def _asked_statements(
    statements: Sequence[HeldStatement], question: ParsedQuestion
) -> list[_AskedStatement]:
    texts = [statement.text for statement in statements]
    stems = [stems_of(text) for text in texts]
    shares = coverages(question, texts, stems)
    likenesses = likenesses_of(question.text, texts)
    parts = zip(statements, stems, shares, likenesses, strict=True)
    return [_AskedStatement(*of_one) for of_one in parts]


def _coverage_beside(asked: Sequence[_AskedStatement], place: int) -> float:
    """The coverage of the sentence before or after in the same message, or of the question that
    the message answers, whichever is most.
    """
    own = asked[place].statement
    before, after = asked[max(0, place - 1) : place], asked[place + 1 : place + 2]
    beside = [one for one in (*before, *after) if one.statement.message == own.message]
    beside += [
        one
        for one in before
        if one.statement.turn == own.turn
        and ends_with_question_mark(one.statement.text)
    ]
    return max((one.coverage for one in beside), default=0.0)


def nearness_of_turns(
    index: Index, query: PreparedQuery, memory_id: str
) -> dict[str, float]:
    """How near each exchange is to the question by its nearest piece, 0..1; nothing without a
    vector.
    """
    if query.vector is None or query.floor is None:
        return {}
    rows = index.passages_of(memory_id, {"exchange"})
    cosines = index.cosines(query.vector, [row.id for row in rows], model=query.model)
    nearness: dict[str, float] = {}
    for row in rows:
        above = above_floor(cosines.get(row.id, 0.0), query.floor)
        nearness[row.turn] = max(nearness.get(row.turn, 0.0), above)
    return nearness
