"""Claude Code's payloads: what they add to the transcript, what is asked for, what is replied."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from example_count import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from keeplore_hooks.events import Turn, from_json, to_json
from keeplore_hooks.hosts import Ask, AskKind, Cursor, Reading, prompt_key
from keeplore_hooks.installed import host_named

HOST = host_named("claude-code")
EVENTS = (
    *(
        "SessionStart",
        "UserPromptSubmit",
        "UserPromptExpansion",
        "PostToolUse",
        "PreCompact",
        "PostCompact",
    ),
    *(
        "Stop",
        "StopFailure",
        "SubagentStart",
        "SubagentStop",
        "SessionEnd",
        "Notification",
        "unheard-of",
    ),
)


def at(second: int) -> str:
    return f"2026-02-09T14:00:{second:02}Z"


def test_an_unknown_host_is_named_with_the_known_ones() -> None:
    with pytest.raises(KeyError, match="'emacs'; use one of: claude-code"):
        host_named("emacs")


def test_the_origin_tells_session_directory_transcript_and_subagent(
    session: Any,
) -> None:
    origin = HOST.origin("Stop", session.payload(agent_id="a1"))
    assert origin is not None
    assert (origin.session, origin.cwd, origin.agent) == (
        session.path.stem,
        "/home/ann/kasha",
        "a1",
    )
    assert origin.transcript == str(session.path)


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"{}",
        b'{"session_id": 5}',
        b"\xff\xfe",
        b"[" * 100_000,
    ],
)
def test_what_is_no_payload_gives_no_event_and_a_problem(payload: bytes) -> None:
    cursor = Cursor(5, "x", "y")
    assert HOST.origin("Stop", payload) is None
    assert HOST.ask("SessionStart", payload) is None
    reading = HOST.read("Stop", payload, cursor, at(0))
    assert (reading.events, reading.cursor) == ((), cursor)
    assert reading.problems == (
        "the payload of Stop is no JSON object with a session_id",
    )


def test_events_that_tell_nothing_leave_the_transcript_alone(
    session: Any, lines: Any
) -> None:
    t = lines()
    t.user("One")
    session.write(t)
    assert session.hear("Notification", message="waiting").events == ()
    assert session.cursor == Cursor()


def test_a_session_starts_and_ends(session: Any) -> None:
    (started,) = session.hear("SessionStart", at(0), source="startup").events
    (ended,) = session.hear("SessionEnd", at(9), reason="clear").events
    assert [(event.phase, event.reason, event.at) for event in (started, ended)] == [
        ("started", "startup", at(0)),
        ("ended", "clear", at(9)),
    ]
    assert started.id != ended.id


def test_a_session_that_was_cut_off_is_caught_up_when_it_is_resumed(
    session: Any, lines: Any
) -> None:
    t = lines()
    t.user("One")
    session.write(t)
    assert [
        turn.is_complete
        for turn in session.hear("PreCompact", at(1)).events
        if turn.kind == "turn"
    ] == [False]
    t.say("1")
    session.write(t)
    turn, started = session.hear("SessionStart", at(30), source="resume").events
    assert (turn.replies, turn.is_complete, started.kind) == (("1",), True, "session")


def test_a_prompt_ends_the_turn_before_it_and_is_provisional_until_the_transcript_has_it(
    session: Any, lines: Any, final: Any
) -> None:
    t = lines()
    t.user("One")
    t.say("1")
    session.write(t)
    first, provisional = session.hear(
        "UserPromptSubmit", at(5), prompt="Two\n<system-reminder>x</system-reminder>"
    ).events[1:]
    assert (first.user, first.is_complete) == ("One", True)
    assert (provisional.user, provisional.is_provisional, provisional.is_complete) == (
        "Two",
        True,
        False,
    )
    assert provisional.id.startswith("prompt:")
    t.user([{"type": "image"}, {"type": "text", "text": "Two"}], timestamp=at(5))
    t.say("2", timestamp=at(8))
    session.write(t)
    (turn,) = session.hear("Stop", at(9), last_assistant_message="2").events
    assert (turn.user, turn.replies, turn.is_complete, turn.is_provisional) == (
        "[image]\nTwo",
        ("2",),
        True,
        False,
    )
    assert prompt_key(turn.user) == prompt_key(provisional.user)


def test_a_prompt_that_the_transcript_has_is_not_provisional(
    session: Any, lines: Any
) -> None:
    t = lines()
    t.user("One")
    session.write(t)
    (turn,) = session.hear(
        "UserPromptSubmit", at(1), prompt="One", prompt_id="p"
    ).events
    assert (turn.is_provisional, turn.is_complete) == (False, False)


def test_a_payload_that_the_transcript_has_overtaken_adds_nothing(
    session: Any, lines: Any, final: Any
) -> None:
    """The worker was away for two turns: the spool still holds the payloads, the transcript has
    everything.
    """
    t = lines()
    t.user("One")  # second 1
    t.say("1")
    t.user("Two")
    t.say("2")  # second 4
    session.write(t)
    events = [
        *session.hear("UserPromptSubmit", at(1), prompt="One").events,
        *session.hear("Stop", at(2), last_assistant_message="1").events,
        *session.hear("UserPromptSubmit", at(3), prompt="Two").events,
        *session.hear("Stop", at(4), last_assistant_message="2").events,
    ]
    assert [
        (turn.user, turn.replies, turn.is_provisional) for turn in final(events)
    ] == [
        ("One", ("1",), False),
        ("Two", ("2",), False),
    ]
    assert final(events)[-1].is_complete


def test_the_same_words_twice_are_two_prompts(session: Any, lines: Any) -> None:
    t = lines()
    t.user("continue")
    t.say("1")
    session.write(t)
    session.hear("Stop", at(2))
    (provisional,) = session.hear("UserPromptSubmit", at(3), prompt="continue").events
    assert provisional.is_provisional
    (turn,) = session.hear("Stop", at(5), last_assistant_message="2").events
    assert (turn.id, turn.user, turn.replies) == (provisional.id, "continue", ("2",))


def test_last_words_complete_a_transcript_that_lags(session: Any, lines: Any) -> None:
    t = lines()
    t.user("One")
    t.say("I look.")
    session.write(t)
    turn = session.hear("Stop", at(5), last_assistant_message="It is done.").events[-1]
    assert (turn.replies, turn.is_complete) == (("I look.", "It is done."), True)
    t.say("It is done.")
    session.write(t)
    (later,) = session.hear("SessionEnd", at(9)).events[:-1]
    assert (later.id, later.replies) == (turn.id, turn.replies)


def test_last_words_that_the_transcript_has_are_not_added(
    session: Any, lines: Any
) -> None:
    t = lines()
    t.user("One")
    t.say("It  is\ndone.")
    session.write(t)
    (turn,) = session.hear("Stop", at(5), last_assistant_message="It is done.").events
    assert turn.replies == ("It  is\ndone.",)


def test_an_api_error_is_not_the_assistants_last_word(session: Any, lines: Any) -> None:
    t = lines()
    t.user("One")
    session.write(t)
    (turn,) = session.hear(
        "StopFailure",
        at(5),
        error="overloaded",
        last_assistant_message="API Error: 529",
    ).events
    assert (turn.replies, turn.is_complete) == ((), True)


def test_the_end_of_a_subagent_does_not_end_the_turn(session: Any, lines: Any) -> None:
    t = lines()
    t.user("One")
    session.write(t)
    (turn,) = session.hear(
        "SubagentStop", at(5), agent_id="a1", last_assistant_message="I am the scout"
    ).events
    assert (turn.replies, turn.is_complete) == ((), False)


@pytest.mark.parametrize("is_named", [True, False])
def test_without_a_transcript_prompt_and_last_words_make_the_turn(
    session: Any, is_named: bool
) -> None:
    path = {} if is_named else {"transcript_path": None}
    (prompt,) = session.hear(
        "UserPromptSubmit", at(1), prompt="Why?", prompt_id="p1", **path
    ).events
    (turn,) = session.hear(
        "Stop", at(5), last_assistant_message="Because.", **path
    ).events
    assert (prompt.id, prompt.is_complete) == ("prompt:p1", False)
    assert (turn.id, turn.at, turn.user, turn.replies) == (
        "prompt:p1",
        at(1),
        "Why?",
        ("Because.",),
    )
    assert (turn.is_complete, turn.is_provisional, turn.ended_at) == (True, True, at(5))


def test_without_a_transcript_and_a_prompt_the_last_words_are_kept(
    session: Any,
) -> None:
    (turn,) = session.hear("Stop", at(5), last_assistant_message="Because.").events
    assert (turn.user, turn.replies, turn.is_provisional) == ("", ("Because.",), True)


def test_without_a_transcript_commands_and_compactions_come_from_the_payload(
    session: Any,
) -> None:
    (command,) = session.hear(
        "UserPromptExpansion", at(1), command_name="/review", command_args="all"
    ).events
    (turn,) = session.hear("Stop", at(2), last_assistant_message="Fine.").events
    (before,) = session.hear(
        "PreCompact", at(3), trigger="auto", custom_instructions=None
    ).events
    (after,) = session.hear(
        "PostCompact", at(4), trigger="auto", compact_summary="Redis was dropped"
    ).events
    assert (command.name, command.args) == ("review", "all")
    assert (turn.user, turn.replies) == ("/review all", ("Fine.",))
    assert (before.phase, before.trigger, before.summary) == ("before", "auto", "")
    assert (after.phase, after.trigger, after.summary) == (
        "after",
        "auto",
        "Redis was dropped",
    )


def test_a_command_that_the_transcript_tells_is_told_once(
    session: Any, lines: Any
) -> None:
    t = lines()
    t.user("One")
    session.write(t)
    heard = [*session.hear("UserPromptSubmit", at(2), prompt="/review all").events]
    heard += session.hear(
        "UserPromptExpansion", at(2), command_name="review", command_args="all"
    ).events
    assert all(event.kind == "turn" and event.user == "One" for event in heard)
    (turn,) = session.hear("Stop", at(4), last_assistant_message="Fine.").events
    assert (turn.user, turn.replies, turn.is_provisional) == (
        "/review all",
        ("Fine.",),
        True,
    )
    t.command("review", "all")
    t.say("Fine.")
    session.write(t)
    command, own = session.hear("SessionEnd", at(9)).events[:2]
    assert (command.kind, command.name, own.user, own.replies) == (
        "command",
        "review",
        "/review all",
        ("Fine.",),
    )


def test_before_a_compaction_everything_said_so_far_comes_first(
    session: Any, lines: Any
) -> None:
    t = lines()
    t.user("One")
    t.say("1")
    session.write(t)
    turn, compaction = session.hear("PreCompact", at(3), trigger="manual").events
    assert (turn.replies, turn.is_complete) == (("1",), False)
    assert (compaction.phase, compaction.trigger, compaction.at) == (
        "before",
        "manual",
        at(3),
    )
    t.compaction("manual")
    session.write(t)
    after, started = session.hear("SessionStart", at(6), source="compact").events
    assert (after.phase, started.reason) == ("after", "compact")
    assert (
        session.hear("PostCompact", at(6), trigger="manual", compact_summary="…").events
        == ()
    )


def test_an_answered_question_has_the_id_that_it_has_in_the_transcript(
    session: Any, lines: Any
) -> None:
    given = {
        "questions": [
            {
                "question": "Which cache?",
                "header": "Cache",
                "options": [{"label": "None"}],
            }
        ]
    }
    response = {**given, "answers": {"Which cache?": "None"}}
    t = lines()
    t.user("One")
    call = t.call("AskUserQuestion", given)
    session.write(t)
    *_, question = session.hear(
        "PostToolUse",
        at(3),
        tool_name="AskUserQuestion",
        tool_use_id=call,
        tool_input=given,
        tool_response=response,
    ).events
    assert (question.kind, question.question, question.answer) == (
        "question",
        "Which cache?",
        "None",
    )
    t.result(call, "…", toolUseResult=response)
    session.write(t)
    own, turn = session.hear("Stop", at(4)).events
    assert (own.id, own.answer, turn.replies) == (question.id, "None", (own,))


@pytest.mark.parametrize(
    "name",
    [
        "notes.txt",
        "missing.jsonl/../../etc/passwd",
        "folder.jsonl",
        "pipe.jsonl",
        "link.jsonl",
    ],
)
def test_a_transcript_path_that_is_none_is_not_opened(
    session: Any, tmp_path: Path, name: str
) -> None:
    (tmp_path / "notes.txt").write_text(
        '{"type":"user","uuid":"u","message":{"content":"secret"}}\n'
    )
    (tmp_path / "folder.jsonl").mkdir()
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "notes.txt")
    os.mkfifo(tmp_path / "pipe.jsonl")
    reading = session.hear("SubagentStop", at(3), transcript_path=str(tmp_path / name))
    assert reading.events == ()
    assert len(reading.problems) == 1 and "transcript" in reading.problems[0]


@pytest.mark.parametrize(
    "name",
    [
        7,
        "relative.jsonl",
        "/tmp/nul\0.jsonl",
        "~nobody-of-that-name/x.jsonl",
        "/" + "x" * 5000 + ".jsonl",
    ],
)
def test_a_transcript_path_of_any_shape_raises_nothing(session: Any, name: Any) -> None:
    reading = session.hear(
        "Stop", at(3), transcript_path=name, last_assistant_message="Said."
    )
    assert [event.replies for event in reading.events] == [("Said.",)]


def test_a_transcript_behind_a_link_to_its_folder_is_read(
    session: Any, lines: Any, tmp_path: Path
) -> None:
    t = lines()
    t.user("One")
    real = tmp_path / "real"
    real.mkdir()
    (real / session.path.name).write_bytes(t.bytes())
    (tmp_path / "linked").symlink_to(real)
    reading = session.hear(
        "Stop", at(3), transcript_path=str(tmp_path / "linked" / session.path.name)
    )
    assert [event.user for event in reading.events] == ["One"]


def test_a_session_start_asks_for_a_brief_and_a_prompt_for_what_matters_for_it(
    session: Any,
) -> None:
    assert HOST.ask("SessionStart", session.payload(source="compact")) == Ask(
        "brief", source="compact"
    )
    assert HOST.ask("SessionStart", session.payload(source="fork")) == Ask(
        "brief", source="fork"
    )
    assert HOST.ask("SessionStart", session.payload()) == Ask("brief", source="startup")
    assert HOST.ask("UserPromptSubmit", session.payload(prompt=" Why Redis? ")) == Ask(
        "prompt", text="Why Redis?"
    )
    path = "/home/ann/a.py is broken"
    assert HOST.ask("UserPromptSubmit", session.payload(prompt=path)) == Ask(
        "prompt", text=path
    )


@pytest.mark.parametrize(
    ("tool", "given", "path"),
    [
        ("Edit", {"file_path": "/home/ann/a.py", "old_string": "x"}, "/home/ann/a.py"),
        ("Write", {"file_path": "/home/ann/b.py", "content": "x"}, "/home/ann/b.py"),
        ("MultiEdit", {"file_path": "/home/ann/c.py", "edits": []}, "/home/ann/c.py"),
        ("NotebookEdit", {"notebook_path": "/home/ann/d.ipynb"}, "/home/ann/d.ipynb"),
    ],
)
def test_before_an_edit_the_file_is_asked_about(
    session: Any, tool: str, given: dict[str, Any], path: str
) -> None:
    payload = session.payload(tool_name=tool, tool_input=given)
    assert HOST.ask("PreToolUse", payload) == Ask("edit", path)
    assert (
        json.loads(HOST.reply("PreToolUse", "a gotcha"))["hookSpecificOutput"][
            "additionalContext"
        ]
        == "a gotcha"
    )


@pytest.mark.parametrize(
    "given", [{"file_path": 5}, {}, [], None, {"notebook_path": "/a"}]
)
def test_before_another_tool_or_without_a_file_nothing_is_asked(
    session: Any, given: Any
) -> None:
    assert (
        HOST.ask("PreToolUse", session.payload(tool_name="Edit", tool_input=given))
        is None
    )
    assert (
        HOST.ask(
            "PreToolUse",
            session.payload(tool_name="Bash", tool_input={"file_path": "/a"}),
        )
        is None
    )


@pytest.mark.parametrize(
    "prompt",
    [
        "",
        "  ",
        "/review",
        "/team:review the last\ncommit",
        5,
        "<task-notification></task-notification>",
    ],
)
def test_nothing_is_asked_for_a_command_or_for_no_prompt(
    session: Any, prompt: Any
) -> None:
    assert HOST.ask("UserPromptSubmit", session.payload(prompt=prompt)) is None


def test_nothing_is_asked_in_a_subagent_or_at_other_events(session: Any) -> None:
    assert (
        HOST.ask("UserPromptSubmit", session.payload(prompt="Why?", agent_id="a1"))
        is None
    )
    assert HOST.ask("Stop", session.payload(prompt="Why?")) is None


def test_a_subagent_is_briefed_as_a_session_of_its_own_that_says_nothing(
    session: Any,
) -> None:
    started = session.payload(agent_id="a1", agent_type="reviewer")
    assert HOST.ask("SubagentStart", started) == Ask(AskKind.BRIEF, source="startup")
    origin = HOST.origin("SubagentStart", started)
    usual = HOST.origin("Stop", session.payload())
    assert origin.session == f"{usual.session}-a1"
    assert (origin.agent, origin.agent_name) == ("", "reviewer")
    assert HOST.read("SubagentStart", started, Cursor(), at(1)) == Reading((), Cursor())
    # the one that shortens a context is of no type
    own = session.payload(agent_id="a2", agent_type="")
    assert HOST.ask("SubagentStart", own) is None


def test_a_reply_is_one_json_object_or_nothing() -> None:
    reply = HOST.reply("SessionStart", "We dropped Redis – läuft.\ud83d")
    assert json.loads(reply) == {
        "hookSpecificOutput": {
            "hookEventName": "SessionStart",
            "additionalContext": "We dropped Redis – läuft.\N{REPLACEMENT CHARACTER}",
        }
    }
    assert reply.startswith(b"{") and reply.endswith(b"}")
    assert HOST.reply("UserPromptSubmit", " \n") == b""
    # it would keep the assistant going
    assert HOST.reply("Stop", "We dropped Redis") == b""


@pytest.mark.parametrize(
    ("unit", "count"),
    [("line\n", 2000), ("\N{GRINNING FACE}" * 10 + "\n", 476), ("x" * 30_000, 10_000)],
)
def test_a_reply_is_cut_at_a_line_within_the_hosts_limit(unit: str, count: int) -> None:
    context = json.loads(HOST.reply("UserPromptSubmit", unit * 5000))[
        "hookSpecificOutput"
    ]["additionalContext"]
    assert len(context.encode("utf-16-le")) // 2 <= 10_000
    assert context == ((unit * 5000)[: len(context)])
    assert context.count(unit[0]) == {"l": count, "x": count}.get(unit[0], count * 10)


def test_recorded_sessions_are_listed_without_those_of_subagents(
    tmp_path: Path, lines: Any
) -> None:
    project = tmp_path / ".claude" / "projects" / "-home-ann-kasha"
    (project / "s1" / "subagents").mkdir(parents=True)
    t = lines()
    t.bare(type="file-history-snapshot", messageId="m")
    t.bare(type="summary", summary="A talk", leafUuid="x")
    t.user("One")
    agent = lines()
    agent.user("You are a scout", isSidechain=True)
    (project / f"{t.session}.jsonl").write_bytes(t.bytes())
    (project / "agent-1.jsonl").write_bytes(agent.bytes())
    (project / "renamed.jsonl").write_bytes(agent.bytes())
    (project / "s1" / "subagents" / "agent-2.jsonl").write_bytes(agent.bytes())
    (project / "empty.jsonl").write_bytes(b"")
    (project / "folder.jsonl").mkdir()
    (found,) = HOST.recorded(tmp_path)
    assert (found.session, found.cwd, found.started_at) == (
        t.session,
        "/home/ann/kasha",
        at(1),
    )
    assert (found.path.name, found.size) == (f"{t.session}.jsonl", len(t.bytes()))
    assert list(HOST.recorded(Path("/nowhere"), str(tmp_path / ".claude"))) == [found]
    assert list(HOST.recorded(tmp_path / "nobody")) == []


def test_events_of_a_reading_survive_json(session: Any, lines: Any) -> None:
    t = lines()
    t.user("One")
    t.result(
        t.call("AskUserQuestion", {"questions": [{"question": "Why?"}]}),
        '"Why?"="so". You can now',
    )
    t.command("review")
    t.compaction()
    session.write(t)
    events = session.hear("SessionEnd", at(50)).events
    assert len(events) == 5
    assert tuple(from_json(to_json(event)) for event in events) == events


@settings(max_examples=examples(300), deadline=None)
@given(
    event=st.sampled_from(EVENTS),
    fields=st.dictionaries(
        st.sampled_from(
            (
                *(
                    "prompt",
                    "prompt_id",
                    "cwd",
                    "source",
                    "reason",
                    "trigger",
                    "tool_name",
                    "tool_input",
                    "agent_id",
                ),
                *(
                    "tool_response",
                    "tool_use_id",
                    "last_assistant_message",
                    "command_name",
                    "command_args",
                ),
                "transcript_path",
            )
        ),
        st.none()
        | st.integers()
        | st.text(max_size=9)
        | st.lists(st.text(max_size=3), max_size=2)
        | st.just(
            {
                "questions": [{"question": "q", "options": "x"}],
                "answers": {"q": ["a", 1]},
            }
        )
        | st.just("AskUserQuestion"),
    ),
)
def test_payloads_of_any_shape_raise_nothing(
    event: str, fields: dict[str, Any]
) -> None:
    payload = json.dumps({"session_id": "s", **fields}).encode()
    reading = HOST.read(event, payload, Cursor(), at(0))
    assert all(from_json(to_json(one)) == one for one in reading.events)
    again = HOST.read("Stop", payload, reading.cursor, at(1))
    assert all(isinstance(one, Turn) for one in again.events)
    HOST.ask(event, payload)


def test_a_worker_that_is_late_takes_every_turn_once_however_far_the_transcript_is_ahead(
    session: Any, lines: Any
) -> None:
    t = lines()
    for number in range(4):
        t.user("continue" if number % 2 else f"question {number}")
        t.say(f"answer {number}")
    session.write(t)
    # the clock of the payloads is no help: a replay
    late = at(50)[:10].replace("20", "21", 1) + at(50)[10:]
    ids = []
    for number in range(4):
        prompt = "continue" if number % 2 else f"question {number}"
        for event, fields in (
            ("UserPromptSubmit", {"prompt": prompt}),
            ("Stop", {"last_assistant_message": f"answer {number}"}),
        ):
            ids += [
                e
                for e in session.hear(event, late, **fields).events
                if isinstance(e, Turn)
            ]
    assert len({turn.id for turn in ids}) == 4
    assert not any(turn.is_provisional for turn in ids)
    assert {turn.user: turn.assistant for turn in ids if turn.user != "continue"} == {
        "question 0": "answer 0",
        "question 2": "answer 2",
    }


LATE = "2126-02-09T14:00:00Z"  # when payloads are replayed, their clock says nothing


def dialogue(lines: Any, *prompts: str) -> Any:
    t = lines()
    for number, prompt in enumerate(prompts):
        t.user(prompt)
        t.say(f"answer {number}")
    return t


def test_an_answer_to_a_prompt_that_comes_again_is_not_added_to_its_repetition(
    session: Any, lines: Any, final: Any
) -> None:
    session.write(dialogue(lines, "the same", "the same"))
    events = [
        *session.hear("UserPromptSubmit", LATE, prompt="the same").events,
        *session.hear("Stop", LATE, last_assistant_message="answer 0").events,
        *session.hear("UserPromptSubmit", LATE, prompt="the same").events,
        *session.hear("Stop", LATE, last_assistant_message="answer 1").events,
    ]
    assert [turn.replies for turn in final(events)] == [("answer 0",), ("answer 1",)]


def test_a_prompt_that_the_transcript_lacked_accounts_for_one_of_its_repetitions(
    session: Any, lines: Any, final: Any
) -> None:
    events = [*session.hear("UserPromptSubmit", LATE, prompt="the same").events]
    assert [turn.is_provisional for turn in events] == [True]
    session.write(dialogue(lines, "the same", "the same"))
    events = [
        *session.hear("Stop", LATE, last_assistant_message="answer 0").events,
        *session.hear("UserPromptSubmit", LATE, prompt="the same").events,
        *session.hear("Stop", LATE, last_assistant_message="answer 1").events,
    ]
    assert [(turn.replies, turn.is_provisional) for turn in final(events)] == [
        (("answer 0",), False),
        (("answer 1",), False),
    ]


def test_a_session_may_be_joined_at_the_end_of_a_turn_though_the_transcript_is_ahead(
    session: Any, lines: Any, final: Any
) -> None:
    session.write(dialogue(lines, "One", "Two", "Three"))
    events = [
        *session.hear("Stop", LATE, last_assistant_message="answer 0").events,
        *session.hear("UserPromptSubmit", LATE, prompt="Two").events,
        *session.hear("Stop", LATE, last_assistant_message="answer 1").events,
        *session.hear("UserPromptSubmit", LATE, prompt="Three").events,
        *session.hear("Stop", LATE, last_assistant_message="answer 2").events,
    ]
    assert [
        (turn.user, turn.replies, turn.is_provisional) for turn in final(events)
    ] == [
        ("One", ("answer 0",), False),
        ("Two", ("answer 1",), False),
        ("Three", ("answer 2",), False),
    ]
