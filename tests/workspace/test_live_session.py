"""What happens to a live session of Claude Code, from the payloads and the growing transcript to
the files.
"""

from __future__ import annotations

import itertools
import os
from pathlib import Path

import pytest
from live_session import Live

from keeplore.config.places import Places
from keeplore.memory import Conversation, Memory, parse
from keeplore.workspace import Registry
from keeplore.workspace.importing.intake import Intake
from keeplore.workspace.lifecycle.setup import initialise
from keeplore_hooks.events import Origin, Turn
from keeplore_hooks.installed import source_named
from keeplore_hooks.specs import hookimpl


@pytest.fixture
def live():
    initialise(Places.from_environment(os.environ), Path.home() / "memory")
    return Live("one", itertools.count())


def memories() -> list[Memory]:
    found = [
        parse(path.read_text())
        for path in (Path.home() / "memory").glob("**/memory/**/*.md")
    ]
    return sorted(found, key=lambda memory: memory.created_at)


def said() -> list[tuple[str, tuple[object, ...]]]:
    talks = [
        Conversation.from_markdown(memory.body)
        for memory in memories()
        if memory.kind == "conversation"
    ]
    return sorted(
        (exchange.user, exchange.replies)
        for talk in talks
        for exchange in talk.exchanges
    )


def test_an_interrupted_turn_keeps_what_was_said_and_the_next_prompt_is_its_own(live):
    live.hear("UserPromptSubmit", prompt="Rewrite the tax table", prompt_id="p1")
    live.user("u1", "Rewrite the tax table", promptId="p1")
    live.say("a1", "I begin with the rates.", "u1")
    live.user("i1", [{"type": "text", "text": "[Request interrupted by user]"}], "a1")
    live.hear("UserPromptSubmit", prompt="No, only the rounding", prompt_id="p2")
    live.user("u2", "No, only the rounding", "i1", promptId="p2")
    live.say("a2", "Only the rounding then.", "u2")
    live.hear("Stop", last_assistant_message="Only the rounding then.")
    assert said() == [
        ("No, only the rounding", ("Only the rounding then.",)),
        ("Rewrite the tax table", ("I begin with the rates.",)),
    ]


def test_a_prompt_typed_while_the_agent_works_is_kept_once(live):
    live.user("u1", "Build the importer")
    live.say("a1", "It reads CSV first.", "u1")
    live.hear("UserPromptSubmit", prompt="Also take JSON lines", prompt_id="p2")
    queued = {
        "type": "queued_command",
        "prompt": "Also take JSON lines",
        "commandMode": "prompt",
    }
    live.add("attachment", "q1", "a1", attachment=queued)
    live.say("a2", "JSON lines too.", "q1")
    live.hear("Stop", last_assistant_message="JSON lines too.")
    assert said() == [
        ("Also take JSON lines", ("JSON lines too.",)),
        ("Build the importer", ("It reads CSV first.",)),
    ]


def test_what_a_subagent_is_told_and_says_is_no_exchange(live):
    live.user("u1", "Find where rounding happens")
    task = {
        "type": "tool_use",
        "id": "t1",
        "name": "Task",
        "input": {"prompt": "Search for round("},
    }
    live.add(
        "assistant",
        "a1",
        "u1",
        message={"role": "assistant", "id": "m1", "content": [task]},
    )
    live.user("s1", "Search for round(", isSidechain=True, agentId="x")
    live.say("s2", "Found in secret.py", "s1", isSidechain=True, agentId="x")
    live.hear("UserPromptSubmit", prompt="Search for round(", agent_id="x")
    live.hear("SubagentStop", agent_id="x", last_assistant_message="Found in secret.py")
    result = {
        "type": "tool_result",
        "tool_use_id": "t1",
        "content": [{"type": "text", "text": "Found in secret.py"}],
    }
    live.user("r1", [result], "a1")
    live.say("a2", "It happens in one place.", "r1")
    live.hear("Stop", last_assistant_message="It happens in one place.")
    assert said() == [("Find where rounding happens", ("It happens in one place.",))]


def test_a_session_that_is_resumed_goes_on_and_repeats_nothing(live):
    live.user("u1", "Which store do we take?")
    live.say("a1", "SQLite.", "u1")
    live.hear("Stop", last_assistant_message="SQLite.")
    live.hear("SessionEnd", reason="other")
    live.hear("SessionStart", source="resume")
    live.user("u2", "And where does its file lie?", "a1")
    live.say("a2", "In the state directory.", "u2")
    live.hear("Stop", last_assistant_message="In the state directory.")
    assert said() == [
        ("And where does its file lie?", ("In the state directory.",)),
        ("Which store do we take?", ("SQLite.",)),
    ]


def test_a_rewound_session_keeps_both_ways_and_the_shared_part_once(live):
    live.user("u1", "Which store do we take?")
    live.say("a1", "SQLite.", "u1")
    live.hear("Stop", last_assistant_message="SQLite.")
    live.user("u2", "Try it with two tables", "a1")
    live.say("a2", "Two tables are made.", "u2")
    live.hear("Stop", last_assistant_message="Two tables are made.")
    live.user("u3", "Try it with one table", "a1")
    live.say("a3", "One table is made.", "u3")
    live.hear("Stop", last_assistant_message="One table is made.")
    assert said() == [
        ("Try it with one table", ("One table is made.",)),
        ("Try it with two tables", ("Two tables are made.",)),
        ("Which store do we take?", ("SQLite.",)),
    ]


