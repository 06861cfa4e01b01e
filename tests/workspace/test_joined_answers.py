"""An answer with what a project's code repository adds to it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from keeplore.errors import IndexUnavailable
from keeplore.index.rows import IndexState
from keeplore.recall.request import Answer, AnswerStatus, RecallHit, RecallRequest
from keeplore.workspace.registry import _with_recalled

EMPTY, NOTHING, STALE, FOUND = (
    AnswerStatus.EMPTY,
    AnswerStatus.NOTHING,
    AnswerStatus.STALE,
    AnswerStatus.FOUND,
)
HIT = RecallHit(
    *("mem_1", "A", "2026-04-01T12:00:00Z", "note", "project", "shop", "facts", "user"),
    *(0.5, "It is so.", "", "memory/facts/a.md", 0),
)
REQUEST = RecallRequest("why", Path("/code"), limit=2, wide=True)


def answer(
    status: AnswerStatus, name: str, memories: int, *hits: tuple[str, float]
) -> Answer:
    found = [
        replace(HIT, memory_id=id_, score=score, path=f"{id_}.md")
        for id_, score in hits
    ]
    stamp = IndexState(name, memories, memories, 0, "", "")
    return Answer("why", tuple(found), status, (name,), (f"of {name}",), stamp)


def joined(own: Answer, more: Answer) -> Answer:
    asked: list[RecallRequest] = []
    code: Any = SimpleNamespace(
        root=Path("/code"), recall=lambda request: asked.append(request) or more
    )
    found = _with_recalled(own, code, REQUEST)
    assert asked == [replace(REQUEST, wide=False)]
    return found


@pytest.mark.parametrize(
    ("own", "more", "told"),
    [
        (EMPTY, EMPTY, EMPTY),
        (EMPTY, NOTHING, NOTHING),
        (NOTHING, EMPTY, NOTHING),
        (STALE, NOTHING, STALE),
        (EMPTY, STALE, STALE),
        (NOTHING, STALE, STALE),
    ],
)
def test_of_two_that_found_nothing_the_one_that_says_more_is_told(
    own: AnswerStatus, more: AnswerStatus, told: AnswerStatus
) -> None:
    with_own = joined(answer(own, "own", 3), answer(more, "code", 4))
    assert with_own == answer(told, "own", 3)
    # how nothing was searched is of no interest
    assert joined(answer(own, "own", 0), answer(more, "code", 4)) == answer(
        told, "code", 4
    )


def test_hits_are_joined_each_once_the_best_first_and_no_more_than_were_asked_for() -> (
    None
):
    own = answer(FOUND, "own", 3, ("mem_1", 0.5), ("mem_2", 0.1))
    more = answer(FOUND, "code", 4, ("mem_1", 0.9), ("mem_3", 0.5), ("mem_4", 0.4))
    found = joined(own, more)
    assert [(hit.memory_id, hit.path, hit.score) for hit in found.hits] == [
        ("mem_1", "mem_1.md", 0.5),
        ("mem_3", "/code/mem_3.md", 0.5),
    ]
    assert replace(found, hits=()) == answer(FOUND, "own", 3)
    assert joined(answer(EMPTY, "own", 0), more).status == FOUND


def test_a_code_repository_that_cannot_be_asked_is_named() -> None:
    def recall(_: RecallRequest) -> Answer:
        raise IndexUnavailable("it is broken", "Mend it")

    code: Any = SimpleNamespace(root=Path("/code"), recall=recall)
    own = answer(NOTHING, "own", 3)
    assert _with_recalled(own, code, REQUEST) == replace(
        own, notes=("of own", "/code was not searched: it is broken. Mend it")
    )
