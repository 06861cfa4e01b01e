"""What the person tells that was agreed elsewhere: a decision, and a note."""

from __future__ import annotations

import pytest

from keeplore.capture.distill.distiller import distill
from keeplore.capture.notes.note_candidates import candidates
from keeplore.memory import Exchange


def decided_and_noted(message: str) -> tuple[list[str], list[str]]:
    exchanges = [Exchange("t-1", "2026-02-09T14:03:11Z", message, ("Understood.",))]
    parts = distill(exchanges)
    decided = [q.text for q in (*parts["decision"], *parts["also_decided"])]
    return decided, [note.text for note in candidates(exchanges)]


@pytest.mark.parametrize(
    "message",
    [
        "We agreed with legal that logs are kept 30 days",
        "We agreed with the customer on weekly reports",
        "We settled with ops for blue green deploys",
        "We decided yesterday that the API stays on v1",
        "We decided last week to keep Jenkins",
        "The team decided to drop Python 3.10",
        "Everyone agreed in the retro that reviews need two people",
    ],
)
def test_what_was_agreed_with_others_is_decided_and_noted(message: str) -> None:
    assert decided_and_noted(message) == ([message], [message])


@pytest.mark.parametrize(
    "message",
    [
        "We agreed with you",
        "Have we agreed with legal on retention?",
        "We haven't decided yesterday on anything",
        "Did the team agree on a retention?",
    ],
)
def test_what_asks_or_denies_it_is_neither(message: str) -> None:
    assert decided_and_noted(message) == ([], [])
