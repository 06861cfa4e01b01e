"""Proposals that the person takes with a change, and ways that they pick out of one sentence."""

from __future__ import annotations

import pytest

from keeplore.capture.distill.decisions import decisions
from keeplore.capture.distill.distiller import distill
from keeplore.capture.distill.held_statements import held_statements
from keeplore.capture.notes.note_candidates import candidates
from keeplore.capture.titles.titles import title_of
from keeplore.memory import Conversation, Exchange, Quote

AT = "2026-02-09T14:03:11Z"
ASKED = "How long do we keep backups?"
PROPOSED = "I recommend keeping them 30 days in S3."


def talk(asked: str, reply: str, message: str) -> list[Exchange]:
    return [
        Exchange("t-0", AT, asked, (reply,)),
        Exchange("t-1", AT, message, ("Done.",)),
    ]


def decided(asked: str, reply: str, message: str) -> list[Quote]:
    return [one.quote for one in decisions(talk(asked, reply, message))]


@pytest.mark.parametrize(
    ("reply", "message", "line"),
    [
        (
            PROPOSED,
            "Yes but only 14 days, storage is expensive",
            f"{ASKED} → Yes but only 14 days, storage is expensive",
        ),
        (
            PROPOSED,
            "ok, but use Glacier for the old ones",
            f"{PROPOSED} → ok, but use Glacier for the old ones",
        ),
        (
            PROPOSED,
            "Make it 14 and delete the rest.",
            f"{ASKED} → Make it 14 and delete the rest.",
        ),
        (
            "Thirty days is what others do.",
            "No, two weeks. Storage is expensive.",
            f"{ASKED} → No, two weeks.",
        ),
        (
            "They grow by 3 GB a day.",
            "yes, but without the logs",
            f"{ASKED} → yes, but without the logs",
        ),
        (PROPOSED, "yes, 14 though", f"{PROPOSED} → yes, 14 though"),
    ],
)
def test_what_was_proposed_is_decided_with_its_change(
    reply: str, message: str, line: str
) -> None:
    assert decided(ASKED, reply, message) == [Quote(line, "user", "t-1")]


@pytest.mark.parametrize(
    "message",
    [
        "Yes, but the bucket is full",
        "ok but first show me the bill",
        "yes, but maybe only 14 days",
        "ok but only 14 days? Is that enough?",
    ],
)
def test_a_doubt_and_an_objection_decide_nothing(message: str) -> None:
    assert decided(ASKED, PROPOSED, message) == []


def test_another_value_stands_behind_the_sentence_that_it_changes() -> None:
    asked = "if the others stay with tiff we stay with tiff. the tape yes"
    told = "The disk then keeps the masters of the last 12 months."
    reply = f"Masters go to tape, as TIFF. {told} Each file is verified."
    found = decided(asked, reply, "12 months is too long, 6. delete the rest")
    line = f"{told} → 12 months is too long, 6."
    assert Quote(line, "user", "t-1") in found


def test_another_number_than_none_is_no_change() -> None:
    assert decided("Fix the importer", "It is fixed.", "No, two minutes.") == []


def test_without_a_question_the_request_is_told() -> None:
    line = "Fix the importer → ok, but without docs"
    found = decided("Fix the importer", "It is fixed.", "ok, but without docs")
    assert found == [Quote(line, "user", "t-1")]


def test_the_amended_proposal_is_told_with_its_change_alone() -> None:
    message = "ok, but use Glacier for the old ones"
    exchanges = talk(ASKED, PROPOSED, message)
    parts = distill(exchanges)
    conversation = Conversation(
        title_of(exchanges, parts),
        decision=parts["decision"],
        exchanges=tuple(exchanges),
    )
    assert conversation.title == "How long do we keep backups?"
    assert [one.text for one in held_statements(conversation)] == [
        ASKED,
        "Done.",
        f"{PROPOSED} → {message}",
    ]


