"""Decisions that a person takes back or replaces in plain words, at once or some messages later, and
words that leave them as they are.
"""

from __future__ import annotations

import pytest

from keeplore.capture.distill.decisions import decisions
from keeplore.memory import Exchange
from keeplore.text.revisions import revisions_in
from keeplore.text.terms import stems

AT = "2026-02-09T14:03:11Z"
OLD = "let's use Redis for the job queue"
ASKED = ("Set up the job queue", "Which broker should I use, Redis or RabbitMQ?")
BETWEEN = ("Now round all prices to cents", "Prices are rounded.")


def standing(*said: tuple[str, str]) -> list[str]:
    talk = [
        Exchange(f"t-{n}", AT, user, (reply,)) for n, (user, reply) in enumerate(said)
    ]
    return [one.quote.text for one in decisions(talk)]


@pytest.mark.parametrize("between", [(), (BETWEEN,)], ids=["at once", "later"])
@pytest.mark.parametrize(
    ("said", "line"),
    [
        ("RabbitMQ instead", f"{OLD} → RabbitMQ instead"),
        ("RabbitMQ it is after all", f"{OLD} → RabbitMQ it is after all"),
        ("actually RabbitMQ", f"{OLD} → actually RabbitMQ"),
        ("scrap that, RabbitMQ", f"{OLD} → scrap that, RabbitMQ"),
        ("sorry, RabbitMQ not Redis", "sorry, RabbitMQ not Redis"),
        (
            "hm, redis loses jobs on restart, switch to RabbitMQ",
            "hm, redis loses jobs on restart, switch to RabbitMQ",
        ),
        (
            "ok Redis was a mistake, RabbitMQ please",
            "ok Redis was a mistake, RabbitMQ please",
        ),
        (
            "use RabbitMQ for the queue, redis is too flaky",
            "use RabbitMQ for the queue, redis is too flaky",
        ),
        (
            "redis turned out too slow so we went with rabbitmq",
            "redis turned out too slow so we went with rabbitmq",
        ),
        (
            "can you change the queue to RabbitMQ?",
            "can you change the queue to RabbitMQ?",
        ),
        ("please move the queue to RabbitMQ", "please move the queue to RabbitMQ"),
        ("forget Redis", "forget Redis"),
        ("kick Redis out again", "kick Redis out again"),
        ("we're moving off Redis", "we're moving off Redis"),
        ("replace redis", "replace redis"),
        ("I was wrong about Redis", "I was wrong about Redis"),
        (
            "Redis for the queue was the wrong call",
            "Redis for the queue was the wrong call",
        ),
        (
            "we can't use Redis, ops said no. RabbitMQ then",
            "we can't use Redis, ops said no. RabbitMQ then",
        ),
    ],
)
def test_the_new_word_stands_alone(
    said: str, line: str, between: tuple[tuple[str, str], ...]
) -> None:
    talk = (ASKED, (OLD, "The queue is there."), *between, (said, "Done."))
    others = [text for text in standing(*talk) if "prices" not in text]
    assert others == [line]


@pytest.mark.parametrize(
    "said",
    [
        "change it to 50 MB",
        "increase to 50",
        "50 MB is better",
        "sorry I meant 50 MB",
        "hm 20 is not enough, 50",
        "20 MB is too small for videos, use 50 MB",
    ],
)
def test_another_value_stands_behind_what_it_is_of(said: str) -> None:
    old = "limit uploads to 20 MB"
    talk = (("Set up uploads", "Uploads work."), (old, "Done, the limit is 20 MB."))
    assert standing(*talk, (said, "Done.")) == [f"{old} → {said}"]


@pytest.mark.parametrize(
    "said",
    [
        "use Redis for the cache, Postgres is enough for the rest",
        "Postgres is too slow here, add an index",
        "we can't use Postgres arrays in the export",
        "Postgres can't find the table, why?",
        "postgres fails to start on my machine",
        "move the orders page to the account menu",
        "change the order label to Bestellung",
        "migrate the old orders to the new table",
        "drop the orders_old table",
        "undo the last commit",
        "the test was a mistake, remove it",
        "back to the invoices",
        "now look at the cart instead",
        "actually nice",
        "no, wait",
    ],
)
def test_what_only_sounds_like_it_ends_no_decision(said: str) -> None:
    asked = ("Set up the shop", "Which database should I use, SQLite or Postgres?")
    old = "let's use Postgres for the orders"
    talk = (asked, (old, "Orders are in Postgres."), (said, "Done."))
    assert old in standing(*talk)


AGAINST = "redis loses jobs on restart, ops are annoyed."
LINE = f"{AGAINST} → postgres instead please"


def test_what_is_taken_stands_behind_what_was_said_against_the_other() -> None:
    said = (f"{AGAINST} postgres instead please, and open a PR", "It is on Postgres.")
    assert standing(said) == [LINE]
    [(text, revision)] = revisions_in(LINE)
    assert (text, revision.rejected) == (LINE, {*stems("redis")})
    asked = ("We need a job queue", "Redis or Postgres?")
    [told] = standing(asked, (OLD, "Done."), said)
    assert told == "Redis or Postgres? → postgres instead please"


def test_a_rule_that_begins_with_no_takes_nothing_back() -> None:
    rule = "no emojis in the log output please."
    talk = ((OLD, "Done."), (f"{rule} retries: make it 5 and see how it goes", "Ok."))
    assert standing(*talk) == [OLD, rule, "retries: make it 5"]


def test_a_pick_is_told_behind_the_request_where_only_advice_was_asked_for() -> None:
    asked = "we need a job queue for the invoices. what do you suggest?"
    options = (
        "Two ways:\n\n1. Redis with RQ: quick.\n2. Postgres with SKIP LOCKED: safe.\n\n"
        "Which do you prefer?"
    )
    made = standing((asked, options), ("let's use redis, then push", "Done."))
    assert made == ["we need a job queue for the invoices → Redis with RQ: quick."]
