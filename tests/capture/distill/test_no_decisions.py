"""What looks like a decision and is none: nobody chose, nothing is said, or it was said before."""

from __future__ import annotations

import pytest

from keeplore.capture.distill.distiller import distill
from keeplore.memory import AgentQuestion, Exchange

STORE = "Where shall the drafts be stored?"
REVIEW = """Here is what I found:

| file | finding |
|---|---|
| `drafts.py` | **Copied** from `notes.py`, it should be kept in one place. |

The `Draft` class must stay free of any call to the network."""
COPIED = "Copied from notes.py, it should be kept in one place."


def decided(*said: str | AgentQuestion) -> list[str]:
    exchanges = [
        Exchange(
            f"t{n}", "2026-03-01T10:00:00Z", str(words), said[2 * n + 1 : 2 * n + 2]
        )
        for n, words in enumerate(said[::2])
    ]
    found = distill(exchanges)
    return [
        quote.text for part in ("decision", "also_decided") for quote in found[part]
    ]


@pytest.mark.parametrize(
    "answer",
    [
        "You decide / talk about it",
        "up to you",
        "It's up to you, I don't mind.",
        "Whatever you think is best!",
        "your call — no preference",
        "Let's discuss this first",
        "你决定吧",
        "Du entscheidest",
        "à toi de voir",
        "lo que prefieras",
    ],
)
def test_an_answer_that_leaves_the_choice_to_the_agent_decides_nothing(
    answer: str,
) -> None:
    options = ("A folder", "A table", answer)
    assert decided("keep drafts", AgentQuestion(STORE, answer, options)) == []


@pytest.mark.parametrize(
    "answer",
    [
        "A table",
        "You decide the name, but it stays a folder",
        "up to you, but no table",
        "Whatever you like except a table",
        "Decide per user",
        "None",
    ],
)
def test_an_answer_that_settles_a_part_is_a_decision(answer: str) -> None:
    assert decided("keep drafts", AgentQuestion(STORE, answer)) == [
        f"{STORE} → {answer}"
    ]


def test_a_point_that_is_left_to_the_agent_is_not_answered_by_its_number() -> None:
    points = (
        "1. Which name for the table?\n2. How many drafts at most?\n\nWhat do you say?"
    )
    assert decided("keep drafts", points, "1. up to you\n2. twenty drafts") == [
        "twenty drafts"
    ]


@pytest.mark.parametrize(
    "line",
    [
        "We decided to keep drafts out of the index, because:",
        "Let's use the folder of the project for this, cause:",
        "我们决定用文件夹：",
    ],
)
def test_a_line_that_leads_into_a_list_is_no_decision(line: str) -> None:
    listed = f"{line}\n\n- drafts are read by their writer\n- nobody searches them"
    assert decided(listed, "Fine.") == []
    assert decided("what now?", listed) == []


@pytest.mark.parametrize(
    "reaction",
    [
        "Agreed — that label is quite confusing.",
        "Agreed: that's odd for a reader of drafts.",
        "Agreed - those two names look far too alike.",
    ],
)
def test_to_find_that_something_is_so_decides_nothing(reaction: str) -> None:
    assert decided("the label of the draft page is wrong", reaction) == []
    assert decided("rename it?", "It says Notes.", reaction) == []


@pytest.mark.parametrize(
    "settled",
    [
        "Agreed: drafts stay in the folder of the project.",
        "Agreed — that label must name the draft.",
        "Agreed: this is stored once, not for each draft",
        "Decision: that label is the name of the draft.",
    ],
)
def test_what_is_agreed_to_be_done_is_a_decision(settled: str) -> None:
    assert decided("name the drafts", "Two names are possible.", settled) == [settled]


@pytest.mark.parametrize("marks", ["{}", "⚠️ {}", "> {}"])
def test_a_finding_that_is_handed_back_with_a_question_is_no_decision(
    marks: str,
) -> None:
    said = f"Can you look into this one?\n\n{marks.format(COPIED)}"
    assert decided("review the drafts", REVIEW, said) == []
    assert decided("review the drafts", REVIEW, "and the rest?", "Fine.", said) == []


def test_what_comes_back_alone_or_with_a_yes_is_meant_to_be_followed() -> None:
    assert decided("review the drafts", REVIEW, COPIED) == [COPIED]
    assert decided("review the drafts", REVIEW, f"Yes. {COPIED} Do it now.") == [COPIED]


