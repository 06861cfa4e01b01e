"""Every real Claude Code transcript at hand, where there are any."""

from __future__ import annotations

import json
import random
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from keeplore_hooks.events import Turn, from_json, to_json
from keeplore_hooks.hosts import Cursor
from keeplore_hooks.installed import host_named

HOST = host_named("claude-code")
PAGE = Path(__file__).resolve().parents[2] / "golden" / "recordings" / "claude-code.md"
_ROW = re.compile(r"^\| `([^`]+)` \| (\d+) \| (\d+) \| (.+) \|$", re.MULTILINE)


def documented() -> dict[str, tuple[int, int]]:
    """File → human turns by the index, human turns by our reader, from the table."""
    return {
        name: (int(index), int(ours))
        for name, index, ours, _ in _ROW.findall(PAGE.read_text())
    }


def prompts(events: Any) -> int:
    """Turns that begin with words of the person, commands aside."""
    users = {event.id: event.user for event in events if isinstance(event, Turn)}
    return sum(bool(user) and not user.startswith("/") for user in users.values())


@pytest.fixture(scope="module")
def index(recordings: Path) -> list[dict[str, Any]]:
    entries = json.loads((recordings / "index.json").read_text())
    return [entry for entry in entries if entry["file"].startswith("claude-code/")]


def test_the_turns_of_the_person_are_those_of_the_index_or_a_table_says_why_not(
    recordings: Path, index: list[dict[str, Any]]
) -> None:
    table = documented()
    found, expected = {}, {}
    for entry in index:
        name = entry["file"].removeprefix("claude-code/")
        events = HOST.read_transcript(recordings / entry["file"], Cursor()).events
        found[name] = (entry["hum"], prompts(events))
        expected[name] = table.get(name, (entry["hum"], entry["hum"]))
    assert found == expected
    assert set(table) <= set(found)


def test_commands_questions_and_compactions_are_those_of_the_index(
    recordings: Path, index: list[dict[str, Any]]
) -> None:
    for entry in index:
        events = HOST.read_transcript(recordings / entry["file"], Cursor()).events
        asked = [event for event in events if event.kind == "question" and event.header]
        kinds = [event.kind for event in events]
        # one command stands in a system line, which the index does not count
        commands = kinds.count("command") - entry["file"].endswith(
            "b9_713a917b91_0_full.jsonl"
        )
        assert (commands, len(asked), kinds.count("compaction")) == (
            entry["slash"],
            entry["ask"],
            entry["comp"],
        )


def test_no_injected_or_host_made_text_passes_for_words_of_the_person(
    recordings: Path, index: list[dict[str, Any]]
) -> None:
    marks = (
        "<system-reminder>",
        "<command-name>",
        "<local-command",
        "<task-notification>",
        "<ide_",
        "[Request interr",
    )
    for entry in index:
        for event in HOST.read_transcript(recordings / entry["file"], Cursor()).events:
            assert from_json(to_json(event)) == event
            if isinstance(event, Turn):
                assert not event.user.startswith(
                    ("This session is being continued", "Caveat:", *marks)
                )


def test_a_recording_that_is_replayed_piece_by_piece_gives_the_same_turns(
    recordings: Path, index: list[dict[str, Any]], session: Any, final: Any
) -> None:
    chance = random.Random(7)
    for entry in index:
        source = recordings / entry["file"]
        content = source.read_bytes()
        shutil.copyfile(source, session.path)
        whole = HOST.read_transcript(session.path, Cursor()).events
        cursor, grown = Cursor(), []
        for cut in [
            *sorted(chance.randrange(len(content)) for _ in range(4)),
            len(content),
        ]:
            session.write(content[:cut])
            reading = HOST.read(
                "SubagentStop", session.payload(), cursor, "2026-01-01T00:00:00Z"
            )
            cursor, grown = reading.cursor, grown + list(reading.events)
        grown += HOST.read(
            "SessionEnd", session.payload(), cursor, "2030-01-01T00:00:00Z"
        ).events
        assert final(grown) == final(whole)
