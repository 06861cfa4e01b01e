"""What holds for the record of every host: subagents, compactions, and versions that are not known
yet.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from keeplore_hooks import builtin_hosts
from keeplore_hooks.events import Compaction, Turn
from keeplore_hooks.hosts import Cursor, Reading
from keeplore_hooks.hosts.jsonl import open_regular, read_heads
from keeplore_hooks.installed import host_named

SUMMARY = "We dropped Redis, because one writer needs no server; the cache lies in SQLite now."
OPENING = "This session is being continued from a previous conversation"


class ClaudeTalk:
    host, name = "claude-code", "one.jsonl"

    def __init__(self, builders: Any) -> None:
        self.log = builders["lines"]()

    def prompt(self, words: str) -> None:
        self.log.user(words)

    def say(self, words: str) -> None:
        self.log.say(words)

    def delegate(self, kind: str, task: str, agent: str) -> None:
        call = self.log.call(
            "Task",
            {"subagent_type": kind, "description": task, "prompt": "Long.\nVery."},
        )
        self.log.result(
            call,
            "Found in secret.py",
            toolUseResult={"agentId": agent, "status": "completed"},
        )

    def compact(self, summary: str) -> None:
        self.log.add(
            "system", subtype="compact_boundary", compactMetadata={"trigger": "auto"}
        )
        self.log.user(f"{OPENING}. {summary}", isCompactSummary=True)

    def records(self) -> list[Any]:
        return [json.loads(raw) for raw in self.log.raw]


class CodexTalk(ClaudeTalk):
    host, name = "codex", "rollout-2026-02-09T14-00-00-one.jsonl"

    def __init__(self, builders: Any) -> None:
        self.log, self.tasks = builders["rollout"](), 0

    def prompt(self, words: str) -> None:
        self.tasks += 1
        self.log.task(f"task-{self.tasks}")
        self.log.user(words)

    def delegate(self, kind: str, task: str, agent: str) -> None:
        given = {"agent_type": kind, "message": f"{task}\nVery long."}
        self.log.call("spawn_agent", given, json.dumps({"agent_id": agent}))

    def compact(self, summary: str) -> None:
        self.log.line("compacted", message=summary, replacement_history=[])


class CopilotTalk(ClaudeTalk):
    host, name = "copilot", "events.jsonl"

    def __init__(self, builders: Any) -> None:
        self.log = builders["event_log"]()

    def delegate(self, kind: str, task: str, agent: str) -> None:
        given = {"agent_type": kind, "description": task, "prompt": "Long."}
        self.log.call("task", given, "Found in secret.py", call=agent)
        self.log.say("said by the subagent", parentToolCallId=agent)

    def compact(self, summary: str) -> None:
        self.log.add(
            "session.compaction_complete", {"success": True, "summaryContent": summary}
        )


class GeminiTalk(ClaudeTalk):
    host, name = "gemini-cli", "session-one.jsonl"

    def __init__(self, builders: Any) -> None:
        self.log = builders["gemini_log"]()

    def delegate(self, kind: str, task: str, agent: str) -> None:
        self.log.say(
            "",
            {
                **self.log.call(kind, {"objective": task}, "Found in secret.py"),
                "agentId": agent,
            },
        )

    def compact(self, summary: str) -> None:
        content = [{"text": f"<state_snapshot>{summary}</state_snapshot>"}]
        patch = {
            "messages": [
                {"id": f"s{len(self.log.records)}", "type": "user", "content": content}
            ]
        }
        self.log.records.append({"$set": patch})

    def records(self) -> list[Any]:
        return list(self.log.records)


class CursorTalk(ClaudeTalk):
    host, name = "cursor", "one.jsonl"

    def __init__(self, builders: Any) -> None:
        self.log = builders["cursor_log"]()

    def delegate(self, kind: str, task: str, agent: str) -> None:
        self.log.call("Task", subagent_type=kind, description=task, prompt="Long.")


class OpenCodeTalk(ClaudeTalk):
    host, name = "opencode", "one.json"

    def __init__(self, builders: Any) -> None:
        self.messages: list[Any] = []

    def add(self, role: str, *parts: Any, **info: Any) -> str:
        at = 1_770_645_600_000 + 1000 * len(self.messages)
        key = f"msg_{len(self.messages):04}"
        time = (
            {"created": at, "completed": at} if role == "assistant" else {"created": at}
        )
        self.messages.append(
            {
                "info": {"id": key, "role": role, "time": time, **info},
                "parts": list(parts),
            }
        )
        return key

    def prompt(self, words: str) -> None:
        self.add("user", {"type": "text", "text": words})

    def say(self, words: str) -> None:
        self.add("assistant", {"type": "text", "text": words}, finish="stop")

    def delegate(self, kind: str, task: str, agent: str) -> None:
        given = {"subagent_type": kind, "description": task, "prompt": "Long."}
        state = {
            "status": "completed",
            "input": given,
            "output": "secret.py",
            "metadata": {"sessionId": agent},
        }
        self.add(
            "assistant",
            {"type": "tool", "tool": "task", "callID": "call_1", "state": state},
            finish="tool-calls",
        )

    def compact(self, summary: str) -> None:
        parent = self.add("user", {"type": "compaction", "auto": True})
        self.add(
            "assistant",
            {"type": "text", "text": summary},
            summary=True,
            parentID=parent,
            finish="stop",
        )

    def records(self) -> list[Any]:
        return list(self.messages)


TALKS = [ClaudeTalk, CodexTalk, CopilotTalk, GeminiTalk, CursorTalk, OpenCodeTalk]


@pytest.fixture(params=TALKS, ids=lambda kind: kind.host)
def talk(
    request: Any,
    lines: Any,
    rollout: Any,
    event_log: Any,
    gemini_log: Any,
    cursor_log: Any,
) -> Any:
    names = {"lines": lines, "rollout": rollout, "event_log": event_log}
    return request.param({**names, "gemini_log": gemini_log, "cursor_log": cursor_log})


def raw_of(kind: Any, records: list[Any]) -> bytes:
    if kind.host == "opencode":
        session = {
            "id": "ses_one",
            "directory": "/home/ann/kasha",
            "time": {"created": 1_770_645_600_000},
        }
        return json.dumps({"info": session, "messages": records}).encode()
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def read(
    talk: Any,
    folder: Path,
    records: list[Any] | None = None,
    cursor: Cursor | None = None,
) -> Reading:
    path = folder / talk.name
    path.write_bytes(raw_of(talk, talk.records() if records is None else records))
    return host_named(talk.host).read_transcript(path, cursor or Cursor())


def turns(reading: Reading) -> list[Turn]:
    return list(
        {
            event.id: event for event in reading.events if isinstance(event, Turn)
        }.values()
    )


def test_a_subagent_is_a_reference_and_what_it_said_no_exchange(
    talk: Any, tmp_path: Path
) -> None:
    talk.prompt("Where is rounding done?")
    talk.delegate("explorer", "Find every round()", "agent-7")
    talk.say("In one place.")
    (turn,) = turns(read(talk, tmp_path))
    assert turn.replies == ("In one place.",)
    (agent,) = turn.work.agents
    assert agent.startswith("explorer: Find every round()")
    if talk.host not in ("cursor", "copilot"):  # there a call's result does not name it
        assert agent.endswith("(agent-7)")


def test_what_was_said_comes_before_the_compaction_and_the_summary_is_nobodys_words(
    talk: Any, tmp_path: Path
) -> None:
    if talk.host == "cursor":
        pytest.skip("its transcripts do not tell of compactions")
    talk.prompt("Which store do we take?")
    talk.say("SQLite.")
    talk.compact(SUMMARY)
    talk.say("And now the schema.")
    kinds = [
        (event.replies[-1], event.is_complete)
        if isinstance(event, Turn)
        else event.phase
        for event in read(talk, tmp_path).events
        if isinstance(event, Turn | Compaction)
    ]
    assert [kind if isinstance(kind, str) else kind[0] for kind in kinds] == [
        "SQLite.",
        "after",
        "And now the schema.",
    ]
    (compaction,) = (
        event for event in read(talk, tmp_path).events if isinstance(event, Compaction)
    )
    assert SUMMARY in compaction.summary
    assert all(
        SUMMARY not in str(turn.replies) + turn.user
        for turn in turns(read(talk, tmp_path))
    )


def test_a_compaction_that_was_read_gives_nothing_again(
    talk: Any, tmp_path: Path
) -> None:
    talk.prompt("Which store do we take?")
    talk.say("SQLite.")
    if talk.host != "cursor":
        talk.compact(SUMMARY)
    first = read(talk, tmp_path)
    talk.say("And now the schema.")
    second = read(talk, tmp_path, cursor=first.cursor)
    assert [event.replies for event in second.events if isinstance(event, Turn)] == [
        ("SQLite.", "And now the schema.")
    ]
    assert not any(isinstance(event, Compaction) for event in second.events)
    assert read(talk, tmp_path, cursor=second.cursor).events == ()


def mutated(records: list[Any], number: int) -> list[Any]:
    """The records as a version of tomorrow may write them: other types, other keys, other
    shapes.
    """
    chance = random.Random(number)
    unknown = [
        {
            "type": "of-tomorrow",
            "uuid": "x",
            "id": "x",
            "data": {"words": "new"},
            "payload": {"type": "new"},
        },
        {
            "kind": "other",
            "info": {"id": "y", "role": "narrator"},
            "parts": [{"type": "hologram"}],
        },
        {
            "type": ["user"],
            "message": 7,
            "role": {"a": 1},
            "payload": "text",
            "data": None,
            "$set": [],
        },
        [1, 2],
        "text",
        None,
    ]
    kept = [changed(record, chance) for record in records]
    for one in unknown:
        kept.insert(chance.randrange(1, len(kept) + 1), one)
    return kept


def changed(record: Any, chance: random.Random) -> Any:
    if isinstance(record, dict):
        more = {
            f"new_{chance.randrange(9)}": chance.choice([None, 1, [], {"a": [{}]}, "x"])
        }
        return {
            **{key: changed(value, chance) for key, value in record.items()},
            **more,
        }
    return (
        [changed(value, chance) for value in record]
        if isinstance(record, list)
        else record
    )


@pytest.mark.parametrize("number", range(8))
def test_records_of_a_newer_version_give_what_can_be_read(
    talk: Any, tmp_path: Path, number: int
) -> None:
    for count in range(3):
        talk.prompt(f"prompt {count}")
        talk.say(f"words {count}")
    found = [
        (turn.user, turn.replies)
        for turn in turns(read(talk, tmp_path, mutated(talk.records(), number)))
    ]
    assert found == [(f"prompt {count}", (f"words {count}",)) for count in range(3)]


@pytest.mark.parametrize("key", ["type", "role", "message", "payload", "data", "info"])
def test_records_whose_keys_have_other_names_are_a_problem_and_no_error(
    talk: Any, tmp_path: Path, key: str
) -> None:
    talk.prompt("Which store do we take?")
    talk.say("SQLite.")

    def renamed(value: Any) -> Any:
        if isinstance(value, dict):
            return {
                f"{name}_2" if name == key else name: renamed(inner)
                for name, inner in value.items()
            }
        return [renamed(inner) for inner in value] if isinstance(value, list) else value

    before, reading = (
        read(talk, tmp_path),
        read(talk, tmp_path, [renamed(record) for record in talk.records()]),
    )
    is_needed = renamed(talk.records()) != talk.records() and not turns(reading)
    assert turns(before)
    assert not is_needed or "may have written" in " ".join(reading.problems)


# of turns and compactions to which the record gives no id
MADE_IDS = {
    "codex": {"codex:73291d3005d7abea"},
    "gemini-cli": {"472d086ad7130106"},
    "cursor": {"39e360b6e7a879f3", "f141876949f359ff", "7efee7307cfe34ec"},
}


def test_an_id_that_is_made_is_the_same_in_each_version_of_keeplore(
    talk: Any, tmp_path: Path
) -> None:
    # with another one all that a machine has recorded would be read as new
    for words in ("Which cache?", "go on", "go on"):
        talk.prompt(words)
        talk.say("Redis.")
    if talk.host != "cursor":
        talk.compact(SUMMARY)
    talk.say("And now the schema.")
    events = read(talk, tmp_path).events
    ids = {event.id for event in events if isinstance(event, Turn | Compaction)}
    raw = json.dumps(talk.records())
    made = {id_ for id_ in ids if f'"{id_}"' not in raw}
    assert made == MADE_IDS.get(talk.host, set())


def test_whose_a_record_is_stands_in_its_first_lines(tmp_path: Path) -> None:
    record = tmp_path / "record.jsonl"
    record.write_text("".join(f'{{"number": {number}}}\n' for number in range(30)))
    with open_regular(record) as file:
        assert read_heads(file) == [{"number": number} for number in range(21)]


def test_each_builtin_host_and_source_has_its_page() -> None:
    built_in = (*builtin_hosts.keeplore_hosts(), *builtin_hosts.keeplore_sources())
    pages = {one.name: one.documentation for one in built_in}
    together = dict.fromkeys(("chatgpt", "claude-ai"), "docs/hosts/exports.md")
    assert pages == {name: f"docs/hosts/{name}.md" for name in pages} | together
    root = Path(__file__).parents[3]
    assert [page for page in pages.values() if not (root / page).is_file()] == []
