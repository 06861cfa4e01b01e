"""Reading a session of OpenCode while it grows gives the same turns as reading it at once."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from example_count import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from keeplore_hooks.hosts import Cursor
from keeplore_hooks.installed import host_named

HOST = host_named("opencode")
ASKED = {"questions": [{"question": "Which?", "options": [{"label": "A"}]}]}
# What can happen next in a session: each adds messages to ``t``; ``n`` tells one step from another.
STEPS: dict[str, Callable[[Any, Any, int], Any]] = {
    "prompt": lambda t, tool, n: t.user(f"prompt {n}"),
    "same prompt": lambda t, tool, n: t.user("the same"),
    "synthetic": lambda t, tool, n: t.add(
        "user", {"type": "text", "text": "go on", "synthetic": True}
    ),
    "words": lambda t, tool, n: t.say(f"words {n}"),
    "step": lambda t, tool, n: t.say(
        f"step {n}", tool("edit", {"filePath": f"/{n}.py"}), finish="tool-calls"
    ),
    "question": lambda t, tool, n: t.say(
        "", tool("question", ASKED, status="completed", metadata={"answers": [["A"]]})
    ),
    "error": lambda t, tool, n: t.say(
        f"half {n}", error={"name": "MessageAbortedError"}
    ),
    "compaction": lambda t, tool, n: t.compact(f"summary {n}", auto=n % 2 == 0),
    "replay": lambda t, tool, n: (t.compact(f"summary {n}"), t.user("the same")),
    "unknown": lambda t, tool, n: t.add("oracle", {"type": "hologram"}),
}


def settled(events: list[Any]) -> tuple[dict[str, Any], dict[Any, Any]]:
    """The last form of every turn, and every other event once."""
    turns = {event.id: event for event in events if event.kind == "turn"}
    others = {(event.kind, event.id): event for event in events if event.kind != "turn"}
    return turns, others


@pytest.mark.parametrize("form", ["write_files", "write_tables"])
@settings(
    max_examples=examples(25),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    steps=st.lists(st.sampled_from(sorted(STEPS)), min_size=1, max_size=8),
    data=st.data(),
)
def test_reading_step_by_step_gives_the_same_as_reading_at_once(
    talk_of, tool, form, steps, data
):
    t = talk_of()
    read: list[Any] = []
    cursor = Cursor()
    with tempfile.TemporaryDirectory() as folder:
        base, path = Path(folder), Path()
        for number, step in enumerate(steps):
            STEPS[step](t, tool, number)
            if number == len(steps) - 1 or data.draw(st.booleans()):
                path = getattr(t, form)(base)
                reading = HOST.read_transcript(path, cursor)
                cursor = reading.cursor
                read += reading.events
        at_once = HOST.read_transcript(path, Cursor())
        again = HOST.read_transcript(path, cursor)
    assert settled(read) == settled(list(at_once.events))
    assert again.events == ()


@settings(
    max_examples=examples(25),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(steps=st.lists(st.sampled_from(sorted(STEPS)), min_size=1, max_size=8))
def test_hearing_every_step_gives_the_same_as_reading_at_once(talk_of, tool, steps):
    t = talk_of()
    heard: list[Any] = []
    cursor = Cursor()
    with tempfile.TemporaryDirectory() as folder:
        path = Path()
        for number, step in enumerate(steps):
            STEPS[step](t, tool, number)
            path = t.write_tables(Path(folder))
            raw = json.dumps(
                {
                    "sessionID": t.info["id"],
                    "directory": t.info["directory"],
                    "data": folder,
                }
            ).encode()
            reading = HOST.read("session.idle", raw, cursor, "2026-02-09T15:00:00Z")
            cursor = reading.cursor
            heard += reading.events
        at_once = HOST.read_transcript(path, Cursor())
    assert settled(heard) == settled(list(at_once.events))
