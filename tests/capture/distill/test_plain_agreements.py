"""How people in plain words take what the agent advised or offered, put it off, and lay down how
things shall be; and what sounds alike.
"""

from __future__ import annotations

import pytest

from keeplore.capture.distill.decisions import decisions
from keeplore.capture.distill.distiller import distill
from keeplore.memory import Exchange

AT = "2026-02-09T14:03:11Z"
ASKED = "Members ask for a calendar of the boats."
ADVICE = "My recommendation: keep the bookings in one SQLite file. Do you agree?"
ADVISED = "My recommendation: keep the bookings in one SQLite file."
OFFER = "I can draw the calendar by the week with a strip per boat.\n\nWant me to implement it?"
OFFERED = "I can draw the calendar by the week with a strip per boat."
LETTERS = """How are half days counted?

- (a) By calendar day. A trip past midnight is two days.
- (b) By hours. A trip under 24 hours is one day.

I'd go with (a). Members think in days.

Confirm (a)?"""
NUMBERED = """Two ways:

1. A page of its own.
2. A tab on the boat's page.

I recommend 2. Agreed?"""
MATTERS = """1. One file or a server for the bookings? I'd vote for a server.
2. Do you accept that guests see no names? Recommend yes.

Both are needed first."""


def talk(reply: str, message: str) -> list[Exchange]:
    return [
        Exchange("t-0", AT, ASKED, (reply,)),
        Exchange("t-1", AT, message, ("Let me look at the files first.",)),
    ]


def decided(reply: str, message: str) -> list[str]:
    return [one.quote.text for one in decisions(talk(reply, message))]


def left_open(reply: str, message: str) -> list[str]:
    return [quote.text for quote in distill(talk(reply, message))["open_questions"]]


@pytest.mark.parametrize(
    "message",
    [
        "go with your recommendation",
        "let's go with your suggestion",
        "please follow your advice",
        "go ahead with the recommended approach",
        "one SQLite file seems reasonable",
        "confirmed",
    ],
)
def test_advice_is_taken_by_pointing_to_it(message: str) -> None:
    assert decided(ADVICE, message) == [ADVISED]


def test_advice_is_taken_with_what_shall_be_otherwise() -> None:
    message = "go with your recommendation but only for members"
    assert decided(ADVICE, message) == [f"{ADVISED} → {message}"]


@pytest.mark.parametrize("message", ["implement it", "implement this plan and push"])
def test_an_order_to_do_what_was_offered_is_a_yes_to_it(message: str) -> None:
    assert decided(OFFER, message) == [OFFERED]


def test_an_offer_is_taken_with_a_change_in_plain_words() -> None:
    message = "implement this approach, but do not touch the old page"
    assert decided(OFFER, message) == [f"{OFFERED} → {message}"]


@pytest.mark.parametrize(
    "message", ["yes, but do not push yet", "yes but I don't know how that looks"]
)
def test_a_yes_with_a_doubt_or_about_the_next_step_changes_nothing(
    message: str,
) -> None:
    assert decided(OFFER, message) == []


@pytest.mark.parametrize(
    ("message", "option"),
    [
        ("yes", "By calendar day."),
        ("confirmed", "By calendar day."),
        ("yes (a)", "By calendar day."),
        ("yes (a) its simpler", "By calendar day."),
        ("no, (b)", "By hours."),
    ],
)
def test_an_option_is_picked_by_its_label_in_brackets(
    message: str, option: str
) -> None:
    [line] = decided(LETTERS, message)
    assert line.endswith(option)


def test_a_yes_to_advice_by_a_number_is_for_that_option() -> None:
    assert decided(NUMBERED, "yes") == ["A tab on the boat's page."]


def test_an_option_that_one_wants_is_picked() -> None:
    assert decided(NUMBERED, "I want option 1") == [
        f"{ASKED[:-1]} → A page of its own."
    ]


def test_a_question_to_answer_is_no_option_to_pick() -> None:
    message = "I prefer one file. It is less to run.\nI accept the missing names"
    assert decided(MATTERS, message) == [
        "I prefer one file.",
        "I accept the missing names",
    ]


