"""What becomes of payloads and records of Gemini CLI."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from keeplore_hooks.events import Command, Compaction, Question, Session, Work
from keeplore_hooks.hosts import Ask, Cursor
from keeplore_hooks.installed import host_named

LATER = "2030-01-01T00:00:00Z"
QUESTIONS = {
    "questions": [
        {
            "question": "Which cache?",
            "header": "Cache",
            "options": [{"label": "Redis"}, {"label": "None"}],
        },
        {"question": "Since when?", "header": "When", "type": "text"},
    ]
}


@pytest.fixture
def session(gemini_in: Any, tmp_path: Path) -> Any:
    return gemini_in(tmp_path)


@pytest.fixture
def log(gemini_log: Any) -> Any:
    return gemini_log()


def test_a_turn_holds_the_prompt_every_reply_and_what_was_done(
    session: Any, log: Any
) -> None:
    first = log.user("Write the parser")
    log.say(
        "",
        log.call(
            "write_file",
            {"file_path": "parser.py", "content": "secret content"},
            call="w",
        ),
    )
    log.say(
        "Written.",
        log.call("run_shell_command", {"command": "pytest -q\necho done"}, call="r"),
    )
    log.say("It passes.", thoughts=[{"subject": "hm", "description": "secret thought"}])
    log.message("info", "Update available")
    second = log.user("Thanks")
    turns = session.turns(log.bytes())
    assert [turn.id for turn in turns] == [first, second]
    assert turns[0].replies == ("Written.", "It passes.")
    assert turns[0].work == Work(files=("parser.py",), commands=("pytest -q",))
    assert (turns[0].at, turns[0].ended_at) == (
        "2026-02-09T14:00:01Z",
        "2026-02-09T14:00:04Z",
    )
    assert "secret" not in repr(turns)


def test_the_old_form_gives_the_same_turns(
    session: Any, gemini_in: Any, log: Any, tmp_path: Path
) -> None:
    log.user("One")
    log.say("1", log.call("replace", {"file_path": "a.py"}))
    log.user("Two")
    old = gemini_in(tmp_path, ".json").turns(log.whole())
    assert [(t.id, t.user, t.replies, t.work) for t in old] == [
        (t.id, t.user, t.replies, t.work) for t in session.turns(log.bytes())
    ]


def test_a_message_that_is_recorded_again_takes_the_place_of_its_earlier_form(
    session: Any, log: Any
) -> None:
    log.user("Look")
    call = log.call(
        "run_shell_command",
        {"command": "git commit -m x"},
        "[main 1a2b3c4] Add x",
        "executing",
        "c",
    )
    said = log.say("Looking.", call)
    log.say("Looking around.", call | {"status": "success"}, id=said)
    (turn,) = session.turns(log.bytes())
    assert turn.replies == ("Looking around.",)
    assert turn.work == Work(commands=("git commit -m x",), commits=("1a2b3c4 Add x",))


def test_what_failed_or_was_refused_is_not_named_among_the_files(
    session: Any, log: Any
) -> None:
    shell = "run_shell_command"
    log.say("Before a prompt.", log.call(shell, {"command": "before"}))
    log.user("Try")
    log.say(
        "Tried.",
        {**log.call(shell, {"command": "nameless"}), "id": ""},
        log.call("replace", {"file_path": "failed.py"}, status="error", call="1"),
        log.call(
            "write_file", {"file_path": "refused.py"}, status="cancelled", call="2"
        ),
        log.call("run_shell_command", {"command": "make"}, status="error", call="3"),
        log.call(
            "run_shell_command", {"command": "rm -rf /"}, status="cancelled", call="4"
        ),
    )
    assert session.turns(log.bytes())[-1].work == Work(commands=("make",))


def test_a_pull_request_is_a_link(session: Any, log: Any) -> None:
    log.user("Open it")
    url = "https://forge.example/ann/kasha/pull/7"
    log.say(
        "Open.",
        log.call(
            "run_shell_command",
            {"command": "gh pr create --fill"},
            f"Creating\n{url}\n",
        ),
    )
    assert session.turns(log.bytes())[0].work.links == (url,)


def test_questions_come_with_their_options_and_the_answers(
    session: Any, log: Any
) -> None:
    log.user("Decide")
    log.say(
        "",
        log.call(
            "ask_user",
            QUESTIONS,
            json.dumps({"answers": {"0": "Redis", "1": "May"}}),
            call="q",
        ),
    )
    events = session.events(log.bytes())
    asked = [event for event in events if isinstance(event, Question)]
    assert [(q.id, q.answer, q.options) for q in asked] == [
        ("q:0", "Redis", ("Redis", "None")),
        ("q:1", "May", ()),
    ]
    assert session.turns(log.bytes())[0].replies == tuple(asked)


def test_a_question_that_was_dismissed_or_still_waits_has_no_answer(
    session: Any, log: Any
) -> None:
    log.user("Decide")
    log.say(
        "",
        log.call(
            "ask_user",
            QUESTIONS,
            "User dismissed ask_user dialog without answering.",
            call="q",
        ),
    )
    log.say("", log.call("ask_user", QUESTIONS, "", "awaiting_approval", call="w"))
    events = session.events(log.bytes())
    assert [(e.id, e.answer) for e in events if isinstance(e, Question)] == [
        ("q:0", ""),
        ("q:1", ""),
    ]
    assert len(session.turns(log.bytes())[0].replies) == 4


@pytest.mark.parametrize(
    ("output", "answer"),
    [
        ("Plan approved. Switching to Default mode", "Yes"),
        (
            "Plan rejected. User feedback: use SQLite\n\nThe plan is stored at: /x",
            "use SQLite",
        ),
        ("Plan rejected. No feedback provided.", ""),
    ],
)
def test_what_became_of_a_plan_is_a_question(
    session: Any, log: Any, output: str, answer: str
) -> None:
    log.user("Plan")
    log.say("", log.call("exit_plan_mode", {"plan_path": "p.md"}, output))
    (reply,) = session.turns(log.bytes())[0].replies
    assert (reply.question, reply.answer) == ("Proceed with this plan?", answer)


def test_calls_that_stand_in_the_content_count_and_so_do_their_results(
    session: Any, log: Any
) -> None:
    log.user("Commit")
    call = {
        "functionCall": {
            "id": "f",
            "name": "run_shell_command",
            "args": {"command": "git commit"},
        }
    }
    log.message(
        "gemini", [{"text": "hm", "thought": True}, {"text": "Committing."}, call]
    )
    result = {
        "functionResponse": {
            "id": "f",
            "name": "x",
            "response": {"output": "[main 1a2b3c4] Add"},
        }
    }
    log.message("user", [result])
    (turn,) = session.turns(log.bytes())
    assert (turn.replies, turn.work.commits) == (("Committing.",), ("1a2b3c4 Add",))


@pytest.mark.parametrize(
    "words",
    [
        "This is the Gemini CLI. We are setting up the context for our chat.\nToday is Monday",
        "<session_context>\nToday is Monday\n</session_context>",
        "<hook_context>&lt;keeplore-recall&gt; Redis was dropped</hook_context>",
        "Here is the user's editor context as a JSON object:",
        "System: Please continue.",
        "Please continue.",
        "   ",
    ],
)
def test_what_nobody_typed_begins_no_turn(session: Any, log: Any, words: str) -> None:
    log.user("Real")
    log.say("1")
    log.user(words)
    log.say("2")
    assert [(turn.user, turn.replies) for turn in session.turns(log.bytes())] == [
        ("Real", ("1", "2"))
    ]


def test_a_prompt_is_what_was_typed_not_what_was_sent(session: Any, log: Any) -> None:
    log.message(
        "user",
        [
            {"text": "Explain @a.py"},
            {"text": "\n--- Content from referenced files ---\nContent from @a.py:\n"},
            {"text": "DUMP\n--- End of content ---"},
            {"text": "<hook_context>recalled</hook_context>"},
        ],
    )
    log.message(
        "user", [{"text": "EXPANDED"}], displayContent=[{"text": "Look at this"}]
    )
    log.message(
        "user",
        [
            {"inlineData": {"mimeType": "image/png", "data": "AAAA"}},
            {"text": "And this"},
        ],
    )
    log.message("user", "A plain text")
    assert [turn.user for turn in session.turns(log.bytes())] == [
        "Explain @a.py",
        "Look at this",
        "[image]\nAnd this",
        "A plain text",
    ]


def test_a_slash_command_is_a_command_and_the_turn_that_answers_it(
    session: Any, log: Any
) -> None:
    log.message(
        "user",
        [{"text": "Store this: tabs"}],
        displayContent="/remember tabs, not spaces",
    )
    log.say("Stored.")
    command, turn = session.events(log.bytes())
    assert isinstance(command, Command) and (command.name, command.args) == (
        "remember",
        "tabs, not spaces",
    )
    assert (turn.user, turn.replies) == ("/remember tabs, not spaces", ("Stored.",))


def test_a_compression_is_told_once_and_its_summary_is_nobodys_words(
    session: Any, log: Any
) -> None:
    log.user("One")
    log.say("1")
    snapshot = {"id": "s", "timestamp": log.records[-1]["timestamp"], "type": "user"}
    snapshot["content"] = [
        {
            "text": "<scratchpad>x</scratchpad><state_snapshot>\nRedis was "
            "dropped\n</state_snapshot>"
        }
    ]
    again = {
        "id": "other",
        "type": "user",
        "timestamp": snapshot["timestamp"],
        "content": [{"text": "One"}],
    }
    for _ in range(2):
        log.records.append({"$set": {"messages": [snapshot, again]}})
    log.user("Two")
    events = session.events(log.bytes())
    told = [event for event in events if isinstance(event, Compaction)]
    assert [(event.phase, event.summary) for event in told] == [
        ("after", "Redis was dropped")
    ]
    assert [turn.user for turn in session.turns(log.bytes())] == ["One", "Two"]


def test_what_a_rewind_leaves_behind_is_kept_and_complete(
    session: Any, log: Any
) -> None:
    log.user("One")
    log.say("1")
    wrong = log.user("Wrong way")
    log.say("2")
    log.records.append({"$rewindTo": wrong})
    session.write(log.bytes())
    events = session.hear("AfterTool").events
    assert [(turn.user, turn.is_complete) for turn in events] == [
        ("One", True),
        ("Wrong way", True),
    ]
    log.user("Right way")
    assert [turn.user for turn in session.turns(log.bytes())] == [
        "One",
        "Wrong way",
        "Right way",
    ]


def test_the_record_of_a_subagent_gives_nothing(session: Any, log: Any) -> None:
    log.records[0]["kind"] = "subagent"
    log.user("Search")
    log.say("Found")
    assert session.events(log.bytes()) == []


def test_ids_that_are_not_unique_in_the_world_are_made_so(
    session: Any, log: Any
) -> None:
    log.user("One", id="1")
    (turn,) = session.turns(log.bytes())
    assert re.fullmatch("[0-9a-f]{16}", turn.id)


def test_types_and_forms_that_are_not_known_are_named_and_the_rest_is_read(
    session: Any, log: Any
) -> None:
    log.user("One")
    log.message("hologram", "x")
    log.message("hologram", "y")
    session.write(log.bytes())
    reading = session.host.read_transcript(session.path, Cursor())
    assert [turn.user for turn in reading.events] == ["One"]
    (problem,) = reading.problems
    assert problem.startswith(
        "messages of the type 'hologram' are not known here and were left out; a newer"
    )
    session.write(b'{"v9": {"turn": "x"}}\n')
    (problem,) = session.host.read_transcript(session.path, Cursor()).problems
    assert "a newer gemini-cli may have written" in problem


def test_host_events_become_a_session_and_its_turns(session: Any, log: Any) -> None:
    session.write(log.bytes())
    (started,) = session.hear("SessionStart", source="startup").events
    assert isinstance(started, Session) and (started.phase, started.reason) == (
        "started",
        "startup",
    )
    # the record gets it a moment later
    assert session.hear("BeforeAgent", prompt="One").events == ()
    log.user("One")
    log.say("1")
    session.write(log.bytes())
    (turn,) = session.hear(
        "AfterAgent", LATER, prompt="One", prompt_response="1"
    ).events
    assert (turn.user, turn.replies, turn.is_complete) == ("One", ("1",), True)
    assert (
        session.hear("AfterAgent", LATER, prompt="One", prompt_response="1").events
        == ()
    )
    (before,) = session.hear("PreCompress", trigger="auto").events
    assert (before.phase, before.trigger) == ("before", "auto")
    (ended,) = session.hear("SessionEnd", LATER, reason="exit").events
    assert (ended.phase, ended.reason) == ("ended", "exit")
    assert session.hear("BeforeModel").events == ()


def test_words_that_the_record_lacks_come_from_the_payload(
    session: Any, log: Any
) -> None:
    log.user("One")
    log.say("Part one.")
    session.write(log.bytes())
    (turn,) = session.hear(
        "AfterAgent", LATER, prompt="One", prompt_response="Part one.Part two."
    ).events[-1:]
    assert turn.replies == ("Part one.Part two.",)
    (turn,) = session.hear(
        "AfterAgent", LATER, prompt="Two", prompt_response="2"
    ).events[-1:]
    assert (turn.user, turn.replies, turn.is_provisional) == ("Two", ("2",), True)


def test_words_that_the_record_lacks_stay_whatever_is_heard_before_it_is_read_again(
    session: Any, log: Any
) -> None:
    log.user("One")
    log.say("Part one.")
    session.write(log.bytes())
    session.hear(
        "AfterAgent", LATER, prompt="One", prompt_response="Part one.Part two."
    )
    session.hear("PreCompress", LATER, trigger="auto")
    log.user("Two")
    session.write(log.bytes())
    events = session.hear("PreCompress", LATER, trigger="auto").events
    one = [turn for turn in events if getattr(turn, "user", "") == "One"]
    assert [turn.replies for turn in one[-1:]] == [("Part one.Part two.",)]


def test_without_a_record_payloads_alone_make_the_turns_and_two_plugins_make_one(
    session: Any,
) -> None:
    asked = [
        session.hear("BeforeAgent", f"2026-02-09T14:00:0{n}Z", prompt="One").events[0]
        for n in (1, 2)
    ]
    assert asked[0] == asked[1] and asked[0].is_provisional and not asked[0].is_complete
    answered = [
        session.hear("AfterAgent", LATER, prompt="One", prompt_response="1").events[0]
        for _ in range(2)
    ]
    assert {turn.id for turn in answered} == {asked[0].id} and answered[0].replies == (
        "1",
    )
    again = session.hear("BeforeAgent", LATER, prompt="One").events[0]
    assert again.id != asked[0].id
    response = {"llmContent": json.dumps({"answers": {"0": "None"}})}
    events = session.hear(
        "AfterTool", tool_name="ask_user", tool_input=QUESTIONS, tool_response=response
    ).events
    assert [(q.question, q.answer) for q in events] == [
        ("Which cache?", "None"),
        ("Since when?", ""),
    ]


def test_a_worker_that_comes_late_adds_nothing_that_the_record_tells(
    session: Any, log: Any
) -> None:
    log.user("One")
    log.say("1")
    log.user("Two")
    log.say("2")
    session.write(log.bytes())
    events = session.hear(
        "AfterAgent", "2026-02-09T14:00:02Z", prompt="One", prompt_response="1 as sent"
    ).events
    assert [(turn.user, turn.replies) for turn in events] == [
        ("One", ("1",)),
        ("Two", ("2",)),
    ]


def test_context_is_asked_for_at_the_start_and_with_a_prompt(session: Any) -> None:
    host, payload = session.host, session.payload
    assert host.ask("SessionStart", payload(source="resume")) == Ask(
        "brief", source="resume"
    )
    assert host.ask("BeforeAgent", payload(prompt="Why Redis?")) == Ask(
        "prompt", text="Why Redis?"
    )
    for event, fields in (
        ("BeforeAgent", {"prompt": "/help"}),
        ("AfterAgent", {}),
        ("BeforeAgent", {}),
    ):
        assert host.ask(event, payload(**fields)) is None
    assert host.ask("SessionStart", b"{}") is None


def test_the_reply_is_one_json_object_or_nothing() -> None:
    host = host_named("gemini-cli")
    assert json.loads(host.reply("BeforeAgent", "Redis\ud800 was dropped")) == {
        "hookSpecificOutput": {
            "hookEventName": "BeforeAgent",
            "additionalContext": "Redis\ufffd was dropped",
        }
    }
    assert (host.reply("BeforeAgent", "  "), host.reply("AfterAgent", "x")) == (
        b"",
        b"",
    )


@pytest.mark.parametrize(
    "payload", [b"", b"[]", b"nonsense", b"\xff", b'{"session_id": 5}', b"[" * 99_999]
)
def test_a_payload_that_is_none_is_a_problem(payload: bytes) -> None:
    host = host_named("gemini-cli")
    assert host.origin("AfterAgent", payload) is None
    assert host.read("AfterAgent", payload, Cursor(), LATER).problems


@pytest.mark.parametrize(
    "name",
    ["/etc/passwd", "relative.jsonl", 5, "/x\0.jsonl", "/etc/hosts.jsonl/../passwd"],
)
def test_a_path_that_is_no_records_is_not_read(session: Any, name: Any) -> None:
    assert session.hear("AfterAgent", transcript_path=name).problems or isinstance(
        name, int
    )


def test_recorded_sessions_are_found_with_their_directories(
    log: Any, tmp_path: Path
) -> None:
    log.user("One")
    old_directory = "/home/ann/old"
    hashed = hashlib.sha256(old_directory.encode()).hexdigest()
    for name in ("kasha", hashed, "unknown"):
        (tmp_path / ".gemini/tmp" / name / "chats" / "parent").mkdir(parents=True)
    chats = tmp_path / ".gemini/tmp/kasha/chats"
    (chats.parent / ".project_root").write_text("/home/ann/kasha\n")
    (tmp_path / ".gemini/projects.json").write_text(
        json.dumps({"projects": {old_directory: "old"}})
    )
    (chats / "session-2026-02-09T14-00-aaaa.jsonl").write_bytes(log.bytes())
    (chats / "session-2026-02-09T14-00-aaaa.json").write_bytes(
        log.whole()
    )  # before it was resumed
    (chats / "session-2026-02-09T14-00-aaaa.jsonl.unreadable-1").write_bytes(
        log.bytes()
    )
    (chats / "session-empty.jsonl").write_bytes(b"")
    (chats / "parent" / "sub.jsonl").write_bytes(log.bytes())
    (tmp_path / ".gemini/tmp" / hashed / "chats" / "session-b.json").write_bytes(
        log.whole()
    )
    log.records[0]["kind"] = "subagent"
    (tmp_path / ".gemini/tmp/unknown/chats/session-c.jsonl").write_bytes(log.bytes())
    (tmp_path / ".gemini/tmp/unknown/chats/session-d.jsonl").mkdir()
    found = list(host_named("gemini-cli").recorded(tmp_path))
    assert [
        (one.path.name, one.session, one.cwd)
        for one in sorted(found, key=lambda one: one.path.name)
    ] == [
        ("session-2026-02-09T14-00-aaaa.jsonl", log.session, "/home/ann/kasha"),
        ("session-b.json", log.session, old_directory),
    ]
    assert found[0].started_at == "2026-02-09T14:00:00Z"
    (tmp_path / "tmp").mkdir()  # not the host's
    for named in (tmp_path, tmp_path / ".gemini"):
        assert (
            list(host_named("gemini-cli").recorded(Path("/nowhere"), str(named)))
            == found
        )


def test_a_resumed_session_is_read_in_the_record_in_which_it_goes_on(
    session: Any, log: Any
) -> None:
    """The payload of its start names a new record, which stays empty."""
    own = session.common["session_id"]
    chats = session.path.parent
    old = chats / f"session-2026-02-09T14-00-{own[:8]}.jsonl"
    new = chats / f"session-2026-02-10T09-30-{own[:8]}.jsonl"
    log.user("One")
    log.say("1")
    old.write_bytes(log.bytes())
    stub = [log.records[0], {"$set": {"messages": [{"id": "c", "type": "user"}]}}]
    new.write_text("".join(json.dumps(line) + "\n" for line in stub))
    session.common["transcript_path"] = str(old)
    assert [e.user for e in session.hear("AfterAgent", LATER).events] == ["One"]
    before = session.cursor
    started = session.hear(
        "SessionStart", LATER, source="resume", transcript_path=str(new)
    )
    assert [event.kind for event in started.events] == ["session"]
    assert session.cursor.offset == before.offset
    log.user("Two")
    old.write_bytes(log.bytes())
    events = session.hear("BeforeAgent", LATER, prompt="Two").events
    assert [event.user for event in events] == ["Two"]
    payload = json.dumps(
        session.common | {"source": "resume", "transcript_path": str(new)}
    ).encode()
    origin = session.host.origin("SessionStart", payload)
    assert origin.transcript == str(old)
    shutil.copytree(chats, chats.parent / ".gemini" / "tmp" / "kasha" / "chats")
    recorded = session.host.recorded(chats.parent)
    assert [one.path.name for one in recorded] == [old.name]


def test_what_was_said_in_a_turn_that_was_cancelled_is_kept(
    session: Any, log: Any
) -> None:
    """The record says of it only that it was cancelled."""
    log.user("Count")
    log.message("info", "Request cancelled.")
    session.write(log.bytes())
    said = {"prompt": "Count", "prompt_response": "One, two"}
    (turn,) = session.hear("AfterAgent", LATER, **said).events[-1:]
    assert (turn.replies, turn.is_complete) == (("One, two",), True)
    log.user("Go on")
    session.write(log.bytes())
    events = session.hear("BeforeAgent", LATER, prompt="Go on").events
    assert [(turn.user, turn.replies) for turn in events] in (
        [("Count", ("One, two",)), ("Go on", ())],
        [("Go on", ())],
    )
    assert [turn.replies for turn in session.turns(log.bytes())[:1]] == [()]


def test_a_turn_that_was_cancelled_before_a_word_has_no_reply(
    session: Any, log: Any
) -> None:
    log.user("Count")
    session.write(log.bytes())
    said = {"prompt": "Count", "prompt_response": "[no response text]"}
    assert [t.replies for t in session.hear("AfterAgent", LATER, **said).events] == [()]


def test_a_summary_in_any_form_is_known_by_what_the_host_puts_behind_it(
    session: Any, log: Any
) -> None:
    log.user("One")
    log.say("1")
    texts = (
        "Here it is: Redis was dropped",
        "Got it. Thanks for the additional context!",
    )
    kinds = ("user", "gemini")
    messages = [
        {"id": kind, "type": kind, "content": [{"text": words}]}
        for kind, words in zip(kinds, texts, strict=True)
    ]
    log.records.append({"$set": {"messages": messages}})
    told = [e for e in session.events(log.bytes()) if isinstance(e, Compaction)]
    assert [event.summary for event in told] == [texts[0]]


@pytest.mark.parametrize("name", ["remember", "recall", "forget", "memory"])
def test_a_typed_command_of_keeplores_is_answered_beside_its_text(
    session: Any, name: str
) -> None:
    text = (
        f"# {name.capitalize()}\n\nThe person … Keeplore …\n\n/keeplore:{name} all tabs"
    )
    payload = json.dumps(session.common | {"prompt": text}).encode()
    assert session.host.ask("BeforeAgent", payload) == Ask("command", "all tabs", name)
    assert session.host.reply("BeforeAgent", "done") != b""
    assert session.host.reply("SessionStart", "a brief") == b""
