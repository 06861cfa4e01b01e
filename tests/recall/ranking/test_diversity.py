"""Questions that several passages answer only together: lists, orders, summaries."""

import math
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from keeplore.recall.answer import recall
from keeplore.recall.prepare import RecallDeps
from keeplore.recall.question import parse_question
from keeplore.recall.ranking.diversity import complementary
from keeplore.recall.ranking.model import Ranked
from keeplore.recall.request import Answer, RecallRequest, SearchScope
from keeplore.recall.weights import Weights

NOW = datetime(2026, 5, 1, tzinfo=UTC)
API = SearchScope("kasha-api")


@pytest.mark.parametrize(
    "text",
    [
        "Which ports have we opened on the gateway?",
        "what are our rules for migrations",
        "what have we changed about the retry logic",
        "List the order in which I brought up parts of the importer.",
        "in what order did we move the services",
        "which all endpoints did the audit name",
        "what kinds of caches do the workers use?",
        "Can you walk me through the work on the importer?",
        "In welcher Reihenfolge haben wir die Dienste umgezogen?",
        "summary of the importer",
    ],
)
def test_a_list_an_order_and_a_summary_want_several_passages(text) -> None:
    assert parse_question(text).is_of_several


@pytest.mark.parametrize(
    "text",
    [
        "which port does the gateway use",
        "what is the status of the migration",
        "what has happened to the cache",
        "where is the list of endpoints",
        "by what means does the worker reach the store",
        "how many retries does the client make",
        "why did we drop Redis",
        "what does this class do",
        "in order to deploy, which branch is needed",
    ],
)
def test_one_thing_wants_one_passage(text) -> None:
    assert not parse_question(text).is_of_several


def test_each_passage_more_of_a_memory_is_lowered_more() -> None:
    w = Weights(same_memory=0.4)
    ranked = [Ranked("a", 3.0, 1), Ranked("a", 2.8, 2), Ranked("a", 2.7, 3)]
    others = [Ranked("b", 2.5, 4), Ranked("c", 1.0, 5)]
    assert [(r.passage, r.odds) for r in complementary([*ranked, *others], w)] == [
        (1, 3.0),
        (4, 2.5),
        (2, 2.4),
        (3, pytest.approx(2.7 - 0.4 * math.log2(3))),
        (5, 1.0),
    ]


@pytest.fixture
def asked(memory_builders, workspace_of):
    """What is answered from two talks about caches, and others."""
    talks = [
        (
            "february",
            "2026-02-03",
            [
                (
                    "Which cache do the workers get?",
                    "The workers cache tiles in files.",
                ),
                ("And the pages?", "The pages cache sessions in memory."),
            ],
        ),
        (
            "january",
            "2026-01-02",
            [("What of the gateway?", "The gateway caches routes for a minute.")],
        ),
    ]
    talks += [
        (f"other-{n}", "2026-03-04", [(f"Log {n}?", f"Log {n} goes to the bucket.")])
        for n in range(9)
    ]
    memories = [
        memory_builders.conversation(key, day, f"Talk {key}", talk, project="kasha-api")
        for key, day, talk in talks
    ]
    index, store = workspace_of(memories)

    def answer(query: str) -> Answer:
        return recall(RecallDeps(index, store), RecallRequest(query), API, now=NOW)

    return answer


def test_a_list_gets_more_than_one_exchange_of_a_talk_told_in_order_of_time(
    asked,
) -> None:
    answer = asked("which caches do the workers, the pages and the gateway have?")
    told = [answer.hits[place] for place in answer.by_time]
    assert answer.is_of_several
    assert [(hit.changed_at[:10], hit.turn) for hit in told] == [
        ("2026-01-02", "january-turn-0"),
        ("2026-02-03", "february-turn-0"),
        ("2026-02-03", "february-turn-1"),
    ]
    assert [hit.score for hit in answer.hits] == sorted(
        (hit.score for hit in answer.hits), reverse=True
    )


def test_what_is_far_less_likely_is_told_behind_what_answers_together(asked) -> None:
    answer = asked("which caches do the workers, the pages and the gateway have?")
    weak = replace(answer.hits[0], score=0.2, at="2025-01-01T00:00:00Z")
    told = replace(answer, hits=(*answer.hits, weak))
    assert told.by_time == [*answer.by_time, len(answer.hits)]


def test_one_thing_gets_one_passage_of_a_talk_the_best_first(asked) -> None:
    answer = asked("where does the gateway cache routes, as the workers do tiles?")
    assert not answer.is_of_several
    assert answer.by_time == [*range(len(answer.hits))]
    assert len({hit.memory_id for hit in answer.hits}) == len(answer.hits)
