"""Sessions of OpenCode on disk: its database of either version, its older files, its exports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from keeplore_hooks.events import Compaction, Question, Turn
from keeplore_hooks.hosts import IMAGE, Cursor
from keeplore_hooks.installed import host_named

SESSION = "ses_made0001"
CWD = "/home/ann/kasha"
BEGIN = 1_770_645_600_000  # 2026-02-09T14:00:00Z, ms
HOST = host_named("opencode")


def turns(path: Path) -> list[Turn]:
    reading = HOST.read_transcript(path, Cursor())
    assert reading.problems == ()
    return [event for event in reading.events if isinstance(event, Turn)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "export.json"


@pytest.mark.parametrize("form", ["write_files", "write_tables", "write"])
def test_a_session_reads_the_same_from_every_form_in_which_version_1_keeps_it(
    talk, tmp_path, form, tool
):
    talk.user("Which store?")
    edit = tool("edit", {"filePath": f"{CWD}/store.py"})
    talk.say(
        "Let me look.", {"type": "reasoning", "text": "hm"}, edit, finish="tool-calls"
    )
    talk.say("SQLite, because one process writes.")
    where = getattr(talk, form)(
        tmp_path / "export.json" if form == "write" else tmp_path
    )
    (turn,) = turns(where)
    assert (turn.id, turn.user, turn.at) == (
        "msg_0001",
        "Which store?",
        "2026-02-09T14:00:01Z",
    )
    assert turn.replies == ("Let me look.", "SQLite, because one process writes.")
    assert turn.ended_at == "2026-02-09T14:00:03Z" and turn.is_complete
    assert turn.work.files == (f"{CWD}/store.py",)
    assert (turn.origin.session, turn.origin.cwd, turn.origin.transcript) == (
        SESSION,
        CWD,
        str(where),
    )


def test_version_2_says_the_same_in_rows(tmp_path, write_rows):
    asked = {
        "questions": [
            {"question": "Which?", "options": [{"label": "A"}, {"label": "B"}]}
        ]
    }
    shell = {"status": "completed", "input": {"command": "git commit -m x"}}
    content = [
        {"type": "reasoning", "text": "hm"},
        {"type": "text", "text": "Done."},
        {
            "type": "tool",
            "id": "call_1",
            "name": "bash",
            "state": {**shell, "content": [_text("[main abc1234] x")]},
        },
        {
            "type": "tool",
            "id": "call_2",
            "name": "question",
            "state": {
                "status": "completed",
                "input": asked,
                "metadata": {"answers": [["B"]]},
            },
        },
    ]
    rows = [
        ("model-switched", {"model": {"id": "m"}}),
        (
            "user",
            {"text": "Commit it", "files": [{"uri": "data:x", "mime": "image/png"}]},
        ),
        ("assistant", {"content": content}),
        ("synthetic", {"text": "nobody said this"}),
        (
            "compaction",
            {"status": "completed", "reason": "auto", "summary": "They committed."},
        ),
        ("compaction", {"status": "running", "reason": "auto", "summary": "half"}),
        ("idle", {"outcome": "succeeded"}),
        ("user", {"text": "Thanks"}),
    ]
    reading = HOST.read_transcript(write_rows(tmp_path, rows), Cursor())
    assert reading.problems == ()
    question, half, compaction, first, second = reading.events
    assert isinstance(half, Turn) and (half.id, half.replies) == (
        first.id,
        first.replies,
    )  # before it is shortened
    assert isinstance(question, Question) and (question.question, question.answer) == (
        "Which?",
        "B",
    )
    assert isinstance(compaction, Compaction) and (
        compaction.trigger,
        compaction.summary,
    ) == (
        "auto",
        "They committed.",
    )
    assert isinstance(first, Turn) and first.user == f"{IMAGE}\nCommit it"
    assert first.replies == ("Done.", question) and first.work.commits == ("abc1234 x",)
    assert isinstance(second, Turn) and second.user == "Thanks"


def test_a_session_that_was_moved_to_version_2_is_told_once(talk, tmp_path, write_rows):
    talk.user("Before")
    talk.say("Yes.")
    talk.write_tables(tmp_path)
    copies = [("user", {"text": "Before"}), ("assistant", {"content": [_text("Yes.")]})]
    write_rows(tmp_path, copies, first=1)  # migrated, under the same ids
    path = write_rows(
        tmp_path,
        [("user", {"text": "After"}), ("assistant", {"content": [_text("Sure.")]})],
        first=9,
    )
    assert [(turn.user, turn.assistant) for turn in turns(path)] == [
        ("Before", "Yes."),
        ("After", "Sure."),
    ]


def test_what_version_1_copies_into_the_new_table_under_other_ids_is_not_told_twice(
    talk, tmp_path, database
):
    talk.user("Before")
    talk.say("Yes.")
    path = talk.write_tables(tmp_path)
    with database(tmp_path) as connection:
        row = (
            "msg_other",
            SESSION,
            "user",
            1,
            BEGIN,
            BEGIN,
            json.dumps({"text": "Before"}),
        )
        connection.execute(
            "INSERT INTO session_message VALUES (?, ?, ?, ?, ?, ?, ?)", row
        )
    assert [turn.user for turn in turns(path)] == ["Before"]


def test_what_nobody_typed_is_no_prompt(talk, path):
    read = {
        "type": "text",
        "text": "Called the Read tool with the following input: x",
        "synthetic": True,
    }
    talk.user(
        "Look at @a.png and @b.py",
        read,
        {"type": "file", "mime": "image/png", "url": "data:x"},
    )
    talk.messages[-1]["parts"].append(
        {"type": "file", "mime": "text/plain", "url": "file:///b.py"}
    )
    talk.messages[-1]["parts"].append(
        {"type": "text", "text": "a plugin's note", "ignored": True}
    )
    talk.say("Both read.")
    talk.add(
        "user",
        {"type": "text", "text": "Continue if you have next steps", "synthetic": True},
    )
    talk.say("Going on.")
    (turn,) = turns(talk.write(path))
    assert turn.user == f"{IMAGE}\nLook at @a.png and @b.py"
    assert turn.replies == ("Both read.", "Going on.")


@pytest.mark.parametrize(
    ("status", "answers", "answer"),
    [("completed", [["B", "C"]], "B, C"), ("error", None, "")],
)
def test_questions_come_with_the_answer_that_was_chosen(
    talk, path, status, answers, answer, tool
):
    given = {
        "questions": [
            {
                "question": "Which?",
                "header": "Store",
                "options": [{"label": "B"}, {"label": "C"}],
            }
        ]
    }
    talk.user("Ask me")
    talk.say(
        "",
        tool(
            "question",
            given,
            "User has answered",
            status,
            metadata={"answers": answers},
        ),
    )
    events = HOST.read_transcript(talk.write(path), Cursor()).events
    question, turn = events
    assert isinstance(question, Question) and isinstance(turn, Turn)
    assert (question.question, question.header, question.options) == (
        "Which?",
        "Store",
        ("B", "C"),
    )
    assert (question.answer, turn.replies) == (answer, (question,))


def test_a_compaction_is_the_hosts_words_and_the_turn_goes_on_after_it(talk, path):
    talk.user("Move the tests")
    talk.say("Half are moved.", finish="tool-calls")
    talk.compact("They move the tests.")
    talk.user("Move the tests")  # the host repeats the prompt where it did not fit
    talk.say("All are moved.")
    talk.compact("All done.", auto=False)
    compactions, said = _split(HOST.read_transcript(talk.write(path), Cursor()).events)
    assert [(c.phase, c.trigger, c.summary) for c in compactions] == [
        ("after", "auto", "They move the tests."),
        ("after", "manual", "All done."),
    ]
    assert [(turn.user, turn.assistant, turn.is_complete) for turn in said] == [
        ("Move the tests", "Half are moved.", False),  # before it is shortened
        ("Move the tests", "Half are moved.\n\nAll are moved.", True),
    ]
    assert said[0].id == said[1].id


def test_a_compaction_that_failed_is_none(talk, path):
    talk.user("Go")
    talk.compact("half a summ")
    talk.messages[-1]["info"]["error"] = {"name": "MessageAbortedError"}
    compactions, _ = _split(HOST.read_transcript(talk.write(path), Cursor()).events)
    assert compactions == []


def test_a_person_may_say_the_same_again_without_a_compaction(talk, path):
    for _ in range(2):
        talk.user("continue")
        talk.say("Step.")
    assert [turn.user for turn in turns(talk.write(path))] == ["continue", "continue"]


def test_a_fork_tells_what_was_said_since(talk, path):
    talk.user("In the first session")
    talk.say("Yes.")
    # a fork has the messages before it as copies, with their times
    talk.info["time"]["created"] = BEGIN + 2500
    talk.user("In the fork")
    talk.say("No.")
    assert [(turn.user, turn.assistant) for turn in turns(talk.write(path))] == [
        ("In the fork", "No.")
    ]


def test_messages_without_an_id_of_opencode_are_known_by_session_time_and_words(
    talk_of, tmp_path
):
    def read(session: str, words: str, later: int) -> str:
        talk = talk_of(session)
        time = {"created": talk.info["time"]["created"] + later}
        talk.user(words, id="another-program", time=time)
        talk.say("It is done.")
        path = talk.write(tmp_path / "export.json")
        (turn,) = HOST.read_transcript(path, Cursor()).events
        return turn.id

    one = ("ses_one", "Use Redis", 700)
    others = (("ses_two", *one[1:]), ("ses_one", "Use SQLite", 700), (*one[:2], 1700))
    assert read(*one) == read(*one)
    assert len({read(*said) for said in (one, *others)}) == 4


def test_what_was_undone_and_said_anew_is_told_once_each(talk, tmp_path):
    talk.user("Use Redis")
    talk.say("Redis it is.")
    path, cursor = talk.write(tmp_path / "export.json"), Cursor()
    first = HOST.read_transcript(path, cursor)
    talk.messages.clear()  # the next prompt removes what was undone
    talk.user("Use SQLite", id="msg_0009")
    talk.say("SQLite it is.")
    second = HOST.read_transcript(talk.write(path), first.cursor)
    assert [
        event.user
        for event in (*first.events, *second.events)
        if isinstance(event, Turn)
    ] == [
        "Use Redis",
        "Use SQLite",
    ]


def test_sessions_of_subagents_are_no_exchanges(talk, tmp_path, talk_of, tool):
    talk.user("Ask a helper")
    talk.say("It says yes.", tool("task", {"prompt": "look"}, "the helper's result"))
    talk.write_tables(tmp_path)
    child = talk_of("ses_made0002", prefix="c", parentID=SESSION)
    child.user("look")
    child.say("the helper's result")
    where = child.write_tables(tmp_path)
    assert HOST.read_transcript(where, Cursor()).events == ()
    assert [
        found.session for found in HOST.recorded(Path("/nowhere"), str(tmp_path))
    ] == [SESSION]
    (turn,) = turns(tmp_path / "opencode.db" / SESSION)
    assert turn.assistant == "It says yes."


def test_work_is_kept_as_references(talk, path, tool):
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n*** Add File: /abs/b.py\n*** End Patch"
    talk.user("Work")
    talk.say(
        "Done.",
        tool("write", {"filePath": "/x/new.py", "content": "secret"}),
        tool("edit", {"filePath": "/x/failed.py"}, status="error", error="no match"),
        tool("apply_patch", {"patchText": patch}),
        tool(
            "bash",
            {"command": "git commit -m 'Drop Redis'\necho"},
            "[main 1234abc] Drop Redis\n 1 file changed",
        ),
        tool(
            "bash",
            {"command": "gh pr create"},
            "https://forge.example/ann/kasha/pull/7\n",
        ),
        tool(
            "bash",
            {"command": "rm -rf /"},
            status="error",
            error="The user rejected permission to use this tool.",
        ),
        tool("read", {"filePath": "/x/read.py"}, "contents"),
    )
    (turn,) = turns(talk.write(path))
    assert turn.work.files == ("/x/new.py", f"{CWD}/a.py", "/abs/b.py")
    assert turn.work.commands == ("git commit -m 'Drop Redis'", "gh pr create")
    assert turn.work.commits == ("1234abc Drop Redis",)
    assert turn.work.links == ("https://forge.example/ann/kasha/pull/7",)


def test_a_newer_schema_gives_what_can_be_read_and_says_so(
    talk, path, tmp_path, database
):
    talk.user("Hello", {"type": "hologram"})
    talk.say("Hi.")
    talk.add("oracle", {"type": "text", "text": "?"})
    reading = HOST.read_transcript(talk.write(path), Cursor())
    assert [event.user for event in reading.events if isinstance(event, Turn)] == [
        "Hello"
    ]
    assert len(reading.problems) == 2 and all(
        "a newer OpenCode" in problem for problem in reading.problems
    )
    with database(tmp_path) as connection:
        connection.execute(
            "INSERT INTO session VALUES (?, NULL, ?, ?, ?)",
            (SESSION, CWD, BEGIN, BEGIN),
        )
        connection.execute("DROP TABLE part")
        connection.execute("DROP TABLE session_message")
    reading = HOST.read_transcript(tmp_path / "opencode.db" / SESSION, Cursor())
    assert reading.events == () and "a newer OpenCode" in reading.problems[0]


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b"[]",
        b'{"info": 1, "messages": [1, {"info": []}]}',
        b"\xff\xfe",
        b"{}",
    ],
)
def test_files_of_any_content_are_problems_and_not_errors(path, raw):
    path.write_bytes(raw)
    reading = HOST.read_transcript(path, Cursor())
    assert reading.events == () and reading.problems
    assert list(HOST.recorded(Path("/nowhere"), str(path.parent))) == []


@pytest.mark.parametrize("name", ["gone.json", "opencode.db/ses_x1", "folder"])
def test_what_is_not_there_is_a_problem(tmp_path, name):
    (tmp_path / "folder").mkdir()
    (tmp_path / "opencode.db").write_bytes(
        b"no database at all, though it is named like one" * 50
    )
    reading = HOST.read_transcript(tmp_path / name, Cursor())
    assert reading.events == () and "cannot be read" in reading.problems[0]
    assert list(HOST.recorded(Path("/nowhere"), str(tmp_path))) == []


def test_recorded_finds_sessions_in_database_and_files_each_once(tmp_path, talk_of):
    old, moved = talk_of("ses_old1"), talk_of("ses_moved1", prefix="m")
    for one in (old, moved):
        one.user("Hello")
        one.write_files(tmp_path / "opencode")
    moved.write_tables(tmp_path / "opencode")
    found = list(HOST.recorded(Path("/nowhere"), str(tmp_path)))
    assert [(one.session, one.cwd) for one in found] == [
        ("ses_moved1", CWD),
        ("ses_old1", CWD),
    ]
    assert found[0].path == tmp_path / "opencode" / "opencode.db" / "ses_moved1"
    assert (found[1].started_at, found[1].written_at) == (
        "2026-02-09T14:00:00Z",
        "2026-02-09T14:00:01Z",
    )
    assert all(one.size > 0 for one in found)
    home = tmp_path / "home"
    old.write_files(home / ".local" / "share" / "opencode")
    assert [one.session for one in HOST.recorded(home)] == ["ses_old1"]


def _text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def _split(events: tuple[Any, ...]) -> tuple[list[Compaction], list[Turn]]:
    return (
        [event for event in events if isinstance(event, Compaction)],
        [event for event in events if isinstance(event, Turn)],
    )


def test_a_prompt_that_the_command_line_wrapped_has_no_quotation_marks(talk, path):
    talk.user('"Which store do we take?"')
    talk.say("SQLite.")
    (turn,) = turns(talk.write(path))
    assert turn.user == "Which store do we take?"


def test_the_text_of_our_own_command_is_the_command_where_a_record_is_all_there_is(
    talk, path
):
    file = Path(__file__).parents[4] / "plugin/opencode/commands/keeplore/remember.md"
    text = file.read_text().split("---\n", 2)[2].strip()
    talk.user(f'{text}\n\nwe use "uv" here')
    talk.say("It is remembered.")
    reading = HOST.read_transcript(talk.write(path), Cursor())
    command, turn = reading.events
    assert (command.name, command.args) == ("keeplore:remember", 'we use "uv" here')
    assert turn.user == '/keeplore:remember we use "uv" here'


@pytest.mark.parametrize(
    ("called", "prompt"), [("/review ", "/review"), ("check", "/check"), ("", "Go on")]
)
def test_a_command_that_runs_beside_the_session_is_told_by_its_name(
    talk, path, called, prompt
):
    parts = [{"type": "subtask", "command": one} for one in ("", called)]
    key = talk.add("user", _text("Go on"), *parts, {"type": "text", "command": "no"})
    talk.say("Done.")
    reading = HOST.read_transcript(talk.write(path), Cursor())
    *commands, turn = reading.events
    assert (turn.id, turn.user, turn.replies) == (key, prompt, ("Done.",))
    expected = [(prompt.removeprefix("/"), "")] if called else []
    assert [(command.name, command.args) for command in commands] == expected


def test_turns_are_of_the_agent_that_the_message_is_for(talk, path):
    for agent in ("build", "reviewer", "plan"):
        talk.user("Go on", agent=agent)
        talk.say("Done.")
    assert [turn.origin.agent_name for turn in turns(talk.write(path))] == [
        "",
        "reviewer",
        "",
    ]
