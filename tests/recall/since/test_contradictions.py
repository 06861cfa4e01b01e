"""Two statements with different figures contradict each other only where the figures are of the
same thing.
"""

from __future__ import annotations

import pytest

from keeplore.recall.since.contradictions import contradiction

ONE_THING = [
    (
        "The staging database runs on port 5433.",
        "The staging database runs on port 5434.",
    ),
    (
        "Sessions expire after 30 minutes.",
        "Sessions now expire after 60 minutes of inactivity.",
    ),
    ("We keep backups for 30 days.", "Backups are kept for 90 days."),
    (
        "The orders service uses PostgreSQL 14.",
        "The orders service runs on PostgreSQL 16.",
    ),
    (
        "The request timeout of the api is 30 seconds.",
        "The api's request timeout is set to 45 s.",
    ),
    ("Node 18 is required for the build.", "The build requires Node 20."),
    (
        "The api allows 100 requests a minute per key.",
        "The api allows 60 requests a minute per key.",
    ),
    ("Coverage must stay above 80 percent.", "Coverage must stay above 90 %."),
    ("Die Sitzung läuft nach 30 Minuten ab.", "Die Sitzung läuft nach 15 Minuten ab."),
    ("The pool has 10 connections.", "The connection pool has 25 connections."),
    ("Retry a failed upload 3 times.", "A failed upload is retried 5 times."),
    (
        "Line length is limited to 100 characters.",
        "Lines are limited to 120 characters.",
    ),
    (
        "The deploy of the web shop takes 12 minutes.",
        "Deploying the web shop takes about 4 minutes.",
    ),
    ("The web shop has 3 replicas and 2 GB of memory.", "The web shop has 5 replicas."),
    ("Uploads are limited to 20MB.", "The limit of uploads is 50 MB."),
    ("We deploy the api to eu-10.", "We deploy the api to eu-12."),
    ("Backups go to s3-prod-1 every night.", "Backups go to s3-prod-2 every night."),
    ("The tools run with python3.11.", "The tools run with python3.12."),
]
OTHER_THINGS = [
    (
        "The orders service times out after 30 seconds.",
        "The orders service retries 3 times.",
    ),
    (
        "The orders service times out after 30 seconds.",
        "The orders service retries after 5 seconds.",
    ),
    ("The orders service runs on port 8080.", "The orders service uses PostgreSQL 16."),
    (
        "The staging database runs on port 5433.",
        "The production database runs on port 5432.",
    ),
    (
        "Backups of the orders database are kept for 30 days.",
        "Backups of the orders database run at 3:00.",
    ),
    ("The build needs Node 20.", "The build takes 12 minutes."),
    (
        "Lena decided on 2026-02-09 to use Redis for sessions.",
        "Lena decided on 2026-03-01 to use Redis for queues.",
    ),
    (
        "The orders service keeps 50 connections in its pool.",
        "The orders service handles 40 requests a second.",
    ),
    ("Version 2.3 of the api adds paging.", "Version 2.4 of the api adds webhooks."),
    (
        "The web shop has 3 replicas in production.",
        "The web shop has 1 replica in staging.",
    ),
    (
        "Ticket 4711 is about the login of the web shop.",
        "Ticket 4712 is about the login of the admin panel.",
    ),
    (
        "The cache holds 10,000 entries.",
        "Entries of the cache expire after 60 seconds.",
    ),
    (
        "Der Dienst läuft auf Port 8080.",
        "Der Dienst hat ein Zeitlimit von 30 Sekunden.",
    ),
    (
        "The admin panel of the web shop has 4 tabs.",
        "The web shop sells 12 kinds of tea.",
    ),
    (
        "The nightly job of the shop takes 40 minutes.",
        "The weekly job of the shop takes 3 hours.",
    ),
    ("The region eu-10 has 3 replicas.", "The region eu-12 has 3 replicas."),
    ("The region eu-10 has 3 replicas.", "The region eu-12 has 5 replicas."),
    ("eu-10 is our main region.", "eu-12 is our main region."),
    ("eu-10 supports IPv6.", "eu-12 does not support IPv6."),
    ("Enable backups in eu-10.", "Disable backups in eu-12."),
    ("gpt-4 costs 3 dollars a call.", "gpt-5 costs 10 dollars a call."),
]


@pytest.mark.parametrize(("one", "other"), ONE_THING)
def test_another_figure_of_the_same_thing_is_another_value(
    one: str, other: str
) -> None:
    assert (contradiction(one, other), contradiction(other, one)) == ("value", "value")


@pytest.mark.parametrize(("one", "other"), OTHER_THINGS)
def test_figures_of_different_things_contradict_nothing(one: str, other: str) -> None:
    assert (contradiction(one, other), contradiction(other, one)) == ("", "")


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("cold amsterdam storage", "warm frankfurt disks", "value"),
        ("cold amsterdam storage racks", "warm frankfurt disk arrays", ""),
    ],
    ids=["three words", "four words"],
)
def test_a_value_that_is_replaced_has_three_words_at_most(
    one: str, other: str, expected: str
) -> None:
    backups = "The nightly backups of the shop go to"
    assert contradiction(f"{backups} {one}", f"{backups} {other}") == expected


@pytest.mark.parametrize(("count", "expected"), [(119, "value"), (120, "")])
def test_of_each_statement_120_words_are_compared(count: int, expected: str) -> None:
    same = " ".join(f"w{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(count))
    assert contradiction(f"{same} amsterdam", f"{same} frankfurt") == expected


@pytest.mark.parametrize(
    ("between", "expected"), [("of the a", "value"), ("of the a an", "")]
)
def test_what_a_figure_is_of_stands_among_the_four_words_before_it(
    between: str, expected: str
) -> None:
    pool = f"pool threads {between}"
    assert contradiction(f"{pool} 30", f"{pool} 60") == expected


def test_two_statements_share_half_of_the_words_of_the_shorter_one() -> None:
    one = "We never deploy the billing service on Friday evenings"
    assert contradiction(one, "We deploy the billing service from Leeds by hand")
    assert not contradiction(one, "We deploy the search index of Leeds from a laptop")
