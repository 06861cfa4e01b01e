"""What a sentence puts in the place of something, and what it replaces."""

from __future__ import annotations

import pytest

from keeplore.text.revisions import is_choice, lifts_rule, replaces, revision_of
from keeplore.text.terms import stems

QUEUE = "We move the queue to Redis after all, because Postgres is slow."
DATABASE = "The staging database is on db7, not db3."


@pytest.mark.parametrize(
    ("said", "rejected", "chosen", "about"),
    [
        (QUEUE, "", "Redis", "queue"),
        (DATABASE, "db3", "", "staging database db7"),
        ("Use pnpm instead of npm for the shop", "npm", "", "pnpm shop"),
        ("Replace Celery with RQ in the worker", "Celery", "RQ", "worker"),
        ("We migrate the jobs from Celery to RQ", "Celery", "RQ", "jobs"),
        ("Let's switch the tests to vitest", "", "vitest", "tests"),
        ("Nimm pnpm statt npm", "npm", "", "Nimm pnpm"),
        ("ok kraken goes, trocr on salix", "kraken", "trocr salix", ""),
        ("TTN fliegt raus.", "TTN", "", ""),
        ("sd raus, littlefs auf dem nor", "sd", "littlefs nor auf dem", ""),
        ("drop twilio", "twilio", "", ""),
        ("let's drop twilio", "twilio", "", ""),
        ("Webpack fuera, usamos vite", "Webpack", "usamos vite", ""),
        ("And please take the dashboard down again, since …", "dashboard", "", ""),
        ("roll the migration back", "migration", "", ""),
        ("please remove the poller again", "poller", "", ""),
        (
            "ok revert the partitioning, the index is enough",
            "partitioning",
            "index enough",
            "",
        ),
    ],
)
def test_what_is_rejected_chosen_and_spoken_of(
    said: str, rejected: str, chosen: str, about: str
) -> None:
    found = revision_of(said)
    assert found is not None
    parts = (found.rejected, found.chosen, found.about)
    assert parts == tuple(frozenset(stems(text)) for text in (rejected, chosen, about))


@pytest.mark.parametrize(
    "said",
    [
        "Let's not use Postgres for the queue after all",
        "On second thought we don't switch the queue to Redis",
        "Move the button to the left",
        "Use Redis for the queue",
        "Should we move the queue to Redis after all?",
        "Do not rewrite it, not now",
        "It works after all",
        "The build goes to staging",
        "get rid of it",
        "undo that",
        "remove line 5 of the header from the page",
        "Should we take the dashboard down again?",
        "I changed my mind",
        "",
    ],
)
def test_what_replaces_nothing_for_sure(said: str) -> None:
    assert revision_of(said) is None


@pytest.mark.parametrize(("count", "is_one_matter"), [(1, True), (8, True), (9, False)])
def test_a_sentence_with_many_words_speaks_of_several_matters(
    count: int, *, is_one_matter: bool
) -> None:
    words = (
        "queue",
        "invoice",
        "order",
        "refund",
        "mail",
        "export",
        "report",
        "job",
        "log",
    )
    said = f"We move {' '.join(words[:count])} to Redis after all"
    assert (revision_of(said) is not None) is is_one_matter


@pytest.mark.parametrize(
    ("said", "chosen", "about"),
    [
        ("Actually, use Redis for the queue.", "Redis", "queue"),
        ("Move the jobs to Redis", "Redis", "jobs"),
        ("Add a test for the queue", None, None),
        ("Use Redis for the queue?", None, None),
        ("Use it", None, None),
    ],
)
def test_a_message_that_takes_something_back_need_not_say_so_again(
    said: str, chosen: str | None, about: str | None
) -> None:
    assert revision_of(said) is None
    found = revision_of(said, corrects=True)
    assert is_choice(said) is (found is not None) is (chosen is not None)
    if found and chosen and about:
        expected = (frozenset(stems(chosen)), frozenset(stems(about)))
        assert (found.chosen, found.about) == expected


@pytest.mark.parametrize(
    ("new", "old", "around", "decides", "expected"),
    [
        (QUEUE, "Postgres with SKIP LOCKED", "Which queue?", True, True),
        (QUEUE, "Postgres, and no Redis instead of it", "Which queue?", True, False),
        (QUEUE, "Postgres rather than Redis", "Which queue?", True, True),
        (QUEUE, "The queue holds invoices", "", False, False),
        (QUEUE, "The queue is in Redis", "", True, False),
        (QUEUE, "Prices are rounded to cents", "Which rounding?", True, False),
        (DATABASE, "The staging database runs on db3", "", False, True),
        (DATABASE, "Invoices live on db3", "", True, False),
        (DATABASE, "The staging database has 3 replicas", "", True, False),
    ],
)
def test_what_a_sentence_replaces(
    new: str, old: str, around: str, *, decides: bool, expected: bool
) -> None:
    revision = revision_of(new)
    assert revision is not None
    spoken_of = frozenset(stems(around))
    assert replaces(revision, old, spoken_of, decides=decides) is expected


ENDED = "ok Kraken goes, TrOCR on the lab machine"
OLD = "Kraken reads the handwritten labels"


