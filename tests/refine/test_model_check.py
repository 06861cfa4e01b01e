"""What is held against a model that reads short talks whose facts are known."""

from __future__ import annotations

import json
from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest

from keeplore.memory import Exchange
from keeplore.refine.answers.answer_schema import REPAIRED
from keeplore.refine.model_check import (
    ENOUGH,
    CheckCase,
    CheckResult,
    _case_problem,
    _check_case,
    _exchanges,
    _lost_facts,
    check_cases,
)

TALK = (
    Exchange("check-1", "", "Which database do we take for the jobs?", ()),
    Exchange("check-2", "", "", ("Postgres with SKIP LOCKED it is.",)),
)
WANTED = CheckCase("a decision", TALK, (("postgres", "skip locked"),), ("redis",))
FACT = {
    "content": "Jobs go into Postgres with SKIP LOCKED.",
    "span": "Postgres with SKIP LOCKED it is",
    "type": "decision",
    "confidence": 0.9,
}


class Account:
    """A model that always gives this answer."""

    def __init__(self, answer: str) -> None:
        self.answer = answer
        self.stages: list[str] = []

    def complete(self, stage: str, *_: Any) -> Any:
        self.stages.append(stage)
        usage = SimpleNamespace(input_tokens=70, output_tokens=9)
        return SimpleNamespace(text=self.answer, usage=usage)


def checked(answer: Any, case: CheckCase = WANTED) -> CheckResult:
    text = answer if isinstance(answer, str) else json.dumps(answer)
    account: Any = Account(text)
    result = _check_case(account, case)
    assert account.stages == ["check"]
    assert (result.name, result.input_tokens, result.output_tokens) == (
        case.name,
        70,
        9,
    )
    return result


def test_a_model_that_finds_what_was_said_has_no_flaw() -> None:
    result = checked({"facts": [FACT], "entities": []})
    assert (result.flaw, result.repaired) == ("", 0)


def test_what_was_put_right_is_counted_and_no_flaw() -> None:
    result = checked({"facts": [FACT | {"confidence": "90 %"}], "entities": []})
    assert (result.flaw, result.repaired) == ("", 1)


def test_an_answer_that_cannot_be_read_is_a_flaw() -> None:
    assert checked("Sure!").flaw.startswith("the answer cannot be read: ")
    assert checked({"entities": []}).flaw == (
        "the answer cannot be read: the answer has no list of facts"
    )


def test_facts_that_had_to_be_left_out_are_a_flaw_where_nothing_else_is() -> None:
    made_up = FACT | {"span": "nobody ever said these words"}
    found = checked({"facts": [FACT, made_up], "entities": []}).flaw
    assert found and not found.startswith("not found")
    assert checked({"facts": [made_up], "entities": []}).flaw == (
        "not found: postgres, skip locked"
    )


@pytest.mark.parametrize(
    ("wanted", "never", "statements", "problem"),
    [
        ((("a", "b"),), (), ["a and b"], ""),
        ((("a", "b"),), (), ["a", "b"], "not found: a, b"),
        ((("a",), ("c",)), (), ["a"], "not found: c"),
        ((("a",),), ("x",), ["a", "x here"], "taken for a fact: x"),
        ((), ("x",), ["y"], ""),
        ((), (), ["y", "z"], "taken for a fact: y"),
        ((), (), [], ""),
    ],
)
def test_what_is_missing_comes_before_what_is_too_much(
    wanted: tuple[tuple[str, ...], ...],
    never: tuple[str, ...],
    statements: list[str],
    problem: str,
) -> None:
    assert _case_problem(CheckCase("x", (), wanted, never), statements) == problem


def test_what_was_left_out_is_named_but_what_was_put_right_is_not() -> None:
    dropped = Counter(
        {"facts: wrong shape": 2, f"facts: {REPAIRED}": 1, "facts: none": 0, "span": 1}
    )
    assert _lost_facts(dropped) == "facts: wrong shape, span"


def test_each_message_of_a_case_is_an_exchange() -> None:
    assert _exchanges([{"user": "a"}, {"assistant": "b"}]) == (
        Exchange("check-1", "", "a", ()),
        Exchange("check-2", "", "", ("b",)),
    )


def test_three_of_four_talks_have_to_be_read_rightly_and_some_hold_nothing() -> None:
    cases = check_cases()
    assert ENOUGH == 0.75
    assert len({case.name for case in cases}) == len(cases) == 8
    assert [case.name for case in cases if not case.wanted]
    for case in cases:
        words = [word for words in (*case.wanted, case.never) for word in words]
        assert words == [word.lower() for word in words]
        assert case.exchanges
