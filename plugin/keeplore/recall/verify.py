"""The hits of an answer: what was ranked, as its files have it now, without what says the same
again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from keeplore.errors import StoreError
from keeplore.index import MemoryRow, PassageRow
from keeplore.index.passages import passages_of, still_says
from keeplore.memory import Conversation, Memory
from keeplore.memory.note import statement_of
from keeplore.recall.excerpt import excerpt
from keeplore.recall.question import Question, stems_of
from keeplore.recall.rank import LOOKED_AT, Ranked, Standing, shared
from keeplore.recall.request import Here, Hit
from keeplore.recall.weights import Weights

if TYPE_CHECKING:
    from keeplore.index import TextSource

SAME, CHANGED = (
    "same",
    "changed",
)  # says what a better one says; its file is gone or says something else by now
Left = tuple[str, str]  # memory, and which of the two
_DAY_S = 86_400


@dataclass(frozen=True, slots=True)
class Kept:
    """Which of the memories that were found are looked at, best first."""

    limit: int
    at_least: float
    skip: Callable[[MemoryRow], bool]
    is_told: Callable[[str], bool]
    trust: Callable[[Memory], str]
    by_exchange: bool = False


def words_of(
    ranked: Sequence[Ranked], passages: Mapping[int, PassageRow]
) -> dict[int, frozenset[str]]:
    """The words of the passages of the best ones, by passage."""
    return {
        r.passage: stems_of(passages[r.passage].said)
        for r in ranked[:LOOKED_AT]
        if r.passage is not None
    }


def shown(
    store: TextSource,
    ranked: Sequence[Ranked],
    memories: Mapping[str, MemoryRow],
    passages: Mapping[int, PassageRow],
    words: Mapping[int, frozenset[str]],
    question: Question,
    wanted: Kept,
    w: Weights,
) -> tuple[list[Hit], list[Left]]:
    """The best ones that stand in their files and say something else than a better one; and those
    passed over.
    """
    hits: list[Hit] = []
    left: list[Left] = []
    said: list[tuple[str, str, frozenset[str]]] = []  # place and words of each hit
    for entry in ranked:
        if len(hits) == wanted.limit or entry.score < wanted.at_least:
            break
        memory = memories[entry.memory]
        own = (words.get(entry.passage) if entry.passage is not None else None) or stems_of(
            memory.title
        )
        if wanted.skip(memory):
            continue
        if any(
            (memory.scope, memory.project) == (scope, project) and shared(own, other) >= w.same_from
            for scope, project, other in said
        ):
            left.append((entry.memory, SAME))
            continue
        row = passages.get(entry.passage) if entry.passage is not None else None
        hit = _checked(store, memory, row, entry, question, wanted.trust)
        if hit is None:
            left.append((entry.memory, CHANGED))
        elif not wanted.is_told(hit.passage):
            hits.append(hit)
            said.append((memory.scope, memory.project, own))
    return hits, left


def left_out(left: Sequence[Left]) -> list[str]:
    """What is told of hits that did not stand in their files."""
    count = sum(reason == CHANGED for _, reason in left)
    return (
        [f"{count} left out: the file is gone or says something else since it was indexed"]
        if count
        else []
    )


def standing_of(
    row: MemoryRow, here: Here, now: datetime, graph: float = 0.0, feedback: float = 1.0
) -> Standing:
    """What is known of a memory, as seen from ``here``; ``graph`` and ``feedback`` as there."""
    return Standing(
        here.distance(row.scope, row.project),
        age_days(row.updated_at or row.created_at, now),
        row.permanent,
        row.is_archived,
        row.superseded_by,
        f"{row.scope}/{row.project}",
        graph,
        feedback,
    )


def age_days(at: str, now: datetime) -> float:
    """Days since a moment of a front matter; one that cannot be read counts as ten years ago."""
    try:
        then = datetime.fromisoformat(at)
    except ValueError:
        return 3650.0
    then = then if then.tzinfo else then.replace(tzinfo=UTC)
    return max(0.0, (now - then).total_seconds() / _DAY_S)


def _checked(
    store: TextSource,
    row: MemoryRow,
    passage: PassageRow | None,
    entry: Ranked,
    question: Question,
    trust: Callable[[Memory], str],
) -> Hit | None:
    """The hit as its file has it now; None where the file is gone, unreadable, or no longer says
    it.
    """
    try:
        memory = store.load(row.path)
    except (StoreError, OSError):
        return None
    talk = Conversation.from_markdown(memory.body) if row.kind == "conversation" else None
    if passage is None:
        text, turn = _most_covering([(p.body, p.turn) for p in passages_of(memory)], question)
    elif still_says(memory, talk, passage.turn, passage.text):
        text, turn = passage.text, passage.turn
    else:
        return None
    if (
        row.kind == "note" and len(passages_of(memory)) == 1
    ):  # without the words that it was made from
        text = statement_of(memory)
    decided = talk.decision[0].text if talk and talk.decision else ""
    return Hit(
        row.id,
        row.title,
        (row.updated_at or row.created_at)[:10],
        row.kind,
        row.scope,
        row.project,
        row.category,
        trust(memory),
        round(entry.score, 3),
        excerpt(text, question),
        turn,
        row.path,
        row.changes,
        row.session,
        decided,
        row.superseded_by,
    )


def hit_of(
    store: TextSource, row: MemoryRow, question: Question, trust: Callable[[Memory], str]
) -> Hit | None:
    """A memory that no search found, with what of it says most to the question; None where its file
    is gone.
    """
    return _checked(store, row, None, Ranked(row.id, 0.0, None), question, trust)


def _most_covering(passages: Sequence[tuple[str, str]], question: Question) -> tuple[str, str]:
    """For a memory of which only an older version matched: its own text with the most of the
    question's words.
    """
    return max(passages, key=lambda p: question.coverage(stems_of(p[0])), default=("", ""))
