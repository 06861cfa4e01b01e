"""What a short message settles by what the agent then states as set."""

from __future__ import annotations

import pytest

from keeplore.capture.distill.acknowledged import answers_taken_up, sentences_taken_up
from keeplore.capture.distill.decisions import decisions
from keeplore.capture.distill.distiller import distill
from keeplore.memory import Exchange, Quote
from keeplore.text.sentences import sentences

AT = "2026-02-09T14:03:11Z"
FIRST = Exchange("t-0", AT, "The kiln log is a mess.", ("I tidied the columns.",))


def lines(message: str, reply: str) -> list[str]:
    exchange = Exchange("t-1", AT, message, (reply,))
    return [one.line for one in sentences_taken_up(sentences(message), exchange)]


@pytest.mark.parametrize(
    ("message", "reply", "line"),
    [
        (
            "bisque at 960",
            "The bisque program is 960 °C now.",
            "bisque at 960 → The bisque program is 960 °C now.",
        ),
        (
            "propane.",
            "Set: the burner runs on propane.",
            "propane. → Set: the burner runs on propane.",
        ),
        (
            "so 40",
            "Implemented with a 40 mm gap between the shelves.",
            "so 40 → Implemented with a 40 mm gap between the shelves.",
        ),
        (
            "glaze batches get the potter's initials, the year and a running number",
            "Noted: initials, year and running number name a glaze batch.",
            "glaze batches get the potter's initials, the year and a running number",
        ),
        (
            "6 stunden",
            "Die Abkühlzeit steht jetzt auf 6 Stunden.",
            "6 stunden → Die Abkühlzeit steht jetzt auf 6 Stunden.",
        ),
        (
            "gas y no leña",
            "Hecho: el horno usa gas, no leña.",
            "gas y no leña → Hecho: el horno usa gas, no leña.",
        ),
        (
            "le gaz, pas le bois",
            "Noté : le four utilise le gaz, pas le bois.",
            "le gaz, pas le bois → Noté : le four utilise le gaz, pas le bois.",
        ),
    ],
)
def test_what_the_agent_states_as_set_was_settled(
    message: str, reply: str, line: str
) -> None:
    assert lines(message, reply) == [line]


def test_each_part_of_a_message_stands_with_what_was_stated_of_it() -> None:
    reply = "Migrated:\n\n1. the log runs on SQLite\n2. the CSV export is deleted\n3. a reading every 5 minutes"
    assert lines("sqlite. CSV goes. 5 min then", reply) == [
        "sqlite. → the log runs on SQLite",
        "CSV goes. → the CSV export is deleted",
        "5 min then → a reading every 5 minutes",
    ]


@pytest.mark.parametrize(
    ("message", "reply"),
    [
        ("is it 960?", "The bisque program is 960 °C now."),
        ("please fix the 3 broken tests", "Fixed the 3 broken tests."),
        ("commit and push", "Committed and pushed."),
        ("it crashed at 960", "Updated: at 960 °C the relay opens."),
        ("maybe 960, not sure", "Noted: 960 °C, to be decided."),
        ("bisque at 960", "What do you want to fire at 960?"),
        (
            "bisque with the old clay always cracked at 960",
            "The reason for the crack at 960 °C is moisture.",
        ),
        ("and sweep the shelves", "The kiln is empty now."),
        # numbers of findings, and stages of the work
        ("address 28 and 41", "#28: Removed the second thermocouple."),
        ("OK, A was fine, proceed with B", "Kiln B is built, and its test OK."),
        (
            "Fix:\n2. The log of the kiln is unreadable",
            "Done. The log of the kiln is one line a reading now.",
        ),
        (
            "Fix:   2. The log of the kiln is unreadable",
            "Done. The log of the kiln is one line a reading now.",
        ),
    ],
)
def test_questions_work_trouble_and_doubts_settle_nothing(
    message: str, reply: str
) -> None:
    assert lines(message, reply) == []


def test_what_says_itself_that_something_goes_needs_no_more_than_a_yes() -> None:
    assert lines("the wood kiln goes", "Done: the page is gone.") == [
        "the wood kiln goes"
    ]
    assert lines("the wood kiln goes", "Which page do you mean?") == []


def test_a_figure_or_a_name_in_a_few_words_is_taken_up_in_any_form() -> None:
    reply = "The kiln joined on MQTT, first readings arrive.\n\n- interval: 10 minutes"
    assert lines("MQTT first. interval 10 min is plenty", reply) == [
        "MQTT first. → The kiln joined on MQTT, first readings arrive.",
        "interval 10 min is plenty → interval: 10 minutes",
    ]
    longer = "interval 10 min is plenty for us and for the others"
    assert lines(longer, reply) == []


def test_a_document_settles_nothing_in_passing() -> None:
    message = " ".join(["The shelves are 40 mm apart in kiln 2."] * 6)
    assert lines(message, "Noted: 40 mm.") == []


