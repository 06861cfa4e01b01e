"""Hits as their files have them: each whole, with what became of the files that it names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

from keeplore.index import Index
from keeplore.recall.answer import recall
from keeplore.recall.prepare import RecallDeps
from keeplore.recall.request import (
    Answer,
    AnswerStatus,
    HeldStatement,
    RecallHit,
    RecallRequest,
    ResultFilter,
    SearchScope,
)
from keeplore.recall.since.named_files import Freshness, NamedFiles
from keeplore.store import Store

QUESTION = "How long do the mail jobs wait in the queue?"
ANSWER = "The mail jobs wait 30 seconds at most in the queue."
WHERE = (
    "The queue of the mail jobs lies in src/queue.py, and its rules in src/rules.py."
)
TEXT_ALONE = "searched by text alone: no embedding model is set"
FOLDER = "projects/shop/memory"


@pytest.fixture
def written(memory_builders: SimpleNamespace, tmp_path: Path) -> tuple[Index, Store]:
    talk = memory_builders.conversation(
        "wait",
        "2026-02-09",
        "Where jobs wait",
        [("Which queue?", "Postgres."), (QUESTION, ANSWER)],
        project="shop",
    )
    note = memory_builders.note(
        "lies",
        "2026-02-10",
        "Queue of the mail jobs",
        WHERE,
        project="shop",
        category="gotchas",
        trust="assistant",
    )
    return memory_builders.indexed(tmp_path, [talk, note])


@pytest.fixture
def hits(memory_builders: SimpleNamespace) -> tuple[RecallHit, RecallHit]:
    talk, note = map(memory_builders.memory_id, ("wait", "lies"))
    return (
        RecallHit(
            memory_id=talk,
            title="Where jobs wait",
            changed_at="2026-02-09T10:00:00Z",
            kind="conversation",
            scope="project",
            project="shop",
            category="",
            trust="user",
            score=0.0,
            passage=f"User: {QUESTION}\n\nAssistant: {ANSWER}",
            turn="wait-turn-1",
            path=f"{FOLDER}/conversations/2026/02/2026-02-09-where-jobs-wait-{talk[4:12]}.md",
            changes=0,
            session="session-wait",
            at="2026-02-09T10:07:00Z",
        ),
        RecallHit(
            memory_id=note,
            title="Queue of the mail jobs",
            changed_at="2026-02-10T10:00:00Z",
            kind="note",
            scope="project",
            project="shop",
            category="gotchas",
            trust="assistant",
            score=0.0,
            passage=WHERE,
            turn="",
            path=f"{FOLDER}/gotchas/2026-02-10-queue-of-the-mail-jobs-{note[4:12]}.md",
            changes=0,
            session="session-lies",
            files_changed=("src/queue.py",),
            files_gone=("src/rules.py",),
        ),
    )


def since(asked: Sequence[NamedFiles]) -> list[Freshness]:
    return [Freshness(one.files, one.files[:1], one.files[1:]) for one in asked]


def ask(written: tuple[Index, Store], *, is_unasked: bool = False) -> Answer:
    wanted = ResultFilter(is_unasked=is_unasked)
    request = RecallRequest(QUESTION, filter=wanted)
    now = datetime(2026, 5, 1, tzinfo=UTC)
    deps = RecallDeps(*written, freshness=since)
    answer = recall(deps, request, SearchScope("shop"), now=now)
    scores = [hit.score for hit in answer.hits]
    assert scores == sorted(scores, reverse=True) and all(0 < one < 1 for one in scores)
    return replace(answer, hits=tuple(replace(hit, score=0.0) for hit in answer.hits))


def test_each_hit_is_told_whole(
    written: tuple[Index, Store], hits: tuple[RecallHit, ...]
) -> None:
    answer = ask(written)
    assert answer.hits == hits
    assert (answer.query, answer.status, answer.legs, answer.notes) == (
        QUESTION,
        AnswerStatus.FOUND,
        ("text",),
        (TEXT_ALONE,),
    )
    assert ask(written, is_unasked=True).hits == hits[:1]


@pytest.mark.parametrize(("more", "exchanges"), [("", 1), (" It is from a lock.", 2)])
def test_an_exchange_that_a_hit_shows_already_is_no_hit_beside_it(
    memory_builders: SimpleNamespace, tmp_path: Path, more: str, exchanges: int
) -> None:
    said = [
        ("The mail queue has a bug.", "That queue bug loses letters."),
        ("Parcels show another queue bug.", "Their queue bug doubles crates."),
    ]
    talk = memory_builders.conversation(
        "bugs", "2026-02-09", "Mail", [(one, f"{two}{more}") for one, two in said],
        project="shop",
    )  # fmt: skip
    index, store = memory_builders.indexed(tmp_path, [talk])
    held = [
        HeldStatement(text, f"bugs-turn-{number}", number, 1.0)
        for number, exchange in enumerate(said)
        for text in exchange
    ]
    deps = RecallDeps(index, store, held=lambda _: held)
    asked = RecallRequest("which bugs does the queue have, in what order?")
    asked = replace(asked, limit=9)
    for by_exchange, expected in ((False, exchanges), (True, 2)):
        answer = recall(
            deps, replace(asked, by_exchange=by_exchange), SearchScope("shop")
        )
        assert len(answer.hits) == expected