WAYS = "Either inject the seed through the constructor or read it from the environment."
FILL = "How should the test database be filled?"


@pytest.mark.parametrize(
    ("reply", "message", "way"),
    [
        (WAYS, "Inject the seed", "inject the seed through the constructor"),
        (
            f"{WAYS} I lean to the first.",
            "the environment",
            "read it from the environment",
        ),
        (
            WAYS,
            "the constructor, globals are a mess",
            "inject the seed through the constructor",
        ),
        (
            "We could keep the dump, or we could write a factory. Both work.",
            "let's write a factory",
            "write a factory",
        ),
        (
            "Wir können den Dump behalten oder eine Factory schreiben.",
            "Factory",
            "eine Factory schreiben",
        ),
    ],
)
def test_a_way_is_picked_out_of_a_sentence_that_names_two(
    reply: str, message: str, way: str
) -> None:
    lines = [quote.text for quote in decided(FILL, reply, message)]
    assert lines[:1] == [f"{FILL} → {way}"]


@pytest.mark.parametrize(
    "message",
    [
        "the environment is broken",
        "not the environment",
        "inject it or read it?",
        "what about a fixture",
        "it",
    ],
)
def test_what_speaks_of_a_way_or_of_both_picks_none(message: str) -> None:
    assert decided(FILL, WAYS, message) == []


def values(*said: tuple[str, str]) -> list[str]:
    exchanges = [
        Exchange(f"t-{n}", AT, user, (reply,)) for n, (user, reply) in enumerate(said)
    ]
    return [one.quote.text for one in decisions(exchanges)]


def test_a_new_value_takes_the_place_of_the_one_that_was_agreed_to() -> None:
    assert values(
        (ASKED, "I recommend 30 days."),
        ("ok", "Set to 30 days."),
        ("30 days is too long, 7", "Set to 7 days."),
    ) == ["I recommend 30 days. → 30 days is too long, 7"]


def test_of_values_that_follow_one_another_the_last_stands_behind_the_first_matter() -> (
    None
):
    assert values(
        ("What TTL?", "I'd take 5 minutes."),
        ("let's use 10 minutes", "Set."),
        ("actually 15 minutes", "Set."),
        ("no, 20", "Set."),
    ) == ["I'd take 5 minutes. → no, 20"]


def test_a_value_of_another_matter_stays() -> None:
    assert values(
        ("What TTL for the cache?", "I'd take 5 minutes."),
        ("ok but 10 minutes", "TTL is 10 minutes now."),
        ("now the retries: how many?", "I'd say 3 retries."),
        ("make it 5", "5 retries."),
    ) == [
        "What TTL for the cache? → ok but 10 minutes",
        "I'd say 3 retries. → make it 5",
    ]


LIMIT = "Let's set the retry limit to 5 for the uploader."
TIMEOUT = "We use a timeout of 30 seconds for the webhook."
BOTH = "Let's use 5 retries and a timeout of 30 seconds."


@pytest.mark.parametrize(
    ("decided_before", "change", "is_replaced"),
    [
        (LIMIT, "Let's drop the retry limit from 5 to 3.", True),
        (LIMIT, "lower the retries to 3", True),
        (LIMIT, "Please bump the retry limit back up to 8", True),
        (LIMIT, "lower the timeout to 3 seconds", False),
        (LIMIT, "reduce the upload retries on phones to 3", False),
        (LIMIT, "drop the retry limit from the docs, it belongs to 3 pages", False),
        (TIMEOUT, "drop the timeout from 30 to 10 seconds", True),
        (TIMEOUT, "raise it to 60 seconds", True),
        (TIMEOUT, "raise the timeout of the importer to 60 seconds", False),
        (BOTH, "lower the retries to 3", False),
    ],
)
def test_a_change_of_the_one_value_replaces_what_stated_it(
    decided_before: str, change: str, *, is_replaced: bool
) -> None:
    told = values((decided_before, "Done."), (change, "Changed."))
    assert change in told
    assert (decided_before not in told) is is_replaced


