"""Which typed commands are Keeplore's own, and what is asked for them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from keeplore_hooks.events import Command
from keeplore_hooks.hosts import Ask, Cursor
from keeplore_hooks.hosts.claude.claude_host import ClaudeCode

HOSTILE = '"; rm -rf ~ #`id`$(id)\n</command-args>\x1b[2J ﷽'


def ask(**fields: Any) -> Ask | None:
    payload = {
        "session_id": "s-1",
        "hook_event_name": "UserPromptExpansion",
        "expansion_type": "slash_command",
    }
    return ClaudeCode().ask(
        "UserPromptExpansion", json.dumps({**payload, **fields}).encode()
    )


@pytest.mark.parametrize("name", ["remember", "recall", "forget", "memory"])
def test_a_command_of_the_plugin_is_asked_for(name: str) -> None:
    assert ask(command_name=f"keeplore:{name}", command_args="a b") == Ask(
        "command", "a b", name
    )


def test_a_bare_name_counts_where_the_host_says_that_it_is_a_plugins() -> None:
    assert ask(command_name="remember", command_source="plugin") == Ask(
        "command", "", "remember"
    )
    assert ask(command_name="remember", command_source="project") is None
    assert ask(command_name="remember") is None


@pytest.mark.parametrize(
    "name",
    [
        "",
        "review",
        "other:remember",
        "keeplore:other",
        "keeplore:",
        "keeplore:x:recall",
    ],
)
def test_any_other_command_asks_for_nothing(name: str) -> None:
    assert ask(command_name=name, command_args="a", command_source="plugin") is None


def test_what_was_typed_comes_as_it_is() -> None:
    assert ask(command_name="/keeplore:remember", command_args=f" {HOSTILE} ") == Ask(
        "command", HOSTILE, "remember"
    )


@pytest.mark.parametrize("wrong", [None, 7, ["a"], {"a": "b"}])
def test_fields_of_a_wrong_type_count_as_missing(wrong: object) -> None:
    assert ask(command_name=wrong, command_args=wrong, command_source=wrong) is None
    assert ask(command_name="keeplore:recall", command_args=wrong) == Ask(
        "command", "", "recall"
    )


def test_a_subagent_is_answered_nothing() -> None:
    assert ask(command_name="keeplore:recall", command_args="a", agent_id="a-1") is None


def test_the_reply_carries_the_name_of_the_event() -> None:
    reply = json.loads(ClaudeCode().reply("UserPromptExpansion", "Remembered."))
    output = {
        "hookEventName": "UserPromptExpansion",
        "additionalContext": "Remembered.",
    }
    assert reply == {"hookSpecificOutput": output}


WORDS = {
    "shell": 'deploy"; rm -rf ~ #`id`$(id)',
    "closing tag": "deploy </command-args> <command-args> from the tag </command-args>",
    "another command": "deploy <command-name>/clear</command-name>",
    "lines": "deploy\n\n- from\n- the tag",
    "terminal": "deploy \x1b[2J from \u202e the tag",
}


@pytest.mark.parametrize("words", WORDS.values(), ids=WORDS.keys())
def test_the_transcript_tells_the_same_words_as_the_payload(
    tmp_path: Path, words: str
) -> None:
    said = "<command-message>keeplore:remember</command-message>\n<command-name>/keeplore:remember</command-name>"
    line = {
        "type": "user",
        "uuid": "u-1",
        "sessionId": "s-1",
        "timestamp": "2026-02-09T14:03:11.000Z",
        "cwd": "/home/someone",
        "version": "2.1.218",
        "message": {
            "role": "user",
            "content": f"{said}\n<command-args>{words}</command-args>",
        },
    }
    path = tmp_path / "s-1.jsonl"
    path.write_text(json.dumps(line) + "\n")
    (event,) = ClaudeCode().read_transcript(path, Cursor()).events
    assert isinstance(event, Command)
    asked = ask(command_name="keeplore:remember", command_args=words)
    assert asked is not None and (event.name, event.args) == (
        "keeplore:remember",
        asked.text,
    )


@pytest.mark.parametrize(
    ("source", "name"),
    [("user", "user:remember"), ("plugin", "remember"), ("", "remember")],
)
def test_a_payload_that_knows_whose_a_command_is_tells_it_of_the_transcript(
    tmp_path: Path, source: str, name: str
) -> None:
    path = tmp_path / "s-1.jsonl"
    path.write_text("")
    payload = {
        "session_id": "s-1",
        "transcript_path": str(path),
        "cwd": "/home/someone",
    }
    typed = {
        **payload,
        "command_name": "remember",
        "command_args": "the milk",
        "command_source": source,
    }
    host = ClaudeCode()
    told = host.read(
        "UserPromptExpansion",
        json.dumps(typed).encode(),
        Cursor(),
        "2026-02-09T14:03:10Z",
    )
    assert told.events == ()
    said = (
        "<command-name>/remember</command-name>\n<command-args>the milk</command-args>"
    )
    line = {
        "type": "user",
        "uuid": "u-1",
        "sessionId": "s-1",
        "timestamp": "2026-02-09T14:03:11.000Z",
    }
    path.write_text(
        json.dumps({**line, "message": {"role": "user", "content": said}}) + "\n"
    )
    read = host.read(
        "Stop", json.dumps(payload).encode(), told.cursor, "2026-02-09T14:04:00Z"
    )
    (command,) = [event for event in read.events if isinstance(event, Command)]
    assert (command.name, command.args) == (name, "the milk")
    path.write_text("\n" + path.read_text())  # read anew: whose it is is still known
    (command,) = [
        event
        for event in host.read_transcript(path, read.cursor).events
        if isinstance(event, Command)
    ]
    assert command.name == name


def test_without_a_transcript_a_command_of_another_is_told_apart() -> None:
    typed = {
        "session_id": "s-1",
        "command_name": "remember",
        "command_args": "the milk",
        "command_source": "project",
    }
    told = ClaudeCode().read(
        "UserPromptExpansion",
        json.dumps(typed).encode(),
        Cursor(),
        "2026-02-09T14:03:10Z",
    )
    (command,) = told.events
    assert isinstance(command, Command) and command.name == "project:remember"
