from dataclasses import replace

import pytest

from keeplore.index import PassageRow
from keeplore.recall.question import parse_question
from keeplore.recall.ranking.model import Evidence, Standing
from keeplore.recall.ranking.passage_features import (
    closeness,
    feature_bonuses,
    is_of_other_thing,
)
from keeplore.recall.ranking.rank import rank
from keeplore.recall.request import OWN
from keeplore.recall.weights import WEIGHTS

FLOOR = 0.23
LONG = (
    "We keep the ledger append-only because the auditors ask for every state it was in, and a "
    "restore is then a replay."
)


def passage(text: str) -> PassageRow:
    return PassageRow(
        1, "m", "memory/m.md", "exchange", "t1", "2026-02-09T14:00:00Z", text, "Ledger"
    )


def gained(text: str, asked: str) -> float:
    return sum(feature_bonuses(passage(text), parse_question(asked), WEIGHTS).values())


def test_a_passage_that_says_something_gains_over_one_that_only_asks_or_greets() -> (
    None
):
    asked = "why is the ledger append-only"
    assert gained(LONG, asked) > gained("User: Is the ledger append-only?", asked)
    assert gained(LONG, asked) > gained("The ledger is append-only", asked)


def test_what_somebody_said_whom_the_question_names_gains() -> None:
    hers, his = f"Hanna: {LONG}", f"Tim: {LONG}"
    assert gained(hers, "what did Hanna say of the ledger") == pytest.approx(
        gained(his, "what did Hanna say of the ledger") + WEIGHTS.speaker
    )
    assert gained(hers, "what about the ledger") == gained(his, "what about the ledger")


def test_what_a_passage_is_counts_in_log_odds() -> None:
    """The weights are measured; another one changes what every question finds."""
    asked = parse_question("what did Hanna say of the ledger")
    assert feature_bonuses(passage("Tim: Is it append-only?"), asked, WEIGHTS) == {
        "4 words": pytest.approx(-0.08),
        "it ends with a question": -0.8,
        "said by somebody whom the question names": 0.0,
    }
    assert feature_bonuses(passage(f"Hanna: {LONG}"), asked, WEIGHTS) == {
        "23 words": pytest.approx(0.4 * 13 / 30),
        "it ends with a question": 0.0,
        "said by somebody whom the question names": 0.8,
    }


def test_closeness_is_that_of_two_sentences_and_tells_a_rule() -> None:
    question = parse_question("always start names of variables with")
    assert closeness("From now on, start all variable names with x_.", question) == (
        1.0,
        True,
    )
    scattered = (
        "We start at nine. Lunch is at noon. Then we go home. These names are long. A "
        "variable changes."
    )
    assert closeness(scattered, question)[0] < 1.0
    assert closeness("", question) == (0.0, False)


def said(number: int, at: str, *, text: float = 5.0, close: float = 1.0) -> Evidence:
    return Evidence(number, f"m{number}", text, 0.6, 1.0, at=at, close=close)


def order(found: list[Evidence], **changes: object) -> list[str]:
    standings = {e.memory: replace(Standing(OWN, 10.0), **changes) for e in found}  # type: ignore[arg-type]  # what a test changes
    return [r.memory for r in rank(found, standings, FLOOR)]


def test_of_statements_as_close_to_the_question_the_newest_comes_first() -> None:
    assert order(
        [
            said(1, "2026-01-01"),
            said(2, "2026-03-01", text=4.0),
            said(3, "2026-02-01", text=4.5),
        ]
    ) == [
        "m2",
        "m3",
        "m1",
    ]


def test_a_clearly_better_match_stays_first_however_old() -> None:
    assert order([said(1, "2020-01-01"), said(2, "2026-03-01", close=0.5)]) == [
        "m1",
        "m2",
    ]
    assert order(
        [said(1, "2020-01-01"), replace(said(2, "2026-03-01", text=0.1), cosine=0.3)]
    ) == [
        "m1",
        "m2",
    ]


def test_what_is_of_another_place_does_not_take_the_first_place_away() -> None:
    found = [said(1, "2026-01-01"), said(2, "2026-03-01", text=4.5)]
    standings = {
        "m1": Standing(OWN, 10.0, place="project/one"),
        "m2": Standing(OWN, 10.0, place="project/before"),
    }
    assert [r.memory for r in rank(found, standings, FLOOR)] == ["m1", "m2"]


def test_an_archived_statement_is_not_what_holds_now() -> None:
    found = [said(1, "2026-01-01"), said(2, "2026-03-01")]
    standings = {"m1": Standing(OWN, 10.0), "m2": Standing(OWN, 10.0, is_archived=True)}
    assert [r.memory for r in rank(found, standings, FLOOR)] == ["m1", "m2"]


def test_a_memory_of_which_more_speaks_comes_before_one_with_a_single_match() -> None:
    whole = [
        Evidence(n, "whole", 4.0, 0.5, 1.0, turn=f"t{n}", passages=9) for n in (1, 2, 3)
    ]
    single = [Evidence(4, "single", 4.0, 0.5, 1.0, turn="t4", passages=9)]
    standings = {"whole": Standing(OWN, 10.0), "single": Standing(OWN, 10.0)}
    assert [r.memory for r in rank([*single, *whole], standings, FLOOR)] == [
        "whole",
        "single",
    ]
    assert [
        r.passage for r in rank([*single, *whole], standings, FLOOR, by_turn=True)
    ] == [
        1,
        2,
        3,
        4,
    ]


@pytest.mark.parametrize(
    ("asked", "said", "is_other"),
    [
        (
            "which port does the production database have",
            "The staging database has port 5440.",
            True,
        ),
        ("the production database", "The database of production listens.", False),
        ("the database", "The staging database listens on 5440.", False),
        ("the staging database", "The staging database listens on 5440.", False),
        ("retry 5 times", "It retries 3 times.", False),
        ("many people review", "Two people review.", False),
    ],
)
def test_another_thing_of_a_kind_is_told_apart_by_the_word_before_it(
    asked: str, said: str, is_other: bool
) -> None:
    assert is_of_other_thing(said, parse_question(asked)) is is_other
