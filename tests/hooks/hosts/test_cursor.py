"""What becomes of payloads and transcripts of Cursor."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from keeplore_hooks.events import Command, Compaction, Question, Session, Work
from keeplore_hooks.hosts import Ask, Cursor
from keeplore_hooks.hosts.cursor.cursor_payload_log import key_of, turn_id_of
from keeplore_hooks.installed import host_named

AT = "2026-02-09T15:00:0{}Z"
ASKED = {
    "questions": [
        {
            "id": "db",
            "prompt": "Which store?",
            "options": [{"id": "s", "label": "SQLite"}],
        }
    ]
}


@pytest.fixture
def session(cursor_in: Any, tmp_path: Path) -> Any:
    return cursor_in(tmp_path)


@pytest.fixture
def log(cursor_log: Any) -> Any:
    return cursor_log()


def test_a_turn_holds_the_prompt_every_reply_and_what_was_done(
    session: Any, log: Any
) -> None:
    log.user("Write the parser")
    log.say(
        "Looking.", {"type": "tool_use", "name": "Read", "input": {"path": "secret.py"}}
    )
    log.say({"type": "thinking", "thinking": "secret"}, "[REDACTED]")
    log.call("Write", path="parser.py", contents="secret content")
    log.call("Shell", command="pytest -q\necho done")
    log.say("Done.")
    log.end()
    log.user("Thanks")
    turns = session.turns(log.bytes())
    assert [(turn.user, turn.replies) for turn in turns] == [
        ("Write the parser", ("Looking.", "Done.")),
        ("Thanks", ()),
    ]
    assert turns[0].work == Work(files=("parser.py",), commands=("pytest -q",))
    assert "secret" not in repr(turns)


def test_lines_that_were_joined_without_a_newline_are_read(
    session: Any, log: Any
) -> None:
    log.user("One")
    log.say("1")
    log.user("Zwei \N{LATIN SMALL LETTER U WITH DIAERESIS}")
    content = log.bytes()
    joined = content.replace(b"\n", b"")
    session.write(joined)
    reading = session.host.read_transcript(session.path, Cursor())
    assert [(turn.id, turn.user, turn.replies) for turn in reading.events] == [
        (turn.id, turn.user, turn.replies) for turn in session.turns(content)
    ]
    assert reading.problems == () and joined[reading.cursor.offset :].startswith(
        b'{"role": "user"'
    )


def test_ids_come_of_the_words_and_how_often_they_were_said(
    session: Any, log: Any
) -> None:
    for words in ("continue", "One", "continue"):
        log.user(words)
    first = [turn.id for turn in session.turns(log.bytes())]
    assert len(set(first)) == 3
    log.user("One")
    assert [turn.id for turn in session.turns(log.bytes())][:3] == first


@pytest.mark.parametrize(
    ("stamp", "at"),
    [
        ("Sunday, Sep 6, 2026, 8:00 AM (UTC+2)", "2026-09-06T06:00:00Z"),
        ("Thursday, July 23, 2026, 12:05 AM (UTC-3:30)", "2026-07-23T03:35:00Z"),
        ("Friday, Jan 30, 2026, 12:05 PM (UTC)", "2026-01-30T12:05:00Z"),
        ("yesterday", "2026-02-09T14:00:00Z"),
        ("Sunday, Sep 66, 2026, 8:00 AM (UTC+2)", "2026-02-09T14:00:00Z"),
    ],
)
def test_a_time_before_the_prompt_counts_else_that_of_the_file(
    session: Any, log: Any, stamp: str, at: str
) -> None:
    log.user("One", f"<timestamp>{stamp}</timestamp>\n")
    assert [(turn.user, turn.at) for turn in session.turns(log.bytes())] == [
        ("One", at)
    ]


@pytest.mark.parametrize(
    ("words", "prompt"),
    [
        ("Run it.", "Run it."),
        (
            (
                "<cursor_commands>\n--- Cursor Command: x "
                "---\n</cursor_commands>\n<user_query>\nRun\n</user_query>"
            ),
            "Run",
        ),
        ('<hooks_context description="d">recalled</hooks_context>\nRun it.', "Run it."),
        ("<system_reminder>not said</system_reminder>Run it.", "Run it."),
        ("<user_query>cut off", "cut off"),
        (
            (
                "[Image]\n<image_files>\n1. /x.png\n</image_files>\n<user_query>\nLike "
                "this\n</user_query>"
            ),
            "[image]\nLike this",
        ),
        (
            (
                "<manually_attached_skills>\nSkill Name: review\nSKILL "
                "TEXT\n</manually_attached_skills>"
            ),
            "/review",
        ),
        ("<user_query>mind <rules> here</user_query>", "mind <rules> here"),
    ],
)
def test_a_prompt_is_what_was_typed(
    session: Any, log: Any, words: str, prompt: str
) -> None:
    log.line("user", words)
    assert [turn.user for turn in session.turns(log.bytes())] == [prompt]


@pytest.mark.parametrize(
    "words",
    [
        "<dynamic_tools>\nYou have access to",
        "<user_query>The beginning of the above subagent result is already visible</user_query>",
        "<timestamp>Sunday, Sep 6, 2026, 8:00 AM (UTC+2)</timestamp>",
        "## Dynamic Tools",
        "",
    ],
)
def test_what_nobody_typed_begins_no_turn(session: Any, log: Any, words: str) -> None:
    log.user("Real")
    log.line("user", words)
    log.say("1")
    assert [(turn.user, turn.replies) for turn in session.turns(log.bytes())] == [
        ("Real", ("1",))
    ]


def test_a_slash_command_is_a_command_and_a_turn(session: Any, log: Any) -> None:
    log.user("/remember tabs, not spaces")
    command, turn = session.events(log.bytes())
    assert isinstance(command, Command) and (command.name, command.args) == (
        "remember",
        "tabs, not spaces",
    )
    assert turn.user == "/remember tabs, not spaces"


def test_payloads_alone_make_the_turns(session: Any) -> None:
    (started,) = session.hear("sessionStart", AT.format(0)).events
    assert isinstance(started, Session) and started.phase == "started"
    prompt = {"prompt": "One", "generation_id": "g1"}
    (asked,) = session.hear("beforeSubmitPrompt", AT.format(1), **prompt).events
    assert (asked.user, asked.at, asked.is_complete) == ("One", AT.format(1), False)
    # two plugins tell of it
    assert session.hear("beforeSubmitPrompt", AT.format(1), **prompt).events == ()
    for words in ("First.", "Second.", "Second."):
        session.hear("afterAgentResponse", AT.format(2), text=words, generation_id="g1")
    session.hear("afterFileEdit", file_path="/home/ann/kasha/a.py", generation_id="g1")
    output = "[main 1a2b3c4] Add a"
    session.hear(
        "afterShellExecution",
        command="git commit -m x",
        output=output,
        generation_id="g1",
    )
    (turn,) = session.hear(
        "stop", AT.format(3), status="completed", generation_id="g1"
    ).events
    assert (turn.id, turn.user, turn.replies, turn.is_complete) == (
        asked.id,
        "One",
        ("First.", "Second."),
        True,
    )
    assert (turn.at, turn.ended_at) == (AT.format(1), AT.format(2))
    assert turn.work == Work(
        ("/home/ann/kasha/a.py",), ("git commit -m x",), ("1a2b3c4 Add a",)
    )
    assert (
        session.hear(
            "stop", AT.format(3), status="completed", generation_id="g1"
        ).events
        == ()
    )
    (again,) = session.hear(
        "beforeSubmitPrompt", AT.format(4), prompt="One", generation_id="g2"
    ).events
    assert again.id != asked.id
    rest, ended = session.hear("sessionEnd", AT.format(5), reason="completed").events
    assert (rest.id, rest.is_complete, ended.phase, ended.reason) == (
        again.id,
        True,
        "ended",
        "completed",
    )


def test_a_turn_that_payload_and_transcript_tell_of_is_one(
    session: Any, log: Any, final: Any
) -> None:
    session.hear("sessionStart")
    told = list(
        session.hear(
            "beforeSubmitPrompt", AT.format(1), prompt="One", generation_id="g1"
        ).events
    )
    log.user("One")
    log.say("First.")
    session.write(log.bytes())
    told += session.hear(
        "afterAgentResponse", AT.format(2), text="First.", generation_id="g1"
    ).events
    told += session.hear(
        "afterAgentResponse", AT.format(3), text="The transcript lacks this."
    ).events
    log.call("Write", path="a.py")
    session.write(log.bytes())
    session.hear("afterFileEdit", file_path="b.py", generation_id="g1")
    told += session.hear("stop", AT.format(4), status="completed").events
    (turn,) = final(told)
    assert (turn.at, turn.replies, turn.is_complete) == (
        AT.format(1),
        ("First.", "The transcript lacks this."),
        True,
    )
    assert turn.work.files == ("a.py", "b.py")
    assert [one.id for one in session.turns(log.bytes())] == [turn.id]
    assert session.hear("stop", AT.format(5)).events == ()


def test_a_prompt_that_the_transcript_has_in_other_words_is_one(
    session: Any, log: Any, final: Any
) -> None:
    told = list(
        session.hear(
            "beforeSubmitPrompt", prompt="Explain @a.py to me", generation_id="g1"
        ).events
    )
    log.user("Explain @a.py to me\n\nand b.py")
    log.say("1")
    session.write(log.bytes())
    told += session.hear("stop", AT.format(2)).events
    log.say("2")
    session.write(log.bytes())
    told += session.hear("stop", AT.format(3)).events
    assert [(turn.user, turn.replies) for turn in final(told)] == [
        ("Explain @a.py to me\n\nand b.py", ("1", "2"))
    ]


def test_joining_in_the_middle_counts_what_was_said_before(
    session: Any, log: Any, final: Any
) -> None:
    for answer in "12":
        log.user("continue")
        log.say(answer)
    session.write(log.bytes())
    told = list(
        session.hear(
            "beforeSubmitPrompt", AT.format(1), prompt="And now?", generation_id="g1"
        ).events
    )
    told += session.hear(
        "beforeSubmitPrompt", AT.format(2), prompt="continue", generation_id="g2"
    ).events
    told += session.hear(
        "afterAgentResponse", AT.format(3), text="3", generation_id="g2"
    ).events
    assert [(turn.user, turn.replies) for turn in final(told)] == [
        ("continue", ("1",)),
        ("continue", ("2",)),
        ("And now?", ()),
        ("continue", ("3",)),
    ]


def test_a_worker_that_comes_late_tells_nothing_twice(
    session: Any, log: Any, final: Any
) -> None:
    for words in ("One", "continue", "continue"):
        log.user(words)
        log.say(f"to {words}")
    session.write(log.bytes())
    told = list(session.hear("sessionStart").events)
    for number, words in enumerate(("One", "continue", "continue")):
        told += session.hear(
            "beforeSubmitPrompt", prompt=words, generation_id=str(number)
        ).events
        told += session.hear(
            "afterAgentResponse", text=f"to {words}", generation_id=str(number)
        ).events
        told += session.hear("stop", AT.format(9), generation_id=str(number)).events
    assert [(turn.user, turn.replies) for turn in final(told)] == [
        (words, (f"to {words}",)) for words in ("One", "continue", "continue")
    ]


def test_words_without_an_announced_prompt_are_kept(session: Any, log: Any) -> None:
    (turn,) = session.hear(
        "afterAgentResponse", AT.format(1), text="Hello", generation_id="g"
    ).events
    assert (turn.user, turn.replies, turn.id) == (
        "",
        ("Hello",),
        turn_id_of(turn.origin.session, key_of(""), 0),
    )
    session.cursor = Cursor()
    log.user("One")
    session.write(log.bytes())
    (turn,) = session.hear(
        "afterAgentResponse", AT.format(1), text="1", generation_id="g"
    ).events[1:]
    assert (turn.user, turn.replies) == ("One", ("1",))


@pytest.mark.parametrize(
    "output",
    [
        json.dumps({"answers": {"db": "s"}}),
        {"answers": [{"questionId": "db", "selectedOptionIds": ["s"]}]},
        "SQLite",
    ],
)
def test_the_answer_to_a_question_comes_from_the_payload(
    session: Any, log: Any, output: Any, final: Any
) -> None:
    log.user("Decide")
    log.call("AskQuestion", **ASKED)
    session.write(log.bytes())
    waiting = session.hear("afterAgentResponse", text="Well.").events
    assert [
        reply.answer
        for reply in final(waiting)[0].replies
        if isinstance(reply, Question)
    ] == [""]
    asked = {"tool_name": "AskQuestion", "tool_input": ASKED, "tool_output": output}
    (question,) = session.hear("postToolUse", AT.format(1), **asked).events
    assert (question.question, question.options, question.answer) == (
        "Which store?",
        ("SQLite",),
        "SQLite",
    )
    (turn,) = final(session.hear("stop", AT.format(2)).events)
    replies = [reply for reply in turn.replies if isinstance(reply, Question)]
    assert [(reply.id, reply.answer) for reply in replies] == [(question.id, "SQLite")]


def test_of_tool_calls_files_commands_and_tasks_are_kept(session: Any) -> None:
    session.hear("beforeSubmitPrompt", AT.format(1), prompt="One", generation_id="g")
    for name, given, output in (
        ("Write", {"path": "a.py", "contents": "secret"}, "written"),
        ("Shell", {"command": "git commit -m b\nls"}, "[main 1a2b3c4] Add b"),
        ("Read", {"path": "secret.py"}, "secret"),
        ("Task", {"subagent_type": "explore", "description": "Find it"}, "found"),
    ):
        call = {"tool_name": name, "tool_input": given, "tool_output": output}
        assert session.hear("postToolUse", AT.format(2), **call).events == ()
    (turn,) = session.hear("stop", AT.format(3), status="completed").events
    assert turn.work == Work(
        files=("a.py",),
        commands=("git commit -m b",),
        commits=("1a2b3c4 Add b",),
        agents=("explore: Find it",),
    )


def test_subagents_give_no_exchange_and_a_compaction_is_told(session: Any) -> None:
    for event in ("beforeSubmitPrompt", "afterAgentResponse", "stop"):
        assert (
            session.hear(event, prompt="x", text="y", subagent_type="explore").events
            == ()
        )
    assert (
        session.hear("subagentStop", subagent_type="explore", status="completed").events
        == ()
    )
    (before,) = session.hear("preCompact", trigger="auto").events
    assert isinstance(before, Compaction) and (before.phase, before.trigger) == (
        "before",
        "auto",
    )
    assert session.hear("beforeReadFile").events == ()


def test_context_is_asked_for_at_the_start_and_with_a_prompt(session: Any) -> None:
    host, payload = session.host, session.payload
    assert host.ask("sessionStart", payload()) == Ask("brief", source="startup")
    assert host.ask("beforeSubmitPrompt", payload(prompt="Why Redis?")) == Ask(
        "prompt", text="Why Redis?"
    )
    for event, fields in (
        ("beforeSubmitPrompt", {"prompt": "/help"}),
        ("stop", {}),
        ("beforeSubmitPrompt", {}),
    ):
        assert host.ask(event, payload(**fields)) is None
    assert host.ask("sessionStart", payload(subagent_id="a")) is None
    assert host.ask("sessionStart", payload(is_background_agent=False))
    origin = host.origin("stop", payload(workspace_roots=[], cwd="/x"))
    assert (origin.session, origin.cwd) == (session.common["conversation_id"], "/x")


def test_an_agent_in_the_background_is_recorded_and_told_nothing_at_its_start(
    session: Any,
) -> None:
    start = session.payload(is_background_agent=True)
    assert session.host.ask("sessionStart", start) is None
    (begun,) = session.hear("sessionStart", is_background_agent=True).events
    assert isinstance(begun, Session) and begun.phase == "started"
    session.hear("beforeSubmitPrompt", prompt="Bump the pins", generation_id="g1")
    (turn,) = session.hear(
        "afterAgentResponse", text="Done.", generation_id="g1"
    ).events
    assert (turn.user, turn.replies) == ("Bump the pins", ("Done.",))


def test_the_reply_is_one_json_object_or_nothing() -> None:
    host = host_named("cursor")
    assert json.loads(host.reply("sessionStart", "Redis")) == {
        "additional_context": "Redis"
    }
    assert json.loads(host.reply("beforeSubmitPrompt", "R")) == {
        "continue": True,
        "additional_context": "R",
    }
    assert (host.reply("sessionStart", "  "), host.reply("stop", "x")) == (b"", b"")


@pytest.mark.parametrize(
    "payload", [b"", b"[]", b"nonsense", b'{"conversation_id": 5}', b"[" * 99_999]
)
def test_a_payload_that_is_none_is_a_problem(payload: bytes) -> None:
    host = host_named("cursor")
    assert host.origin("stop", payload) is None
    assert host.read("stop", payload, Cursor(), AT.format(1)).problems


def test_forms_that_are_not_known_are_named(session: Any) -> None:
    session.write(b'{"v9": {"turn": "x"}}\n')
    (problem,) = session.host.read_transcript(session.path, Cursor()).problems
    assert problem == (
        "no line is of a form that is known here; a newer cursor may have written "
        f"{session.path.name}"
    )
    assert (
        "is not that of a .jsonl"
        in session.hear("stop", transcript_path="/etc/passwd").problems[0]
    )


def test_the_text_form_of_older_versions_is_read(
    cursor_in: Any, tmp_path: Path
) -> None:
    session = cursor_in(tmp_path, ".txt")
    session.write(
        b"user:\n<user_query>\nWrite the parser\n</user_query>\n\nassistant:\n[Thinking] secret "
        b"thought\nmore of it\n\n"
        b"Looking.\n[Tool call] Read\n  path: secret.py\n\n[Tool result] Read\nsecret content\n\n"
        b"assistant:\nDone.\nReally.\nuser:\n<user_query>Thanks</user_query>\n"
    )
    turns = session.host.read_transcript(session.path, Cursor()).events
    assert [(turn.user, turn.replies) for turn in turns] == [
        ("Write the parser", ("Looking.", "Done.\nReally.")),
        ("Thanks", ()),
    ]
    assert session.hear("stop", AT.format(1)).events[0].user == "Write the parser"
    assert session.hear("stop", AT.format(2)).events == ()


def test_a_text_in_which_nobody_speaks_is_named(cursor_in: Any, tmp_path: Path) -> None:
    session = cursor_in(tmp_path, ".txt")
    session.write(b"dear Ann\n")
    read = session.host.read_transcript(session.path, Cursor())
    told = "nobody speaks in it; a newer cursor may have written it"
    assert (read.events, read.problems) == ((), (told,))
    again = session.host.read_transcript(session.path, read.cursor)
    assert (again.events, again.problems) == ((), ())  # told once
    assert again.cursor == read.cursor
    session.write(b"dear Bob\n")
    assert session.host.read_transcript(session.path, read.cursor).problems == (told,)


def test_recorded_sessions_are_found_with_their_directories(
    log: Any, tmp_path: Path
) -> None:
    log.user("One", "<timestamp>Sunday, Sep 6, 2026, 8:00 AM (UTC+2)</timestamp>")
    here = tmp_path / "src" / "my.app"
    here.mkdir(parents=True)
    by_name = "-".join(
        part.strip("-")
        for part in str(here).replace(".", "-").replace("_", "-").split("/")
        if part
    )
    for project in ("trusted", by_name, "nowhere-to-be-found"):
        chats = tmp_path / "config/projects" / project / "agent-transcripts"
        (chats / "a" / "subagents").mkdir(parents=True)
        (chats / "a" / "a.jsonl").write_bytes(log.bytes())
        (chats / "a" / "other.jsonl").write_bytes(log.bytes())
        (chats / "a" / "subagents" / "s.jsonl").write_bytes(log.bytes())
        (chats / f"{project}.jsonl").write_bytes(log.bytes())
        (chats / f"{project}.txt").write_text("user:\nOne\n")
    trust = tmp_path / "config/projects/trusted/.workspace-trusted"
    trust.write_text(json.dumps({"workspacePath": "/home/ann/kasha"}))
    found = list(
        host_named("cursor").recorded(Path("/nowhere"), str(tmp_path / "config"))
    )
    assert sorted(
        (one.session, one.cwd) for one in found if one.session != "a"
    ) == sorted(
        [
            ("trusted", "/home/ann/kasha"),
            (by_name, str(here)),
            ("nowhere-to-be-found", ""),
        ]
    )
    assert {one.started_at for one in found} == {"2026-09-06T06:00:00Z"}
    assert [one.path.suffix for one in found] == [".jsonl"] * 4
