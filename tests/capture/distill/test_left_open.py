"""What stays open, and what only looks as if it did."""

from __future__ import annotations

import pytest

from keeplore.capture.distill.distiller import distill
from keeplore.memory import Exchange

QUESTIONS = """I read the issue.

## Questions for you

1. **Currency of the totals**: that of the customer or always euros?
2. **Where invoices are numbered**: which place should do it?
   - in the database
   - in the service, from a counter table
3. **Length of the numbers**: six digits give a million invoices. With one for each order, this
   seems enough. Do you want more of them?
"""


def left_open(*said: tuple[str, str]) -> list[str]:
    exchanges = [
        Exchange(f"t-{n}", "2026-02-09T14:03:11Z", user, (reply,) if reply else ())
        for n, (user, reply) in enumerate(said)
    ]
    return [quote.text for quote in distill(exchanges)["open_questions"]]


def test_of_points_that_wait_for_the_person_the_ways_are_not_open() -> None:
    assert left_open(("Add invoices.", QUESTIONS)) == [
        "Currency of the totals: that of the customer or always euros?",
        "Where invoices are numbered: which place should do it?",
        "Length of the numbers: six digits give a million invoices.",
    ]


@pytest.mark.parametrize(
    "answer",
    ["use the defaults for all of it", "1: A", "euros it is, rest as you like"],
)
def test_they_are_open_no_more_when_the_person_went_on(answer: str) -> None:
    assert left_open(("Add invoices.", QUESTIONS), (answer, "Invoices are in.")) == []


def test_a_point_that_the_person_has_no_answer_to_stays_open() -> None:
    asked = """Before I start:

1. Should a credit note have a number of its own?
2. Which address stands on the invoice?"""
    answers = "1. Honestly, I don't know.\n2. the billing address"
    assert left_open(
        ("Add invoices.", asked), (answers, "I start with the address.")
    ) == ["Should a credit note have a number of its own?"]


def test_what_can_always_be_had_is_nothing_that_is_left_to_do() -> None:
    said = (
        "Dropping the export is fine, it can always be read from the table if needed."
    )
    assert left_open(("drop the export", f"{said} It is gone.")) == []


def test_what_the_agent_calls_open_is_open_also_when_the_talk_goes_on() -> None:
    first = "The key archives a task. Open question either way: a confirm modal or not."
    last = "One thing to decide: should the toggle persist when you switch boards?"
    assert left_open(("Which keys?", first), ("How is it sorted?", last)) == [
        "Open question either way: a confirm modal or not.",
        last,
    ]


@pytest.mark.parametrize(
    "said",
    [
        "Would you like me to make any adjustments to these invoices?",
        "Do you want any further changes to the invoices?",
        "The export is marked so that it can be run separately from the other tests.",
    ],
)
def test_what_only_hands_the_turn_over_or_describes_is_not_open(said: str) -> None:
    assert left_open(("Drop the export.", f"It is gone. {said}")) == []


def test_what_is_put_off_as_that_is_told_with_what_it_is() -> None:
    said = "Sending invoices on Sundays is a nice idea. We can defer that until later."
    assert left_open(("Send the invoices.", "They are sent."), (said, "Ok.")) == [
        "Sending invoices on Sundays is a nice idea. → We can defer that until later."
    ]


WAITING = "Who pays unpaid invoices?"


@pytest.mark.parametrize(
    ("said", "is_open"),
    [
        (WAITING, True),
        ("Who owns port 5433?", False),  # too little to be understood later
        ("Could you check unpaid invoices?", False),  # asks for work
        ("Which: who pays unpaid invoices?", False),  # tells what it asks
    ],
)
def test_what_the_person_asked_and_nobody_heard(said: str, is_open: bool) -> None:
    asked, gone = (said, ""), ("Drop the export.", "It is gone.")
    expected = [said] if is_open else []
    assert left_open(gone, asked) == left_open(asked, gone) == expected
    for answer in ((said, "I looked at the table."), ("", "It is there.")):
        assert left_open(asked, answer) == []


