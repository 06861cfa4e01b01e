"""What Cursor's payloads told of the latest turns, and how much of it is kept."""

from __future__ import annotations

import pytest

from keeplore_hooks.events import Origin, Turn
from keeplore_hooks.hosts.cursor.cursor_payload_log import (
    CursorTurn,
    PayloadLog,
    key_of,
    turn_id_of,
)

AT = "2026-03-01T10:00:20Z"


def announced(log: PayloadLog, prompt: str, generation: str = "") -> CursorTurn:
    return log.announce("s-1", prompt, generation, AT)


def test_the_latest_five_turns_and_2000_prompts_are_kept() -> None:
    log = PayloadLog()
    for number in range(2_001):
        announced(log, f"prompt {number}")
    data = log.to_data()
    assert [turn["prompt"] for turn in data["entries"]] == [
        f"prompt {number}" for number in range(1_996, 2_001)
    ]
    assert list(data["announced"]) == [key_of(f"prompt {n}") for n in range(1, 2_001)]
    again = PayloadLog.from_data(data)
    assert (again.turns, again.has_joined) == (log.turns[-5:], False)


def test_of_a_turn_each_reply_is_kept_once_and_a_hundred_of_them() -> None:
    turn = CursorTurn("t-1", "Go on", AT)
    for number in (*range(100), 0, 100):
        turn.say(f"step {number}", f"2026-03-01T10:02:{number % 60:02}Z")
    told = turn.turn(Origin("cursor", "s-1"))
    assert told.replies == tuple(f"step {number}" for number in range(100))
    assert told.ended_at == "2026-03-01T10:02:59Z"


def test_the_same_prompt_is_another_turn_each_time_it_is_typed() -> None:
    log, key = PayloadLog(), key_of("go on")
    found = [announced(log, "go on", f"g-{number}") for number in range(3)]
    assert [turn.id for turn in found] == [turn_id_of("s-1", key, n) for n in range(3)]
    assert (log.has_prompt("g-2"), log.has_prompt("g-3")) == (True, False)
    assert log.of_generation("g-1") is found[1]
    assert log.of_generation("g-3") is found[2]


@pytest.mark.parametrize(
    ("announced_as", "recorded", "is_one"),
    [
        ("a" * 60, "a" * 60 + "b" * 900, True),
        ("a" * 59, "a" * 59 + "b" * 900, False),
        ("a" * 20, "a" * 20 + "b" * 20, True),
        ("a" * 20, "a" * 20 + "b" * 21, False),
        ("a" * 60 + "b" * 900, "a" * 60, True),
        ("a" * 60, "b" * 60, False),
    ],
    ids=["60 of many", "59 of many", "half", "less than half", "longer", "other words"],
)
def test_a_prompt_that_is_most_of_another_is_the_same(
    announced_as: str, recorded: str, *, is_one: bool
) -> None:
    log = PayloadLog()
    turn = announced(log, announced_as)
    found = log.id_of("in-transcript", recorded, {})
    assert found == (turn.id if is_one else "in-transcript")
    assert turn.alias == ("in-transcript" if is_one else "")


def test_where_nobody_listened_before_what_was_typed_counts_as_announced() -> None:
    key, last = key_of("go on"), Turn("t-2", Origin("cursor", "s-1"), AT, "go on")
    for turn, number in ((None, 2), (last, 1)):
        log = PayloadLog()
        log.join({key: 2}, turn, "go on")
        log.join({key: 7}, turn, "go on")
        assert announced(log, "go on").number == number
