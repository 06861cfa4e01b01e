"""What a message answers to what the reply before it put to the person, told with what came of it.

Each case is a whole exchange; what capture makes of its message is compared as a whole.
"""

from __future__ import annotations

import pytest

from keeplore.capture.distill.decisions import decisions
from keeplore.memory import Exchange

AT = "2026-02-09T14:03:11Z"
HIVES = """Two ways to weigh the hives:

1. **A load cell under each**: exact, four times the parts
2. **One scale that is moved**: cheap, and somebody has to walk

I lean towards the first."""
FEED = "The scale drifts with the temperature. I can correct it by the hive's sensor."


def decided(before: str, message: str, after: str, first: str = "Hello.") -> list[str]:
    talk = (
        Exchange("t-0", AT, first, (before,)),
        Exchange("t-1", AT, message, (after,)),
    )
    return [one.quote.text for one in decisions(talk)]


@pytest.mark.parametrize(
    ("message", "after", "line"),
    [
        (
            "at night. the sensor lies when the sun is on it",
            "Okay, the scale weighs at 02:00 only, the correction is gone.",
            (
                "at night. the sensor lies when the sun is on it → Okay, the scale weighs at 02:00 "
                "only, the correction is gone."
            ),
        ),
        (
            "no corrections, numbers nobody can check again",
            "Understood. Each weight is stored as it comes from the cell, at 02:00.",
            (
                "no corrections, numbers nobody can check again → Each weight is stored as it "
                "comes from the cell, at 02:00."
            ),
        ),
        (
            "2 in the morning then",
            "Set. Every hive is weighed at 2 in the morning.",
            "2 in the morning then → Every hive is weighed at 2 in the morning.",
        ),
    ],
)
def test_an_answer_to_what_was_put_is_told_with_what_came_of_it(
    message: str, after: str, line: str
) -> None:
    assert decided(FEED, message, after) == [line]


def test_each_ruling_is_told_with_the_statement_that_takes_it_up() -> None:
    message = "night only. batteries get changed in october, not earlier"
    after = "Done: weighing at night. The batteries are due in October."
    assert decided(FEED, message, after) == [
        "night only. → Done: weighing at night.",
        "batteries get changed in october, not earlier → The batteries are due in October.",
    ]


def test_what_a_reply_turns_round_is_told_though_it_put_nothing() -> None:
    before = "The report is sent every Monday at 8."
    message = "thats when i sit in the car. sundays after dinner"
    after = "Changed, it goes out on Sundays at 20:00."
    line = "sundays after dinner → Changed, it goes out on Sundays at 20:00."
    assert decided(before, message, after) == [line]


@pytest.mark.parametrize(
    ("message", "after"),
    [
        # a fact, and no ruling
        ("the sensor was bought by my uncle in 2019", "Understood."),
        # a yes with what speaks against it
        ("makes sense, but bees hate the light at night", "True, I missed that."),
        # what is not taken up
        ("weigh them at night", "Which hives are meant?"),
        ("weigh them at night", "No, the drift is as large then."),
        # a question beside it: the reply may be the answer to that
        ("nights are fine? and cheap scales, always", "Sure, they are cheap."),
        # orders of work
        ("show me the drift of last week", "Done, it is in `drift.csv`."),
        ("sounds plausible, do that", "Changed and measured again: the same drift."),
        ("perhaps at night", "Done."),
    ],
)
def test_what_rules_nothing_or_is_not_taken_up_is_no_decision(
    message: str, after: str
) -> None:
    assert decided(FEED, message, after) == []


def test_a_reply_takes_up_a_ruling_without_a_word_that_it_does() -> None:
    message = "02:00, and keep the last ten weights"
    after = "Ten weights are kept from 02:00 on."
    assert decided(FEED, message, after) == [f"{message} → {after}"]


def test_a_reply_that_names_what_was_chosen_needs_no_question_before_it() -> None:
    before = "Steel comes in grades V2A, V4A and S235. Today's plates are V2A."
    message = "Of the two that do not rust give me the sturdier."
    after = "V4A it is: 1.5 mm, four plates a hive."
    assert decided(before, message, after) == [f"{message} → {after}"]


def test_please_dont_answers_what_was_proposed() -> None:
    before = "The scale is set up. How about a sound at each weighing?"
    message = "Please don't. The bees hate it."
    line = f"How about a sound at each weighing? → {message}"
    assert decided(before, message, "No sound then.") == [line]


def test_a_figure_in_code_is_the_figure_that_was_said() -> None:
    message = "cooldown .6 between two weighings"
    after = "`pause_s: 0.6` in the settings of the scale. The drift is corrected, too."
    assert decided(FEED, message, after) == [
        f"{message} → `pause_s: 0.6` in the settings of the scale."
    ]


@pytest.mark.parametrize(
    ("message", "after"),
    [
        (
            "anything that needs no walking, it rains a lot up there",
            "Four cells under each of the twelve hives, 48 in all.",
        ),
        (
            "whatever gets down to 10 grams",
            "Cells of class C3, one under each corner.",
        ),
        # a reason without a comma before it
        ("nothing that needs walking bc it rains a lot", "Four cells a hive."),
    ],
)
def test_behind_options_a_mere_statement_is_enough(message: str, after: str) -> None:
    assert decided(HIVES, message, after) == [f"{message} → {after}"]


