"""Questions that a person puts off stay open, with the words that did so."""

from __future__ import annotations

import pytest

from keeplore.capture.distill.distiller import distill
from keeplore.capture.distill.held_statements import held_statements
from keeplore.capture.follow_ups import takes_up
from keeplore.memory import AgentQuestion, Conversation, Exchange, Quote

AT = "2026-02-09T14:03:11Z"
ASKED = "Which session store should we use?"
REPLY = "We could use Postgres or Redis for sessions. Which one do you want?"


def talk(*said: tuple[str, str]) -> list[Exchange]:
    return [
        Exchange(f"t-{n}", AT, user, (reply,)) for n, (user, reply) in enumerate(said)
    ]


def heads(*said: tuple[str, str]) -> tuple[tuple[Quote, ...], tuple[Quote, ...]]:
    """What is open, and what was decided."""
    parts = distill(talk(*said))
    return parts["open_questions"], parts["decision"]


@pytest.mark.parametrize(
    "words",
    [
        "Not now, let's decide after the beta",
        "Let's decide that after the beta.",
        "Later, first the login page.",
        "Let's park this until we have numbers",
        "I don't know yet, ask me next week",
        "We need to ask legal first",
        "not sure, let me talk to Dana",
        "TBD",
        "Leave it open for now",
        "Hm, I need to think about it",
        "We'll see after the load test",
        "let me talk to Dana first",
        "Rather not decide today, legal is away",
        "we first need to see what Redis costs",
        "Das entscheiden wir nach der Beta.",
        "Lass das erstmal offen",
        "Da frag ich erst den Betriebsrat",
        "Lass mich nochmal drüber schlafen",
        "todavía no",
        "on verra",
        "以后再说",
    ],
)
def test_a_question_that_is_put_off_is_open(words: str) -> None:
    line = Quote(f"{ASKED} → {words}", "user", "t-1")
    assert heads((ASKED, REPLY), (words, "Ok.")) == ((line,), ())


@pytest.mark.parametrize(
    "words", ["let me ask you for Redis", "Redis then, let me think of a name for it"]
)
def test_what_only_sounds_like_putting_off_leaves_nothing_open(words: str) -> None:
    opened, _ = heads((ASKED, REPLY), (words, "Ok."))
    assert opened == ()


@pytest.mark.parametrize(
    ("before", "behind", "is_open"),
    [(0, 5, True), (0, 6, False), (1, 0, True), (2, 0, False)],
    ids=["of six sentences", "of seven", "as the second", "as the third"],
)
def test_it_is_put_off_by_the_first_two_sentences_of_six(
    before: int, behind: int, *, is_open: bool
) -> None:
    words, other = "Let's decide that after the beta.", "The login page is red."
    message = " ".join([*[other] * before, words, *[other] * behind])
    line = Quote(f"{ASKED} → {words}", "user", "t-1")
    opened, _ = heads((ASKED, REPLY), (message, "Ok."))
    assert (line in opened) is is_open


def test_words_that_say_what_they_put_off_stand_alone() -> None:
    words = "let's revisit the cache size once we have traffic"
    line = Quote(words, "user", "t-1")
    assert heads((ASKED, REPLY), (words, "Ok.")) == ((line,), ())


@pytest.mark.parametrize("words", ["Skip it", "Neither.", "why not both?", "Not sure"])
def test_other_answers_leave_no_question_open(words: str) -> None:
    assert heads((ASKED, REPLY), (words, "Ok.")) == ((), ())


@pytest.mark.parametrize(
    "reply",
    ["The job is done.", "Done. Shall I commit it?", "Want me to open a pull request?"],
)
def test_work_that_is_put_off_is_no_open_question(reply: str) -> None:
    assert heads(("Fix the importer", reply), ("Not yet.", "Ok.")) == ((), ())


def test_what_is_decided_later_is_open_no_longer() -> None:
    found = heads(
        (ASKED, REPLY),
        ("Not now, let's decide after the beta", "Ok."),
        ("Fix the login page", "Fixed."),
        ("Let's use Redis for the sessions.", "Done."),
    )
    assert found == ((), (Quote("Let's use Redis for the sessions.", "user", "t-3"),))


def test_a_decision_on_another_matter_settles_nothing() -> None:
    words = "Not now, let's decide after the beta"
    decided = "Let's use pnpm for the web client."
    found = heads((ASKED, REPLY), (words, "Ok."), (decided, "Done."))
    assert found == (
        (Quote(f"{ASKED} → {words}", "user", "t-1"),),
        (Quote(decided, "user", "t-2"),),
    )


def test_it_is_told_as_one_statement_that_is_no_decision() -> None:
    words = "Not now, let's decide after the beta"
    exchanges = talk((ASKED, REPLY), (words, "Ok."))
    conversation = Conversation(
        "Session store",
        open_questions=distill(exchanges)["open_questions"],
        exchanges=tuple(exchanges),
    )
    told = [(one.text, one.is_decision) for one in held_statements(conversation)]
    assert told[-1] == (f"{ASKED} → {words}", False)
    assert (words, False) not in told


def test_the_talk_goes_on_where_a_question_is_put_off() -> None:
    assert takes_up("Not now, after the beta", [REPLY])
    assert not takes_up("Not now, after the beta", ["It is done."])


WANTED = "Could we render the diff in the files tab?"
PLAN = """# Plan: Render the diff in the files tab

## Change
Each line of the diff is drawn by `renderTabFiles` in its colour, which fixes the empty tab.
"""


def at_plan(
    answer: str, *before: AgentQuestion, behind: tuple[Exchange, ...] = ()
) -> list[Exchange]:
    asked = AgentQuestion("Proceed with this plan?", answer)
    replies = ("I read the tab's code.", *before, PLAN, asked)
    return [Exchange("t-0", AT, WANTED, replies), *behind]


def test_what_was_asked_for_is_open_where_the_talk_ends_at_the_plan_for_it() -> None:
    parts = distill(at_plan(""))
    assert parts["open_questions"] == (Quote(WANTED, "user", "t-0"),)
    others = [
        q.text for name, part in parts.items() if name != "open_questions" for q in part
    ]
    assert not any("diff" in text for text in others)


@pytest.mark.parametrize(
    "exchanges",
    [
        at_plan("Yes"),
        at_plan("", AgentQuestion("Which colours?", "Those of git.")),
        at_plan(
            "", behind=(Exchange("t-1", AT, "Go on, without colours.", ("Done.",)),)
        ),
        [Exchange("t-0", AT, WANTED, (PLAN,))],
        [Exchange("t-0", AT, WANTED, (AgentQuestion("Which colours?", ""),))],
    ],
)
def test_it_is_not_where_the_plan_was_approved_or_more_was_said(
    exchanges: list[Exchange],
) -> None:
    asked = distill(exchanges)["open_questions"]
    assert Quote(WANTED, "user", "t-0") not in asked


def test_a_plan_without_text_and_a_message_without_words_are_no_error() -> None:
    asked = AgentQuestion("Proceed with this plan?", "")
    assert distill([Exchange("t-0", AT, WANTED, (asked,))])["open_questions"] == (
        Quote(WANTED, "user", "t-0"),
    )
    assert distill([Exchange("t-0", AT, "!", (PLAN, asked))])["open_questions"] == ()