@pytest.mark.parametrize(
    ("said", "is_open"),
    [
        ("Shall I drop the old export table now?", True),
        ("Which table holds the invoices?", True),
        ("Want me to drop the export?", False),
        ("Should I go on?", False),
    ],
)
def test_what_the_agent_asks_at_the_very_end(said: str, is_open: bool) -> None:
    last = ("Look at it.", f"It is there. {said}")
    assert left_open(last) == ([said] if is_open else [])
    more = " ".join(f"There are {n} more rows." for n in range(6))
    assert left_open(("Look at it.", f"It is there. {said} {more}")) == []
    assert left_open(last, ("Never mind.", "Fine.")) == []


@pytest.mark.parametrize(
    ("point", "is_open"),
    [
        ("Rotate the old keys", True),
        ("Rotate the keys", False),
        ("`make keys` rotates the signing keys", False),
    ],
)
def test_what_a_report_leaves_to_the_person(point: str, is_open: bool) -> None:
    report = f"It is deployed.\n\n## What is left for you to do\n\n- {point}\n- Go on"
    assert left_open(("Deploy it.", report)) == ([point] if is_open else [])


LONG_WAY = "Keep the old table of invoices with all of its columns and rows until the next year ends"
PICK = "Which table do you prefer?"


@pytest.mark.parametrize(
    ("said", "asked", "given"),
    [
        (
            "There are two ways.\n\n1. Keep the old table\n2. Write a new table\n\n",
            PICK,
            f"{PICK} Keep the old table / Write a new table",
        ),
        (
            f"1. {LONG_WAY}\n2. Write a new table\n\n",
            PICK,
            f"{PICK} Keep the old table of invoices with all of its columns / Write a new table",
        ),
        # no list of ways: what stands before the question tells them, where it tells anything
        (
            "Look. Keep the old invoices table or drop it. ",
            PICK,
            f"Keep the old invoices table or drop it. {PICK}",
        ),
        ("Fine. ", PICK, PICK),
        ("Old table. ", PICK, PICK),
        ("Drop old table. ", PICK, f"Drop old table. {PICK}"),
        ("1. Keep the old table\n\n", PICK, PICK),
        ("- Keep the old table\n- Write a new table\n\n", PICK, PICK),
        # it names them itself, or asks for something else
        (
            "1. Keep it\n2. Write a new one\n\n",
            "Which table layout do you prefer?",
            "Which table layout do you prefer?",
        ),
        (
            "Keep the old invoices table or drop it. ",
            "Who reads it tomorrow?",
            "Who reads it tomorrow?",
        ),
    ],
)
def test_a_question_which_way_to_go_is_given_with_the_ways_that_it_leaves_unnamed(
    said: str, asked: str, given: str
) -> None:
    assert left_open(("Add invoices.", said + asked)) == [given]


POINTS = """A few questions first:

1. **Room prices**: will rooms have prices of their own, or is that handled elsewhere?
2. **Calendar**: should the calendar show which rooms are taken?
3. **Deleting**: should rooms be deleted for good?"""


def test_what_is_put_off_in_an_answer_stands_behind_the_name_of_its_question() -> None:
    answers = """1. prices are handled elsewhere. do not deal with it right now
2. do not show it in the calendar. We will handle it differently later on
3. no, keep them"""
    assert left_open(("Add rooms.", POINTS), (answers, "I added the rooms.")) == [
        "Room prices → do not deal with it right now",
        "Calendar → We will handle it differently later on",
    ]


@pytest.mark.parametrize(
    "said",
    [
        "Don't touch the old importer for now.",
        "No need to handle refunds yet.",
        "We can move the queue to its own host down the road.",
    ],
)
def test_what_is_not_to_be_done_now_is_open(said: str) -> None:
    assert left_open((f"Add invoices. {said}", "I added invoices.")) == [said]


@pytest.mark.parametrize("said", ["Don't touch the old importer.", "Do it right now."])
def test_what_is_not_to_be_done_at_all_is_not(said: str) -> None:
    assert left_open((f"Add invoices. {said}", "I added invoices.")) == []


def test_what_leads_up_to_a_command_is_not_open() -> None:
    reply = (
        "You are in the wrong folder. You need to run it from the root:\n\n"
        "```\ncd ..\nyarn dev\n```"
    )
    assert left_open(("It says no such script.", reply)) == []
