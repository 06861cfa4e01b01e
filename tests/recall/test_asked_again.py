"""Questions that were asked in earlier sessions, from raw payloads to what recall prints."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from live_session import played

from keeplore.recall.request import RecallHit, RecallRequest
from keeplore.workspace import Registry

OPTIONS = """Options:

A) floats: easy, rounding errors
B) integer cents in a BIGINT: exact, fast

I would take B. Which one?"""
PICK = "How should we store money amounts in the orders table? → integer cents in a BIGINT: exact, fast"
SESSIONS = {
    "money": (
        ("How should we store money amounts in the orders table?", OPTIONS),
        ("B", "Done, the column is amount_cents."),
    ),
    "retries": (
        (
            "The webhook sender loses events when the partner is down. Fix it.",
            "I can add retries with exponential backoff: 3 attempts. Shall I?",
        ),
        ("yes, three retries", "Done: three retries with exponential backoff."),
    ),
    "asked": (("What did we decide about money amounts?", ""),),
    "not found": (
        ("What did we decide about money amounts?", "I could not find anything."),
    ),
    "answered": (
        (
            "What did we decide about money amounts?",
            "According to memory: integer cents in a BIGINT column.",
        ),
    ),
    "sessions": (
        ("Where are sessions stored?", "In the table user_sessions, in Postgres."),
    ),
}


@pytest.fixture
def registry() -> Iterator[Registry]:
    with played(SESSIONS) as registry:
        yield registry


def hits_for(registry: Registry, question: str) -> list[RecallHit]:
    cwd = Path.home() / "code" / "ledgerly"
    return [*registry.recall(RecallRequest(question, cwd)).hits]


# a question, the session that answers it and the first line of what answers
ANSWERS = {
    "What did we decide about money amounts?": ("money", PICK),
    "What did we decide about retries?": (
        "retries",
        "I can add retries with exponential backoff: 3 attempts.",
    ),
    "where are sessions stored": (
        "sessions",
        "In the table user_sessions, in Postgres.",
    ),
}


def test_the_answer_comes_first_and_not_the_earlier_asking(registry: Registry) -> None:
    found = {}
    for question in ANSWERS:
        hits = hits_for(registry, question)
        first = next(hit for hit in hits if hit.kind == "conversation")
        found[question] = (first.session, first.passage.split("\n")[0])
    assert found == ANSWERS


def test_a_question_that_nobody_answered_is_no_hit_of_any_question(
    registry: Registry,
) -> None:
    for question in ("What did we decide about money amounts?", "about money?"):
        found = {hit.session for hit in hits_for(registry, question)}
        assert not found & {"asked", "not found"}


def test_a_note_of_what_a_talk_before_it_shows_is_no_hit(registry: Registry) -> None:
    hits = hits_for(registry, "What did we decide about money amounts?")
    stating = [hit.kind for hit in hits if PICK in hit.passage]
    assert stating == ["conversation"]
    # found by itself it is told
    notes = [hit for hit in hits_for(registry, "floats or cents") if hit.kind == "note"]
    assert all(PICK in hit.passage for hit in notes)
