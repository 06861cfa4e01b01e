"""Answers that name a question by its number and an option by its letter."""

from __future__ import annotations

import pytest

from keeplore.capture.distill.choices.lettered_answers import lettered_answers
from keeplore.capture.distill.decisions import decisions
from keeplore.capture.notes.note_candidates import candidates
from keeplore.memory import Exchange

AT = "2026-02-09T14:03:11Z"
HEADED = """Two points to settle:

**1. Where invoices are numbered:**
   - **Option A**: in the database
   - **Option B**: in the service, from a counter table

**2. Currency of the totals:**
   - **Option A**: that of the customer
   - **Option B**: always euros

What do you prefer?
"""
LISTED = """1. Where shall invoices be numbered?
   a) in the database
   b) in the service, from a counter table
2. Which currency do the totals have?
   a) that of the customer
   b) always euros
"""
FIRST = "in the service, from a counter table"


def talk(*said: tuple[str, str]) -> list[Exchange]:
    return [
        Exchange(f"t-{n}", AT, user, (reply,)) for n, (user, reply) in enumerate(said)
    ]


def lines(answer: str, asked: str = HEADED) -> list[str]:
    return [found.line for found in lettered_answers(answer, talk(("go", asked)))]


@pytest.mark.parametrize(
    "answer", ["1: B, 2: B", "1b 2b", "1. B\n2. B", "ok, 1B and 2B", "1 = b; 2 = b"]
)
def test_each_answer_is_told_behind_its_question(answer: str) -> None:
    assert lines(answer) == [
        f"Where invoices are numbered → {FIRST}",
        "Currency of the totals → always euros",
    ]
    assert lines(answer, LISTED) == [
        f"Where shall invoices be numbered? → {FIRST}",
        "Which currency do the totals have? → always euros",
    ]


@pytest.mark.parametrize(
    "answer",
    ["3: A", "1: D", "ticket 1B is done", "1: B but only for new customers", "2", ""],
)
def test_what_names_no_question_or_says_more_is_no_such_answer(answer: str) -> None:
    assert lines(answer) == []


def test_a_question_is_found_some_exchanges_before() -> None:
    earlier = talk(("go", HEADED), ("1: B", "Noted. And the currency?"))
    found = [answer.line for answer in lettered_answers("2: a", earlier)]
    assert found == ["Currency of the totals → that of the customer"]


@pytest.mark.parametrize(("between", "is_found"), [(7, True), (8, False)])
def test_a_question_is_asked_at_most_eight_exchanges_before(
    between: int, *, is_found: bool
) -> None:
    later = [("And the port?", "It is 5433.")] * between
    found = lettered_answers("1: B", talk(("go", HEADED), *later))
    assert [one.option for one in found] == ([FIRST] if is_found else [])


def test_a_message_that_only_answers_has_300_characters_at_most() -> None:
    assert len(lines(f"{'1: B':<300}")) == 1
    assert lines(f"{'1: B':<301}") == []


def test_such_answers_are_decided_and_noted() -> None:
    exchanges = talk(("go", HEADED), ("1: B. 2: A", "Good, I start."))
    both = [
        f"Where invoices are numbered → {FIRST}",
        "Currency of the totals → that of the customer",
    ]
    assert [decision.quote.text for decision in decisions(exchanges)] == both
    noted = [(note.text, note.confidence) for note in candidates(exchanges)]
    assert noted == [(line, 0.84) for line in both]


def test_an_answer_about_the_work_of_the_day_is_no_note() -> None:
    asked = HEADED.replace("Currency of the totals", "Scope of the report")
    exchanges = talk(("go", asked), ("2: a", "Good."))
    assert [note.confidence for note in candidates(exchanges)] == [0.64]