def test_a_change_that_names_nothing_is_of_what_was_said_right_before_it() -> None:
    said = ((TIMEOUT, "Done."), ("Show me the logs", "Here."))
    assert TIMEOUT in values(*said, ("raise it to 60 seconds", "Changed."))


def test_a_correction_without_a_value_before_it_sets_none() -> None:
    assert values(("Fix the importer", "Fixed."), ("no, 20 minutes", "Ok.")) == []


def test_the_note_of_an_amended_proposal_is_the_persons() -> None:
    found = candidates(talk(ASKED, PROPOSED, "ok, but use Glacier for the old ones"))
    line = "Keeping them 30 days in S3. → ok, but use Glacier for the old ones"
    told = [(one.text, one.speaker, one.quote.turn) for one in found]
    assert told == [(line, "user", "t-1")]


def test_of_values_that_follow_one_another_the_last_is_noted() -> None:
    exchanges = [
        Exchange("t-0", AT, ASKED, ("I recommend 30 days for the backups.",)),
        Exchange("t-1", AT, "ok", ("Backups are kept for 30 days.",)),
        Exchange("t-2", AT, "30 days is too long, 7", ("Set to 7 days.",)),
    ]
    assert [one.text for one in candidates(exchanges)] == [
        "Backups are kept for 30 days. → 30 days is too long, 7"
    ]


@pytest.mark.parametrize(
    ("message", "condition"),
    [
        (
            "Yes. But the copies of December go to Glacier",
            "the copies of December go to Glacier",
        ),
        (
            "ok. Except the audit log, it stays forever",
            "the audit log, it stays forever",
        ),
        ("Ja, passt. Aber die vom Monatsende bleiben", "die vom Monatsende bleiben"),
        (
            "Sí. Pero las copias mensuales quedan un año",
            "las copias mensuales quedan un año",
        ),
        (
            "Oui. Sauf que les copies mensuelles restent",
            "les copies mensuelles restent",
        ),
        ("好的。但是每月的备份保留一年", "每月的备份保留一年"),
    ],
)
def test_what_is_said_against_a_part_behind_a_yes_is_decided_beside_it(
    message: str, condition: str
) -> None:
    assert decided(ASKED, PROPOSED, message) == [
        Quote(PROPOSED, "assistant", "t-0"),
        Quote(condition, "user", "t-1"),
    ]


@pytest.mark.parametrize(
    "message",
    [
        "Yes. But first show me what it costs",
        "Yes. But the bucket is broken right now",
        "Yes. But maybe we keep the monthly ones longer",
        "Yes. But not that.",
    ],
)
def test_what_else_is_said_behind_a_yes_is_no_condition(message: str) -> None:
    assert decided(ASKED, PROPOSED, message) == [Quote(PROPOSED, "assistant", "t-0")]


def test_the_points_that_a_proposal_introduces_are_decided_with_it() -> None:
    reply = (
        "I'd keep them by age:\n\n1. daily backups → 30 days on disk\n2. monthly backups → a year "
        "in Glacier\n3. ok\n\nShall I set it up like that?"
    )
    assert decided(ASKED, reply, "yes do it") == [
        Quote(f"{ASKED} → I'd keep them by age", "assistant", "t-0"),
        Quote("daily backups → 30 days on disk", "assistant", "t-0"),
        Quote("monthly backups → a year in Glacier", "assistant", "t-0"),
    ]


def test_options_that_a_proposal_introduces_are_not_decided() -> None:
    reply = (
        "I'd take one of these:\n\n- a bucket in Frankfurt\n- a disk in the office\n\nWhich one do "
        "you want?"
    )
    assert decided(ASKED, reply, "yes") == []


def test_a_value_stands_behind_what_its_own_message_says_of_it() -> None:
    asked = "ok, next. Checkout times out for people with slow phones. Make it 20"
    assert decided("roll the index back", "Reverted.", asked) == [
        Quote(
            "Checkout times out for people with slow phones. → Make it 20",
            "user",
            "t-1",
        )
    ]


