"""Public recordings of OpenCode and SpecStory, where they are on this machine."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from keeplore_hooks.events import Command, Compaction, Question, Turn
from keeplore_hooks.hosts import Cursor
from keeplore_hooks.installed import host_named, source_named

# file → turns, and why they are fewer than the messages of the person
OPENCODE = {
    "51_f90c95e27b_0_full.jsonl": 2,
    "bc_64400faadb_0_full.jsonl": 4,
    "bc_64400faadb_2_full.jsonl": 4,
}
SPECSTORY = {
    "2026-01-28_14-55-51Z": (
        8,
        2,
        0,
        0,
    ),  # a command's text, /exit with its output and caveat, an interruption
    "2026-01-29_16-21-35Z": (1, 0, 0, 0),
    "2026-02-20_16-33-05Z": (2, 0, 0, 0),
    "2026-02-20_22-41-47Z": (
        5,
        1,
        0,
        0,
    ),  # /exit with its output and caveat, an interruption
    "2026-02-20_23-57-00Z": (31, 0, 1, 1),  # 11 interruptions, a summary
    "2026-02-23_21-34-27Z": (
        13,
        2,
        1,
        1,
    ),  # a command's text, /exit, 3 interruptions, a notice, a summary
    "2026-06-18_14-52-09Z": (
        75,
        1,
        11,
        1,
    ),  # 10 interruptions, 10 places of pictures, /exit, a notice, a summary
    "2026-06-24_20-23-53Z": (5, 0, 0, 0),  # an interruption
}


@pytest.fixture
def recording(data: Path) -> Any:
    def find(source: str, name: str) -> Path:
        found = sorted(data.glob(f"transcripts/{source}/*/{name}*"))
        if not found:
            pytest.skip(f"no recording {name} of {source} on this machine")
        return found[0]

    return find


@pytest.mark.parametrize(("name", "expected"), OPENCODE.items())
def test_each_prompt_of_opencode_is_a_turn(recording, name, expected):
    path = recording("opencode", name)
    reading = source_named("opencode").read_transcript(path, Cursor())
    turns = [event for event in reading.events if isinstance(event, Turn)]
    assert (len(turns), len({turn.id for turn in turns}), reading.problems) == (
        expected,
        expected,
        (),
    )
    assert all(turn.is_complete and turn.origin.cwd for turn in turns)
    assert (
        path.read_text().count('"role": "user"')
        + path.read_text().count('"role":"user"')
        == expected
    )


@pytest.mark.parametrize("name", OPENCODE)
def test_hearing_each_message_of_opencode_gives_the_same_as_reading_at_once(
    recording, name
):
    path, host, cursor = recording("opencode", name), host_named("opencode"), Cursor()
    session = json.loads(path.read_text())
    told = {
        "sessionID": session["info"]["id"],
        "directory": session["info"]["directory"],
    }
    heard: dict[str, Turn] = {}
    for count in range(1, len(session["messages"]) + 1):
        payload = json.dumps({**told, "messages": session["messages"][:count]}).encode()
        reading = host.read("session.idle", payload, cursor, "2026-11-01T00:00:00Z")
        cursor = reading.cursor
        heard |= {
            event.id: event for event in reading.events if isinstance(event, Turn)
        }
    whole = [
        event
        for event in host.read_transcript(path, Cursor()).events
        if isinstance(event, Turn)
    ]
    assert [
        (turn.id, turn.user, turn.replies, turn.work) for turn in heard.values()
    ] == [(turn.id, turn.user, turn.replies, turn.work) for turn in whole]


@pytest.mark.parametrize(("name", "expected"), SPECSTORY.items())
def test_each_prompt_of_specstory_is_a_turn(recording, name, expected):
    reading = source_named("specstory").read_transcript(
        recording("specstory", name), Cursor()
    )
    counts = tuple(
        len({event.id for event in reading.events if isinstance(event, kind)})
        for kind in (Turn, Command, Question, Compaction)
    )
    assert (counts, reading.problems) == (expected, ())
    said = "\n".join(
        event.user + event.assistant
        for event in reading.events
        if isinstance(event, Turn)
    )
    assert not re.search(
        r"^</?tool-use|^<think>|^\[Request interrupted", said, re.MULTILINE
    )
