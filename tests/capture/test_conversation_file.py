"""A subject that comes back is linked to the conversation that had it before."""

from __future__ import annotations

import pytest

from keeplore.capture.conversation_file import continued_conversation
from keeplore.memory import ConversationLink, Exchange

QUEUE = (
    Exchange(
        "1",
        "",
        "The worker queue loses jobs when redis restarts",
        ("Keep the jobs in a postgres table.",),
    ),
    Exchange(
        "2",
        "",
        "How do workers lease a job from postgres?",
        ("With SKIP LOCKED and a deadline for the lease.",),
    ),
)
INVOICE = (
    Exchange(
        "3",
        "",
        "Restyle the invoice header with our colours",
        ("The header uses the brand palette.",),
    ),
)
LOGIN = (
    Exchange(
        "4",
        "",
        "The login page throws a 500 without a password",
        ("The handler reads a missing field.",),
    ),
)
AGAIN = (
    Exchange(
        "5",
        "",
        "Back to the postgres lease: a worker died and kept its job",
        ("Lower the deadline.",),
    ),
)


def link(name: str) -> ConversationLink:
    return ConversationLink(name, f"mem_{name}", "relates-to")


def test_the_conversation_with_the_same_rare_words_is_found_among_others() -> None:
    earlier = [
        (link("invoice"), INVOICE),
        (link("queue"), QUEUE),
        (link("login"), LOGIN),
    ]
    assert continued_conversation(AGAIN, earlier) == link("queue")


def test_another_subject_is_linked_to_nothing() -> None:
    assert (
        continued_conversation(
            LOGIN, [(link("invoice"), INVOICE), (link("queue"), QUEUE)]
        )
        is None
    )


@pytest.mark.parametrize(
    "said", [(), (Exchange("6", "", "ok", ("Done.",)),), (Exchange("7", "", "", ()),)]
)
def test_words_that_say_nothing_are_no_link(said: tuple[Exchange, ...]) -> None:
    assert (
        continued_conversation(said, [(link("queue"), QUEUE), (link("empty"), ())])
        is None
    )


def test_without_an_earlier_conversation_there_is_no_link() -> None:
    assert continued_conversation(AGAIN, []) is None
