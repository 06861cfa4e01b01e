"""Event logs and payloads of Copilot CLI → events; what Copilot asks for and is answered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from keeplore_hooks.events import Turn
from keeplore_hooks.hosts import IMAGE, Ask, Cursor
from keeplore_hooks.hosts.copilot import copilot_lines as lines

AT = "2026-02-09T14:00:04Z"
LATER = "2026-02-09T15:00:00Z"
NO_LOG = {"transcriptPath": ""}
PATCH = "*** Begin Patch\n*** Update File: c.py\n*** End Patch"


@pytest.fixture
def copilot(copilot_in: Any, tmp_path: Path) -> Any:
    return copilot_in(tmp_path)


def only(turns: list[Turn]) -> Turn:
    assert len(turns) == 1
    return turns[0]


def test_a_turn_has_the_prompt_the_words_and_the_hosts_id(
    event_log: Any, copilot: Any
) -> None:
    t = event_log()
    key = t.user("Drop Redis")
    t.add("assistant.turn_start", {"turnId": "0"})
    t.add("assistant.reasoning", {"content": "hm"})
    t.say("Looking.", reasoningText="hm")
    t.say("")
    t.say("Dropped.")
    turn = only(copilot.turns(t.bytes()))
    assert (turn.id, turn.user, turn.replies) == (
        key,
        "Drop Redis",
        ("Looking.", "Dropped."),
    )
    assert (turn.at, turn.ended_at) == ("2026-02-09T14:00:01Z", "2026-02-09T14:00:06Z")
    assert (turn.origin.cwd, turn.origin.branch, turn.is_complete) == (
        "/home/ann/kasha",
        "main",
        True,
    )


@pytest.mark.parametrize(
    "data",
    [
        {"source": "skill-pdf"},
        {"source": "system"},
        {"isAutopilotContinuation": True},
        {"inputOrigin": "authenticated-cross-session"},
        {"content": "<skill-context name='x'>\nbody\n</skill-context>"},
        {"content": "<system_notification>The agent is done.</system_notification>"},
    ],
)
def test_what_nobody_typed_is_no_turn(
    event_log: Any, copilot: Any, data: dict[str, Any]
) -> None:
    t = event_log()
    t.user("Drop Redis")
    t.user(data.pop("content", "body"), **data)
    t.say("Dropped.")
    turn = only(copilot.turns(t.bytes()))
    assert (turn.user, turn.replies) == ("Drop Redis", ("Dropped.",))


def test_a_prompt_typed_while_copilot_works_is_a_turn_of_its_own(
    event_log: Any, copilot: Any
) -> None:
    t = event_log()
    t.user("Drop Redis", delivery="idle")
    t.say("Looking.")
    t.user(
        "<current_datetime>now</current_datetime>\n\nbut keep the tests",
        delivery="steering",
    )
    t.say("Kept.")
    turns = copilot.turns(t.bytes())
    expected = [("Drop Redis", ("Looking.",)), ("but keep the tests", ("Kept.",))]
    assert [(turn.user, turn.replies) for turn in turns] == expected


@pytest.mark.parametrize(
    "kind", ["abort", "session.snapshot_rewind", "session.shutdown"]
)
def test_an_interrupted_turn_keeps_what_was_said_and_is_over(
    event_log: Any, copilot: Any, kind: str
) -> None:
    t = event_log()
    t.user("Drop Redis")
    t.say("Looking.")
    t.add(kind, {"reason": "user"})
    copilot.write(t.bytes())
    (turn,) = copilot.hear("postToolUse").events
    assert (turn.replies, turn.is_complete) == (("Looking.",), True)


def test_work_is_named_and_its_content_left_out(event_log: Any, copilot: Any) -> None:
    t = event_log()
    t.user("Commit it")
    t.call("edit", {"path": "/home/ann/kasha/a.py", "old_str": "x", "new_str": "y"})
    t.call("create", json.dumps({"path": "b.py", "file_text": "z"}))
    t.call("apply_patch", PATCH)
    t.call("view", {"path": "/etc/hosts"})
    t.call("edit", {"path": "failed.py"}, success=False, error={"message": "no match"})
    t.call(
        "bash",
        {"command": "git commit -m x\necho"},
        "[main 1234567] Drop Redis\n 1 file changed",
    )
    t.call(
        "bash",
        {"command": "gh pr create"},
        "https://forge.example/o/r/pull/7\n<exited with exit code 0>",
    )
    t.call(
        "bash",
        {"command": "rm -rf /"},
        success=False,
        error={"code": "denied", "message": "The user said no"},
    )
    work = only(copilot.turns(t.bytes())).work
    assert work.files == (
        "/home/ann/kasha/a.py",
        "/home/ann/kasha/b.py",
        "/home/ann/kasha/c.py",
    )
    assert work.commands == ("git commit -m x", "gh pr create")
    assert (work.commits, work.links) == (
        ("1234567 Drop Redis",),
        ("https://forge.example/o/r/pull/7",),
    )


@pytest.mark.parametrize(
    ("told", "answer"),
    [
        ("User selected: SQLite", "SQLite"),
        ("User responded: neither", "neither"),
        ("SQLite", "SQLite"),
        ('User responded: {"store": "SQLite"}', "SQLite"),
        ("User skipped question", ""),
    ],
)
def test_a_question_has_its_options_and_the_chosen_answer(
    event_log: Any, copilot: Any, told: str, answer: str
) -> None:
    t = event_log()
    t.user("Where to keep it?")
    t.call(
        "ask_user", {"question": "Which?", "choices": ["Redis", "SQLite"]}, told, "ask"
    )
    events = copilot.events(t.bytes())
    question = next(event for event in events if event.kind == "question")
    assert (question.id, question.question, question.options) == (
        "ask:0",
        "Which?",
        ("Redis", "SQLite"),
    )
    assert question.answer == answer
    assert events[-1].replies == (question,)


def test_a_form_is_a_question_with_the_options_of_its_first_field(
    event_log: Any, copilot: Any
) -> None:
    t = event_log()
    t.user("Where to keep it?")
    schema = {
        "type": "object",
        "properties": {"store": {"type": "string", "enum": ["Redis", "SQLite"]}},
    }
    t.call(
        "ask_user",
        {"message": "Which?", "requestedSchema": schema},
        '{"content": {"store": "Redis"}}',
    )
    question = next(
        event for event in copilot.events(t.bytes()) if event.kind == "question"
    )
    assert (question.question, question.options, question.answer) == (
        "Which?",
        ("Redis", "SQLite"),
        "Redis",
    )


def test_a_slash_command_is_a_command_and_a_turn(event_log: Any, copilot: Any) -> None:
    t = event_log()
    t.user("/remember use uv")
    t.say("Noted.")
    command, turn = copilot.events(t.bytes())
    assert (command.kind, command.name, command.args) == (
        "command",
        "remember",
        "use uv",
    )
    assert (turn.user, turn.replies) == ("/remember use uv", ("Noted.",))


def test_the_summary_of_a_compaction_is_nobodys_words(
    event_log: Any, copilot: Any
) -> None:
    t = event_log()
    t.user("Drop Redis")
    t.say("Looking.")
    t.add("session.compaction_start", {})
    t.add("session.compaction_complete", {"success": False})
    t.add(
        "session.compaction_complete",
        {"success": True, "summaryContent": "The cache went.", "trigger": "manual"},
    )
    t.say("Done.")
    events = copilot.events(t.bytes())
    assert [event.kind for event in events] == ["turn", "compaction", "turn"]
    assert (events[1].phase, events[1].trigger, events[1].summary) == (
        "after",
        "manual",
        "The cache went.",
    )
    assert events[2].replies == ("Looking.", "Done.")


def test_what_a_subagent_says_is_no_exchange(event_log: Any, copilot: Any) -> None:
    t = event_log()
    t.user("Drop Redis")
    t.add("subagent.started", {"toolCallId": "x"})
    t.say("Looking for tests.", parentToolCallId="x")
    t.add("user.message", {"content": "Look for tests"}, agentId="agent-1")
    t.add(
        "assistant.message", {"messageId": "s", "content": "None."}, agentId="agent-1"
    )
    t.add("subagent.completed", {"toolCallId": "x"})
    t.say("There are no tests.")
    turn = only(copilot.turns(t.bytes()))
    assert turn.replies == ("There are no tests.",)


def test_history_that_a_resumed_session_writes_again_counts_once(
    event_log: Any, copilot: Any
) -> None:
    t = event_log()
    for number in (1, 2):
        t.user(f"prompt {number}")
        t.say(f"words {number}")
    t.add("session.resume", {"context": {"cwd": "/home/ann/other"}})
    t.raw += t.raw[1:5]
    t.user("prompt 3")
    turns = copilot.turns(t.bytes())
    assert [turn.user for turn in turns] == ["prompt 1", "prompt 2", "prompt 3"]
    assert [turn.replies for turn in turns] == [("words 1",), ("words 2",), ()]
    assert [turn.origin.cwd for turn in turns] == [
        "/home/ann/kasha",
        "/home/ann/kasha",
        "/home/ann/other",
    ]


def test_pictures_are_lines_and_a_summary_at_the_end_is_a_reply(
    event_log: Any, copilot: Any
) -> None:
    t = event_log()
    pictures = [
        {"type": "blob", "mimeType": "image/png"},
        {"type": "file", "path": "/a.PNG"},
        {"path": "/a.py"},
    ]
    t.user("Look", attachments=pictures)
    t.add("session.task_complete", {"summary": "It is blue."})
    turn = only(copilot.turns(t.bytes()))
    assert (turn.user, turn.replies) == (f"Look\n{IMAGE}\n{IMAGE}", ("It is blue.",))


@pytest.mark.parametrize(
    ("summary", "replies"),
    [
        ("It is blue.", ("It is blue.",)),
        ("The sky is blue.", ("It is blue.", "The sky is blue.")),
        (" ", ("It is blue.",)),
    ],
)
def test_the_summary_of_a_task_is_told_unless_it_was_said(
    event_log: Any, copilot: Any, summary: str, replies: tuple[str, ...]
) -> None:
    t = event_log()
    t.add("session.task_complete", {"summary": summary})  # of nothing that was asked
    t.user("Look")
    t.say("It is blue.")
    t.add("session.task_complete", {"summary": summary})
    turn = only(copilot.turns(t.bytes()))
    assert (turn.user, turn.replies, turn.is_complete) == ("Look", replies, True)


def test_what_is_not_known_is_named(event_log: Any, copilot: Any) -> None:
    t = event_log(version=2, copilotVersion="9" * 50)
    t.user("Drop Redis")
    copilot.write(t.bytes())
    reading = copilot.host.read_transcript(copilot.path, Cursor())
    assert reading.problems == (
        f"version 2 of the log, of Copilot {'9' * 40}, is not known here: read in part",
    )
    assert [event.user for event in reading.events if isinstance(event, Turn)] == [
        "Drop Redis"
    ]
    copilot.write(b'{"kind":"of tomorrow"}\n')
    assert (
        "a newer copilot"
        in copilot.host.read_transcript(copilot.path, Cursor()).problems[0]
    )


def test_sessions_are_found_in_both_forms(
    event_log: Any, copilot: Any, tmp_path: Path
) -> None:
    copilot.write(event_log().bytes())
    (tmp_path / "session-state" / "older.jsonl").write_bytes(event_log().bytes())
    (tmp_path / "session-state" / "empty.jsonl").write_bytes(b"")
    found = list(copilot.host.recorded(tmp_path, str(tmp_path)))
    assert [session.session for session in found] == [copilot.path.parent.name, "older"]
    assert {(session.cwd, session.started_at) for session in found} == {
        ("/home/ann/kasha", "2026-02-09T14:00:00Z")
    }


# Payloads


def test_a_prompt_is_provisional_until_the_log_has_it(
    event_log: Any, copilot: Any
) -> None:
    t = event_log()
    copilot.write(t.bytes())
    (turn,) = copilot.hear(
        "userPromptSubmitted", "2026-02-09T14:00:00Z", prompt="Drop Redis"
    ).events
    assert (turn.user, turn.is_provisional, turn.is_complete) == (
        "Drop Redis",
        True,
        False,
    )
    key = t.user("Drop Redis")
    t.say("Dropped.")
    copilot.write(t.bytes())
    (turn,) = copilot.hear("agentStop", LATER, stopReason="end_turn").events
    assert (turn.id, turn.replies, turn.is_provisional, turn.is_complete) == (
        key,
        ("Dropped.",),
        False,
        True,
    )


def test_a_prompt_that_the_log_has_gives_nothing_more(
    event_log: Any, copilot: Any
) -> None:
    t = event_log()
    t.user("continue")
    copilot.write(t.bytes())
    heard = copilot.hear(
        "userPromptSubmitted", "2026-02-09T14:00:00Z", prompt="continue"
    ).events
    assert [turn.is_provisional for turn in heard] == [False]
    again = copilot.hear("userPromptSubmitted", LATER, prompt="continue").events
    assert [turn.is_provisional for turn in again] == [True]


def test_both_spellings_of_events_and_keys_are_read(
    event_log: Any, copilot: Any
) -> None:
    copilot.write(event_log().bytes())
    fields = {
        "session_id": copilot.common["sessionId"],
        "transcript_path": str(copilot.path),
        "cwd": "/home/ann/kasha",
    }
    copilot.common = {}
    (started,) = copilot.hear("SessionStart", AT, source="new", **fields).events
    (before,) = copilot.hear("PreCompact", AT, trigger="auto", **fields).events
    (ended,) = copilot.hear("SessionEnd", AT, reason="user_exit", **fields).events
    assert (started.phase, started.reason, started.origin.cwd) == (
        "started",
        "new",
        "/home/ann/kasha",
    )
    assert (before.phase, before.trigger) == ("before", "auto")
    assert (ended.phase, ended.reason) == ("ended", "user_exit")


def test_an_editors_name_of_a_session_is_that_of_the_log(copilot: Any) -> None:
    origin = copilot.host.origin(
        "sessionStart", b'{"sessionId": "agent-host-copilotcli:/abc-1", "cwd": "/x"}'
    )
    assert (origin.session, origin.cwd) == ("abc-1", "/x")


def test_without_a_log_a_session_that_never_began_is_a_subagents(copilot: Any) -> None:
    assert (
        copilot.hear(
            "userPromptSubmitted", AT, prompt="Look for tests", **NO_LOG
        ).events
        == ()
    )
    copilot.hear("sessionStart", AT, source="new", **NO_LOG)
    (asked_for,) = copilot.hear(
        "userPromptSubmitted", AT, prompt="Drop Redis", **NO_LOG
    ).events
    (turn,) = copilot.hear("agentStop", LATER, **NO_LOG).events
    assert (turn.id, turn.user, turn.is_complete) == (asked_for.id, "Drop Redis", True)


def test_without_a_log_the_payload_tells_an_answer(copilot: Any) -> None:
    given = json.dumps({"question": "Which?", "choices": ["Redis"]})
    told = {"resultType": "success", "textResultForLlm": "User selected: Redis"}
    fields = {"toolName": "ask_user", "toolArgs": given, "toolResult": told, **NO_LOG}
    (question,) = copilot.hear("postToolUse", AT, **fields).events
    assert (question.question, question.options, question.answer) == (
        "Which?",
        ("Redis",),
        "Redis",
    )


def test_payloads_that_do_not_name_the_log_find_it_in_its_usual_place(
    event_log: Any, copilot_in: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    copilot = copilot_in(tmp_path / ".copilot")
    t = event_log()
    t.user("Drop Redis")
    copilot.write(t.bytes())
    copilot.common["transcriptPath"] = None
    assert copilot.host.origin(
        "sessionEnd", copilot.payload(transcript_path=None)
    ).transcript == str(copilot.path)
    assert [
        event.kind
        for event in copilot.hear("sessionEnd", LATER, transcript_path=None).events
    ] == [
        "turn",
        "session",
    ]


@pytest.mark.parametrize(
    ("event", "fields", "ask"),
    [
        ("sessionStart", {"source": "new"}, Ask("brief", source="startup")),
        ("SessionStart", {"source": "resume"}, Ask("brief", source="resume")),
        (
            "userPromptSubmitted",
            {"prompt": "Drop Redis"},
            Ask("prompt", text="Drop Redis"),
        ),
        (
            "UserPromptSubmit",
            {"prompt": "/recall redis"},
            Ask("command", "redis", "recall"),
        ),
        (
            "UserPromptSubmit",
            {"prompt": "/keeplore/recall redis"},
            Ask("command", "redis", "recall"),
        ),
        (
            "UserPromptSubmit",
            {"prompt": "/keeplore:recall redis"},
            Ask("command", "redis", "recall"),
        ),
        ("userPromptSubmitted", {"prompt": "/clear"}, None),
        ("userPromptSubmitted", {"prompt": ""}, None),
        ("agentStop", {}, None),
    ],
)
def test_what_copilot_waits_for(
    copilot: Any, event: str, fields: dict[str, Any], ask: Ask | None
) -> None:
    assert copilot.host.ask(event, copilot.payload(**fields)) == ask


def test_the_reply_is_one_flat_object_within_ten_kilobytes(copilot: Any) -> None:
    assert json.loads(copilot.host.reply("sessionStart", "Redis went.")) == {
        "additionalContext": "Redis went."
    }
    long = json.loads(copilot.host.reply("SessionStart", "äöü\n" * 3000))[
        "additionalContext"
    ]
    assert 9_900 < len(long.encode()) <= 10_000
    assert set(long.split("\n")) == {"äöü"}
    assert (
        copilot.host.reply("agentStop", "Redis went.")
        == copilot.host.reply("sessionStart", " ")
        == b""
    )


@pytest.mark.parametrize(
    "payload",
    [b"", b"[]", b"null", b'{"sessionId": 7}', b"{" * 5000, b'{"sessionId":"\xff'],
)
def test_no_payload_makes_the_adapter_raise(copilot: Any, payload: bytes) -> None:
    for event in ("sessionStart", "UserPromptSubmit", "agentStop", "postToolUse"):
        assert copilot.host.origin(event, payload) is None
        assert copilot.host.read(event, payload, copilot.cursor, AT).events == ()
        assert copilot.host.ask(event, payload) is None


def test_the_text_of_a_skill_that_was_typed_is_nobodys_word() -> None:
    sent = (
        'The user explicitly invoked the "/release" skill. Follow it.\n\n# Release\n\n'
        "Always tag with a v.\n"
    )
    assert lines.typed_prompt(sent) == "/release"
    assert lines.command_in("/release") == ("release", "")
    assert lines.typed_prompt("The user explicitly invoked it") == (
        "The user explicitly invoked it"
    )


SKILL = (
    'The user explicitly invoked the "/{0}" skill. Follow its instructions now.\n\n'
    '<skill-context name="{0}">\nBase directory for this skill: /s\n\n# Note\n\nSay it.\n'
    "\n\nARGUMENTS: {1}\n</skill-context>"
)


@pytest.mark.parametrize("typed", ["buy milk", "two\n\nARGUMENTS of\nmine", ""])
def test_what_was_typed_behind_a_skill_is_taken_out_of_its_text(typed: str) -> None:
    """As the log has it, where the skill itself does not stand."""
    text = SKILL.format("kl-note", typed)
    assert lines.typed_prompt(text) == f"/kl-note {typed}".strip()


def test_a_typed_command_of_keeplores_is_asked_about_with_its_words(
    copilot: Any,
) -> None:
    prompt = SKILL.format("keeplore-remember", "We ship on Fridays.")
    payload = json.dumps({"sessionId": "s", "cwd": "/w", "prompt": prompt}).encode()
    asked = copilot.host.ask("userPromptSubmitted", payload)
    assert asked == Ask("command", "We ship on Fridays.", "remember")


def test_turns_are_of_the_agent_that_was_selected(event_log: Any, copilot: Any) -> None:
    t = event_log()
    t.user("Drop Redis")
    t.add("subagent.selected", {"agentName": "reviewer", "agentDisplayName": "R"})
    t.user("Look at it")
    t.add("session.context_changed", {"cwd": "/home/ann/kasha/src"})
    t.user("And at that")
    t.add("subagent.deselected", {})
    t.user("Go on")
    names = [turn.origin.agent_name for turn in copilot.turns(t.bytes())]
    assert names == ["", "reviewer", "reviewer", ""]
