"""What Keeplore's plugin for OpenCode sends, and what it is answered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from keeplore_hooks.events import Command, Compaction, Session, Turn
from keeplore_hooks.hosts import Ask, Cursor
from keeplore_hooks.installed import host_named

SESSION = "ses_made0001"
CWD = "/home/ann/kasha"
BEGIN = 1_770_645_600_000  # 2026-02-09T14:00:00Z, ms
HOST = host_named("opencode")
LATER = "2026-02-09T15:00:00Z"


def payload(talk: Any, *, data: Path | None = None, **fields: Any) -> bytes:
    common = {
        "sessionID": SESSION,
        "directory": CWD,
        "time": BEGIN,
        "messages": talk.messages[-2:],
    }
    return json.dumps(common | ({"data": str(data)} if data else {}) | fields).encode()


def hear(
    event: str, raw: bytes, cursor: Cursor, at: str = LATER
) -> tuple[list[Any], Cursor]:
    reading = HOST.read(event, raw, cursor, at)
    assert reading.problems == ()
    return list(reading.events), reading.cursor


@pytest.mark.parametrize("has_record", [True, False])
def test_a_turn_grows_from_prompt_to_answer(talk, tmp_path, has_record):
    data = tmp_path if has_record else None
    talk.user("Which store?")
    if has_record:
        talk.write_tables(tmp_path)
    (prompt,), cursor = hear("chat.message", payload(talk, data=data), Cursor())
    assert (prompt.id, prompt.user, prompt.is_complete, prompt.is_provisional) == (
        "msg_0001",
        "Which store?",
        False,
        False,
    )
    talk.say("SQLite.")
    if has_record:
        talk.write_tables(tmp_path)
    (turn,), cursor = hear("session.idle", payload(talk, data=data), cursor)
    assert (turn.id, turn.assistant, turn.is_complete) == ("msg_0001", "SQLite.", True)
    # two plugins, or one event twice
    assert hear("session.idle", payload(talk, data=data), cursor)[0] == []


def test_the_record_tells_what_no_payload_told(talk, tmp_path):
    for number in range(3):
        talk.user(f"prompt {number}")
        talk.say(f"answer {number}")
    talk.write_files(tmp_path)
    events, _ = hear(
        "session.idle", payload(talk, data=tmp_path, messages=[]), Cursor()
    )
    assert [event.user for event in events] == ["prompt 0", "prompt 1", "prompt 2"]


def test_a_command_keeps_its_name_however_often_the_session_is_read(talk, tmp_path):
    command = {"name": "review", "arguments": "store.py"}
    typed = payload(talk, data=tmp_path, command=command, time=BEGIN)
    events, cursor = hear("command.execute.before", typed, Cursor())
    assert events == []  # the message that the host makes of it has the id
    talk.user("The long text of the command about store.py")
    talk.say("Fine.")
    where = talk.write_tables(tmp_path)
    (told, turn), cursor = hear("session.idle", payload(talk, data=tmp_path), cursor)
    assert isinstance(told, Command) and (told.name, told.args, told.id) == (
        "review",
        "store.py",
        "msg_0001",
    )
    assert (turn.user, turn.assistant) == ("/review store.py", "Fine.")
    assert HOST.read_transcript(where, cursor).events == ()


def test_an_interrupted_turn_is_complete_with_what_was_said(talk, tmp_path):
    talk.user("Go")
    talk.say(
        "Half",
        finish="",
        time={"created": BEGIN + 2000},
        error={"name": "MessageAbortedError"},
    )
    talk.write_tables(tmp_path)
    (turn,), _ = hear("session.error", payload(talk, data=tmp_path), Cursor())
    assert (turn.assistant, turn.is_complete) == ("Half", True)


def test_a_turn_that_goes_on_is_not_complete(talk, tmp_path):
    talk.user("Go")
    talk.say("Let me look.", finish="tool-calls")
    talk.write_tables(tmp_path)
    (turn, compaction), _ = hear(
        "experimental.session.compacting", payload(talk, data=tmp_path), Cursor()
    )
    assert not turn.is_complete and isinstance(
        compaction, Compaction
    )  # what was said comes before it


def test_sessions_begin_end_and_are_about_to_be_compacted(talk):
    for event, kind, phase in (
        ("session.created", Session, "started"),
        ("session.deleted", Session, "ended"),
        ("experimental.session.compacting", Compaction, "before"),
    ):
        (told,), _ = hear(event, payload(talk), Cursor())
        assert isinstance(told, kind) and told.phase == phase


def test_a_subagents_payloads_give_nothing_and_are_asked_nothing(talk):
    talk.user("look")
    child = payload(talk, parentID="ses_parent1")
    assert HOST.read("session.idle", child, Cursor(), LATER).events == ()
    assert HOST.ask("chat.message", child) is None
    origin = HOST.origin("session.idle", child)
    assert origin and origin.agent == SESSION


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([], ""),
        ([("assistant", "helper")], ""),
        ([("user", "build")], ""),
        (
            [("user", "reviewer"), ("user", "planner"), ("assistant", "helper")],
            "planner",
        ),
    ],
)
def test_a_payload_belongs_to_the_agent_that_was_spoken_to_last(messages, expected):
    told = [{"info": {"role": role, "agent": agent}} for role, agent in messages]
    raw = json.dumps({"sessionID": SESSION, "messages": told}).encode()
    assert HOST.origin("session.idle", raw).agent_name == expected


@pytest.mark.parametrize("raw", [b"", b"{}", b"[]", b"\xff", b'{"sessionID": 7}'])
def test_payloads_of_any_content_are_problems_and_not_errors(raw):
    reading = HOST.read("session.idle", raw, Cursor(), LATER)
    assert reading.events == () and "sessionID" in reading.problems[0]
    assert (
        HOST.origin("session.idle", raw) is None
        and HOST.ask("session.created", raw) is None
    )


@pytest.mark.parametrize("data", ["relative", "/nowhere", "/\0", 7])
def test_a_wrong_data_directory_leaves_what_the_payload_tells(talk, data):
    talk.user("Hello")
    raw = payload(talk)[:-1] + b', "data": ' + json.dumps(data).encode() + b"}"
    reading = HOST.read("chat.message", raw, Cursor(), LATER)
    assert [event.user for event in reading.events if isinstance(event, Turn)] == [
        "Hello"
    ]


def test_what_the_host_waits_for(talk):
    assert HOST.ask("session.created", payload(talk)) == Ask("brief", source="startup")
    assert HOST.ask("session.compacted", payload(talk)) == Ask(
        "brief", source="compact"
    )
    talk.user("Why SQLite?")
    assert HOST.ask("chat.message", payload(talk)) == Ask("prompt", text="Why SQLite?")
    for name in ("remember", "keeplore:remember", "keeplore/remember"):
        command = {"name": name, "arguments": " We use SQLite. "}
        asked = HOST.ask("command.execute.before", payload(talk, command=command))
        assert asked == Ask("command", "We use SQLite.", "remember")
    assert (
        HOST.ask("command.execute.before", payload(talk, command={"name": "review"}))
        is None
    )
    assert HOST.ask("session.idle", payload(talk)) is None


def test_the_reply_carries_context_to_those_that_wait():
    assert json.loads(HOST.reply("chat.message", "It was SQLite. ☃")) == {
        "context": "It was SQLite. ☃"
    }
    assert HOST.reply("chat.message", "  ") == b"" == HOST.reply("session.idle", "x")


@pytest.mark.parametrize(
    "event",
    ["session.created", "chat.message", "command.execute.before", "session.compacted"],
)
def test_an_event_is_known_by_the_name_that_the_client_leaves_of_it(talk, event):
    talk.user("Which store?")
    raw, told = (
        payload(talk, command={"name": "recall", "arguments": "x"}),
        event.replace(".", ""),
    )
    assert HOST.ask(told, raw) == HOST.ask(event, raw) is not None
    assert HOST.reply(told, "a memory") == HOST.reply(event, "a memory") != b""
    assert HOST.read(told, raw, Cursor(), LATER) == HOST.read(
        event, raw, Cursor(), LATER
    )


def test_a_command_of_keeplores_folder_has_the_name_that_it_has_elsewhere(talk):
    raw = payload(
        talk,
        messages=[],
        command={"name": "keeplore/remember", "arguments": "use tabs"},
    )
    assert HOST.ask("command.execute.before", raw) == Ask(
        "command", "use tabs", "remember"
    )
    _, cursor = hear("command.execute.before", raw, Cursor())
    talk.user("The person wants something kept.")
    events, _ = hear("chat.message", payload(talk), cursor)
    assert [(one.name, one.args) for one in events if isinstance(one, Command)] == [
        ("keeplore:remember", "use tabs")
    ]


def test_a_turn_is_in_the_directory_of_the_record_whatever_the_plugin_names(
    talk, tmp_path
):
    talk.user("Which store?")
    told = payload(talk, directory="/home/ann/elsewhere")
    assert [turn.origin.cwd for turn in hear("session.idle", told, Cursor())[0]] == [
        "/home/ann/elsewhere"
    ]
    talk.write_tables(tmp_path)
    told = payload(talk, data=tmp_path, directory="/home/ann/elsewhere")
    assert [turn.origin.cwd for turn in hear("session.idle", told, Cursor())[0]] == [
        CWD
    ]
