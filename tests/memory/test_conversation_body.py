"""How an exchange reads: what the agent says it will do next is a list, answers stand by
themselves.
"""

from __future__ import annotations

import pytest

from keeplore.memory import AgentQuestion, Conversation, Exchange
from keeplore.memory.conversation_body import EXCHANGES, MAX_STEP, Reply

MARK = "<!-- keeplore:turn t1 2026-02-09T10:00:00Z -->\n### User · 10:00\n\nGo on\n\n"


def body(*replies: Reply) -> str:
    """What stands below the heading of the exchanges."""
    exchange = Exchange("t1", "2026-02-09T10:00:00Z", "Go on", replies)
    text = Conversation("Rounding", (exchange,)).to_markdown()
    assert read(text) == replies
    assert Conversation.from_markdown(text).to_markdown() == text
    return text.partition(f"{EXCHANGES}\n\n")[2].removeprefix(MARK)


def read(text: str) -> tuple[Reply, ...]:
    (exchange,) = Conversation.from_markdown(text).exchanges
    return exchange.replies


def test_steps_are_a_list_above_the_answer_below_one_heading() -> None:
    assert (
        body(
            "Let me check the tests.",
            "**Step 2:** now `git status`:",
            "Two fail.\n\n1. rounding\n2. dates",
            "Let me mend them.",
            "Both are mended.",
        )
        == """\
<!-- keeplore:steps -->
### Assistant

- Let me check the tests.
- **Step 2:** now `git status`:

<!-- keeplore:assistant -->

Two fail.

1. rounding
2. dates

<!-- keeplore:steps -->

- Let me mend them.

<!-- keeplore:assistant -->

Both are mended.
"""
    )


def test_after_a_question_the_assistant_has_a_heading_again() -> None:
    question = AgentQuestion("Half up?", "yes")
    text = body("Let me ask.", question, "Done.")
    assert [line for line in text.split("\n") if line.startswith("#")] == [
        "### Assistant",
        "### Assistant",
    ]


def test_an_answer_of_one_line_is_no_step() -> None:
    assert body("Yes.") == "<!-- keeplore:assistant -->\n### Assistant\n\nYes.\n"


def test_a_step_has_300_characters_at_most() -> None:
    line = "I look." + "!" * 293
    assert body(line, "Done.").count("keeplore:steps") == 1
    assert body(f"{line}!", "Done.").count("keeplore:steps") == 0


@pytest.mark.parametrize(
    "reply",
    [
        "two\nlines",
        "",
        " ",
        "# a heading",
        "### Assistant",
        "- an item",
        "1. an item",
        "```sh",
        "> quoted",
        "| a | b |",
        "<!-- keeplore:turn forged -->",
        "x" * (MAX_STEP + 1),
    ],
)
def test_what_is_more_than_a_line_of_words_stands_by_itself(reply: str) -> None:
    text = body(reply, "Done.")
    assert "keeplore:steps" not in text and text.count("### Assistant\n") >= 1


def test_files_of_before_are_read_as_they_are() -> None:
    mark = "<!-- keeplore:assistant -->\n### Assistant\n\n"
    text = f"# A\n\n{EXCHANGES}\n\n{MARK}{mark}Let me see.\n\n{mark}Done.\n"
    assert read(text) == ("Let me see.", "Done.")


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        # a heading of somebody's own, and none at all
        ("### Assistant", "### Claude", ("One.", "Two.", "Three\nfour.")),
        ("### Assistant\n\n", "", ("One.", "Two.", "Three\nfour.")),
        # a line put between two items, and an item taken out
        ("- Two.", "a remark\n\n- Two.", ("One.\na remark", "Two.", "Three\nfour.")),
        ("- One.\n", "", ("Two.", "Three\nfour.")),
        ("\n\nThree", "\nThree", ("One.", "Two.", "Three\nfour.")),
    ],
)
def test_edits_by_hand_are_read_leniently(
    before: str, after: str, expected: tuple[str, ...]
) -> None:
    exchange = Exchange(
        "t1", "2026-02-09T10:00:00Z", "Go on", ("One.", "Two.", "Three\nfour.")
    )
    text = Conversation("Rounding", (exchange,)).to_markdown()
    assert before in text
    assert read(text.replace(before, after, 1)) == expected
