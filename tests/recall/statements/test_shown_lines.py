"""Whose the lines of a hit are."""

from __future__ import annotations

from keeplore.capture.distill.held_statements import held_statements
from keeplore.memory import Conversation, Exchange, Quote
from keeplore.recall.statements.shown_lines import line_marks

EXCHANGES = (
    Exchange(
        "t1", "2026-03-01T10:00:00Z", "Use **Postgres** here.", ("It is set up.",)
    ),
    Exchange("t2", "2026-03-01T10:05:00Z", "2, no cron", ("The sweep runs hourly.",)),
)
PICK = "A `hold` table → 2, no cron"
TALK = Conversation(
    "Holds",
    EXCHANGES,
    decision=(Quote(PICK, "user", "t2"),),
    outcome=(Quote("It is set up.", "assistant", "t1"),),
)


def test_the_lines_that_the_person_said_are_told_from_the_agents() -> None:
    said = [
        ("Use Postgres here", "t1"),
        ("It is set up.", "t1"),
        (PICK, "t2"),
        ("Use Postgres here.", "t2"),  # of the other turn
    ]
    assert line_marks(TALK, said) == ("user", "", "user, decided", "")


def test_of_several_lines_of_one_passage_each_counts() -> None:
    said = [("It is set up.\n\nUse Postgres here.", "t1"), ("2, no cron", "t2")]
    assert line_marks(TALK, said) == ("", "", "user", "user")


def test_what_the_agent_says_too_is_not_taken_for_the_persons() -> None:
    both = Exchange("t3", "2026-03-01T10:09:00Z", "Is it merged now?", ("Merged.",))
    talk = Conversation("Merge", (both,))
    assert line_marks(talk, [("Merged.", "t3")]) == ()


def test_an_answer_is_the_persons_where_the_agent_repeats_it() -> None:
    asked = Exchange("t3", "2026-03-01T10:09:00Z", "Serve it", ("On which port?",))
    told = Exchange("t4", "2026-03-01T10:10:00Z", "8081", ("It listens on 8081.",))
    talk = Conversation("Ports", (asked, told))
    said = [("On which port? → 8081", "t4"), ("On which port?", "t3")]
    assert line_marks(talk, said) == ("user", "")


def test_what_they_pasted_is_told_from_what_they_said() -> None:
    message = "Renew it every minute. The review says:\n\nThe lease is never renewed."
    exchange = Exchange("t4", "2026-03-01T10:12:00Z", message, ("It is renewed now.",))
    talk = Conversation("Lease", (exchange,))
    said = [
        ("It is renewed now.\nThe lease is never renewed.", "t4"),
        ("Renew it every minute.", "t4"),
    ]
    marks = line_marks(talk, said, held_statements(talk))
    assert marks == ("", "pasted", "user")


def test_what_introduces_a_pasted_list_is_pasted_too() -> None:
    report = (
        "Fix what the review says:\n\nThe following findings of the review are open:\n\n"
        "- the lease is never renewed\n- the sweep runs twice"
    )
    exchange = Exchange("t5", "2026-03-01T10:14:00Z", report, ("Both are fixed.",))
    talk = Conversation("Findings", (exchange,))
    lines = ("The following findings of the review are open:", "the sweep runs twice")
    marks = line_marks(talk, [(line, "t5") for line in lines], held_statements(talk))
    assert marks == ("pasted", "pasted")


def test_a_note_has_no_lines_of_a_person() -> None:
    assert line_marks(None, [("Use Postgres here.", "")]) == ()
