"""Why a memory is shown or not, in words; for cases that a small index does not bring about."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from keeplore.recall import score_explanation as told
from keeplore.recall.answer import NO_WORD
from keeplore.recall.verify import LeftOut
from keeplore.recall.weights import WEIGHTS

HEAD: Any = SimpleNamespace(title="The ledger", project="shop")
HIDDEN = WEIGHTS.hidden_below
NEAREST = f"{WEIGHTS.candidates} passages"


def traced(**more: Any) -> Any:
    """What a search did; ``coverage`` is the share of the question's words that a memory has."""
    share = more.pop("coverage", 0.0)
    question = SimpleNamespace(coverage=lambda _: share)
    query = SimpleNamespace(
        question=question,
        vector=more.pop("vector", None),
        floor=more.pop("floor", None),
        silence=lambda w: w.nothing_below,
    )
    results = SimpleNamespace(evidence=more.pop("evidence", ()), passages={})
    best = SimpleNamespace(score=more.pop("best", 1.0))
    known = {"left": (), "boost": {}, "ranked": [best]} | more
    return SimpleNamespace(query=query, results=results, **known)


@pytest.mark.parametrize(
    ("score", "best", "left", "reason"),
    [
        (HIDDEN - 0.01, 1.0, None, f"below the threshold of {HIDDEN:.2f}"),
        (
            HIDDEN,
            WEIGHTS.nothing_below - 0.01,
            None,
            f"the best score is below the threshold of {WEIGHTS.nothing_below:.2f}",
        ),
        (HIDDEN, WEIGHTS.nothing_below, None, "more than 50 memories are better"),
        (1.0, 1.0, LeftOut.SAME, "a better hit of the same place says the same"),
        (
            1.0,
            1.0,
            LeftOut.CHANGED,
            "its file is gone, or says something else since it was indexed",
        ),
    ],
)
def test_why_a_memory_that_was_found_is_not_shown(
    score: float, best: float, left: LeftOut | None, reason: str
) -> None:
    entry: Any = SimpleNamespace(memory="mem_1", score=score)
    trace = traced(best=best, left=[("mem_1", left)] if left else [("mem_2", "x")])
    assert told._reason_left_out(trace, entry, WEIGHTS) == f"not shown: {reason}"


@pytest.mark.parametrize(
    ("share", "vector", "verdict"),
    [
        (0.0, None, "not found: no word in common"),
        (
            0.5,
            None,
            "not found: 50% of the question's words are in it, where others match better",
        ),
        (
            0.0,
            [1.0],
            f"not found: no word in common, and not among the {NEAREST} nearest in meaning",
        ),
    ],
    ids=["no word", "some words", "with a model"],
)
def test_why_a_memory_is_not_found(share: float, vector: Any, verdict: str) -> None:
    trace = traced(coverage=share, vector=vector)
    assert told._verdict_unfound(trace, HEAD, "It is append-only.", WEIGHTS) == verdict


def test_a_memory_of_another_project_is_told_as_one() -> None:
    assert told._verdict_elsewhere(HEAD) == (
        "not looked for: it is of the project shop, which is asked where little is found here"
    )


@pytest.mark.parametrize(
    ("notes", "place", "verdict"),
    [
        ((NO_WORD,), 0, f"not found: {NO_WORD}"),
        ((), 3, "found in place 3: the question names nothing, or only a time"),
        (
            (),
            0,
            "not found: the question names nothing, or only a time, and the answer is full without it",
        ),
    ],
    ids=["no word", "found", "full"],
)
def test_a_question_without_a_search_is_told_by_its_answer(
    notes: tuple[str, ...], place: int, verdict: str
) -> None:
    answer: Any = SimpleNamespace(notes=notes)
    assert told._verdict_without_search(answer, place) == verdict


def evidence(**more: Any) -> Any:
    known = {"text": None, "cosine": None, "coverage": 0.0, "is_echo": False}
    return SimpleNamespace(**(known | more))


def test_what_the_search_by_words_gave_is_told_beside_the_best_that_answers() -> None:
    one = evidence(text=2.5, coverage=0.5)
    best = evidence(text=7.25, coverage=0.75)
    echo = evidence(text=99.0, coverage=1.0, is_echo=True)
    trace = traced(evidence=(one, best, echo, evidence()))
    assert told._text_reason(trace, one) == (
        "BM25 2.5, the best has 7.25; it covers 75% of the question's words"
    )
    assert told._text_reason(trace, evidence()) == "the search by words did not give it"
    assert told._text_reason(trace, echo) == "it asks the same and does not answer"


def test_how_near_it_is_in_meaning_is_told_beside_unrelated_texts() -> None:
    near, far = evidence(cosine=0.75), evidence(cosine=0.5)
    trace = traced(evidence=(near, far, evidence()), floor=0.25)
    assert told._vector_reason(trace, near) == (
        "cosine 0.75; unrelated texts have 0.25 with this model"
    )
    assert told._vector_reason(trace, evidence()) == (
        "not among the nearest in meaning, so counted as the last of these: cosine 0.50"
    )
    assert told._vector_reason(trace, evidence(is_echo=True)) == told.ECHO
    assert told._vector_reason(traced(), near) == "searched by text alone"
    assert told._vector_reason(traced(floor=0.25), evidence()).endswith("cosine 0.00")


@pytest.mark.parametrize(
    ("named", "related", "reason"),
    [
        (("Redis", "npm"), (), "mentions Redis, npm"),
        ((), ("Redis is used by the shop",), "Redis is used by the shop"),
        (("Redis",), ("a", "b"), "mentions Redis; a; b"),
    ],
)
def test_what_the_graph_gave_is_told_by_its_names(
    named: tuple[str, ...], related: tuple[str, ...], reason: str
) -> None:
    about = SimpleNamespace(named=named, related=related)
    assert told._graph_reason(traced(boost={"mem_1": about}), "mem_1") == reason
    assert told._graph_reason(traced(boost={"mem_1": about}), "mem_2") == ""


def test_parts_that_hardly_count_are_not_shown() -> None:
    sizes = (0.005, -0.005, 0.0049, -0.0049, 0.0)
    parts = tuple(told.ScorePart(str(size), size, "") for size in sizes)
    explanation = told.ScoreExplanation(
        "mem_1", "x", is_found=True, place=1, verdict="found", parts=parts
    )
    assert [part.odds for part in explanation.shown_parts] == [0.005, -0.005]