def test_a_fork_that_runs_beside_the_session_repeats_nothing(live):
    live.user("u1", "Which store do we take?")
    live.say("a1", "SQLite.", "u1")
    live.hear("Stop", last_assistant_message="SQLite.")
    fork = Live("two", live._clock)
    fork.path.write_text(
        live.path.read_text().replace('"sessionId": "one"', '"sessionId": "two"')
    )
    fork.hear("SessionStart", source="fork")
    fork.user("u2", "Would Postgres do as well?", "a1")
    fork.say("a2", "It would need a server.", "u2")
    fork.hear("Stop", last_assistant_message="It would need a server.")
    live.user("u3", "Take SQLite then", "a1")
    live.say("a3", "Taken.", "u3")
    live.hear("Stop", last_assistant_message="Taken.")
    assert said() == [
        ("Take SQLite then", ("Taken.",)),
        ("Which store do we take?", ("SQLite.",)),
        ("Would Postgres do as well?", ("It would need a server.",)),
    ]


def test_two_terminals_in_one_session_each_have_their_own_replies(live):
    live.user("u1", "Which store do we take?")
    live.say("a1", "SQLite.", "u1")
    live.hear("Stop", last_assistant_message="SQLite.")
    live.hear("UserPromptSubmit", prompt="Write the schema", prompt_id="p2")
    live.hear("UserPromptSubmit", prompt="Write the manual", prompt_id="p3")
    live.user("u2", "Write the schema", "a1", promptId="p2")
    live.user("u3", "Write the manual", "a1", promptId="p3")
    live.say("a2", "The schema is written.", "u2")
    live.say("a3", "The manual is written.", "u3")
    live.hear("Stop", last_assistant_message="The schema is written.")
    live.hear("Stop", last_assistant_message="The manual is written.")
    live.say("a4", "The schema has an index too.", "a2")
    live.hear("Stop", last_assistant_message="The schema has an index too.")
    assert said() == [
        ("Which store do we take?", ("SQLite.",)),
        ("Write the manual", ("The manual is written.",)),
        (
            "Write the schema",
            ("The schema is written.", "The schema has an index too."),
        ),
    ]


def test_what_was_said_is_on_disk_before_a_compaction_and_the_summary_is_a_document(
    live,
):
    live.user("u1", "Which store do we take?")
    live.say("a1", "SQLite, because it needs no server.", "u1")
    live.hear("PreCompact", trigger="auto")
    before = said()
    assert before == [
        ("Which store do we take?", ("SQLite, because it needs no server.",))
    ]
    assert [(memory.kind, memory.meta["trigger"]) for memory in memories()] == [
        ("conversation", "compaction")
    ]
    boundary = {
        "subtype": "compact_boundary",
        "compactMetadata": {"trigger": "auto", "preTokens": 9},
    }
    live.add("system", "b1", None, content="Conversation compacted", **boundary)
    summary = (
        "This session is being continued from a previous conversation. We took SQLite as the "
        "store."
    )
    live.user(
        "c1", summary, "b1", isCompactSummary=True, isVisibleInTranscriptOnly=True
    )
    live.hear("SessionStart", source="compact")
    live.hear("PostCompact", trigger="auto", compact_summary=summary)
    live.user("u2", "And where does its file lie?", "c1")
    live.say("a2", "In the state directory.", "u2")
    live.hear("Stop", last_assistant_message="In the state directory.")
    assert said() == [
        ("And where does its file lie?", ("In the state directory.",)),
        *before,
    ]
    (document,) = [memory for memory in memories() if memory.kind != "conversation"]
    assert (
        document.kind == "document" and "We took SQLite as the store." in document.body
    )


class Looking:
    """A plugin that looks at what is on disk when it hears of a turn."""

    def __init__(self) -> None:
        self.seen: dict[str, list[str]] = {}

    @hookimpl
    def keeplore_turn(self, turn: Turn) -> None:
        self.seen[turn.user] = [words for words, _ in said()]


def test_an_import_brings_to_disk_what_was_said_before_a_compaction_ere_it_goes_on(
    live,
):
    live.user("u1", "Which store do we take?")
    live.say("a1", "SQLite, because it needs no server.", "u1")
    live.add(
        "system",
        "b1",
        None,
        subtype="compact_boundary",
        compactMetadata={"trigger": "auto"},
    )
    live.user("u2", "And where does its file lie?", "b1")
    live.say("a2", "In the state directory.", "u2")
    looking = Looking()
    with Registry(Places.from_environment(os.environ)) as registry:
        registry.for_directory(live.cwd).plugins.register(looking)
        origin = Origin(
            "claude-code", live.session, str(live.cwd), transcript=str(live.path)
        )
        Intake(registry).take_transcript(source_named("claude-code"), live.path, origin)
    assert looking.seen["Which store do we take?"] == []
    assert looking.seen["And where does its file lie?"] == ["Which store do we take?"]
    assert len(said()) == 2


class WrittenFiles:
    """A plugin that is told of the files that are written."""

    def __init__(self) -> None:
        self.told: set[tuple[str, str]] = set()

    @hookimpl
    def keeplore_memory_written(self, memory_id: str, path: str) -> None:
        self.told.add((memory_id, path))


def test_a_plugin_is_told_the_id_and_the_path_of_what_was_written(live):
    live.user("u1", "Which store do we take?")
    live.say("a1", "SQLite, because it needs no server.", "u1")
    plugin = WrittenFiles()
    with Registry(Places.from_environment(os.environ)) as registry:
        workspace = registry.for_directory(live.cwd)
        workspace.plugins.register(plugin)
        origin = Origin(
            "claude-code", live.session, str(live.cwd), transcript=str(live.path)
        )
        Intake(registry).take_transcript(source_named("claude-code"), live.path, origin)
        stored = {workspace.store.load(path).id: path for _, path in plugin.told}
    assert stored and plugin.told == set(stored.items())
