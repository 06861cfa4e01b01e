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


def said(user: str, reply: str = "") -> tuple[Exchange, ...]:
    return (Exchange("8", "", user, (reply,)),)


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


def test_a_few_words_of_another_matter_are_no_link() -> None:
    lease = said("The lease of a worker in postgres runs out")
    office = said("The lease in the office ends in May")
    worker = said("Which postgres version does the worker image have?")
    assert continued_conversation(lease, [(link("office"), office)]) is None
    assert continued_conversation(lease, [(link("worker"), worker)]) == link("worker")


def test_of_each_exchange_the_beginnings_are_compared() -> None:
    name = "zebrafish"

    def is_found(user: str, reply: str = "") -> bool:
        earlier = [(link("fish"), said(user, reply))]
        return continued_conversation(said(name), earlier) is not None

    assert is_found(f"{name:.>800}")
    assert not is_found(f"{name:.>801}")
    assert is_found("", f"{name:.>400}")
    assert not is_found("", f"{name:.>401}")


@pytest.mark.parametrize(
    "empty", [(), (Exchange("6", "", "ok", ("Done.",)),), (Exchange("7", "", "", ()),)]
)
def test_words_that_say_nothing_are_no_link(empty: tuple[Exchange, ...]) -> None:
    assert (
        continued_conversation(empty, [(link("queue"), QUEUE), (link("empty"), ())])
        is None
    )


def test_without_an_earlier_conversation_there_is_no_link() -> None:
    assert continued_conversation(AGAIN, []) is None
