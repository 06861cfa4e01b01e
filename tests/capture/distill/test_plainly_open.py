"""What people put off in plain words and what a last report leaves undone, and what sounds alike."""

from __future__ import annotations

import pytest

from keeplore.capture.distill.distiller import distill
from keeplore.memory import Exchange

AT = "2026-02-09T14:03:11Z"


def left_open(*said: str) -> list[str]:
    """The open questions of a talk, messages and replies in turn."""
    pairs = zip(said[::2], said[1::2], strict=True)
    talk = [
        Exchange(f"t-{n}", AT, user, (reply,)) for n, (user, reply) in enumerate(pairs)
    ]
    return [quote.text for quote in distill(talk)["open_questions"]]


@pytest.mark.parametrize(
    "message",
    [
        "let's do the dark mode later",
        "we can do the export in v2",
        "the export is for v2",
        "park the SSO thing",
        "skip the export for now",
        "hold off on the migration until Friday",
        "TODO: rate limiting",
        "remind me to rotate the keys",
        "not sure yet if we need a cache",
        "the naming is not settled yet",
        "I have to think about the pricing",
        "I'll get back to you about the domain",
        "waiting for legal on the wording",
        "the customer must decide on the price",
        "at some point we need to clean up the tests",
        "the second bug stays open",
        "pagination can come later, first make the list work",
        "the mobile layout we will handle at a later point",
        "dark mode is a nice-to-have, maybe next quarter",
        "we should at some point replace moment with date-fns",
        "remind me tomorrow to rotate the keys",
        "skip the e2e tests for this round",
        "we'll decide about the old reports in the retro on thursday",
        "we should discuss in the planning how long we keep logs",
        "logo is black on black, but the designers will send a new one",
        "merged, tomorrow we do the VAT",
    ],
)
def test_what_a_person_puts_off_is_open(message: str) -> None:
    said = ("Fix the invoices page", "The page is there.", message, "Noted.")
    assert left_open(*said) == [message]


@pytest.mark.parametrize(
    "message",
    [
        "can we do dark mode later?",
        "skip it for now",
        "I'm waiting for the build",
        "remind me what we decided",
        "the tests are still failing",
        "postpone is spelled wrong",
        "leave the door open",
        "the queue is for later jobs only",
        "the modal stays open after the click",
        "at some point the server crashed",
        "we should add a retry at some point in the loop",
        "TODO comments are ugly, remove them",
        "I'll be back tomorrow",
        "I'm away next week",
        "the demo is tomorrow",
        "the page loads later than before",
        "the job runs at a later time than expected",
        "later versions of node fail",
        "our team will send mails with it",
        "the supplier will tell you the price on the page",
    ],
)
def test_what_sounds_like_it_is_not(message: str) -> None:
    said = ("Fix the invoices page", "The page is there.", message, "Noted.")
    assert left_open(*said) == []


@pytest.mark.parametrize(
    "report",
    [
        "Two tests still fail, both in the importer.",
        "Not covered: the CSV export.",
        "One thing is left: the docs.",
        "The migration is written but not run.",
        "I could not reproduce the crash on Windows.",
        "I haven't run it against production data yet.",
        "Next step: wire the webhook.",
        "The webhook is still missing.",
        "Everything is in place, except the French texts.",
        "You still have to add the secret to CI.",
        "Don't forget to rotate the key.",
        "Known limitation: only one region is supported.",
    ],
)
def test_what_the_last_report_leaves_is_open(report: str) -> None:
    assert left_open("Fix the invoices page", f"Done. {report}") == [report]
    more = ("And the footer?", "The footer is there, too.")
    assert left_open("Fix the invoices page", f"Done. {report}", *more) == []


@pytest.mark.parametrize(
    "report",
    [
        "You need to add the key to the map, so I added it.",
        "All tests pass except for the ones that need a network.",
        "I didn't change the API.",
        "The parser is written, but never run in the hot path.",
        "The socket stays open until the client leaves.",
    ],
)
def test_what_a_report_says_of_its_work_is_not(report: str) -> None:
    assert left_open("Fix the invoices page", f"Done. {report}") == []