def test_what_is_said_as_a_decision_is_told_once() -> None:
    message = "let's use propane for the burner"
    exchange = Exchange("t-1", AT, message, ("Set: the burner runs on propane.",))
    assert [one.quote for one in decisions([FIRST, exchange])] == [
        Quote(message, "user", "t-1")
    ]


def test_what_was_settled_in_passing_is_a_decision() -> None:
    exchange = Exchange("t-1", AT, "bisque at 960", ("The program is 960 °C now.",))
    line = "bisque at 960 → The program is 960 °C now."
    assert [one.quote for one in decisions([FIRST, exchange])] == [
        Quote(line, "user", "t-1")
    ]


def test_a_first_message_settles_another_value_and_no_task() -> None:
    reply = "The glaze alarm now starts above 90 °C."
    told = [
        distill([Exchange("t-0", AT, message, (reply,))])["decision"]
        for message in ("make it 90", "add an alarm at 90", "an alarm at 90 please")
    ]
    assert told == [(Quote(f"make it 90 → {reply}", "user", "t-0"),), (), ()]


def test_what_is_told_of_a_measurement_settles_nothing() -> None:
    asked = "Can you hold a probe to the shelf and tell me what it reads?"
    assert decided(asked, "1180 at the top", "1180 is 40 too many.") == []
    told = "measured again, 1140 with the new plug"
    assert decided("I changed the plug.", told, "At 1140 the glaze melts.") == []


def decided(before: str, message: str, reply: str) -> list[str]:
    exchanges = [
        Exchange("t-0", AT, "The top shelf is too hot.", (before,)),
        Exchange("t-1", AT, message, (reply,)),
    ]
    return [one.quote.text for one in decisions(exchanges)]


@pytest.mark.parametrize(
    "line",
    [
        "Love the wheel idea.",
        "For the next order: only the red clay, never the white one again",
        "propane it is then.",
        "from january its 40 per shelf",
        "Starting next month, the limit is 12 firings",
    ],
)
def test_what_shall_be_is_said_in_many_forms(line: str) -> None:
    assert decided("I could put a wheel under it.", line, "Right.") == [line]


def test_a_retraction_takes_back_what_was_settled() -> None:
    exchanges = [
        Exchange(
            "t-0", AT, "Look at the log.", ("I'd suggest a folder for the logs.",)
        ),
        Exchange("t-1", AT, "ok", ("The folder is there, but full.",)),
        Exchange("t-2", AT, "Oh. Then no, scrap that.", ("It is gone.",)),
    ]
    assert decisions(exchanges) == []


@pytest.mark.parametrize(
    ("message", "reply", "said"),
    [
        ("put it in `close()`", "Got it:\n\n```python\ndef close(): ...\n```", []),
        ("move that to closeLog", "Got it:\n\n```js\ncloseLog() {}\n```", None),
        ("move that to closeLog", "Got it. The file is flushed.", []),
    ],
)
def test_a_place_that_the_reply_shows_in_its_code_is_settled(
    message: str, reply: str, said: list[str] | None
) -> None:
    assert lines(message, reply) == ([message] if said is None else said)


@pytest.mark.parametrize(
    "message", ["This file", "However, you forgot the head of the bill"]
)
def test_a_mere_pointing_and_a_reproach_settle_nothing(message: str) -> None:
    talk = [
        Exchange(
            "a",
            "2026-03-01T10:00:00Z",
            "the till prints nothing",
            ("Which file should the head of the bill stand in?",),
        ),
        Exchange(
            "b",
            "2026-03-01T10:05:00Z",
            message,
            ("Right, the head of the bill stands in this file now.",),
        ),
    ]
    assert [d.quote.text for d in decisions(talk) if message in d.quote.text] == []


@pytest.mark.parametrize(
    ("message", "reply"),
    [
        ("thank you and bye bye", "Bye! The kiln log is saved."),
        ("thanks, that's it for today", "Then the log stays as it is today."),
        ("good night everyone", "Good night! The kiln is off now, everyone can sleep."),
    ],
)
def test_a_good_bye_settles_nothing(message: str, reply: str) -> None:
    assert lines(message, reply) == []


def test_an_answer_stands_behind_no_words_of_the_persons_own() -> None:
    weighed = "**Shelf**\n- **Before**: 12 kg of clay\n- **After**: 9 kg of clay"
    order = "Please use the scale to double check the weights."
    before = Exchange("t-0", AT, order, (f"I weighed it again.\n\n{weighed}",))
    message = "Please adjust the label of the kiln to match the rest."
    reply = "You're absolutely right! Let me check the label and update it."
    exchange = Exchange("t-1", AT, message, (reply,))

    assert [*answers_taken_up(sentences(message), before, exchange)] == []