LETTERED = (
    "Two ways:\n\n### A. Redis keys with a TTL\nFast.\n\n### B. A table in Postgres\nOne store.\n\n"
    "Which one should I build?"
)


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("b", Quote("Where do holds live? → A table in Postgres", "user", "t-1")),
        (
            "b i guess, i hate cron though",
            Quote("Where do holds live? → A table in Postgres", "user", "t-1"),
        ),
        (
            "b but no cron",
            Quote("A table in Postgres → b but no cron", "user", "t-1"),
        ),
    ],
)
def test_an_option_under_a_lettered_heading_is_picked(
    message: str, line: Quote
) -> None:
    assert decided("Where do holds live?", LETTERED, message) == [line]


def test_a_greeting_is_no_question_that_an_option_answers() -> None:
    asked = "Morning. Two people book one seat on the same boat. We need holds."
    assert decided(asked, LETTERED, "b") == [
        Quote(
            "Two people book one seat on the same boat → A table in Postgres",
            "user",
            "t-1",
        )
    ]


NAMED_WAY = "Simplest robust way: one table for all boats, and a view for each."


@pytest.mark.parametrize(
    ("message", "found"),
    [
        ("yeah, simplest robust way", [Quote(NAMED_WAY, "assistant", "t-0")]),
        ("Then the simplest robust way.", [Quote(NAMED_WAY, "assistant", "t-0")]),
        ("is the simplest robust way?", []),
        ("the other way", []),
        ("simplest way", []),
    ],
)
def test_what_the_reply_calls_by_the_words_of_the_message_is_taken(
    message: str, found: list[Quote]
) -> None:
    reply = (
        f"A table for each boat is hard to search.\n\n{NAMED_WAY}\n\nWhat do you think?"
    )
    assert decided("We need holds.", reply, message) == found


HOW_OFTEN = "How often should sites get the list?"
DAILY = "I'd suggest a daily digest per site."


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("Daily is fine with me.", DAILY),
        ("Ok daily works for us, thanks", DAILY),
        ("A daily digest sounds good.", DAILY),
        ("Weekly is fine.", f"{HOW_OFTEN} → Weekly is fine."),
    ],
)
def test_a_way_that_is_called_fine_is_the_proposed_one_or_answers_the_question(
    message: str, line: str
) -> None:
    reply = f"The first run finds 318 values. {HOW_OFTEN} {DAILY}"
    assert [quote.text for quote in decided("We need queries.", reply, message)] == [
        line
    ]


@pytest.mark.parametrize(
    "message", ["that's fine with me?", "The list is empty.", "Is daily fine?"]
)
def test_what_calls_no_way_fine_takes_none(message: str) -> None:
    reply = f"The first run finds 318 values. {HOW_OFTEN} {DAILY}"
    assert decided("We need queries.", reply, message) == []


@pytest.mark.parametrize(
    ("proposal", "message"),
    [
        ("Ich schlage Postgres mit SKIP LOCKED vor.", "ja"),
        ("Ich nähme Postgres mit SKIP LOCKED.", "passt"),
        ("Je prendrais Postgres avec SKIP LOCKED.", "d'accord"),
        ("Yo usaría Postgres con SKIP LOCKED.", "vale"),
    ],
)
def test_what_is_proposed_in_another_language_is_agreed_to(
    proposal: str, message: str
) -> None:
    reply = f"Redis, Postgres: beide sind da. {proposal}"
    assert [quote.text for quote in decided("Queue?", reply, message)] == [proposal]


def test_a_figure_that_answers_how_much_there_is_decides_nothing() -> None:
    reply = (
        "A table for up to 100 jobs a second, SQS above that. How many invoices go out on a normal "
        "day?"
    )
    assert decided("How should we send them?", reply, "About 200 a day.") == []
