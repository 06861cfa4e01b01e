"""The two searches of the index, by words and by meaning, and what their passages show."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from keeplore.index import MemoryRow, PassageRow, ScopeFilter
from keeplore.index.passages import STATEMENTS
from keeplore.recall.prepare import PreparedQuery
from keeplore.recall.question import ParsedQuestion, stems_of
from keeplore.recall.ranking.fuse import least_odds, odds
from keeplore.recall.ranking.model import Evidence
from keeplore.recall.ranking.passage_features import closeness, feature_bonuses
from keeplore.recall.repeated_questions import is_unanswered
from keeplore.recall.weights import WEIGHTS, Weights

if TYPE_CHECKING:
    from keeplore.index import Index


@dataclass(frozen=True, slots=True)
class SearchResults:
    """What the searches gave: evidence, and the rows that it speaks of, as far as they were looked
    up.
    """

    evidence: tuple[Evidence, ...]
    passages: Mapping[int, PassageRow]
    memories: Mapping[str, MemoryRow]
    # how much more of the question each speaks of as a whole than the one with the likeliest
    # passage, -1..1, for the likeliest memories
    whole: Mapping[str, float]


def search(
    index: Index,
    query: PreparedQuery,
    allowed: ScopeFilter,
    w: Weights = WEIGHTS,
    least: float = 0.0,
) -> SearchResults:
    """Every passage that either search finds; what is known of it only for the likeliest, where
    its score may reach ``least``.
    """
    found, passages = _matches(index, query, allowed, w)
    likely = _likely_passages(found, query.floor, least, w)
    by_passage = {one.passage: one for one in found}
    passages |= _rows(index, [id_ for id_ in likely if id_ not in passages])
    known = sorted((passages[id_] for id_ in likely if id_ in passages), key=_place)
    memories = index.memories(sorted({row.memory_id for row in known}))
    in_place = [row for row in known if row.memory_id in memories]
    rows = sorted(in_place, key=lambda row: -likely[row.id])
    telling, echoes = _told_apart(index, rows, query, w)
    for order, row in enumerate(in_place):
        e, memory = by_passage[row.id], memories[row.memory_id]
        by_passage[row.id] = _described(e, row, memory, order, echoes)
    for place, row in enumerate(telling[: w.read]):
        by_passage[row.id] = _with_passage(by_passage[row.id], row, query, place, w)
    whole = _whole_question_scores(index, query, telling, w)
    return SearchResults(tuple(by_passage.values()), passages, memories, whole)


def _place(row: PassageRow) -> tuple[str, ...]:
    """A sort key for passages that is the same in every index of the same files."""
    return row.memory_id, row.path, row.turn, row.kind, row.text


def _told_apart(
    index: Index, rows: Sequence[PassageRow], query: PreparedQuery, w: Weights
) -> tuple[list[PassageRow], set[int]]:
    """The passages in order without those that only ask, and the numbers of the latter; they are
    told apart until enough others are found.
    """
    telling: list[PassageRow] = []
    echoes: list[PassageRow] = []
    for row in rows:
        if len(telling) < w.read and is_unanswered(row, query.question):
            echoes.append(row)
        else:
            telling.append(row)
    asking = {row.memory_id for row in echoes if row.kind == "exchange"}
    asking = {id_ for id_ in asking if _only_asks(index, id_, query.question)}
    echoes += [row for row in telling if row.memory_id in asking]
    telling = [row for row in telling if row.memory_id not in asking]
    return telling, {row.id for row in echoes}


def _only_asks(index: Index, memory_id: str, question: ParsedQuestion) -> bool:
    exchanges = index.passages_of(memory_id, {"exchange"})
    return all(is_unanswered(row, question) for row in exchanges)


def _whole_question_scores(
    index: Index, query: PreparedQuery, telling: Sequence[PassageRow], w: Weights
) -> dict[str, float]:
    """How much more than the likeliest memory each of the next speaks of the question as a whole,
    -1..1; beside its only passage a memory has nothing to say.
    """
    sizes = {row.memory_id: row.passages for row in telling}  # the likeliest first
    memories = [*sizes][: w.weighed]
    scores = index.memory_scores(query.question.telling, memories)
    most = max(scores.values(), default=0.0)
    if not most:
        return {}
    first = scores.get(memories[0], 0.0)
    return {
        id_: (1.0 - 1.0 / sizes[id_]) * (score - first) / most
        for id_, score in scores.items()
    }


def _described(
    e: Evidence, row: PassageRow, memory: MemoryRow, order: int, echoes: Container[int]
) -> Evidence:
    """Evidence with where its passage stands, and when that was said."""
    at = row.at or memory.updated_at or memory.created_at
    return replace(
        e,
        memory=row.memory_id,
        turn=row.turn,
        at=at,
        passages=row.passages,
        is_statement=row.kind in STATEMENTS,
        is_echo=row.id in echoes,
        order=order,
    )


def _matches(
    index: Index, query: PreparedQuery, allowed: ScopeFilter, w: Weights
) -> tuple[list[Evidence], dict[int, PassageRow]]:
    """What the searches say of each passage, and the rows that were read for that."""
    matches = index.text_search(
        query.question.subject, allowed, w.candidates, is_patient=query.is_patient
    )
    text = {match.passage: match.score for match in matches}
    cosines = _cosines(index, query, allowed, w)
    passages, coverage = _covering(index, query, text, w)
    found = [
        Evidence(id_, "", text.get(id_), cosines.get(id_), coverage.get(id_, 0.0))
        for id_ in sorted(text.keys() | cosines.keys())
    ]
    return found, passages


def _covering(
    index: Index, query: PreparedQuery, text: Mapping[int, float], w: Weights
) -> tuple[dict[int, PassageRow], dict[int, float]]:
    """The share of the question's words in the best text matches that do not only ask the same, and
    all rows that were read for that.
    """
    passages: dict[int, PassageRow] = {}
    coverage: dict[int, float] = {}
    for ids in _batches(text, w.covering):
        rows = _rows(index, ids)
        passages |= rows
        for row in rows.values():
            if not is_unanswered(row, query.question):
                stems = stems_of(f"{row.title}\n{row.text}")
                coverage[row.id] = query.question.coverage(stems)
        if len(coverage) >= w.covering:
            break
    return passages, coverage


def _batches(text: Mapping[int, float], at_once: int) -> Iterator[list[int]]:
    """Matches in batches, the best first; matches of equal score stay in one batch, since which of
    them has the lower number differs between machines.
    """
    left = sorted(text, key=text.__getitem__, reverse=True)
    while left:
        least = text[left[:at_once][-1]]
        count = sum(text[id_] >= least for id_ in left)
        yield left[:count]
        left = left[count:]


def _cosines(
    index: Index, query: PreparedQuery, allowed: ScopeFilter, w: Weights
) -> dict[int, float]:
    if query.vector is None:
        return {}
    nearest = index.vector_search(
        query.vector,
        allowed,
        w.candidates,
        model=query.model,
        is_patient=query.is_patient,
    )
    return {match.passage: match.score for match in nearest}


def _rows(index: Index, ids: Iterable[int]) -> dict[int, PassageRow]:
    return {row.id: row for row in index.passages(list(ids))}


def _likely_passages(
    found: Sequence[Evidence], floor: float | None, least: float, w: Weights
) -> dict[int, float]:
    """The likeliest passages, of those that may reach a score, and their log-odds."""
    likely = odds(found, floor, w)
    # what can still raise a score is less than ``most_bonus``, so whatever is further below need
    # not be looked up
    lowest = least_odds(least) - w.most_bonus
    best = sorted(likely.values(), reverse=True)[: w.looked_up]
    lowest = max(lowest, best[-1]) if best else lowest
    return {passage: value for passage, value in likely.items() if value >= lowest}


def _with_passage(
    e: Evidence, row: PassageRow, query: PreparedQuery, place: int, w: Weights
) -> Evidence:
    """Evidence with what its passage shows; ``place`` is where it stands by the searches alone, 0
    the best.
    """
    question = query.question
    close = 0.0
    if place < w.current_among and not question.is_about_past:
        share, is_rule = closeness(row.said, question)
        close = share if is_rule or not question.asks else 0.0
    is_of_time = any(span.holds(e.at) for span in query.spans)
    return replace(
        e,
        bonus=sum(feature_bonuses(row, question, w).values()) + is_of_time * w.when,
        close=close,
    )
