"""What people settle in passing: what stays, what is fine, what they go back to."""

from __future__ import annotations

import pytest

from keeplore.capture.distill.distiller import distill
from keeplore.memory import Exchange

AT = "2026-02-09T14:03:11Z"


def settled(asked: str, reply: str, message: str, answer: str) -> list[str]:
    talk = [
        Exchange("t-0", AT, asked, (reply,)),
        Exchange("t-1", AT, message, (answer,)),
    ]
    parts = distill(talk)
    return [quote.text for quote in (*parts["decision"], *parts["also_decided"])]


def decided(message: str) -> list[str]:
    return settled("which yeasts?", "WLP004 for the stout.", message, "Noted.")


@pytest.mark.parametrize(
    "message",
    [
        "Yes, WLP004 for the stout, the lager stays on S-23.",
        "yep, and the worker stays on 3.11",
        "agreed, three retries, but the time-out stays at 30s",
        "ok let's try it on the utils first, the rest stays on jest until we know",
    ],
)
def test_what_stays_as_it_is_is_decided(message: str) -> None:
    assert decided(message) == [message]


@pytest.mark.parametrize(
    "message",
    [
        "the counter stays at 0 after the click",
        "ok, the spinner stays on the page",
        "hm, it stays on the loading screen",
        "the rest of the page stays blank",
    ],
)
def test_what_stays_as_a_defect_is_none(message: str) -> None:
    assert decided(message) == []


def test_what_the_agent_can_do_is_agreed_to_behind_what_is_needed() -> None:
    able = "No. `unaccent` is needed for that; I can add it to the index expression."
    asked = "does it find jalapeno when the name has ñ?"
    assert settled(asked, able, "do that. and umlauts too?", "Done.") == [able]


def test_a_no_that_the_reply_repeats_is_decided() -> None:
    reply = "It would make sending easier; 40 files are about 6 MB."
    refused = "no zip, she uses the folder directly"
    assert settled("should we zip them?", reply, refused, "OK, no zip.") == [refused]
    report = "no errors, but it is late"
    assert settled("add a column", "I added it.", report, "I added an index.") == []


@pytest.mark.parametrize(
    "message",
    ["better, but page breaks cut through the table rows", "nice but rows overlap"],
)
def test_what_is_still_amiss_behind_praise_is_none(message: str) -> None:
    done = "Added `break-inside: avoid` to the rows of the table."
    assert settled("export it as PDF", "I bundled a font.", message, done) == []


WAYS = "Two fixes: copy the cart at login, or store it in the database by user."


@pytest.mark.parametrize(
    ("reply", "message", "told"),
    [
        (WAYS, "copy is fine", "the cart is lost → copy the cart at login"),
        (WAYS, "the copy sounds good", "the cart is lost → copy the cart at login"),
        (
            "The job can run on main only.",
            "yeah do it",
            "The job can run on main only.",
        ),
        ("I set it to Strict.", "ok back to Lax", "ok back to Lax"),
    ],
)
def test_a_few_words_take_what_was_put(reply: str, message: str, told: str) -> None:
    assert settled("the cart is lost", reply, message, "OK.") == [told]


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        ("The API can return 404 in this case.", "ok"),
        ("The import can fail at night.", "do it"),
        ("Arial is set.", "back to the login page"),
    ],
)
def test_a_few_words_take_nothing_that_is_no_way(reply: str, message: str) -> None:
    assert settled("the cart is lost", reply, message, "I look at it.") == []


def test_german_orders_for_good_are_decided() -> None:
    reply = "Es gibt jetzt Filter für Kunde und Stufe."
    told = "ach ja, Beträge immer brutto anzeigen"
    asked = "ich brauche eine Übersicht"
    assert settled(asked, reply, f"passt. {told}", "Gut.") == [told]


def test_a_way_that_the_agent_named_is_agreed_to_by_its_name() -> None:
    able = "The migration gave them new numbers. I can match the customers by email."
    message = "yes match by email. and put this in models/churn.sql"
    assert settled("why so many in march?", able, message, "Done.") == [
        "I can match the customers by email."
    ]


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ("The time-out is 30 seconds.", "why 30? make it 10"),
        ("Its schedule moved from 02:00 to 04:30.", "why 4:30? make it 4"),
    ],
)
def test_another_value_stands_behind_a_question(told: str, message: str) -> None:
    *_, value = message.rpartition("? ")
    found = settled("please look at it", told, message, "Changed.")
    assert found == [f"{told} → {value}"]


def test_what_the_agent_answers_itself_is_agreed_to_with_its_question() -> None:
    told = "Should we support mac too? I would leave it out for now."
    assert settled("which systems?", told, "ok", "Left it out.") == [
        "Should we support mac too? → I would leave it out for now."
    ]


def test_a_way_that_the_reply_speaks_against_is_no_decision() -> None:
    refused = "We could, but the artefacts would show. I'd crunch the rest."
    asked = "can we crunch compress all textures?"
    assert settled("what is so large?", "The textures.", asked, refused) == []


def test_a_constraint_behind_its_reason_is_decided() -> None:
    message = "Chinese comes in spring so don't delete the localization tables"
    assert decided(message) == [message]


