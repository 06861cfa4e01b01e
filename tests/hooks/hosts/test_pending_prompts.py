"""Prompts that were announced, and whether the host's record has them."""

from __future__ import annotations

import pytest

from keeplore_hooks.events import Origin, Turn
from keeplore_hooks.hosts.pending_prompts import (
    MissingPrompt,
    PendingPrompts,
    is_twice,
)

ORIGIN = Origin("codex", "s-1")
AT = "2026-03-01T10:00:20Z"


def recorded(*prompts: tuple[str, str, str]) -> PendingPrompts:
    """A record with these prompts, each with its task and time."""
    turns = [
        (task, Turn(f"t-{number}", ORIGIN, at, text))
        for number, (task, text, at) in enumerate(prompts)
    ]
    return PendingPrompts().with_turns(turns)


@pytest.mark.parametrize(
    ("at", "is_one"),
    [
        ("2026-03-01T10:00:15Z", True),
        ("2026-03-01T10:00:25Z", True),
        ("2026-03-01T10:00:26Z", False),
        ("2026-03-01T10:00:14Z", False),
        ("2026-03-01T10:00:20", False),
        ("", False),
    ],
)
def test_the_same_words_within_five_seconds_are_one_prompt(
    at: str, *, is_one: bool
) -> None:
    assert is_twice("Use pnpm", AT, "Use pnpm", at) is is_one
    assert not is_twice("Use pnpm", AT, "Use npm", at)


@pytest.mark.parametrize(
    ("task", "at", "is_there"),
    [
        ("one", "2026-03-01T09:00:00Z", True),
        ("two", AT, False),
        ("", "2026-03-01T10:00:10Z", True),
        ("", "2026-03-01T10:00:09Z", False),
    ],
    ids=["same task", "other task", "ten seconds before", "eleven seconds before"],
)
def test_a_prompt_is_in_the_record_by_its_task_or_about_its_time(
    task: str, at: str, *, is_there: bool
) -> None:
    assert recorded((task, "Use pnpm", at)).has("one", "Use pnpm", AT) is is_there
    assert not recorded((task, "Use pnpm", at)).has("one", "Use npm", AT)


def test_the_newest_200_prompts_of_the_record_are_known() -> None:
    prompts = [("", f"prompt {number}", AT) for number in range(201)]
    record = recorded(*prompts)
    known = [text for _, text, _ in prompts if record.has("", text, AT)]
    assert known == [f"prompt {number}" for number in range(1, 201)]


def test_long_prompts_are_known_by_their_first_64_000_characters() -> None:
    record = recorded(("", "a" * 64_000, AT))
    assert record.has("", "a" * 64_001, AT)
    assert not record.has("", "a" * 63_999, AT)


def test_a_missing_prompt_that_the_record_has_by_now_is_missing_no_more() -> None:
    missing = MissingPrompt("m-1", "one", "Use pnpm", AT)
    waiting = PendingPrompts(missing=missing)
    assert waiting.again("one", "Use pnpm", AT) is missing
    assert waiting.again("two", "Use pnpm", AT) is None
    other = ("one", Turn("t-1", ORIGIN, AT, "Use npm"))
    same = ("one", Turn("t-2", ORIGIN, AT, "Use pnpm"))
    assert waiting.with_turns([other]).missing is missing
    assert waiting.with_turns([other, same]).missing is None