def test_the_persons_own_words_are_theirs_also_where_the_agent_repeats_them_later() -> (
    None
):
    said = f"I read it. {COPIED}"
    assert decided(said, REVIEW) == [COPIED]
    short = "I read it. Drafts must be plain files."
    assert decided("review", f"{REVIEW} Drafts must be plain files.", short) == [
        "Drafts must be plain files."
    ]


@pytest.mark.parametrize(
    ("offer", "told"),
    [
        (
            "I can add a variable for the model, so that no code is edited:",
            ["I can add a variable for the model, so that no code is edited"],
        ),
        ("I can split the drafts from the notes in this order, with a test each:", []),
    ],
)
def test_an_offer_that_was_agreed_to_is_told_without_what_it_shows(
    offer: str, told: list[str]
) -> None:
    shown = f"{offer}\n\n```python\nMODEL = 1\n```\n\nWant me to add that?"
    assert decided("How easy is it to switch?", shown, "sure.", "Done.") == told


@pytest.mark.parametrize(
    ("order", "found"),
    [
        ("Add amount_cents to refunds too", []),
        ("Please add a timeout of five seconds to queue.py", []),
        ("Can you please add tests for the new check of the version?", []),
        ("Could you also just write a page on the five states?", []),
        ("Rename the column to total_cents in the migration", []),
        ("Let's design the permission model for shared albums", []),
        (
            "Add a timeout to queue.py, because the broker hangs at night",
            ["Add a timeout to queue.py, because the broker hangs at night"],
        ),
        (
            "Add the label to the same card, we should keep one issue a change",
            ["Add the label to the same card, we should keep one issue a change"],
        ),
    ],
)
def test_an_order_of_the_moment_decides_nothing_without_more(
    order: str, found: list[str]
) -> None:
    assert decided(order, "Done.") == found


@pytest.mark.parametrize(
    ("asked", "is_put"),
    [
        ("Does this change our plan for where these functions should live?", False),
        ("Do you know which of the two drafts should come first?", False),
        ("Should it say of each draft which of them is the newest?", True),
        ("Shouldn't the drafts live beside the notes of a project?", True),
    ],
)
def test_a_question_for_what_should_be_puts_no_way_that_the_agent_could_find_right(
    asked: str, is_put: bool
) -> None:
    answer = "The drafts then live in a package that both commands read."
    expected = [f"{asked} → {answer}"] if is_put else []
    assert decided("move the command", "Done.", asked, f"Right. {answer}") == expected


@pytest.mark.parametrize(
    "message",
    [
        "So I've got three kilns and I want a log for each of them.",
        "The fair is on Saturday and I have to price 60 bowls.",
        "Kiln two is broken, need to move its bowls.",
        "We need a list of all glazes.",
    ],
)
def test_what_somebody_begins_with_is_wanted_and_not_decided(message: str) -> None:
    assert decided(message, "I will look at the records.") == []


def test_how_a_thing_shall_be_is_decided_in_a_first_message_too() -> None:
    message = "I want a table for the glazes, because a folder gets lost."
    assert decided(message, "I will look at the records.") == [message]


def test_a_question_without_its_mark_decides_nothing() -> None:
    said = ("The list is ready.", "can't we just use a folder for that list")
    assert decided("Make a list.", *said, "It could.") == []


def test_that_some_are_fine_decides_nothing() -> None:
    said = ("Are the three broken bowls all red?", "yes. The blue ones are fine")
    assert decided("Some bowls broke.", *said, "Then it is the red clay.") == []


@pytest.mark.parametrize(
    "rule",
    [
        "So 72 was too optimistic: the minimum is 80 from now on, the gap may remain.",
        "tests that fail on CI get a ticket from now on, pressing rerun is not an answer.",
        "btw pls dont bury numbers in the scripts anymore",
        "Also, please stop adding default exports any more.",
    ],
)
def test_a_rule_in_passing_is_decided(rule: str) -> None:
    assert decided("How far is it?", "Half of it works.", rule, "Noted.") == [rule]


