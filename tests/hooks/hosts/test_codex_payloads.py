"""Payloads of Codex CLI, beside the rollout that grows meanwhile; what Codex asks for and is
answered.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from keeplore_hooks.events import Turn
from keeplore_hooks.hosts import Ask

AT = "2026-02-09T14:00:04Z"
LATER = "2026-02-09T15:00:00Z"
PATCH = (
    "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** Add File: b/c.py\n+z\n*** End "
    "Patch\n"
)


@pytest.fixture
def codex(codex_in: Any, tmp_path: Path) -> Any:
    return codex_in(tmp_path)


def asked(codex: Any, event: str, **fields: Any) -> Ask | None:
    found: Ask | None = codex.host.ask(event, codex.payload(**fields))
    return found


def test_a_prompt_that_the_rollout_lacks_is_provisional_until_the_rollout_has_it(
    rollout: Any, codex: Any
) -> None:
    t = rollout()
    codex.write(t.bytes())
    (turn,) = codex.hear(
        "UserPromptSubmit", AT, turn_id="task-1", prompt="Drop Redis"
    ).events
    assert (turn.user, turn.is_provisional, turn.is_complete) == (
        "Drop Redis",
        True,
        False,
    )
    assert turn.id.startswith("prompt:")
    t.task("task-1")
    t.user("Drop Redis")
    t.say("Dropped.")
    codex.write(t.bytes())
    (turn,) = codex.hear(
        "Stop", LATER, turn_id="task-1", last_assistant_message="Dropped."
    ).events
    assert (turn.id, turn.replies, turn.is_provisional, turn.is_complete) == (
        "task-1",
        ("Dropped.",),
        False,
        True,
    )


def test_a_prompt_that_the_rollout_has_gives_nothing_more(
    rollout: Any, codex: Any
) -> None:
    t = rollout()
    for number in (1, 2):
        t.task(f"task-{number}")
        t.user("continue")
        t.say(f"words {number}")
    codex.write(t.bytes())
    heard = codex.hear(
        "UserPromptSubmit", AT, turn_id="task-1", prompt="continue"
    ).events
    assert {event.id for event in heard} == {"task-1", "task-2"}
    assert (
        codex.hear("UserPromptSubmit", AT, turn_id="task-2", prompt="continue").events
        == ()
    )
    (turn,) = codex.hear(
        "UserPromptSubmit", AT, turn_id="task-3", prompt="continue"
    ).events[-1:]
    assert (turn.user, turn.is_provisional) == ("continue", True)


def test_a_new_prompt_ends_the_turn_before_it_and_one_typed_meanwhile_does_not(
    rollout: Any, codex: Any
) -> None:
    t = rollout()
    t.task("task-1")
    t.user("Drop Redis")
    t.say("Looking.")
    codex.write(t.bytes())
    meanwhile = codex.hear(
        "UserPromptSubmit", AT, turn_id="task-1", prompt="keep the tests"
    ).events
    assert [(turn.user, turn.is_complete) for turn in meanwhile] == [
        ("Drop Redis", False),
        ("keep the tests", False),
    ]
    after = codex.hear(
        "UserPromptSubmit", LATER, turn_id="task-2", prompt="And now?"
    ).events
    assert [(turn.user, turn.is_complete) for turn in after] == [
        ("Drop Redis", True),
        ("And now?", False),
    ]


def test_last_words_that_the_rollout_lacks_are_added(rollout: Any, codex: Any) -> None:
    t = rollout()
    t.task("task-1")
    t.user("Drop Redis")
    t.say("Looking.")
    codex.write(t.bytes())
    stop = codex.hear(
        "Stop", LATER, turn_id="task-1", last_assistant_message="Dropped."
    )
    assert stop.events[-1].replies == ("Looking.", "Dropped.")
    t.say("Dropped.")
    t.event("task_complete", turn_id="task-1")
    codex.write(t.bytes())
    again = codex.hear("SessionEnd", LATER, reason="other").events
    assert [event.kind for event in again] == ["turn", "session"]
    assert again[0].replies == ("Looking.", "Dropped.")


def test_a_late_stop_does_not_touch_a_later_turn(rollout: Any, codex: Any) -> None:
    t = rollout()
    for number in (1, 2):
        t.task(f"task-{number}")
        t.user(f"prompt {number}")
        t.say(f"words {number}")
    codex.write(t.bytes())
    heard = codex.hear(
        "Stop", AT, turn_id="task-1", last_assistant_message="words 1"
    ).events
    assert [(turn.replies, turn.is_complete) for turn in heard] == [
        (("words 1",), True),
        (("words 2",), False),
    ]


def test_without_a_rollout_payloads_make_the_turn(codex: Any) -> None:
    nothing: dict[str, Any] = {"transcript_path": None}
    codex.hear("SessionStart", AT, source="startup", **nothing)
    (asked_for,) = codex.hear(
        "UserPromptSubmit", AT, turn_id="task-1", prompt="Drop Redis", **nothing
    ).events
    (turn,) = codex.hear(
        "Stop", LATER, turn_id="task-1", last_assistant_message="Dropped.", **nothing
    ).events
    assert turn.id == asked_for.id
    assert (turn.user, turn.replies, turn.is_complete, turn.is_provisional) == (
        "Drop Redis",
        ("Dropped.",),
        True,
        True,
    )
    (compaction,) = codex.hear("PostCompact", LATER, trigger="manual", **nothing).events
    assert (compaction.phase, compaction.trigger, compaction.summary) == (
        "after",
        "manual",
        "",
    )


def test_words_whose_prompt_nobody_heard_make_a_turn_where_there_is_no_rollout(
    codex: Any,
) -> None:
    nothing: dict[str, Any] = {"transcript_path": None}
    (turn,) = codex.hear(
        "Stop", LATER, turn_id="task-1", last_assistant_message="Dropped.", **nothing
    ).events
    assert (turn.user, turn.replies, turn.is_provisional) == ("", ("Dropped.",), True)


def test_an_interrupt_ends_the_turn(rollout: Any, codex: Any) -> None:
    t = rollout()
    t.task("task-1")
    t.user("Drop Redis")
    codex.write(t.bytes())
    assert codex.hear("Interrupt", LATER, turn_id="task-1").events[0].is_complete


def test_sessions_and_compactions_are_told(rollout: Any, codex: Any) -> None:
    codex.write(rollout().bytes())
    (started,) = codex.hear("SessionStart", AT, source="resume").events
    (before,) = codex.hear("PreCompact", AT, trigger="auto").events
    assert codex.hear("PostCompact", AT, trigger="auto").events == ()
    (ended,) = codex.hear("SessionEnd", AT, reason="other").events
    assert [(event.phase, event.reason) for event in (started, ended)] == [
        ("started", "resume"),
        ("ended", "other"),
    ]
    assert (before.phase, before.trigger) == ("before", "auto")


def test_an_answer_is_given_under_the_id_that_it_has_in_the_rollout(
    rollout: Any, codex: Any
) -> None:
    given = {
        "questions": [
            {"id": "db", "question": "Which?", "options": [{"label": "Redis"}]}
        ]
    }
    told = {"answers": {"db": {"answers": ["Redis"]}}}
    t = rollout()
    t.task("task-1")
    t.user("Where?")
    codex.write(t.bytes())
    fields = {
        "tool_name": "request_user_input",
        "tool_input": given,
        "tool_response": told,
        "tool_use_id": "ask",
    }
    payload = codex.hear("PostToolUse", AT, **fields).events[-1]
    t.call("request_user_input", given, json.dumps(told), "ask")
    codex.write(t.bytes())
    record = next(
        event
        for event in codex.hear("PostToolUse", AT, **fields).events
        if event.kind == "question"
    )
    assert (
        (payload.id, payload.answer) == (record.id, record.answer) == ("ask:0", "Redis")
    )
    assert (payload.question, payload.options, payload.at) == ("Which?", ("Redis",), AT)


def test_subagents_make_no_turns(rollout: Any, codex: Any, tmp_path: Path) -> None:
    codex.write(rollout().bytes())
    codex.hear("SessionStart", AT, source="startup")
    cursor = codex.cursor
    other = tmp_path / "rollout-other.jsonl"
    t = rollout(thread_source="subagent")
    t.task("task-9")
    t.user("Look for tests")
    other.write_bytes(t.bytes())
    agent = {"agent_id": "a1", "transcript_path": str(other)}
    assert (
        codex.hear("SubagentStop", AT, last_assistant_message="None.", **agent).events
        == ()
    )
    assert (
        codex.hear(
            "UserPromptSubmit", AT, turn_id="task-9", prompt="Look for tests", **agent
        ).events
        == ()
    )
    assert codex.cursor == cursor
    assert (
        asked(codex, "UserPromptSubmit", prompt="Look for tests", agent_id="a1") is None
    )


@pytest.mark.parametrize(
    ("event", "fields", "ask"),
    [
        ("SessionStart", {"source": "fork"}, Ask("brief", source="fork")),
        (
            "PreToolUse",
            {"tool_name": "apply_patch", "tool_input": {"command": PATCH}},
            Ask("edit", "a.py\nb/c.py"),
        ),
        ("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": PATCH}}, None),
        (
            "PreToolUse",
            {"tool_name": "apply_patch", "tool_input": {"command": 5}},
            None,
        ),
        ("SessionStart", {"source": "compact"}, Ask("brief", source="compact")),
        (
            "UserPromptSubmit",
            {"prompt": "Drop Redis"},
            Ask("prompt", text="Drop Redis"),
        ),
        (
            "UserPromptSubmit",
            {"prompt": "$recall redis"},
            Ask("command", "redis", "recall"),
        ),
        (
            "UserPromptSubmit",
            {"prompt": "/keeplore:recall redis"},
            Ask("command", "redis", "recall"),
        ),
        ("UserPromptSubmit", {"prompt": "/review"}, None),
        ("UserPromptSubmit", {"prompt": " "}, None),
        ("Stop", {}, None),
    ],
)
def test_what_codex_waits_for(
    codex: Any, event: str, fields: dict[str, Any], ask: Ask | None
) -> None:
    assert asked(codex, event, **fields) == ask


def test_the_reply_has_the_keys_that_codex_takes_and_no_others(codex: Any) -> None:
    output = json.loads(codex.host.reply("SessionStart", "Redis went."))
    assert output == {
        "hookSpecificOutput": {
            "hookEventName": "SessionStart",
            "additionalContext": "Redis went.",
        }
    }
    assert codex.host.reply("Stop", "Redis went.") == b""
    assert codex.host.reply("SessionStart", " ") == b""


def test_a_reply_that_is_too_long_is_cut_at_a_line(codex: Any) -> None:
    context = json.loads(codex.host.reply("UserPromptSubmit", "äöü\n" * 2000))[
        "hookSpecificOutput"
    ]["additionalContext"]
    assert len(context.encode()) <= 7_500
    assert set(context.split("\n")) == {"äöü"}
    assert (
        len(
            json.loads(codex.host.reply("SessionStart", "x" * 9000))[
                "hookSpecificOutput"
            ]["additionalContext"]
        )
        == 7_500
    )


@pytest.mark.parametrize(
    "payload",
    [b"", b"[]", b"null", b'{"session_id": 7}', b"{" * 5000, b'{"session_id":"\xff'],
)
def test_no_payload_makes_the_adapter_raise(codex: Any, payload: bytes) -> None:
    for event in ("SessionStart", "UserPromptSubmit", "Stop", "PostToolUse"):
        assert codex.host.origin(event, payload) is None
        assert codex.host.read(event, payload, codex.cursor, AT).events == ()
        assert codex.host.ask(event, payload) is None


@pytest.mark.parametrize(
    "path",
    [
        "relative.jsonl",
        "/etc/passwd",
        "/dev/null",
        "/tmp/\0.jsonl",
        7,
        "/nowhere/x.jsonl",
    ],
)
def test_a_path_that_is_no_rollouts_is_not_read(codex: Any, path: Any) -> None:
    reading = codex.hear(
        "UserPromptSubmit", AT, turn_id="t", prompt="Drop Redis", transcript_path=path
    )
    assert [turn.user for turn in reading.events if isinstance(turn, Turn)] == [
        "Drop Redis"
    ]
