"""An option that the person takes in place of the one that they picked first."""

from __future__ import annotations

import pytest

from keeplore.capture.distill.decisions import decisions
from keeplore.capture.distill.distiller import distill
from keeplore.capture.notes.note_candidates import candidates
from keeplore.memory import AgentQuestion, Exchange, Quote

AT = "2026-02-09T14:03:11Z"
ASKED = "Which session store should the shop use?"
OPTIONS = """Two options:

A) Redis: fast, but one more service to run.
B) SQLite file: nothing to run.

I recommend B. Which one?"""
FIRST = Quote(f"{ASKED} → Redis: fast, but one more service to run.", "user", "t-1")
SECOND = f"{ASKED} → SQLite file: nothing to run."


def talk(*said: tuple[str, str]) -> list[Exchange]:
    return [
        Exchange(f"t-{n}", AT, user, (reply,)) for n, (user, reply) in enumerate(said)
    ]


def changed(correction: str) -> list[Exchange]:
    return talk(
        (ASKED, OPTIONS),
        ("A", "Redis it is."),
        ("add the config", "Done."),
        (correction, "Fine."),
    )


@pytest.mark.parametrize(
    ("answer", "line"),
    [
        ("SQLite file. Redis is too much for one shop.", SECOND),
        ("Let's take the SQLite file, please.", SECOND),
        (
            "B, with a nightly copy. Redis is too much for one shop.",
            "SQLite file: nothing to run. → B, with a nightly copy.",
        ),
    ],
)
def test_an_option_is_picked_by_its_name_and_by_its_label_before_more(
    answer: str, line: str
) -> None:
    found = decisions(talk((ASKED, OPTIONS), (answer, "Fine.")))
    assert line in [decision.quote.text for decision in found]


def test_a_label_that_is_taken_beside_a_rejection_names_its_option() -> None:
    answer = "B, with a nightly copy. No Redis: one more thing to run."
    found = decisions(talk((ASKED, OPTIONS), (answer, "Fine.")))
    assert [decision.quote.text for decision in found] == [
        f"{SECOND} → B, with a nightly copy."
    ]


@pytest.mark.parametrize("answer", ["Redis is down again", "SQLite or Redis, hm"])
def test_what_only_begins_with_a_name_picks_nothing(answer: str) -> None:
    assert decisions(talk((ASKED, OPTIONS), (answer, "I see."))) == []


@pytest.mark.parametrize(
    ("correction", "line"),
    [
        ("No wait, make it SQLite.", SECOND),
        ("Actually, SQLite. Redis is overkill.", SECOND),
        ("Actually let's go with B instead", SECOND),
        ("hmm, on second thought B", SECOND),
        ("No, not Redis. SQLite please.", SECOND),
        ("B after all", SECOND),
        ("the second one after all", SECOND),
        ("Scrap Redis, use SQLite", f"{ASKED} → Scrap Redis, use SQLite"),
        (
            "I changed my mind: let's use SQLite, since we only have one server",
            f"{ASKED} → I changed my mind: let's use SQLite, since we only have one server",
        ),
    ],
)
def test_the_option_that_is_taken_instead_stands_alone(
    correction: str, line: str
) -> None:
    exchanges = changed(correction)
    quote = Quote(line, "user", "t-3")
    assert [decision.quote for decision in decisions(exchanges)] == [quote]
    found = [
        (c.text, c.quote, c.choice and c.choice.question) for c in candidates(exchanges)
    ]
    assert found == [(line, quote, ASKED)]


@pytest.mark.parametrize(
    "said",
    [
        "what about SQLite instead?",
        "Actually, can you show me B again?",
        "no, Redis needs TLS",
        "No, SQLite is not needed in the tests",
        "instead of B show me the docs",
        "SQLite is what my last project used",
    ],
)
def test_what_only_speaks_of_an_option_takes_none(said: str) -> None:
    assert [decision.quote for decision in decisions(changed(said))] == [FIRST]


def test_an_answer_in_form_can_be_changed_too() -> None:
    asked = AgentQuestion("Which database?", "Postgres", ("Postgres", "SQLite"))
    exchanges = [
        Exchange("t-0", AT, "Set the shop up", (asked, "Postgres runs.")),
        *(
            Exchange(f"t-{n}", AT, said, ("Done.",))
            for n, said in enumerate(("Add a health check", "Wait, SQLite instead"), 1)
        ),
    ]
    assert [decision.quote for decision in decisions(exchanges)] == [
        Quote("Which database? → SQLite", "user", "t-2")
    ]