@pytest.mark.parametrize(
    "told",
    [
        "I'll run them myself from now on",
        "That would slow everything down from now on",
        "i dont get it anymore",
        "the tests don't pass anymore",
        "don't they pass anymore?",
    ],
)
def test_what_only_tells_how_things_are_rules_nothing(told: str) -> None:
    assert decided("How far is it?", "Half of it works.", told, "I see.") == []


def test_a_slip_of_the_persons_decides_nothing() -> None:
    said = "oh no, I forgot to restart the shop after the change."
    reply = "The shop is restarted after each change now."
    assert decided("keep drafts", "They are in a table.", said, reply) == []


def test_to_leave_it_to_the_agents_judgement_decides_nothing() -> None:
    ways = "You could keep two of the checks, or one. Which do you prefer?"
    said = "use your best judgement and make it concise"
    assert decided("do we need all of it?", ways, said, "It has two checks.") == []


def test_what_only_announces_the_next_sentence_decides_nothing() -> None:
    ways = "Pros: one place.\n\nCons: a migration.\n\nShould I keep drafts in a table?"
    said = "Here's another advantage. Drafts in a table can be searched by author and date."
    reply = "Ah yes, that's a really important advantage! I plan it so that drafts are searched."
    announced = "Here's another advantage."
    assert not [
        line
        for line in decided("What about a table for drafts?", ways, said, reply)
        if line.startswith(announced)
    ]


def test_what_follows_from_what_works_is_decided() -> None:
    said = "anyway the table works, so get rid of the second copy of drafts"
    assert said in decided("keep drafts", "They are in a table.", said, "It is gone.")


FIX = (
    "You can either copy the rows, or move the sum before the loop. Either way is fine."
)


@pytest.mark.parametrize(
    ("said", "reply"),
    [
        (
            "oh boy ... that was so obvious. thanks",
            "No problem! It is a classic gotcha.",
        ),
        ("Similar error, different macro:", "The same happens in `drawCircle`."),
        (
            "Uncaught TypeError: x is undefined\n    at draw (macros.js:34:1)",
            "I pass `text` to all macros now.",
        ),
        (
            "ok vitest installed and the sample test runs.",
            "Good: Vitest runs on Node 20.",
        ),
        ("i unchecked and restarted the editor", "The editor is restarted now."),
        ("It responded to me like that", "I added a rule for the sum before the loop."),
        ("the page showed the old sum", "I moved the sum before the loop now."),
        (
            "i somehow am not able to use the venv when running wsgi.py",
            "The policy blocks the script.",
        ),
        (
            "when did we move it? since i understood the filter should help us get a clean history",
            "It was moved in December.",
        ),
    ],
)
def test_a_report_an_error_and_an_exclamation_decide_nothing(
    said: str, reply: str
) -> None:
    assert decided("why is the sum empty?", FIX, said, reply) == []


def test_what_is_said_beside_a_pasted_error_is_decided() -> None:
    said = "use node 20 instead\nnpm error code 1\nnpm error path deasync"
    assert "use node 20 instead" in " ".join(
        decided("add tests", "I use node 23.", said, "Node 20 it is.")
    )


@pytest.mark.parametrize(
    "shown", ["@/home/ann/shop/terminals/2.txt:1016-1020", "https://git.example/shop"]
)
def test_a_file_or_a_link_that_is_shown_decides_nothing(shown: str) -> None:
    asked = "The seed script wants a database. Do you have one, or shall I set one up?"
    told = "The seed ran well, shop and terminals are in the database now."
    assert decided("how do i seed it?", asked, shown, told) == []


@pytest.mark.parametrize(
    "report",
    [
        "The page is fixed and the totals are right.",
        "The button is right below the form now.",
    ],
)
@pytest.mark.parametrize(
    "message",
    ["the page loads later than before", "later versions of node fail"],
)
def test_what_is_said_behind_a_report_that_all_is_right_is_no_answer(
    report: str, message: str
) -> None:
    reply = "The cause is a stale cache in `load.py`, and I cleared it."
    assert decided("fix the page", report, message, reply) == []


def test_the_question_that_a_talk_begins_with_is_no_decision() -> None:
    asked = "the nightly import takes 40 minutes, can we speed it up?"
    ways = "Two ways: batch the inserts, or drop the indexes meanwhile."
    assert decided(asked, ways, "what would the first cost?", "Half a day.") == []
