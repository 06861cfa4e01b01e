"""Payloads of every host and event in every wrong shape: nothing raises, and the next good payload
is read.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from example_count import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from keeplore_hooks.events import Turn, from_json, to_json
from keeplore_hooks.hosts import Cursor
from keeplore_hooks.installed import HOSTS, host_named
from keeplore_hooks.sender import sender

AT = "2026-02-09T14:00:00Z"
SESSION = "5e551011-0000-4000-8000-000000000001"
ASKED = {
    "questions": [
        {
            "id": "q",
            "question": "Which?",
            "prompt": "Which?",
            "options": [{"id": "a", "label": "A"}],
        }
    ]
}
EVERYTHING: dict[str, Any] = {
    "session_id": SESSION,
    "sessionId": SESSION,
    "sessionID": f"ses_{SESSION[:8]}",
    "conversation_id": SESSION,
    "generation_id": "g",
    "workspace_roots": ["/home/ann/kasha"],
    "cwd": "/home/ann/kasha",
    "directory": "/home/ann/kasha",
    "transcript_path": None,
    "transcriptPath": "",
    "data": "",
    "timestamp": AT,
    "turn_id": "task-1",
    "prompt_id": "p",
    "prompt": "Drop Redis",
    "prompt_response": "Dropped.",
    "last_assistant_message": "Dropped.",
    "text": "Dropped.",
    "source": "startup",
    "reason": "other",
    "trigger": "auto",
    "compact_summary": "We dropped Redis.",
    "command_name": "keeplore:remember",
    "command_args": "one writer",
    "command_source": "plugin",
    "command": {"name": "remember", "arguments": "one writer"},
    "tool_name": "AskUserQuestion",
    "toolName": "ask_user",
    "tool_use_id": "toolu_1",
    "tool_input": ASKED,
    "toolArgs": json.dumps(ASKED),
    "tool_response": {
        "answers": {"Which?": "A", "q": {"answers": ["A"]}},
        "llmContent": "{}",
    },
    "tool_output": {"answers": {"q": "a"}},
    "toolResult": {"textResultForLlm": "User selected: A"},
    "file_path": "/home/ann/kasha/x.py",
    "output": "ok",
    "time": 1_770_645_600_000,
    "messages": [
        {
            "info": {
                "id": "msg_1",
                "role": "user",
                "time": {"created": 1_770_645_600_000},
            },
            "parts": [{"type": "text", "text": "Drop Redis"}],
        }
    ],
}
EVENTS = {
    "claude-code": (
        *(
            "SessionStart",
            "UserPromptSubmit",
            "UserPromptExpansion",
            "PostToolUse",
            "PreCompact",
            "PostCompact",
        ),
        *("Stop", "StopFailure", "SubagentStart", "SubagentStop", "SessionEnd"),
    ),
    "codex": (
        *(
            "SessionStart",
            "UserPromptSubmit",
            "PostToolUse",
            "PreCompact",
            "PostCompact",
        ),
        *("Stop", "SubagentStop", "Interrupt", "SessionEnd"),
    ),
    "copilot": (
        *(
            "sessionStart",
            "userPromptSubmitted",
            "postToolUse",
            "preCompact",
            "agentStop",
            "subagentStop",
        ),
        *(
            "errorOccurred",
            "sessionEnd",
            "SessionStart",
            "UserPromptSubmit",
            "PostToolUse",
            "Stop",
        ),
    ),
    "cursor": (
        *(
            "sessionStart",
            "beforeSubmitPrompt",
            "afterAgentResponse",
            "afterFileEdit",
            "afterShellExecution",
        ),
        *("postToolUse", "preCompact", "stop", "subagentStop", "sessionEnd"),
    ),
    "gemini-cli": (
        "SessionStart",
        "BeforeAgent",
        "AfterAgent",
        "AfterTool",
        "PreCompress",
        "SessionEnd",
    ),
    "opencode": (
        *(
            "session.created",
            "chat.message",
            "command.execute.before",
            "experimental.session.compacting",
        ),
        *("session.compacted", "session.idle", "session.error", "session.deleted"),
    ),
}
PROMPTS = {
    "claude-code": "UserPromptSubmit",
    "codex": "UserPromptSubmit",
    "copilot": "userPromptSubmitted",
    "cursor": "beforeSubmitPrompt",
    "gemini-cli": "BeforeAgent",
    "opencode": "chat.message",
}
STARTS = {
    "copilot": "sessionStart",
    "cursor": "sessionStart",
    "opencode": "session.created",
}
ODD: list[Any] = [
    *(
        None,
        True,
        -1,
        1e308,
        float("nan"),
        "",
        "\0",
        "\ud800",
        "x" * 10_000,
        "../" * 2000,
        "\u202e\x1b[31m",
    ),
    *(
        [],
        {},
        [[[[]]]],
        {"a": {"b": [1, {"c": None}]}},
        ["", None, 7],
        {"": ""},
        [{}] * 50,
    ),
    *(
        {"questions": 7},
        {"questions": [7, {"question": [], "options": {"a": 1}}]},
        {"answers": [None]},
        10**400,
    ),
]


def heard(host: str, event: str, raw: bytes, cursor: Cursor | None = None) -> Cursor:
    """Everything that is asked of an adapter about one payload; what it gives survives JSON."""
    adapter, named = sender(host, event, raw)
    adapter.origin(named, raw)
    if ask := adapter.ask(named, raw):
        ask.text.encode()
    reading = adapter.read(named, raw, cursor or Cursor(), AT)
    assert all(from_json(to_json(event)) == event for event in reading.events)
    reading.cursor.pending.encode("utf-8", "surrogatepass")
    return reading.cursor


def assert_reads(host: str, cursor: Cursor) -> None:
    """The next good payload gives its turn."""
    good = json.dumps(EVERYTHING).encode()
    if host in STARTS:
        cursor = host_named(host).read(STARTS[host], good, cursor, AT).cursor
    later = json.dumps(
        {
            **EVERYTHING,
            "prompt": "And then?",
            "generation_id": "later",
            "turn_id": "task-2",
        }
    ).encode()
    events = (
        host_named(host)
        .read(PROMPTS[host], later, cursor, "2026-02-09T15:00:00Z")
        .events
    )
    assert host == "opencode" or "And then?" in [
        event.user for event in events if isinstance(event, Turn)
    ]


def test_every_host_is_tried() -> None:
    assert EVENTS.keys() == PROMPTS.keys() == HOSTS.keys()


@pytest.mark.parametrize(
    ("host", "event"),
    [(host, event) for host, events in EVENTS.items() for event in events],
)
def test_each_key_may_hold_anything(host: str, event: str) -> None:
    cursor = Cursor()
    for key in EVERYTHING:
        for value in ODD:
            cursor = heard(
                host, event, json.dumps({**EVERYTHING, key: value}).encode(), cursor
            )
        cursor = heard(
            host,
            event,
            json.dumps({k: v for k, v in EVERYTHING.items() if k != key}).encode(),
            cursor,
        )
    assert_reads(host, cursor)


@pytest.mark.parametrize("host", EVENTS)
def test_a_payload_may_be_cut_off_nested_or_no_text(host: str) -> None:
    whole = json.dumps(EVERYTHING).encode()
    cut = [whole[:length] for length in range(0, len(whole), 307)]
    broken = [
        b"",
        b"[]",
        b"null",
        b"\xff\xfe",
        b"\0" * 1000,
        b'{"a":' * 20_000,
        b"[" * 100_000,
        whole + whole,
    ]
    broken += [
        whole.decode().encode("utf-16"),
        b'"\\ud800"',
        b"NaN",
        b"9" * 5000,
        whole.replace(b'"', b"'"),
    ]
    cursor = Cursor()
    for event in EVENTS[host]:
        for raw in (*cut, *broken):
            cursor = heard(host, event, raw, cursor)
    assert_reads(host, cursor)


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["/x.jsonl", AT]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(sorted(EVERYTHING)), inner, max_size=3)
    ),
    max_leaves=8,
)


@pytest.mark.parametrize("host", EVENTS)
@settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(data=st.data())
def test_a_session_of_payloads_of_any_shape_raises_nothing(
    host: str, data: st.DataObject
) -> None:
    cursor = Cursor()
    for event in data.draw(st.lists(st.sampled_from(EVENTS[host]), max_size=6)):
        more = data.draw(
            st.dictionaries(st.sampled_from(sorted(EVERYTHING)), VALUES, max_size=4)
        )
        cursor = heard(host, event, json.dumps({**EVERYTHING, **more}).encode(), cursor)


@pytest.mark.parametrize("host", EVENTS)
def test_a_cursor_of_any_shape_raises_nothing(host: str) -> None:
    raw = json.dumps(EVERYTHING).encode()
    kept = host_named(host).read(PROMPTS[host], raw, Cursor(), AT).cursor.pending
    known = json.loads(kept) if kept else {}
    for key in known:
        for value in ODD:
            pending = json.dumps({**known, key: value})
            for event in EVENTS[host]:
                heard(host, event, raw, Cursor(0, "", pending))


def test_a_transcript_that_is_a_folder_a_device_or_too_long_a_name_is_a_problem(
    tmp_path: Path,
) -> None:
    (tmp_path / "folder.jsonl").mkdir()
    for name in (
        str(tmp_path / "folder.jsonl"),
        "/dev/zero.jsonl",
        f"/{'x' * 5000}.jsonl",
        "/a/\ud800.jsonl",
        "~/x.jsonl",
    ):
        for host, events in EVENTS.items():
            more = {"transcript_path": name, "transcriptPath": name, "data": name}
            for event in events:
                heard(host, event, json.dumps({**EVERYTHING, **more}).encode())
