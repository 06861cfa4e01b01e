"""Every real rollout of Codex at hand, where there are any."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

from keeplore_hooks.events import Turn, from_json, to_json
from keeplore_hooks.hosts import Cursor
from keeplore_hooks.installed import host_named

HOST = host_named("codex")
PAGE = Path(__file__).resolve().parents[2] / "golden" / "recordings" / "codex.md"
_ROW = re.compile(r"^\| `([^`]+)` \| (\d+) \| (\d+) \| (.+) \|$", re.MULTILINE)
LATER = "2030-01-01T00:00:00Z"


@pytest.fixture(scope="module")
def index(recordings: Path) -> list[dict[str, Any]]:
    entries = json.loads((recordings / "index.json").read_text())
    return [entry for entry in entries if entry["file"].startswith("codex/")]


def test_the_turns_of_the_person_are_those_of_the_index_or_a_table_says_why_not(
    recordings: Path, index: list[dict[str, Any]]
) -> None:
    table = {
        name: (int(theirs), int(ours))
        for name, theirs, ours, _ in _ROW.findall(PAGE.read_text())
    }
    found, expected = {}, {}
    for entry in index:
        name = entry["file"].removeprefix("codex/")
        events = HOST.read_transcript(recordings / entry["file"], Cursor()).events
        users = {event.id: event.user for event in events if isinstance(event, Turn)}
        found[name] = (
            entry["hum"],
            sum(bool(user) and not user.startswith("/") for user in users.values()),
        )
        expected[name] = table.get(name, (entry["hum"], entry["hum"]))
    assert found == expected
    assert set(table) <= set(found)


def test_a_rollout_is_read_without_problems_and_with_nothing_injected(
    recordings: Path, index: list[dict[str, Any]]
) -> None:
    marks = (
        "<environment_context",
        "<user_",
        "# AGENTS.md",
        "<recommended",
        "# Context from",
        "Review the current code",
    )
    for entry in index:
        reading = HOST.read_transcript(recordings / entry["file"], Cursor())
        turns = [event for event in reading.events if isinstance(event, Turn)]
        assert reading.problems == ()
        assert all(from_json(to_json(event)) == event for event in reading.events)
        assert not any(turn.user.startswith(marks) for turn in turns)
        assert all(
            turn.is_complete and turn.replies and turn.origin.cwd and turn.origin.branch
            for turn in turns
        )


def test_no_reply_stands_twice(recordings: Path, index: list[dict[str, Any]]) -> None:
    for entry in index:
        lines = [
            json.loads(line)
            for line in (recordings / entry["file"]).read_bytes().split(b"\n")
            if line
        ]
        payloads = [line["payload"] for line in lines if line["type"] == "event_msg"]
        said = sum(payload.get("type") == "agent_message" for payload in payloads)
        events = HOST.read_transcript(recordings / entry["file"], Cursor()).events
        assert (
            sum(len(event.replies) for event in events if isinstance(event, Turn))
            == said
        )


def test_a_rollout_that_is_replayed_piece_by_piece_gives_the_same_turns(
    recordings: Path,
    index: list[dict[str, Any]],
    codex_in: Any,
    tmp_path: Path,
    final: Any,
) -> None:
    chance = random.Random(7)
    for entry in index:
        content = (recordings / entry["file"]).read_bytes()
        session = codex_in(tmp_path)
        session.common["session_id"] = entry["sid"][0]
        whole = session.turns(content)
        grown: list[Any] = []
        for cut in [
            *sorted(chance.randrange(len(content)) for _ in range(8)),
            len(content),
        ]:
            session.write(content[:cut])
            grown += session.hear("PostToolUse", LATER).events
        grown += session.hear("SessionEnd", LATER).events
        assert final(grown) == whole