@pytest.mark.parametrize(
    ("talk", "expected"),
    [
        (None, True),  # the same one
        ("Kraken is too slow for handwritten labels", True),
        ("Kraken is too slow", False),
        ("Kraken is too slow for labels", False),
        ("Kraken hosts the sheet images", False),
    ],
)
def test_a_name_that_goes_does_so_where_the_same_is_talked_about(
    talk: str | None, *, expected: bool
) -> None:
    revision = revision_of(ENDED)
    assert revision is not None
    words = None if talk is None else frozenset(stems(talk))
    of_name = replaces(revision, OLD, frozenset(), decides=False, talk=words)
    of_others = replaces(
        revision, "Labels are handwritten", frozenset(), decides=True, talk=words
    )
    assert (of_name, of_others) == (expected, False)


FORBIDDEN = "We never run migrations on Fridays."
MAIN = "Never push to main directly."


@pytest.mark.parametrize(
    ("said", "old", "expected"),
    [
        ("So migrations on Fridays are fine now.", FORBIDDEN, True),
        ("migrations on fridays are now allowed", FORBIDDEN, True),
        ("You may run migrations on Fridays again", FORBIDDEN, True),
        ("you may now push directly to main", MAIN, True),
        ("Forget the old rule about Friday migrations.", FORBIDDEN, True),
        ("Forget the old rule about deployments.", FORBIDDEN, False),
        ("lift the Friday ban, we have the shadow table", FORBIDDEN, True),
        ("The freeze on migrations is lifted", FORBIDDEN, True),
        (
            "Migrationen am Freitag sind wieder erlaubt",
            "Nie Migrationen am Freitag",
            True,
        ),
        ("Nightly migrations on Fridays are fine now", FORBIDDEN, True),
        # of something else, and of what nobody forbade
        ("Deployments on Fridays are fine now", FORBIDDEN, False),
        ("Migrations on Fridays are fine now", "Migrations run on Fridays", False),
        ("Pushes to main are ok again", "Push to main once it is green", False),
    ],
)
def test_what_allows_a_thing_replaces_what_forbade_it(
    said: str, old: str, *, expected: bool
) -> None:
    revision = revision_of(said)
    assert lifts_rule(said) is (revision is not None) is True
    assert revision is not None
    assert replaces(revision, old, frozenset(), decides=True) is expected


@pytest.mark.parametrize(
    "said",
    [
        "The tests are fine now",
        "it is ok again",
        "They are allowed now",
        "forget the old rule",
        "Drop the index",
        "You may want to look again",
        "",
    ],
)
def test_how_things_are_allows_nothing(said: str) -> None:
    assert not lifts_rule(said)


def test_of_a_long_text_the_first_500_characters_are_read() -> None:
    order, turn = "Forget the no-comments rule", "Use pnpm"
    assert lifts_rule(f"{order:.>500}")
    assert not lifts_rule(f"{order:.>501}")
    assert is_choice(f"{turn:.>500}")
    assert not is_choice(f"{'Use ':.>500}pnpm")
    assert revision_of(f"{'Use pnpm instead of npm':.>500}") is not None
    assert revision_of(f"{'Use pnpm instead of npm':.>503}") is None


def test_hostile_text_takes_no_time() -> None:
    assert revision_of("from " * 50_000) is None
    assert revision_of("switch " + "to " * 50_000) is None
    assert revision_of("drop " + "a b " * 50_000) is None
    assert revision_of("ok " * 50_000 + "goes") is None
    assert revision_of("take " * 50_000 + "down") is None
    assert revision_of("you may " * 50_000 + "again") is None
    assert revision_of("forget the " * 50_000 + "rule") is None


SET = "ten is too long, 5 → Set: `HOLD_TTL = 5 min`, the sweep stays."
KEYED = "`MIN_ORDER['CH'] = 80`, and the page says so."


@pytest.mark.parametrize(
    ("new", "old", "expected"),
    [
        (SET, "Holds are in place, `HOLD_TTL` is 10 minutes.", True),
        (SET, "Holds are in place, `HOLD_TTL = 5 min`.", False),
        (SET, "`hold_ttl_max = 10`", False),
        (SET, "`HOLD_TTL` is read from the settings.", False),
        (KEYED, "Added `MIN_ORDER = {'CH': 60}` in `rules.py`.", True),
        (KEYED, "Added `MIN_ORDER = {'AT': 60}` in `rules.py`.", False),
        ("`max_age: 3` for `returns`", "`max_age: 30` for `returns`", True),
        ("`max_age: 3` for `orders`", "`max_age: 30` for `returns`", False),
        ("`max_age: 3`, all tests pass", "`max_age: 30` for `returns`", True),
        ("`maxAge = 3`", "`maxAge` is 30 now", True),
    ],
)
def test_a_setting_with_another_figure(new: str, old: str, *, expected: bool) -> None:
    revision = revision_of(new)
    assert revision is not None
    assert replaces(revision, old, frozenset(), decides=False) is expected


@pytest.mark.parametrize(
    "said",
    [
        "- `pay_client`: 210 lines",
        "`pay/client_v2.go`: 210 lines",
        "`test_pay` passes",
        "`create_order()` is 40 lines long",
        "the timeout is 30 s",
    ],
)
def test_what_sets_nothing(said: str) -> None:
    assert revision_of(said) is None
