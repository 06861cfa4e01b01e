"""How much a sentence that may give a reason has to do with a decision."""

from __future__ import annotations

import pytest

from keeplore.capture.discourse.statements import Statement
from keeplore.capture.distill.reasons import _decision_closeness
from keeplore.capture.distill.standing_decisions import decision_of
from keeplore.text.sentences import Sentence

DECISION = decision_of("Use Postgres for the job queue.", "user", "turn-4", 1.0, 4)


def said(text: str, exchange: int, speaker: str = "assistant") -> Statement:
    turn = f"turn-{exchange}"
    return Statement(Sentence(text), speaker, turn, exchange, 1, 0, 1)


@pytest.mark.parametrize(
    ("text", "exchange", "closeness"),
    [
        ("The moon is round.", 4, 0.0),
        # half for each word that both have, three at most
        ("Postgres is there.", 4, 1.0),
        ("Postgres holds the queue.", 4, 1.5),
        ("Postgres holds each job of the queue.", 4, 2.0),
        ("Use Postgres, whose queue holds each job.", 4, 2.0),
        # and less the further away it is said, before or behind
        ("Postgres is there.", 3, 0.8),
        ("Postgres is there.", 5, 0.8),
        ("Postgres is there.", 6, 0.6),
        ("Postgres is there.", 7, 0.5),
        ("Postgres is there.", 1, 0.5),
        ("Postgres is there.", 8, 0.0),
        ("Postgres is there.", 0, 0.0),
        # the decision itself is no reason for it
        ("Use Postgres for the job queue.", 4, 0.0),
    ],
)
def test_a_reason_is_close_by_its_words_and_by_its_place(
    text: str, exchange: int, closeness: float
) -> None:
    found = _decision_closeness(said(text, exchange), DECISION)
    assert found == pytest.approx(closeness)


@pytest.mark.parametrize(
    ("text", "exchange", "speaker", "closeness"),
    [
        ("It has to survive a restart.", 4, "user", 1.0),
        ("It has to survive a restart.", 4, "assistant", 0.0),
        ("It has to survive a restart.", 5, "user", 0.0),
        ("Postgres survives a restart.", 4, "user", 1.5),
        ("Use Postgres, whose queue holds each job.", 4, "user", 2.0),
        ("Use Postgres for the job queue.", 4, "user", 0.0),
    ],
)
def test_what_the_person_says_along_with_a_decision_is_about_it(
    text: str, exchange: int, speaker: str, closeness: float
) -> None:
    found = _decision_closeness(said(text, exchange, speaker), DECISION)
    assert found == pytest.approx(closeness)
