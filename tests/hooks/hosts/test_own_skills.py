"""Keeplore's skills under the names that they have in a directory that several programs share."""

from __future__ import annotations

import json

import pytest

from keeplore_hooks.hosts import COMMANDS, Ask
from keeplore_hooks.hosts.prompt_text import slash_command
from keeplore_hooks.installed import host_named


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize(
    ("host", "event", "mark"),
    [
        ("codex", "UserPromptSubmit", "$"),
        ("codex", "UserPromptSubmit", "/"),
        ("copilot", "userPromptSubmitted", "/"),
    ],
)
def test_a_skill_is_answered_under_either_name(
    host: str, event: str, mark: str, name: str
) -> None:
    for plugin in ("keeplore:", "keeplore-"):
        payload = {
            "session_id": "s",
            "sessionId": "s",
            "prompt": f"{mark}{plugin}{name} two words",
        }
        assert host_named(host).ask(event, json.dumps(payload).encode()) == Ask(
            "command", "two words", name
        )


@pytest.mark.parametrize(
    "prompt", ["/keeplore-doctor x", "/mykeeplore-recall x", "/keeplore-recall-all x"]
)
def test_what_only_resembles_a_skill_keeps_its_name(prompt: str) -> None:
    assert slash_command(prompt) == (prompt.split()[0][1:], "x")
