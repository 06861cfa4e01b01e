"""A host may stop more than once about one prompt; where no record tells, no answer takes another's
place.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from keeplore_hooks.events import Turn
from keeplore_hooks.hosts import Cursor
from keeplore_hooks.installed import host_named

PLACE = {"session_id": "one", "cwd": "/home/dev/app"}
TOLD = {  # host → its payload of a prompt and of an answer
    "claude-code": (
        ("UserPromptSubmit", PLACE, "prompt"),
        ("Stop", PLACE, "last_assistant_message"),
    ),
    "codex": (
        ("UserPromptSubmit", PLACE | {"turn_id": "t"}, "prompt"),
        ("Stop", PLACE | {"turn_id": "t"}, "last_assistant_message"),
    ),
    "gemini-cli": (
        ("BeforeAgent", PLACE, "prompt"),
        ("AfterAgent", PLACE | {"prompt": "Why Redis?"}, "prompt_response"),
    ),
    "cursor": (
        ("beforeSubmitPrompt", {"conversation_id": "one", "generation_id": "g"}, "prompt"),
        ("afterAgentResponse", {"conversation_id": "one", "generation_id": "g"}, "text"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TOLD)
def test_two_answers_without_a_prompt_between_are_both_kept(name: str) -> None:
    asked, answered = TOLD[name]
    told = [(asked, "Why Redis?")]
    told += [(answered, words) for words in ("One writer.", "And fewer servers.")]
    told.append((answered, "And fewer servers."))  # a second plugin tells it again
    turns: list[Turn] = []
    cursor = Cursor()
    for minute, ((event, place, key), words) in enumerate(told):
        data: dict[str, Any] = {**place, "hook_event_name": event, key: words}
        at = f"2026-02-09T14:{minute:02d}:00Z"
        reading = host_named(name).read(event, json.dumps(data).encode(), cursor, at)
        cursor = reading.cursor
        turns += [event for event in reading.events if isinstance(event, Turn)]
    assert {(turn.id, turn.user) for turn in turns} == {(turns[0].id, "Why Redis?")}
    assert turns[-1].assistant == "One writer.\n\nAnd fewer servers."
