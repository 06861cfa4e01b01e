"""What of a conversation holds and has substance."""

from __future__ import annotations

import pytest

from keeplore.capture.discourse.conversation_model import ConversationModel
from keeplore.memory import AgentQuestion, Exchange


def test_orders_of_the_moment_guesses_questions_and_what_ended_or_says_little_tell_nothing() -> (
    None
):
    exchanges = [
        Exchange(
            "a",
            "2026-03-01T10:00:00Z",
            "The export of dates drops rows. Run the tests. Why?",
            (
                "Let me look at the writer.",
                "It might be the encoding. Fixed the export of dates.",
            ),
        ),
        Exchange(
            "b",
            "2026-03-01T10:05:00Z",
            "still broken",
            (
                (
                    "## Cause\n\nThe filter runs before the `id` is set. "
                    "If you notice anything else in the export of dates, just let me know."
                ),
            ),
        ),
    ]
    telling = ConversationModel.of(exchanges).salient_statements()
    assert [(number, s.text) for _, number, s in telling] == [
        (0, "The export of dates drops rows."),
        (8, "The filter runs before the `id` is set."),
    ]


def test_the_questions_in_form_have_the_number_of_their_exchange() -> None:
    asked = AgentQuestion("Which queue?", "Postgres", ("Postgres", "Redis"))
    exchanges = [
        Exchange("a", "2026-03-01T10:00:00Z", "begin", ("Yes.",)),
        Exchange("b", "2026-03-01T10:05:00Z", "go on", (asked, "Done.")),
    ]
    model = ConversationModel.of(exchanges)
    assert [*model.questions()] == [(1, asked)]
    assert [*model.questions(since=2)] == []


OFFERED = """The set of seen names holds the old name, so a file of that name is skipped.

1. Track files of the inbox by name and time
2. Process files again that were written anew
3. (Optional) Retry the files of the inbox that are locked

{}"""
OFFER = "Would you like me to implement this for the inbox?"


def test_steps_that_an_answer_only_offers_and_advice_for_some_day_tell_nothing() -> (
    None
):
    def telling(reply: str) -> list[str]:
        talk = [Exchange("a", "2026-03-01T10:00:00Z", "why?", (reply,))]
        return [s.text for _, _, s in ConversationModel.of(talk).salient_statements()]

    cause = (
        "The set of seen names holds the old name, so a file of that name is skipped."
    )
    track = "Track files of the inbox by name and time"
    assert track not in telling(OFFERED.format(OFFER))
    assert telling(OFFERED.format(OFFER))[0] == cause
    assert track in telling(OFFERED.format("The inbox works again."))
    advice = "If you ever need more names, you can add another set to the inbox."
    assert telling(f"{cause} {advice}") == [cause]
    assert telling(f"{cause} (Optional) Retry the files that are locked.") == [cause]


@pytest.mark.parametrize(
    ("lead", "tells"),
    [
        ("The import of dates now does this:", True),
        ("If you need to seed rows later, you can either:", False),
        ("There are two options for the import:", False),
        ("This might be a bug of the driver that requires:", False),
    ],
)
def test_what_could_be_done_tells_nothing(lead: str, tells: bool) -> None:
    item = "The rows of `orders` come from a file of SQL"
    reply = f"{lead}\n\n- {item}\n- The rows of `items` come from Prisma"
    exchanges = [Exchange("a", "2026-03-01T10:00:00Z", "start the database", (reply,))]
    told = [s.text for _, _, s in ConversationModel.of(exchanges).salient_statements()]
    assert (item in told) is tells


def told_in(message: str, reply: str) -> list[str]:
    """The sentences of one exchange that tell something of its matter."""
    talk = [Exchange("a", "2026-03-01T10:00:00Z", message, (reply,))]
    return [s.text for _, _, s in ConversationModel.of(talk).salient_statements()]


@pytest.mark.parametrize(
    "lead",
    [
        "I recommend the following order for the import:",
        "To make the import work, we need to:",
        "Here are some valuable features to add:",
        "I can create:",
    ],
)
def test_ideas_and_plans_tell_nothing(lead: str) -> None:
    item = "Live counters of `orders` on the wall of the kitchen"
    assert item not in told_in("what could we add?", f"{lead}\n\n- {item}")
    done = "Here are the two things that I added:"
    assert item in told_in("what could we add?", f"{done}\n\n- {item}")


def test_what_stands_below_a_heading_for_ideas_tells_nothing() -> None:
    item = "The rows of `orders` could carry the name of the till"
    assert item not in told_in("is it done?", f"## Next steps\n\n{item}")
    assert item in told_in("is it done?", f"## What changed\n\n{item}")


@pytest.mark.parametrize(
    ("lead", "step"),
    [
        ("Try this:", "Close the folder of the till and of `orders`"),
        ("", "Now reload the page of the till, then print the bill of table 4."),
        ("", "Once it is built, copy the app to the tablet in the kitchen."),
        ("", "You'll need to restart the printer of the kitchen for it to take hold."),
    ],
)
def test_steps_for_the_reader_tell_something_only_where_they_were_asked_for(
    lead: str, step: str
) -> None:
    reply = f"{lead}\n\n- {step}" if lead else step
    assert told_in("why does the till print nothing?", reply) == []
    assert told_in("how can I get the till to print?", reply) == [step]


@pytest.mark.parametrize(
    "said",
    [
        "First, I'll look at the reader of `orders` and at its tests.",
        "Okay, I will change the reader of `orders` and its tests.",
        "Based on the log, I need to change the reader of `orders`.",
        "The goal is to keep the file of `orders` small.",
        "You want the file of `orders` to be smaller.",
        "The user is asking for a smaller file of `orders`.",
        "This will make the file of `orders` much easier to read.",
        "Please share the log of the kitchen so that we can begin.",
        "Whenever you're ready, let me know which printer comes first.",
    ],
)
def test_announcements_aims_and_requests_to_be_told_tell_nothing(said: str) -> None:
    assert told_in("why does the till print nothing?", said) == []


@pytest.mark.parametrize(
    ("said", "tells"),
    [
        ("This generally sounds good.", False),
        ("please confirm you understand the plan", False),
        (r"scripts\build_prod.ps1", False),
        ("powershell -ExecutionPolicy Bypass -File till.ps1", False),
        ("since monday the till only starts with -v", True),
        ("this looks good but the head of the bill is too big", True),
    ],
)
def test_praise_alone_and_typed_commands_tell_nothing(said: str, tells: bool) -> None:
    assert told_in(said, "Yes.") == [said] * tells