def test_a_number_before_a_rule_picks_the_option() -> None:
    ways = "A few: (1) a deduction on the assignment, (2) a policy of the course."
    message = "2. policies are per course, teachers can't make their own"
    assert settled("any ideas how to model that?", ways, message, "Done.") == [
        "any ideas how to model that? → a policy of the course"
    ]


def test_a_number_picks_no_line_of_a_report_and_no_next_work() -> None:
    report = "Done:\n\n1. Removed the cache\n2. Renamed the reader"
    assert settled("tidy it", report, "2. looks odd in the diff", "Hm.") == []
    asked = "What would you like to brainstorm today?\n\nA) A feature\nB) A test"
    assert settled("hello", asked, "B) I have a flaky one", "Let me look.") == []


def test_a_way_is_taken_with_something_more() -> None:
    asked = "should the program print colors when piped?"
    told = "No: most tools turn colors off there, and honour NO_COLOR."
    message = "do it like that, plus a --color=always"
    assert settled(asked, told, message, "Implemented.") == [f"{asked} → {message}"]


def test_a_yes_and_a_no_in_one_line_are_decided() -> None:
    message = "clipping yes, rate stays, we want to compare with the old runs"
    assert decided(message) == [message]


def test_an_option_is_taken_with_what_the_person_adds() -> None:
    ways = "A. Timestamps: send what is newer\n\nB. Vectors: count by device\n\nI'd take A."
    message = "A with server timestamps sounds right."
    found = settled("deltas would be good", ways, message, "Done.")
    assert found == [f"Timestamps: send what is newer → {message}"]


def test_a_bare_figure_stands_behind_the_question_of_the_person() -> None:
    asked = "how deep is the undo history?"
    assert settled(asked, "Unlimited by default.", "100", "Limited to 100 steps.") == [
        f"{asked} → 100"
    ]


def test_a_short_answer_is_decided_where_the_reply_sets_it() -> None:
    told = "It has no region yet. Which region?"
    assert settled("deploy it", told, "frankfurt", "Set to eu-central-1.") == [
        "Which region? → frankfurt"
    ]


def test_to_decide_on_something_is_none() -> None:
    message = "ok. Let's decide on the state management for the new app."
    assert decided(message) == []


@pytest.mark.parametrize(
    "message",
    [
        "so react-datepicker everywhere",
        "should be ci only",
        "messages.body -> lorem ipsum of same length",
        "also backup before every apply",
        "only the texts, not the code",
    ],
)
def test_a_rule_in_few_words_is_decided(message: str) -> None:
    assert decided(message) == [message]


@pytest.mark.parametrize(
    "message",
    [
        "errors everywhere",
        "it is everywhere",
        "it happens after every deploy",
        "should be fine",
        "must be a caching issue",
    ],
)
def test_a_finding_in_few_words_is_none(message: str) -> None:
    assert decided(message) == []


def test_a_bare_figure_stands_behind_the_figure_that_was_named() -> None:
    able = "I can keep the domains with at least 10 users and map the others."
    found = settled("one-person companies are domains", able, "20", "Mapped.")
    assert found == [f"{able} → 20"]


def test_an_option_is_taken_with_what_is_asked_beside_it() -> None:
    ways = "Two ways: set it back to the old name, or ignore the changes."
    message = "back to the old name, and a deletion guard on all databases"
    assert settled("how do we keep it", ways, message, "Done.") == [
        f"set it back to the old name → {message}"
    ]


def test_a_way_that_was_tried_is_taken_behind_its_question() -> None:
    asked = "target is under 3. code splitting per route?"
    tried = "With route splitting the startup takes 2.3 s."
    assert settled(asked, tried, "take it", "Merged.") == [
        f"code splitting per route? → {tried}"
    ]


def test_what_a_change_left_as_it_was_is_no_answer() -> None:
    asked = 'Renamed in English. In German "Team" as well?'
    answer = "Renamed in both. The addresses still say `/workspace/…`."
    message = 'ja, "Team" auch auf Deutsch'
    assert settled("rename it", asked, message, answer) == [
        f'In German "Team" as well? → {message}'
    ]


def test_a_few_words_stand_behind_the_question_before_them() -> None:
    message = "who is allowed to run it? should be ci only"
    assert decided(message) == ["who is allowed to run it? → should be ci only"]


def test_what_is_taken_by_its_name_stands_behind_what_was_told_of_it() -> None:
    told = "It needs his account. A sturdier way is fastlane match with a key."
    message = "Martin left in June... ok match it is."
    assert settled("who renews those?", told, message, "Done.") == [
        f"A sturdier way is fastlane match with a key. → {message}"
    ]


def test_what_stands_somewhere_is_no_decision() -> None:
    message = "Our API docs also say workspace"
    answer = "The API docs describe the field names, which I haven't changed."
    assert settled("rename it", "The paths stay.", message, answer) == []


def test_another_value_does_not_stand_behind_an_older_matter() -> None:
    talk = [
        Exchange(
            "t-0",
            AT,
            "fix it",
            ("1. Move the report\n2. Take the locks first\n\nWhich?",),
        ),
        Exchange(
            "t-1", AT, "2, but move the report as well", ("The report moved to 04:30.",)
        ),
        Exchange("t-2", AT, "why 4:30? make it 4", ("Changed.",)),
    ]
    parts = distill(talk)
    found = [quote.text for quote in (*parts["decision"], *parts["also_decided"])]
    assert found[-1] == "The report moved to 04:30. → make it 4"