@pytest.mark.parametrize(
    "message", ["Ok, proceed.", "yes, continue please", "2 is good too"]
)
def test_going_on_and_a_second_good_way_decide_nothing(message: str) -> None:
    assert decided("Shall I proceed with implementing this?", message) == []


@pytest.mark.parametrize(
    "message",
    [
        "please stop putting time estimates in the plans",
        "Before implementing anything, always show me the plan",
        "when you add a migration, always write the way back",
        "Non-goals: payments, guest accounts, streaming",
        "Photos of the boats are out of scope",
        "I think a small parser is the correct approach",
        "we can stick with the old calendar page",
        "lets have sensible defaults",
        "let's think of the calendar as a library",
        "let's derive it from the bookings",
        "we would need this to be dynamic",
        "I'm fine with dropping the week view",
        "I don't need a month view",
        "dumps is a folder we do not commit",
        "we only care about the small boats right now",
        "we can't use the club's logo",
        "when a trip is running, just show the skipper",
        "just raise the deposit to 50",
        "forget the server, one file it is",
        "wait, i changed my mind: one file after all",
        "the old page can go",
        "also all times in UTC please",
        "stick to plain SQL",
        "we're moving to uv",
        "go back to one page",
        "the link should not change",
        "it needs to work without javascript",
        "no breaking changes",
        "show the price only on the list page",
    ],
)
def test_plain_words_lay_down_how_things_shall_be(message: str) -> None:
    assert decided("The calendar is on the page.", message) == [message]


@pytest.mark.parametrize(
    "message",
    [
        "stop the server",
        "stop running the tests",
        "when you add a migration, tell me",
        "are photos out of scope?",
        "not sure it is the right approach",
        "let's have a look at the logs",
        "let's think of a name",
        "let's run it in the morning",
        "I need it to be ready by noon",
        "I'm fine with that",
        "I don't need an explanation",
        "I want to execute only the calendar test now",
        "i want to work on the calendar",
        "I feel like you get lost and change what I never wanted",
        "open question",
        "use the log command to find the last trip",
        "I really like the design and the colours",
        "let's understand the old page first",
        "So now we have all the colours we want for the boats",
        "we can't see the boats",
        "when you are done, stop",
        "it works after all",
        "this can go",
        "that is not needed",
        "go back to the last step",
        "stick to the plan",
        "we're moving to the next phase",
        "no new errors in the log",
        "it has to be something with the cache",
        "I have a copy of the pages, they will need to be updated too",
        "i know there is one. try using the full name instead",
        "use the test boat for this one",
        "put the list here in the chat",
        "lets go with option",
        "please resume, the spec is newer now",
        "sorry, please re-confirm the plan",
        "use a sub-agent to go through the pages",
        "yes but this is a matter of time, I can add more boats later",
    ],
)
def test_orders_of_the_moment_and_complaints_lay_down_nothing(message: str) -> None:
    assert decided("The calendar is on the page.", message) == []


@pytest.mark.parametrize(
    "message",
    [
        "skip it for now",
        "skip it for now, commit and push",
        "not yet",
        "let's not do that yet",
    ],
)
def test_an_offer_that_is_put_off_is_left_open(message: str) -> None:
    assert decided(OFFER, message) == []
    assert left_open(OFFER, message) == [f"{OFFERED} → {message}"]


TOLD = "The page is up. Let me know if you want me to add a filter by harbour."


@pytest.mark.parametrize("message", ["yes please", "do it"])
def test_an_offer_that_is_no_question_is_taken(message: str) -> None:
    offer = "Let me know if you want me to add a filter by harbour."
    assert decided(TOLD, message) == [f"{offer} → {message}"]


def test_an_offer_that_is_no_question_is_put_off() -> None:
    message = "not yet, the colours come first"
    offer = "Let me know if you want me to add a filter by harbour."
    assert decided(TOLD, message) == []
    assert left_open(TOLD, message) == [f"{offer} → {message}"]


