"""A conversation in the making: what a turn changes in it, and what is too little to keep."""

from __future__ import annotations

from dataclasses import replace

import pytest

from keeplore.capture.capture_deps import MemoryPlace
from keeplore.capture.open_conversation import OpenConversation, says_little
from keeplore.memory import AgentQuestion, Conversation, Exchange
from keeplore_hooks.events import Origin, Turn, Work

AT = "2026-03-01T10:00:00Z"
PLACE = MemoryPlace("project", "shop")
FIRST = Exchange("t-1", AT, "Use pnpm", ("Done.",))


def conversation(*exchanges: Exchange) -> OpenConversation:
    return OpenConversation("mem_1", PLACE, Conversation("Shop", exchanges), AT)


def turn(id_: str, user: str, *, is_provisional: bool = False) -> Turn:
    return Turn(id_, Origin("codex", "s"), AT, user, is_provisional=is_provisional)


@pytest.mark.parametrize(
    ("user", "reply", "expected"),
    [
        ("rotate staging tokens", "a" * 199, True),
        ("rotate staging tokens", "a" * 200, False),
        ("rotate staging tokens weekly", "a" * 199, False),
    ],
    ids=["three words", "an answer of 200 characters", "four words"],
)
def test_a_remark_has_three_words_and_hardly_an_answer(
    user: str, reply: str, *, expected: bool
) -> None:
    remark = Exchange("t-1", AT, user, (reply,))
    assert says_little(remark, Work()) is expected
    assert not says_little(remark, Work(files=("a.py",)))
    assert not says_little(replace(remark, replies=(AgentQuestion("Which?"),)), Work())


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ([("ok", "Fine.")], True),
        ([("ok", "Fine."), ("Use pnpm", "Done.")], False),
        ([("ok", "a" * 200)], False),
        ([("", "Fine.")], False),
    ],
)
def test_greetings_and_yes_alone_are_hollow(
    said: list[tuple[str, str]], *, expected: bool
) -> None:
    exchanges = [
        Exchange(f"t-{n}", AT, user, (reply,)) for n, (user, reply) in enumerate(said)
    ]
    assert conversation(*exchanges).is_hollow is expected


def test_a_turn_is_found_by_its_id_or_as_the_prompt_that_was_announced() -> None:
    announced = Exchange("prompt:1", AT, "Use npm")
    talk = conversation(FIRST, announced)
    again = replace(FIRST, replies=("Done again.",))
    assert talk.position(again, turn("t-1", "Use pnpm")) == 0
    recorded = Exchange("t-2", AT, "Use npm", ("Done.",))
    assert talk.position(recorded, turn("t-2", "Use npm")) == 1
    assert talk.position(Exchange("t-3", AT, "Go on"), turn("t-3", "Go on")) is None
    told = turn("prompt:2", "Use pnpm", is_provisional=True)
    assert talk.position(Exchange("prompt:2", AT, "Use pnpm"), told) is None


def test_what_only_announced_a_prompt_gives_way_to_its_turn() -> None:
    talk = conversation(FIRST, Exchange("prompt:1", AT, "Use npm"))
    recorded = Exchange("t-2", AT, "Use npm", ("Done.",))
    assert talk.drop_placeholder(recorded, turn("t-2", "Use npm"))
    assert talk.exchanges == (FIRST,)
    assert not talk.drop_placeholder(recorded, turn("t-2", "Use npm"))


def test_of_each_kind_200_references_are_listed() -> None:
    talk = conversation(FIRST)
    files = [f"src/part{number}.py" for number in range(201)]
    talk.put(0, FIRST, Work(files=tuple(files[:199])))
    talk.put(0, FIRST, Work(files=tuple(files[198:])))
    assert talk.conversation.work.files == tuple(files[:200])


def test_another_conversation_is_named_once() -> None:
    talk = conversation(FIRST)
    for title in ("Queue", "Queue again"):
        talk.link(title, "mem_2")
    assert [link.title for link in talk.conversation.related] == ["Queue"]