@pytest.mark.parametrize(
    ("message", "after"),
    [
        ("the scale crashed again with an error", "The drift table was empty."),
        ("i was at the hives today, it was cold", "Twelve degrees, by the sensor."),
        ("whats the price of one plate", "A plate of steel is 40 €."),
        ("HELP", "The button is on the left."),
    ],
)
def test_what_no_choice_is_made_by_is_no_decision(message: str, after: str) -> None:
    assert decided(HIVES, message, after) == []


def test_what_a_reply_finds_out_takes_up_nothing() -> None:
    message = "the cells, cheap ones"
    assert decided(FEED, message, "The problem is that cheap cells drift.") == []


def test_of_a_long_message_is_told_what_the_reply_restates() -> None:
    message = (
        "Thank you for looking into this so quickly. My father keeps his hives up on the heath, "
        "and in summer I only get there at the weekend. So a night without any wind would be the "
        "best moment, and he thinks that two in the morning suits the bees. He has done this for "
        "forty years, by the way."
    )
    after = "Then the scale weighs at two in the morning, on nights without wind."
    assert decided(FEED, message, after) == [after]
    asking = f"{message} What do you think?"
    assert decided(FEED, asking, after) == []


def test_points_of_a_pasted_list_are_no_answers() -> None:
    message = "- drift of hive 4 is doubled\n- hive 7 sends nothing"
    assert decided(FEED, message, "Fixed both.") == []


@pytest.mark.parametrize(
    ("message", "line"),
    [
        (
            "who would walk every day? 1 for now, but with aluminium plates",
            (
                "A load cell under each: exact, four times the parts → 1 for now, but with "
                "aluminium plates"
            ),
        ),
        (
            "nobody wants to walk in the rain, so the first one",
            (
                "A load cell under each: exact, four times the parts → nobody wants to walk in "
                "the rain, so the first one"
            ),
        ),
        (
            "a load cell under each, but do we need the display at all?",
            "A load cell under each: exact, four times the parts",
        ),
        (
            "1 and 2",
            (
                "A load cell under each: exact, four times the parts; One scale that is moved: "
                "cheap, and somebody has to walk"
            ),
        ),
    ],
)
def test_an_option_is_picked_wherever_in_a_message(message: str, line: str) -> None:
    assert decided(HIVES, message, "I have ordered the parts.") == [line]


def test_the_first_thing_to_do_is_no_first_option() -> None:
    assert decided(HIVES, "first run the old script", "It prints nothing.") == []


@pytest.mark.parametrize(
    ("before", "message", "line"),
    [
        (
            "Next I would try (a) a varnished board, or (b) a plate of steel. (b) is heavier.",
            "b",
            "a plate of steel",
        ),
        (
            "I compared two things: a board of larch (12 kg), and a plate of steel (31 kg).",
            "first one looks better",
            "a board of larch (12 kg)",
        ),
    ],
)
def test_an_option_is_picked_out_of_a_sentence(
    before: str, message: str, line: str
) -> None:
    assert decided(before, message, "I cut the first one.") == [line]


def test_what_the_person_asked_for_is_decided_once_it_is_ordered() -> None:
    asked = "can we weigh all of them in one go instead"
    able = "Yes. The cells share a bus, so one request reads all twelve hives."
    assert decided(able, "do it", "One request reads them.", asked) == [
        f"{asked} → The cells share a bus, so one request reads all twelve hives."
    ]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("Do you want a GPS in each hive as well?", "not needed"),
        (
            "Should it send a message when a hive gets lighter?",
            "no, i look at it myself",
        ),
        ("Which hives count as weak?", "everything below 18 kg"),
    ],
)
def test_a_question_for_one_thing_is_answered(asked: str, message: str) -> None:
    assert decided(asked, message, "Okay.") == [f"{asked} → {message}"]


@pytest.mark.parametrize(
    ("before", "message", "line"),
    [
        (
            "We could call the feeder from the scale and drop the timer.",
            "yes do it like that",
            "We could call the feeder from the scale and drop the timer.",
        ),
        (
            "Then the other way round: weigh first and feed only what is missing.",
            "do that",
            "Then the other way round: weigh first and feed only what is missing.",
        ),
        (
            "Raising the limit to 40 kg would be one line.",
            "pls do",
            "Raising the limit to 40 kg would be one line.",
        ),
        (
            "Yes, with a second bus (`feed_bus`) and a delay of a second.",
            "ok do it",
            "Yes, with a second bus (`feed_bus`) and a delay of a second.",
        ),
    ],
)
def test_a_proposal_is_told_in_many_forms(before: str, message: str, line: str) -> None:
    assert decided(before, message, "It runs.") == [line]


def test_what_shall_be_beside_a_proposal_is_told_with_it() -> None:
    before = "I'd weigh at night and feed in the morning."
    message = "do that. plus a lamp so nobody trips"
    assert decided(before, message, "Done.") == [
        before,
        "plus a lamp so nobody trips",
    ]


def test_a_line_that_leads_to_a_paste_is_not_what_a_choice_is_of() -> None:
    first = "log:\n  scale.py:41: drift 3.1 kg\nwhat is that"
    assert decided(HIVES, "2", "Ordered.", first) == [
        "One scale that is moved: cheap, and somebody has to walk"
    ]
