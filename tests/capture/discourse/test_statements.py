"""Exchanges as statements: who said each, where it stands, and what it does."""

from __future__ import annotations

import pytest

from keeplore.capture.discourse.statements import DialogueAct, statements_of
from keeplore.memory import AgentQuestion, Exchange
from keeplore.text.sentences import answer_line

AT = "2026-03-01T10:00:00Z"


def said(user: str, *replies: str | AgentQuestion) -> list[Exchange]:
    return [Exchange("t1", AT, user, replies)]


def test_each_sentence_has_its_speaker_its_place_and_its_act() -> None:
    asked = AgentQuestion("Which queue?", "Postgres", ("Postgres", "Redis"))
    exchanges = said(
        "Jobs get lost. We decided to use one database.",
        "Let me look at the worker.",
        asked,
        "## Summary\n\nMoved the queue to Postgres. The worker polls every second. "
        "I suggest an index on `state`. Shall I add it?",
    )
    found = [
        (s.speaker, s.message, s.place, s.size, s.is_final, s.act, s.text)
        for s in statements_of(exchanges)
    ]
    assert found == [
        ("user", 0, 0, 2, False, DialogueAct.REQUEST, "Jobs get lost."),
        (
            "user",
            0,
            1,
            2,
            False,
            DialogueAct.DECISION,
            "We decided to use one database.",
        ),
        (
            "assistant",
            1,
            0,
            1,
            False,
            DialogueAct.ANNOUNCEMENT,
            "Let me look at the worker.",
        ),
        ("user", 2, 0, 1, False, DialogueAct.ANSWER, "Which queue? → Postgres"),
        ("assistant", 3, 0, 5, True, DialogueAct.HEADING, "Summary"),
        (
            "assistant",
            3,
            1,
            5,
            True,
            DialogueAct.REPORT,
            "Moved the queue to Postgres.",
        ),
        (
            "assistant",
            3,
            2,
            5,
            True,
            DialogueAct.FINDING,
            "The worker polls every second.",
        ),
        (
            "assistant",
            3,
            3,
            5,
            True,
            DialogueAct.PROPOSAL,
            "I suggest an index on `state`.",
        ),
        ("assistant", 3, 4, 5, True, DialogueAct.QUESTION, "Shall I add it?"),
    ]


def test_a_question_that_was_declined_states_nothing() -> None:
    assert statements_of(said("", AgentQuestion("Which queue?", ""))) == ()


def test_of_a_paste_only_the_beginning_and_the_background_are_the_persons_own() -> None:
    lines = [f"Point {n} is about the parser." for n in range(20)]
    page = "\n\n".join(["Here is the report.", *lines, "## Background", "It crashed."])
    found = statements_of(said(page))
    own = [
        s.text for s in found if s.act not in (DialogueAct.PASTED, DialogueAct.HEADING)
    ]
    assert own == [
        "Here is the report.",
        "Point 0 is about the parser.",
        "Point 1 is about the parser.",
        "It crashed.",
    ]


@pytest.mark.parametrize(
    ("question", "answer", "line"),
    [
        ("Which\nqueue?", "Postgres", "Which queue? → Postgres"),
        ("w " * 400, "yes", f"{'w ' * 146}w → yes"),
        ("w " * 10, "v " * 400, f"{'w ' * 9}w → {'v ' * 138}v"),
        ("w " * 400, "v " * 400, f"{'w ' * 73}w → {'v ' * 74}v"),
    ],
)
def test_an_answer_is_one_line_with_its_question(
    question: str, answer: str, line: str
) -> None:
    assert answer_line(question, answer) == line


@pytest.mark.parametrize(
    ("reply", "quoted"),
    [
        (
            (
                "## Root cause\n\nThe worker polls a table without an index.\n\n"
                "**Fix**: an index on `state`.\n\n## Result\n\nA poll takes a millisecond."
            ),
            [
                "Root cause",
                "Root cause: The worker polls a table without an index.",
                "Fix: an index on `state`.",
                "Result",
                "A poll takes a millisecond.",
            ],
        ),
        (
            (
                "**What was actually wrong** — two defects:\n\n"
                "1. Exports default to CSV\n2. The fix of May was lost\n\nExports default to JSON now."
            ),
            [
                "What was actually wrong — two defects:",
                "What was actually wrong: Exports default to CSV",
                "What was actually wrong: The fix of May was lost",
                "Exports default to JSON now.",
            ],
        ),
        (
            "## The problem with time zones in reports of the last quarter\n\nThey shift.",
            [
                "The problem with time zones in reports of the last quarter",
                "They shift.",
            ],
        ),
    ],
)
def test_what_stands_under_a_heading_of_what_was_wrong_is_quoted_with_it(
    reply: str, quoted: list[str]
) -> None:
    found = statements_of(said("Why?", reply))[1:]
    assert [statement.quote.text for statement in found] == quoted
