"""What one memory alone says to a question, at length."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from live_session import played

from keeplore.config.places import Places
from keeplore.errors import NotFound
from keeplore.index import MemoryFilter, MemoryRow
from keeplore.memory import Memory
from keeplore.recall.answer import recall
from keeplore.recall.prepare import RecallDeps
from keeplore.recall.request import AnswerStatus, RecallRequest, SearchScope
from keeplore.recall.weights import WITHIN_CHARS
from keeplore.workspace import Registry
from keeplore.workspace.lifecycle.setup import initialise

BEACONS = "The beacons send their position every 10 minutes over LoRa."
FLAT = "The battery was flat after nine days, since the beacons send every 10 minutes."
SOLVED = "Then let the beacons send every 30 minutes."
TALK = (
    (BEACONS, "Noted: every 10 minutes."),
    ("Which paint do the buoys have?", "Yellow paint, RAL 1003."),
    (FLAT, "Nine days are what 10 minutes cost; 30 minutes give a month."),
    (SOLVED, "The beacons send every 30 minutes now."),
)
OTHER = (("The harbour office opens at 7 in summer.", "Noted: at 7."),)


@pytest.fixture
def registry() -> Iterator[Registry]:
    with played({"s": TALK, "o": OTHER}) as registry:
        index = registry.named("memory").index
        index.refresh()
        index.embed_pending()
        yield registry


def row_of(registry: Registry, words: str) -> MemoryRow:
    rows = registry.named("memory").index.listed(MemoryFilter())
    return next(row for row in rows if words in row.title.lower())


def asked(question: str, within: str) -> RecallRequest:
    return RecallRequest(question, Path.home() / "code" / "ledgerly", within=within)


def test_it_tells_from_first_to_last_what_speaks_to_the_question(
    registry: Registry,
) -> None:
    row = row_of(registry, "beacons")
    answer = registry.recall(asked("how often do the beacons send", row.id[4:12]))
    [hit] = answer.hits
    lines = hit.passage.split("\n")
    assert (answer.status, hit.memory_id, hit.score) == (
        AnswerStatus.FOUND,
        row.id,
        0.0,
    )
    told = [line for line in lines if line in (BEACONS, FLAT, SOLVED)]
    assert told == [BEACONS, FLAT, SOLVED]
    assert not any("paint" in line for line in lines)
    assert len(hit.turns) == len(lines)
    assert hit.turn == hit.turns[0]


def test_it_answers_although_others_are_nearer_or_nothing_is(
    registry: Registry,
) -> None:
    row = row_of(registry, "harbour")
    for question in ("how often do the beacons send", "how do whales sleep"):
        [hit] = registry.recall(asked(question, row.id)).hits
        assert hit.memory_id == row.id
        assert "at 7" in hit.passage


def test_a_time_in_the_question_lists_nothing(registry: Registry) -> None:
    row = row_of(registry, "harbour")
    [hit] = registry.recall(asked("yesterday", row.id)).hits
    assert hit.memory_id == row.id


def test_one_that_is_not_known_is_no_empty_answer(registry: Registry) -> None:
    with pytest.raises(NotFound, match="ffffffff"):
        registry.recall(asked("how often", "ffffffff"))


def test_one_of_another_workspace_has_its_whole_path(registry: Registry) -> None:
    row = row_of(registry, "harbour")
    places = Places.from_environment(os.environ)
    other = initialise(places, Path.home() / "team", "work").root
    request = replace(asked("when does it open", row.id), cwd=other)
    with Registry(places) as both:
        [hit] = both.recall(request).hits
        [own] = both.recall(asked("when does it open", row.id)).hits
    assert hit.path == str(Path.home() / "memory" / row.path)
    assert own == replace(hit, path=row.path)


@pytest.mark.parametrize("kind", ["note", "document"])
def test_a_note_is_told_as_it_is_and_of_a_document_what_answers(
    workspace_of: Any, memory_builders: Any, kind: str
) -> None:
    around = "The pier was painted in spring. " * 80
    words = "Rolls are 80 mm wide."
    body = words if kind == "note" else f"{around}\n\n{words}\n\n{around}"
    written = memory_builders.note(
        "rolls", "2026-02-01", "Printing", body, project="quay"
    )
    one = Memory(written.meta | {"kind": kind}, written.body)
    index, store = workspace_of([one])
    request = RecallRequest("how wide are rolls", within=one.id)
    [hit] = recall(RecallDeps(index, store), request, SearchScope("quay")).hits
    assert words in hit.passage
    assert len(hit.passage) <= WITHIN_CHARS
    assert (hit.memory_id, hit.kind, hit.turn) == (one.id, kind, "")
    assert (hit.passage == words) is (kind == "note")
