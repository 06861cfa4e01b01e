"""What of an exchange somebody reads who does not ask for every word."""

from __future__ import annotations

from keeplore.memory import AgentQuestion, Exchange
from keeplore.workspace.reading.spoken_exchange import is_shortened, spoken_messages

PLAN = "\n".join(
    f"{n}. Move the {what} of the ledger to the new schema first."
    for n, what in enumerate(
        ("accounts", "entries", "owners", "rates", "taxes", "closings", "locks", "logs")
    )
)
TALK = Exchange(
    "turn-one",
    "2026-09-21T14:00:00Z",
    "Which table comes first?",
    (
        "Let me look at the schema.",
        "Now I'll read the migrations:",
        "The entries refer to accounts, so accounts must exist before.",
        f"{PLAN}\n9. Drop the old tables right away, without a backup.",
        AgentQuestion("Approve the plan?", "No, keep the old tables for a month."),
        f"{PLAN}\n9. Keep the old tables until the end of October.",
        "Now let me run the tests:",
    ),
)


def test_remarks_on_the_next_step_and_drafts_are_named_and_not_shown() -> None:
    assert list(spoken_messages(TALK, is_full=False)) == [
        ("user", "Which table comes first?"),
        (
            "assistant",
            """[2 remarks on the next step left out]

The entries refer to accounts, so accounts must exist before.

[a draft of what follows left out]""",
        ),
        ("assistant asked", "Approve the plan?"),
        ("user answered", "No, keep the old tables for a month."),
        ("assistant", f"{TALK.replies[5]}\n\nNow let me run the tests:"),
    ]


def test_in_full_every_word_is_there() -> None:
    told = list(spoken_messages(TALK, is_full=True))
    assert [words for who, words in told if who == "assistant"] == [
        reply for reply in TALK.replies if isinstance(reply, str)
    ]
    assert told[5:7] == [
        ("assistant asked", "Approve the plan?"),
        ("user answered", "No, keep the old tables for a month."),
    ]


def test_messages_that_come_together_are_not_left_out() -> None:
    whole = Exchange("t", TALK.at, "Which first?", ("Accounts do.", "Entries follow."))
    assert list(spoken_messages(whole, is_full=False)) == [
        ("user", "Which first?"),
        ("assistant", "Accounts do.\n\nEntries follow."),
    ]
    assert not is_shortened(whole)
    assert is_shortened(TALK)