@pytest.mark.parametrize(
    "reply",
    ["Let me know if you want me to commit this.", "Let me know if you want changes."],
)
def test_a_step_and_courtesy_are_no_offer(reply: str) -> None:
    assert decided(f"The page is up. {reply}", "yes") == []


@pytest.mark.parametrize(
    "reply", ["Want me to commit this?", "Shall I run the tests?", "The page is up."]
)
def test_a_step_that_is_put_off_is_not_left_open(reply: str) -> None:
    assert left_open(reply, "not yet") == []


@pytest.mark.parametrize(
    ("message", "decision", "rest"),
    [
        (
            "let's keep 25 bookings a page, we'll add paging later",
            "let's keep 25 bookings a page",
            "we'll add paging later",
        ),
        (
            "For now let's include a search by name, I will later decide if we search dates",
            "For now let's include a search by name",
            "I will later decide if we search dates",
        ),
    ],
)
def test_what_is_put_off_behind_a_decision_is_told_apart(
    message: str, decision: str, rest: str
) -> None:
    assert decided("The list is on the page.", message) == [decision]
    assert left_open("The list is on the page.", message) == [rest]


@pytest.mark.parametrize(
    "message", ["we will improve the wording later", "I'll tell you about it later"]
)
def test_what_we_will_do_later_is_open_and_not_what_i_will_tell(message: str) -> None:
    is_open = message.startswith("we")
    assert left_open("The list is on the page.", message) == [message] * is_open


@pytest.mark.parametrize(
    ("answer", "is_open"),
    [("don't know", True), ("don't know, do whatever you want", False)],
)
def test_what_is_left_to_the_agent_is_not_open(answer: str, *, is_open: bool) -> None:
    points = "1. One list or two?\n2. Which colours for harbours on the night map?\n\nWhat do you say?"
    message = f"1. one list\n2. {answer}"
    assert (
        left_open(points, message)
        == ["Which colours for harbours on the night map?"] * is_open
    )


PLAN = "I would store the photos in S3 and keep a copy on disk. Does this plan work for you?"
PLANNED = "I would store the photos in S3 and keep a copy on disk."


@pytest.mark.parametrize(
    "message",
    [
        "scrap the S3 idea, disk is fine",
        "honestly just disk is enough",
        "skip the copy, rest is good",
        "agree on S3, disagree on the copy",
        "fine by me as long as it works offline",
        "yes and also mail the harbour master",
        "i like it, but call it archive",
    ],
)
def test_what_is_ruled_out_or_added_stands_behind_the_plan(message: str) -> None:
    assert decided(PLAN, message) == [f"{PLANNED} → {message}"]


@pytest.mark.parametrize(
    "message", ["i like it", "yes and also run the tests", "disk is fine"]
)
def test_a_plan_is_taken_as_it_is(message: str) -> None:
    assert decided(PLAN, message) == [PLANNED]


def test_a_question_before_the_work_goes_on_is_no_proposal() -> None:
    reply = "The list is on the page. What do you want to change before I keep going?"
    assert decided(reply, "okay so three things. read the dates, then show them") == []


@pytest.mark.parametrize("message", ["let's do A & B", "i want A and B"])
def test_several_options_are_picked_behind_more_than_one_word(message: str) -> None:
    options = "- A: one list.\n- B: a list per harbour.\n- C: no list.\n\nWhich ones?"
    [line] = decided(options, message)
    assert line.endswith("one list; a list per harbour")


def test_what_one_would_default_to_is_advice() -> None:
    options = "- (a) Every year. It comes back.\n- (b) Once. Only this year.\n\n"
    reply = (
        options
        + "I'd default to (a) \u2014 that is how the wording of the rules reads. Confirm?"
    )
    assert decided(reply, "yes") == ["Every year."]


def test_what_is_forgotten_for_now_is_open() -> None:
    message = "lets forget about the week view for now"
    assert decided("The list is on the page.", message) == []
    assert left_open("The list is on the page.", message) == [message]
