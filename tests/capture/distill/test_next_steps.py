"""What a sentence decides that also tells what to do next, and how picks, yeses and rules are worded
by people who type quickly.
"""

from __future__ import annotations

import pytest

from keeplore.capture.distill.decisions import decisions
from keeplore.capture.distill.distiller import distill
from keeplore.memory import AgentQuestion, Exchange

AT = "2026-02-09T14:03:11Z"
ASKED = "We need a job queue for the invoices."
OPTIONS = """Two ways:

1. Redis with RQ: quick, one more server.
2. Postgres with SKIP LOCKED: nothing new to run.

Which do you prefer?"""
REDIS = "We need a job queue for the invoices → Redis with RQ: quick, one more server."
POSTGRES = (
    "We need a job queue for the invoices → Postgres with SKIP LOCKED: nothing new to "
    "run."
)
PROPOSED = "I suggest that we cap uploads at 20 MB and keep the queue in Postgres."


def decided(asked: str, reply: str, message: str) -> list[str]:
    talk = [
        Exchange("t-0", AT, asked, (reply,)),
        Exchange("t-1", AT, message, ("Done.",)),
    ]
    return [one.quote.text for one in decisions(talk)]


@pytest.mark.parametrize(
    ("rule", "next_step"),
    [
        ("Use Redis instead of Postgres", ", then commit and push"),
        ("We decided on SQLite", ", now commit"),
        ("Use UTC everywhere", " and rerun the report"),
        ("Store amounts as integer cents", ", then go on with the invoices"),
        ("From now on never push to main", "; please continue"),
        ("let's not support Internet Explorer", ", push it"),
        ("let's keep the retries at three", " and see how it goes"),
        ("let's keep the retries at three", ", let's see what breaks"),
    ],
)
def test_what_to_do_next_hides_no_decision(rule: str, next_step: str) -> None:
    message = f"{rule}{next_step}"
    assert decided("Go on with the invoices", "The page is there.", message) == [rule]


@pytest.mark.parametrize(
    "message",
    [
        "commit please, then push and open a PR",
        "let's drop the cache and see whether tests pass",
        "let's look at the schema, then we decide on the queue",
    ],
)
def test_a_step_after_a_step_decides_nothing(message: str) -> None:
    assert decided("Go on with the invoices", "The page is there.", message) == []


@pytest.mark.parametrize(
    "message",
    [
        "let's use Postgres, then push",
        "Let's go with option 2 and run the tests",
        "Let's go with option 2, Postgres is there anyway.",
        "I prefer the second one because we run Postgres already",
        "option two",
        "I think Postgres",
        "postgres i guess",
        "Postgres works for me",
        "Postgres is fine",
    ],
)
def test_a_pick_is_told_once_however_it_goes_on(message: str) -> None:
    assert decided(ASKED, OPTIONS, message) == [POSTGRES]


def test_a_number_before_a_sentence_picks_and_the_sentence_adds() -> None:
    made = decided(ASKED, OPTIONS, "2. Also cap retries at 5.")
    assert made == [POSTGRES, "Also cap retries at 5."]
    own_list = "1. Write the migration\n2. Add a test"
    assert POSTGRES not in decided(ASKED, OPTIONS, own_list)


def test_a_choice_behind_what_speaks_against_it_is_one() -> None:
    said = "Both have downsides, but let's take Postgres"
    text = f"Postgres with SKIP LOCKED: nothing new to run. → {said}"
    assert decided(ASKED, OPTIONS, f"{said} and see.") == [text]
    minus = "There are two suffixes for it, but -1 remains intact."
    assert decided(ASKED, OPTIONS, minus) == []


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("no redis", "Which do you prefer? → no redis"),
        (
            "No Redis! We may not run it.",
            "Which do you prefer? → No Redis! We may not run it.",
        ),
        ("no, redis", REDIS),
        ("no use redis", REDIS),
    ],
)
def test_no_before_a_name_rules_it_out(message: str, line: str) -> None:
    assert decided(ASKED, OPTIONS, message) == [line]


@pytest.mark.parametrize(
    "message",
    [
        "ok but log every retry",
        "yes please, with a limit of 50",
        "Yes, except the cap: no cap",
        "yes to the queue, no to the cap",
    ],
)
def test_a_yes_with_a_change_keeps_the_change(message: str) -> None:
    made = decided("Uploads are slow.", f"{PROPOSED} Shall I do that?", message)
    assert made == [f"{PROPOSED} → {message}"]


@pytest.mark.parametrize(
    "message", ["ok but why is it slow?", "yes but users complain", "ok but first look"]
)
def test_a_yes_with_a_doubt_agrees_to_nothing(message: str) -> None:
    assert decided("Uploads are slow.", f"{PROPOSED} Shall I do that?", message) == []


@pytest.mark.parametrize(
    "rule",
    [
        "we always use pnpm here",
        "we no longer support Windows",
        "We dropped Windows support",
        "I don't want any classes",
        "no emojis in the UI, please",
        "the limit is 50 not 20",
        "amounts should be net, not gross",
        "let's make retries configurable",
        "as discussed we go with UTC",
    ],
)
def test_a_rule_in_plain_words_is_a_decision(rule: str) -> None:
    assert decided("Go on with the invoices", "The page is there.", rule) == [rule]


@pytest.mark.parametrize(
    "told",
    [
        "we only use it in tests",
        "we never get that far",
        "the result is 50, not sure why",
        "let's make a list",
    ],
)
def test_what_only_tells_how_things_are_is_no_rule(told: str) -> None:
    assert decided("Go on with the invoices", "The page is there.", told) == []


def test_an_objection_that_points_back_stands_behind_what_it_stopped() -> None:
    asked = AgentQuestion(
        "Allow Edit src/hooks.py?", "let's not do this in this branch"
    )
    plan = "I'll replace `staged_files` by a call of git:"
    [found] = _distilled(plan, asked)
    assert found == (
        "I'll replace `staged_files` by a call of git → let's not do this in this branch"
    )
    [found] = _distilled("Ok.", asked)
    assert found == "Allow Edit src/hooks.py? → let's not do this in this branch"


def _distilled(plan: str, asked: AgentQuestion) -> list[str]:
    exchange = Exchange("t-0", AT, "Commits lose staged files.", (plan, asked))
    return [quote.text for quote in distill([exchange])["decision"]]