def test_what_is_put_off_is_told_once_with_its_question() -> None:
    asked = "The digest is sent weekly. Should the urgent safety findings go out to the monitors?"
    said = ("Send a digest", asked, "I have to ask Sabine first.", "I'll wait.")
    line = "Should the urgent safety findings go out to the monitors? → I have to ask Sabine first."
    assert left_open(*said) == [line]


ASKED_OF_NOBODY = (
    ("do we alert when the manifest is late?", "I'll ask Marek tomorrow."),
    ("should the report be in euros or dollars?", "need to check with finance first"),
    ("who owns the bucket by the way?", "I have to ask the team"),
)


@pytest.mark.parametrize(("question", "put_off"), ASKED_OF_NOBODY)
def test_a_question_that_the_person_puts_off_themselves_is_open(
    question: str, put_off: str
) -> None:
    said = ("The job writes to s3 now", "Good.", f"{question} {put_off}")
    assert left_open(*said, "OK, I keep it as it is for now.") == [
        f"{question} → {put_off}"
    ]


def test_what_is_put_off_stands_behind_what_the_agent_asked() -> None:
    asked = "Should the separator be a semicolon?"
    said = ("The export writes csv", f"It has a header. {asked}")
    put_off = "not sure, let me check with Ana first"
    assert left_open(*said, put_off, "Fine, the comma stays until then.") == [
        f"{asked} → {put_off}"
    ]


@pytest.mark.parametrize(
    "message",
    [
        "can you check with ruff first? then commit",
        "let me check with curl",
        "will ask",
    ],
)
def test_who_asks_a_program_puts_nothing_off(message: str) -> None:
    said = ("The export writes csv", "It has a header.", message, "OK.")
    assert left_open(*said) == []


def test_what_is_asked_without_a_mark_and_left_for_now_is_open() -> None:
    asked, left = "what about typos in the search", "not now, let's see if anybody asks"
    can = "Trigram similarity can find those. That would cost another 20 ms."
    assert left_open(asked, can, left, "Understood.") == [f"{asked} → {left}"]


@pytest.mark.parametrize(
    ("asked", "can", "left"),
    [
        ("can we show a progress bar?", "Yes, with `tqdm`.", "let's do that later"),
        ("kann man das exportieren?", "Ja, mit openpyxl.", "machen wir später"),
    ],
)
def test_what_was_asked_and_is_done_later_is_open(
    asked: str, can: str, left: str
) -> None:
    assert left_open(asked, can, left, "OK.") == [f"{asked} → {left}"]


@pytest.mark.parametrize(
    "message",
    [
        "then count them for now, we'll revisit once the calendar is imported",
        "I'll do it on monday",
        "i will take care of that next week",
    ],
)
def test_what_the_person_will_see_to_later_is_open(message: str) -> None:
    told = "The old certificate can be revoked; that needs an admin."
    assert left_open("rotate them", told, message, "Good.")[-1:] == [message]


def test_what_was_left_as_the_person_wanted_is_not_open() -> None:
    left = "Left as is: every calendar day counts."
    asked = "do weekends count as late days?"
    assert left_open(asked, "They do.", "then count them", left) == []


@pytest.mark.parametrize(
    ("told", "message", "opened"),
    [
        (
            "I put the event back; it's just never sent.",
            "ok. remove it after iOS 5.2 is out",
            "remove it after iOS 5.2 is out",
        ),
        (
            "Merged.",
            "the settings page in the wiki must be updated, will do it myself",
            "the settings page in the wiki must be updated, will do it myself",
        ),
        (
            "Les commentaires sont dans `comments.json`.",
            "les messages privés non. à voir avec le juriste",
            "à voir avec le juriste",
        ),
        (
            "Das Feld ist jetzt Pflicht.",
            "das muss ich mit der Buchhaltung klären",
            "das muss ich mit der Buchhaltung klären",
        ),
        (
            "El campo es obligatorio.",
            "eso hay que verlo con contabilidad",
            "eso hay que verlo con contabilidad",
        ),
        (
            "O campo é obrigatório.",
            "isso é a ver com o jurídico",
            "isso é a ver com o jurídico",
        ),
    ],
)
def test_what_waits_for_somebody_or_something_is_open(
    told: str, message: str, opened: str
) -> None:
    found = left_open("look at it", told, message, "OK.")
    assert len(found) == 1
    assert found[0].endswith(opened)