def test_why_the_other_option_was_dropped_is_a_reason() -> None:
    parts = distill(changed("No wait, make it SQLite. Redis is one more thing to run."))
    assert parts["decision"] == (Quote(SECOND, "user", "t-3"),)
    assert parts["reasoning"] == (
        Quote("Redis is one more thing to run.", "user", "t-3"),
    )


def test_a_note_of_a_pick_tells_question_and_picker() -> None:
    asked = "Where do we store money amounts?"
    listed = "A) Floats\nB) Integer cents in a BIGINT column\n\nWhich?"
    [note] = candidates(talk((asked, listed), ("B", "Done.")))
    line = f"{asked} → Integer cents in a BIGINT column"
    assert (note.text, note.title) == (line, line)
    assert note.quote == Quote(line, "user", "t-1")


def test_a_correction_without_a_word_of_a_decision_ends_what_it_speaks_of() -> None:
    offered = (
        "I can add five retries with exponential backoff.\n\nShall I do five retries?"
    )
    corrected = "Actually no: three retries are enough, because the partner blocks us after four."
    exchanges = talk(
        ("Add retries to the sender", offered),
        ("yes, do that", "Done."),
        (corrected, "Three."),
    )
    assert [decision.quote for decision in decisions(exchanges)] == [
        Quote(corrected, "user", "t-2")
    ]


def test_a_correction_of_something_else_ends_nothing() -> None:
    exchanges = changed("No wait, the parser drops the last line of each file.")
    assert [decision.quote for decision in decisions(exchanges)] == [FIRST]


def test_the_lead_of_a_list_is_the_question_also_where_its_last_option_asks() -> None:
    reply = """For the picker, should spots over 30 minutes:

1. Stay visible but disabled (recommended for clarity), or
2. Be removed from the list?"""
    found = decisions(talk(("Filter the spots.", reply), ("1", "Done.")))
    line = "For the picker, should spots over 30 minutes → Stay visible but disabled"
    assert [decision.quote.text for decision in found] == [line]


def test_a_proposal_that_names_an_option_by_its_label_is_told_by_its_words() -> None:
    reply = """Two designs:

1. One rule for all spots: less code.
2. A rule for each kind: more to say.

I recommend approach 1. Should I go on with approach 1?"""
    found = decisions(talk(("How do we filter?", reply), ("looks right", "Done.")))
    assert [d.quote.text for d in found] == ["One rule for all spots: less code."]


def test_an_offer_that_only_asks_shall_i_is_about_the_sentence_before_it() -> None:
    reply = "The table is unused. I can remove the dummy table and its types. Shall I?"
    found = decisions(talk(("Why is it there?", reply), ("yes please", "Removed.")))
    told = [decision.quote.text for decision in found]
    assert told == ["I can remove the dummy table and its types."]


def test_the_note_of_an_option_is_without_the_name_that_its_list_gave_it() -> None:
    reply = """Three ways:

- Option A: a suffix in the table's name
- Option B: an argument for the versions of all tables"""
    exchanges = talk(("How do we read old versions?", reply), ("Option B", "Done."))
    noted = [candidate.text for candidate in candidates(exchanges)]
    line = "How do we read old versions? → an argument for the versions of all tables"
    assert noted == [line]


def test_a_pick_of_a_bold_letter_is_told_once_and_not_behind_a_step_of_the_work() -> (
    None
):
    reply = """Three orders to build it in:

- **(a)** the frontend, then the database
- **(b)** the database first, to try the backend alone
- **(c)** the simulator"""
    exchanges = talk(("Start phase 1.", reply), ("let's go with option b.", "Done."))
    told = [decision.quote.text for decision in decisions(exchanges)]
    assert told == ["the database first, to try the backend alone"]


def test_an_option_stands_behind_the_question_that_a_message_begins_with() -> None:
    asked = "where should sessions go? right now it's a folder and it's already full"
    options = OPTIONS.replace("I recommend B. Which one?", "I recommend A.")
    found = decisions(talk((asked, options), ("B", "Fine.")))
    assert [decision.quote.text for decision in found] == [
        "where should sessions go? → SQLite file: nothing to run."
    ]
