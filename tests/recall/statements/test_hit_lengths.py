"""Which hits are told, and how much of each: one that stands out alone, and more of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import pytest

from keeplore.recall.prepare import RecallContext
from keeplore.recall.question import parse_question
from keeplore.recall.request import RecallHit, RecallRequest
from keeplore.recall.statements.hit_lengths import likely_hits
from keeplore.recall.weights import WEIGHTS


def hit(passage: str, kind: str = "conversation") -> RecallHit:
    return RecallHit(
        "mem_1", "Holds", "2026-03-01T10:00:00Z", kind, "project", "shop", "", "user", 0.5,
        passage, "t1", "a.md", 0, turns=("t2", "t1"), marks=("user", "user"),
    )  # fmt: skip


LINES = "Use Postgres here.\nThe sweep runs hourly."
WHOLE, LONG = LINES, f"{LINES}\nIt keeps rows."


def told(
    scores: Sequence[float], request: RecallRequest, question: str = "why Postgres?"
) -> list[tuple[float, str]]:
    """The hits with these scores that are told, each with its passage."""
    hits = [replace(hit(LINES), score=score) for score in scores]
    context = SimpleNamespace(request=request, deps=SimpleNamespace(weights=WEIGHTS))
    likely = likely_hits(
        cast("RecallContext", context),
        parse_question(question),
        hits,
        lambda first: replace(first, passage=LONG),
    )
    return [(one.score, one.passage) for one in likely]


USUAL = RecallRequest("why Postgres?")


@pytest.mark.parametrize(
    ("scores", "passages"),
    [
        ((0.9, 0.5, 0.45, 0.44), (LONG,)),
        ((0.9, 0.7, 0.45), (WHOLE, WHOLE, WHOLE)),
        ((0.8, 0.79, 0.75, 0.7, 0.65), (WHOLE, WHOLE, WHOLE)),
        # what is unlikely and stands behind a likely one is not told, and does not compete
        ((0.7, 0.39), (LONG,)),
        ((0.5, 0.39), (WHOLE, WHOLE)),
        ((0.5, 0.1), (LONG,)),
        ((0.3,), (LONG,)),
        # a newer one may stand before a likelier one
        ((0.5, 0.9), (WHOLE, WHOLE)),
        ((1.0, 1.0), (WHOLE, WHOLE)),
        ((), ()),
    ],
)
def test_the_first_is_told_alone_at_length_where_none_is_nearly_as_likely(
    scores: Sequence[float], passages: Sequence[str]
) -> None:
    assert told(scores, USUAL) == [*zip(scores, passages, strict=False)]


def test_the_log_odds_decide_what_stands_out() -> None:
    assert told((0.59, 0.17), USUAL)[0] == (0.59, WHOLE)
    assert told((0.59, 0.16), USUAL)[0] == (0.59, LONG)


@pytest.mark.parametrize(
    ("request_", "question"),
    [
        (replace(USUAL, limit=1), "why Postgres?"),  # nothing to compare it with
        (replace(USUAL, limit=6), "why Postgres?"),
        (replace(USUAL, by_exchange=True), "why Postgres?"),
        (USUAL, "Which hobbies did we list?"),
        (USUAL, ""),  # a time alone, which lists what is from then
    ],
)
def test_where_more_or_one_alone_is_asked_for_all_are_told_as_they_are(
    request_: RecallRequest, question: str
) -> None:
    scores = (0.9, 0.2)[: request_.limit]
    assert told(scores, request_, question) == [(score, WHOLE) for score in scores]
