"""Messages that take a proposal with a change: which they are, and that the talk goes on with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from keeplore.capture.follow_ups import (
    amends_proposal,
    echoes_reply,
    is_reply,
    takes_up,
)
from keeplore.capture.segmenter import Segmenter
from keeplore.index import embedder_for
from keeplore_hooks.events import Origin, Turn


@pytest.mark.parametrize(
    "message",
    [
        "Yes but only 14 days, storage is expensive",
        "ok, but without the slash, our deploy tool chokes on it",
        "Fine, but use Source Sans for the numbers",
        "Ok but run it at 4am, backups are at 3.",
        "Yes, quarantine them, but use one hour, the disk is small.",
        "sure, but keep the old endpoint for a while",
        "perfect, just use a different color for errors",
        "Great, but let's skip the migration",
        "Looks good, only the retries should be 5 not 3",
        "yes, with 300 though",
        "Make it three days, customers fix their endpoints on Mondays.",
        "Sounds good, but every ten seconds, a minute is too slow",
        "Rather two minutes, prices change often.",
        "No, two minutes. Prices change often.",
        "no, 8181. 8080 is taken here",
        "Go with 300 instead",
        "I'd say 10 seconds",
        "make it optional",
        "Ja, aber 60 Tage, das Audit verlangt das.",
        "Gut, aber um 4 Uhr.",
        "nein, 20 Minuten",
        "lieber alle zwei Stunden",
        "Sí, pero cada diez minutos",
        "mejor 20",
        "oui, mais toutes les dix minutes",
        "plutôt 20",
        "好的，但是改成三天",
        "改成三天",
    ],
)
def test_a_yes_with_a_change_and_another_value_amend(message: str) -> None:
    assert amends_proposal(message)
    assert takes_up(message, ["I propose the usual."])


@pytest.mark.parametrize(
    "message",
    [
        "",
        "yes",
        "Yes, but the tests fail on my machine",
        "ok but first show me the diff",
        "ok but not now",
        "yes but I have no idea how",
        "Sounds good but I wonder about bursts",
        "Great, but what about the docs?",
        "fine but why is it slow?",
        "Ja, aber warum?",
        "ok, only the header is wrong",
        "Yes, just run the tests",
        "cool, just checking",
        "sure, but keep in mind that it is old",
        "No, that is wrong",
        "No one uses it",
        "no, one of the tests fails",
        "ok, two tests fail",
        "300 tests fail now",
        "actually 3 of these are duplicates",
        "Make it work",
        "make it faster please",
        "Add a page for invoices\nok, but use 3",
    ],
)
def test_other_words_amend_nothing(message: str) -> None:
    assert not amends_proposal(message)


@pytest.mark.parametrize("words", ["ok but just ", "make it ", "no, ", "yes, but "])
def test_of_a_long_message_only_the_opening_is_read(words: str) -> None:
    assert not amends_proposal(words * 50_000 + "x")


@pytest.mark.parametrize(
    ("message", "reply"),
    [
        ("mattermost, channel alarms", "By mail, or to the Mattermost-Channel."),
        ("the cursor", "More memory, or a cursor on the server."),
        ("take the second cellar", "A NAS in the cellar costs 28,000 EUR."),
        ("nimm den Cursor", "Mehr Speicher oder ein Cursor."),
    ],
)
def test_a_few_words_of_the_reply_before_take_something_of_it(
    message: str, reply: str
) -> None:
    assert echoes_reply(message, reply)
    assert takes_up(message, ["The tests pass.", reply])
    assert is_reply([{"user": "?", "assistant": reply}], message, 2.0)
    assert not is_reply([{"user": "?", "assistant": reply}], message, 90.0)


@pytest.mark.parametrize(
    ("message", "reply"),
    [
        ("which cursor?", "More memory, or a cursor on the server."),
        ("fix the login page next", "A cursor on the server."),
        ("/review-cursor", "A cursor on the server. Review it?"),
        ("now let us look at the cursor of the editor", "A cursor on the server."),
        ("ok", "ok"),
        ("", ""),
    ],
)
def test_questions_other_words_and_more_words_take_nothing(
    message: str, reply: str
) -> None:
    assert not echoes_reply(message, reply)


def test_it_is_a_reply_where_it_comes_at_once() -> None:
    said = [{"user": "How long?", "assistant": "I propose 14 days."}]
    assert is_reply(said, "Yes, but 60 days", 2.0)
    assert not is_reply(said, "Yes, but 60 days", 90.0)


def test_a_yes_to_what_was_asked_is_a_reply_however_late_it_comes() -> None:
    days = 4 * 24 * 60.0
    asked = [{"user": "How long?", "assistant": "14 days. Want me to set it?"}]
    assert is_reply(asked, "yup... 14 days, and drop the monthly copy", days)
    assert not is_reply(asked, "The invoices need another footer", days)
    told = [{"user": "How long?", "assistant": "I set 14 days."}]
    assert not is_reply(told, "ok, now the invoices", days)


@pytest.mark.parametrize(
    ("asked", "proposed", "message"),
    [
        (
            "Wie lange sollen wir Zugriffsprotokolle aufbewahren?",
            "Ich schlage vor, die Protokolle 14 Tage aufzubewahren und dann zu löschen.",
            "Ja, aber 60 Tage, das Audit verlangt das.",
        ),
        (
            "How long should a failed webhook be retried?",
            "I suggest retrying for one day, then moving the event to a dead letter table.",
            "Make it three days, customers fix their endpoints on Mondays.",
        ),
    ],
)
def test_an_amended_proposal_stays_with_what_it_amends(
    tmp_path: Path, asked: str, proposed: str, message: str
) -> None:
    open_ = [
        {"at": "", "user": "Tidy the importer tests.", "assistant": "Three share one."},
        {"at": "", "user": "Which is slow?", "assistant": "test_import_large."},
        {"at": "", "user": asked, "assistant": proposed},
    ]
    answer = "Done. It is set that way now and the tests pass."
    turn = Turn("t", Origin("test", ""), "", message, (answer,))
    segmenter = Segmenter(embedder_for("packaged", tmp_path))
    assert segmenter.keeplore_segment(open_, turn, turn.work) == ""
