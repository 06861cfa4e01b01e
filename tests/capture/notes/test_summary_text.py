"""What a host's summary says, without what the host says to the agent in it."""

from __future__ import annotations

import pytest

from keeplore.capture.notes.summary_text import stated_goal, substance

WANTED = """1. Primary Request and Intent:
   - Implement a timestamp safety check for the `resume` command that warns of newer logs.
   - Show prompts in the warning messages

2. Pending Tasks:
   - Remove the duplicate functions"""
CLAUDE_TAIL = (
    "If you need specific details from before compaction (like exact code snippets, error "
    "messages, or content you generated), read the full transcript at: ~/.claude/x.jsonl"
)
CLAUDE_ORDERS = (
    (
        "Please continue the conversation from where we left it off without asking the user any "
        "further questions. Continue with the last task that you were asked to work on."
    ),
    (
        "Please continue the conversation from where we left off without asking the user any further "
        "questions. Continue with the last task that you were asked to work on."
    ),
    (
        "Continue the conversation from where it left off without asking the user any further "
        "questions. Resume directly — do not acknowledge the summary, do not recap what was happening."
    ),
    "Recent messages are preserved verbatim.",
    (
        "Continue the conversation from where it left off without asking the user any further "
        "questions.\n\nThe messages after this summary are the most recent messages from before "
        "compaction, kept verbatim. The summary was written without seeing them."
    ),
    "",
)
CLAUDE_HEADS = (
    (
        "This session is being continued from a previous conversation that ran out of context. The "
        "summary below covers the earlier portion of the conversation.\n\n"
    ),
    (
        "This session is being continued from a previous conversation that ran out of context. The "
        "conversation is summarized below:\n"
    ),
    "",
)
NOTES = (
    "Analysis:\nLet me go through the conversation:\n\n1. **Initial request**: a check\n\nSummary:\n",
    "<analysis>\nLet me go through it.\n</analysis>\n\n<summary>\n",
    "Summary:\n",
    "",
)


@pytest.mark.parametrize("orders", CLAUDE_ORDERS)
@pytest.mark.parametrize("notes", NOTES)
@pytest.mark.parametrize("head", CLAUDE_HEADS)
def test_of_a_summary_of_claude_code_only_its_substance_is_left(
    head: str, notes: str, orders: str
) -> None:
    closing = "\n</summary>" if "<summary>" in notes else ""
    text = f"{head}{notes}{WANTED}{closing}\n\n{CLAUDE_TAIL}\n{orders}\n"
    assert substance(text) == WANTED
    assert stated_goal(substance(text)) == (
        "Implement a timestamp safety check for the resume command that warns of newer logs"
    )


def test_of_a_summary_of_codex_it_is_not_said_where_it_comes_from() -> None:
    text = (
        "Another language model started to solve this problem and produced a summary of its "
        "thinking process. You also have access to the state of the tools. Here is the summary "
        "produced by the other language model, use it to assist with your own analysis:\n"
        "The queue moved to Postgres. The worker is next."
    )
    assert substance(text) == "The queue moved to Postgres. The worker is next."


def test_what_follows_the_preface_on_its_line_is_substance() -> None:
    for preface in (
        "This session is being continued from a previous conversation.",
        "Another language model started to solve this problem and summed it up.",
    ):
        assert substance(f"{preface} We took SQLite.") == "We took SQLite."


def test_the_elements_of_gemini_and_copilot_become_headings() -> None:
    text = (
        "<overall_goal>\n    Move the queue to Postgres.\n</overall_goal>\n"
        "<key_knowledge>- one table</key_knowledge>\n<next_steps> unclosed"
    )
    expected = (
        "## Overall goal\n\nMove the queue to Postgres.\n\n"
        "## Key knowledge\n\n- one table\n<next_steps> unclosed"
    )
    assert substance(text) == expected
    assert stated_goal(expected) == "Move the queue to Postgres"


def test_a_summary_of_opencode_is_substance_as_it_is() -> None:
    text = "## Goal\n\nThe user wants to move the queue to Postgres.\n\n## Instructions\n\n- no Redis"
    assert substance(text) == text
    assert stated_goal(text) == "move the queue to Postgres"


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("User initially asked to review the branch. Then more", "review the branch"),
        (
            "The user wanted to add an end to sessions by:\n- a field",
            "add an end to sessions",
        ),
        ("The overarching goal is a fast index. It", "a fast index"),
        ("The user initially reported a broken index. Then", "a broken index"),
        ("The user's overarching request was to improve `watch`", "improve watch"),
        (
            "The user reported that v1.2.3 breaks e.g. git",
            "The user reported that v1.2.3 breaks e.g. git",
        ),
    ],
)
def test_the_aim_is_said_without_who_had_it(said: str, expected: str) -> None:
    assert (
        stated_goal(f"1. Primary Request and Intent:\n   {said}\n2. Files:\n- a.py")
        == expected
    )


def test_a_text_without_headings_names_no_aim() -> None:
    assert stated_goal("The queue moved to Postgres.") == ""


def test_talk_about_summaries_is_left_alone() -> None:
    text = "We print the Analysis: as it is.\n\nContinue the conversation\nwith Summary: none"
    assert substance(text) == text


def test_a_summary_of_orders_alone_says_nothing() -> None:
    assert substance(f"{CLAUDE_HEADS[0]}{CLAUDE_TAIL}\n{CLAUDE_ORDERS[0]}") == ""
