"""Rollouts of Codex CLI → events."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from keeplore_hooks.events import Turn
from keeplore_hooks.hosts import IMAGE, Cursor
from keeplore_hooks.installed import host_named

PATCH = (
    "*** Begin Patch\n*** Update File: src/a.py\n@@\n-x\n+y\n*** Add File: /tmp/b.py\n+z\n*** "
    "End Patch"
)
QUESTION = {
    "id": "db",
    "header": "Store",
    "question": "Which?",
    "options": [{"label": "Redis"}, {"label": "SQLite"}],
}


@pytest.fixture
def codex(codex_in: Any, tmp_path: Path) -> Any:
    return codex_in(tmp_path)


def only(turns: list[Turn]) -> Turn:
    assert len(turns) == 1
    return turns[0]


def test_a_turn_has_the_prompt_the_words_and_the_hosts_id(
    rollout: Any, codex: Any
) -> None:
    t = rollout()
    t.item("developer", "<permissions instructions>all</permissions instructions>")
    t.item(
        "user",
        "# AGENTS.md instructions for /home/ann/kasha\n\n<INSTRUCTIONS>Be kind.</INSTRUCTIONS>",
    )
    t.item(
        "user",
        "<environment_context>\n  <cwd>/home/ann/kasha</cwd>\n</environment_context>",
    )
    t.task("task-1")
    t.user("Drop Redis")
    t.event("agent_reasoning", text="**Thinking**")
    t.say("Looking.")
    t.say("Done.")
    t.say("Done.")
    t.event("task_complete", turn_id="task-1", last_agent_message="Done.")
    turn = only(codex.turns(t.bytes()))
    assert (turn.id, turn.user, turn.replies) == (
        "task-1",
        "Drop Redis",
        ("Looking.", "Done.", "Done."),
    )
    assert (turn.at, turn.ended_at) == ("2026-02-09T14:00:06Z", "2026-02-09T14:00:13Z")
    assert (turn.origin.cwd, turn.origin.branch, turn.is_complete) == (
        "/home/ann/kasha",
        "main",
        True,
    )


def test_a_prompt_typed_while_codex_works_is_a_turn_of_its_own(
    rollout: Any, codex: Any
) -> None:
    t = rollout()
    t.task("task-1")
    t.user("Drop Redis")
    t.say("Looking.")
    t.user("but keep the tests")
    t.say("Kept.")
    first, second = codex.turns(t.bytes())
    assert (first.id, first.replies) == ("task-1", ("Looking.",))
    assert (second.id, second.user, second.replies) == (
        "task-1:1",
        "but keep the tests",
        ("Kept.",),
    )


def test_an_interrupted_turn_keeps_what_was_said_and_is_over(
    rollout: Any, codex: Any
) -> None:
    t = rollout()
    t.task("task-1")
    t.user("Drop Redis")
    t.say("Looking.")
    t.item("user", "<turn_aborted>\nThe user interrupted.\n</turn_aborted>")
    t.event("turn_aborted", turn_id="task-1", reason="interrupted")
    codex.write(t.bytes())
    turn = codex.hear("PostToolUse").events[0]
    assert (turn.replies, turn.is_complete) == (("Looking.",), True)


def test_what_a_person_rolls_back_stays(rollout: Any, codex: Any) -> None:
    t = rollout()
    t.task("task-1")
    t.user("Drop Redis")
    t.say("Dropped.")
    t.event("thread_rolled_back", num_turns=1)
    t.task("task-2")
    t.user("Drop memcached")
    assert [turn.user for turn in codex.turns(t.bytes())] == [
        "Drop Redis",
        "Drop memcached",
    ]


def test_work_is_named_and_its_content_left_out(rollout: Any, codex: Any) -> None:
    t = rollout()
    t.task("task-1")
    t.user("Commit it")
    t.call("apply_patch", PATCH)
    t.event(
        "patch_apply_end",
        call_id="call_5",
        success=True,
        changes={"/home/ann/kasha/src/a.py": {}},
    )
    t.call(
        "apply_patch",
        {"input": PATCH.replace("a.py", "c.py").replace("/tmp/b.py", "/tmp/d.py")},
        call="bad",
    )
    t.event("patch_apply_end", call_id="bad", success=False, changes={})
    t.call(
        "exec_command",
        {"cmd": 'git commit -m "x"'},
        "Output:\n[main 1234567] Drop Redis\n 1 file changed",
    )
    t.call(
        "shell",
        {"command": ["bash", "-lc", "gh pr create\n--fill"]},
        "https://forge.example/o/r/pull/7\n",
    )
    t.call("exec_command", {"cmd": "rm -rf /"}, "exec command rejected by user")
    refused = 'exec_command failed for `bash -lc rm`: CreateProcess { message: "Rejected(\\"no\\")" }'
    t.call("exec_command", {"cmd": "rm -rf /etc"}, refused)
    turn = only(codex.turns(t.bytes()))
    assert turn.work.files == ("/home/ann/kasha/src/a.py", "/tmp/b.py")
    assert turn.work.commands == ('git commit -m "x"', "gh pr create")
    assert turn.work.commits == ("1234567 Drop Redis",)
    assert turn.work.links == ("https://forge.example/o/r/pull/7",)


@pytest.mark.parametrize(
    "output",
    [
        "apply_patch verification failed: Failed to find expected lines in /a.py:\nx = 1",
        {"output": "apply_patch verification failed: no such file", "metadata": {}},
        "Chunk ID: e6\nProcess exited with code 1\nOutput:\nInvalid patch: no hunk",
        "unsupported call: apply_patch",
    ],
)
def test_a_patch_that_failed_names_no_file(
    rollout: Any, codex: Any, output: object
) -> None:
    t = rollout()
    t.task("task-1")
    t.user("Mend it")
    patch = "*** Begin Patch\n*** Update File: src/a.py\n@@\n-x\n+y\n*** End Patch"
    told = output if isinstance(output, str) else json.dumps(output)
    t.call("apply_patch", {"input": patch}, told)
    assert only(codex.turns(t.bytes())).work.files == ()


def test_the_commands_and_patches_of_a_script_are_named(
    rollout: Any, codex: Any
) -> None:
    t = rollout()
    t.task("task-1")
    t.user("Commit it")
    script = (
        'const r = await tools.exec_command({"cmd":"git commit -m \\"x\\"","workdir":"/"}); '
        "text(JSON.stringify(r))"
    )
    printed = json.dumps({"exit_code": 0, "output": "[main 1234567] Drop Redis\n"})
    t.call(
        "exec",
        script,
        [
            {"type": "input_text", "text": "Script completed"},
            {"type": "input_text", "text": printed},
        ],
    )
    t.call(
        "exec",
        f"const patch = {json.dumps(PATCH)};\ntext(await tools.apply_patch(patch));",
    )
    t.call("exec", "tools.exec_command({cmd:'ls -l'})")
    turn = only(codex.turns(t.bytes()))
    assert turn.work.commands == ('git commit -m "x"', "ls -l")
    assert (turn.work.commits, turn.work.files[0]) == (
        ("1234567 Drop Redis",),
        "/home/ann/kasha/src/a.py",
    )


def test_a_question_has_its_options_and_the_chosen_answer(
    rollout: Any, codex: Any
) -> None:
    t = rollout()
    t.task("task-1")
    t.user("Where to keep it?")
    told = json.dumps(
        {"answers": {"db": {"answers": ["SQLite", "user_note: for now"]}}}
    )
    t.call("request_user_input", {"questions": [QUESTION]}, told, "ask")
    t.say("SQLite then.")
    events = codex.events(t.bytes())
    question = next(event for event in events if event.kind == "question")
    assert (question.id, question.question, question.options) == (
        "ask:0",
        "Which?",
        ("Redis", "SQLite"),
    )
    assert (question.answer, question.header) == ("SQLite\nfor now", "Store")
    assert events[-1].replies == (question, "SQLite then.")


def test_an_unanswered_question_has_no_answer(rollout: Any, codex: Any) -> None:
    t = rollout()
    t.task("task-1")
    t.user("Where to keep it?")
    t.call("request_user_input", {"questions": [QUESTION]}, "aborted by user")
    assert [
        event.answer for event in codex.events(t.bytes()) if event.kind == "question"
    ] == [""]


def test_the_summary_of_a_compaction_is_nobodys_words(rollout: Any, codex: Any) -> None:
    t = rollout()
    t.task("task-1")
    t.user("Drop Redis")
    t.say("Looking.")
    history = [
        {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "Drop Redis"}],
        }
    ]
    t.line("compacted", message="The cache went away.", replacement_history=history)
    t.event("context_compacted")
    t.say("Done.")
    events = codex.events(t.bytes())
    assert [event.kind for event in events] == ["turn", "compaction", "turn"]
    assert (events[1].phase, events[1].summary) == ("after", "The cache went away.")
    assert (events[2].user, events[2].replies) == ("Drop Redis", ("Looking.", "Done."))


def test_a_review_is_a_command_with_its_findings_and_without_the_reviewers_prompt(
    rollout: Any, codex: Any
) -> None:
    t = rollout()
    t.event(
        "entered_review_mode",
        turn_id="task-1",
        user_facing_hint="current changes",
        target={},
    )
    t.event("task_started", turn_id="reviewer")
    for _ in range(2):
        t.event("user_message", message="Review the current code changes.")
    t.item("user", "<user_action>\n  <action>review</action>\n</user_action>\n")
    t.event("exited_review_mode", turn_id="task-1", review_output={})
    t.item("assistant", "[P2] Quote it.")
    t.event("agent_message", message="[P2] Quote it.")
    t.event("task_complete", turn_id="task-1")
    t.task("task-2")
    t.user("do it")
    events = codex.events(t.bytes())
    commands = [(event.name, event.args) for event in events if event.kind == "command"]
    turns = [
        (event.id, event.user, event.replies)
        for event in events
        if event.kind == "turn"
    ]
    assert commands == [("review", "current changes")]
    assert turns == [
        ("task-1", "/review current changes", ("[P2] Quote it.",)),
        ("task-2", "do it", ()),
    ]


def test_a_review_that_was_cut_off_does_not_swallow_the_next_prompt(
    rollout: Any, codex: Any
) -> None:
    t = rollout()
    t.event("entered_review_mode", turn_id="task-1", user_facing_hint="changes")
    t.event("task_started", turn_id="reviewer")
    t.event("user_message", message="Review the current code changes.")
    t.task("task-2")
    t.user("do it")
    assert [turn.user for turn in codex.turns(t.bytes())] == [
        "/review changes",
        "do it",
    ]


@pytest.mark.parametrize(
    "prompt",
    [
        "$remember use uv",
        "$keeplore:remember use uv",
        "[$remember](/s/SKILL.md) use uv",
    ],
)
def test_the_mention_of_a_skill_of_ours_is_a_command(
    rollout: Any, codex: Any, prompt: str
) -> None:
    t = rollout()
    t.task("task-1")
    t.user(prompt)
    command, turn = codex.events(t.bytes())
    assert (command.kind, command.name, command.args, turn.user) == (
        "command",
        "remember",
        "use uv",
        prompt,
    )


def test_what_an_editor_puts_before_a_prompt_is_left_out(
    rollout: Any, codex: Any
) -> None:
    t = rollout()
    t.task("task-1")
    t.user(
        "# Context from my IDE setup:\n\n## Open tabs:\n- a.py\n\n## My request for Codex:\nDrop "
        "Redis"
    )
    t.user(
        "# Diff comments:\n\n## Comment 1\nToo long.\n\n## My request for Codex:\n\nFix it"
    )
    first, second = codex.turns(t.bytes())
    assert first.user == "Drop Redis"
    assert second.user == "Fix it\n\n> # Diff comments:\n>\n> ## Comment 1\n> Too long."


def test_what_the_desktop_app_asks_for_itself_is_no_turn(
    rollout: Any, codex: Any
) -> None:
    t = rollout()
    t.task("task-1")
    t.user(
        "You are a helpful assistant. You will be presented with a user prompt, and your job is to "
        "name it."
    )
    t.say("Drop Redis")
    assert codex.events(t.bytes()) == []
    words = "You are a helpful assistant. You will be presented with a user prompt."
    assert codex.hear("UserPromptSubmit", turn_id="task-1", prompt=words).events == ()
    assert (
        codex.hear("Stop", turn_id="task-1", last_assistant_message="Drop Redis").events
        == ()
    )
    assert codex.host.ask("UserPromptSubmit", codex.payload(prompt=words)) is None


def test_pictures_are_lines(rollout: Any, codex: Any) -> None:
    t = rollout()
    t.task("task-1")
    t.user("Look", images=["data:image/png;base64,xx"], local_images=["/tmp/a.png"])
    assert only(codex.turns(t.bytes())).user == f"Look\n{IMAGE}\n{IMAGE}"


def test_a_proposed_plan_is_a_reply(rollout: Any, codex: Any) -> None:
    t = rollout()
    t.task("task-1")
    t.user("Plan it")
    t.event("agent_message", message="Here it is.")
    t.event("item_completed", item={"type": "Plan", "id": "p", "text": "1. Drop Redis"})
    t.item("assistant", "Here it is.\n<proposed_plan>\n1. Drop Redis\n</proposed_plan>")
    assert only(codex.turns(t.bytes())).replies == ("Here it is.", "1. Drop Redis")


def test_a_rollout_without_events_is_read_from_what_the_model_was_sent(
    rollout: Any, codex: Any
) -> None:
    t = rollout()
    t.item("user", "<environment_context>x</environment_context>")
    t.item("user", "Drop Redis")
    t.item("assistant", "Dropped.")
    t.item("user", "And memcached")
    first, second = codex.turns(t.bytes())
    assert (first.user, first.replies, second.user) == (
        "Drop Redis",
        ("Dropped.",),
        "And memcached",
    )


def test_a_rollout_of_bare_items_is_read(codex: Any) -> None:
    def item(role: str, words: str) -> dict[str, Any]:
        return {
            "type": "message",
            "role": role,
            "content": [{"type": "input_text", "text": words}],
        }

    head = {"id": "old", "timestamp": "2025-06-01T09:00:00Z", "instructions": None}
    lines = (
        head,
        {"record_type": "state"},
        item("user", "Drop Redis"),
        item("assistant", "Dropped."),
    )
    turn = only(
        codex.turns(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    )
    assert (turn.user, turn.replies, turn.at) == (
        "Drop Redis",
        ("Dropped.",),
        "2025-06-01T09:00:00Z",
    )


def test_a_text_of_the_host_before_the_first_prompt_is_told_apart_by_the_event(
    rollout: Any, codex: Any
) -> None:
    t = rollout()
    t.task("task-1")
    t.item("user", "Some text that a later version puts here")
    t.user("Drop Redis")
    turn = only(codex.turns(t.bytes()))
    assert (turn.id, turn.user) == ("task-1", "Drop Redis")


def test_a_fork_has_the_turns_of_the_session_that_it_forks_under_the_same_ids(
    rollout: Any, codex: Any
) -> None:
    parent = rollout()
    parent.task("task-1")
    parent.user("Drop Redis")
    parent.say("Dropped.")
    fork = rollout(forked_from_id="parent")
    fork.raw += parent.raw
    fork.task("task-2")
    fork.user("Otherwise")
    assert [turn.id for turn in codex.turns(fork.bytes())] == ["task-1", "task-2"]


def test_history_that_is_repeated_in_one_rollout_counts_once(
    rollout: Any, codex: Any
) -> None:
    t = rollout()
    for number in (1, 2):
        t.task(f"task-{number}")
        t.user(f"prompt {number}")
        t.say(f"words {number}")
    t.raw += t.raw[:6]
    t.task("task-3")
    t.user("prompt 3")
    turns = codex.turns(t.bytes())
    assert [turn.user for turn in turns] == ["prompt 1", "prompt 2", "prompt 3"]
    assert turns[1].replies == ("words 2",)


@pytest.mark.parametrize(
    "meta",
    [{"source": {"subagent": {"thread_spawn": {}}}}, {"thread_source": "subagent"}],
)
def test_the_rollout_of_a_subagent_gives_nothing_and_is_not_listed(
    rollout: Any, codex: Any, tmp_path: Path, meta: dict[str, Any]
) -> None:
    t = rollout(**meta)
    t.task("task-1")
    t.user("Look for tests")
    assert codex.events(t.bytes()) == []
    (tmp_path / "archived_sessions").mkdir()
    codex.path.rename(tmp_path / "archived_sessions" / codex.path.name)
    assert list(codex.host.recorded(tmp_path, str(tmp_path))) == []


def test_sessions_are_found_in_all_places_and_packed_ones_are_named(
    rollout: Any, codex: Any, tmp_path: Path
) -> None:
    for place in (".codex/sessions/2026/02/09", ".codex/archived_sessions"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / codex.path.name).write_bytes(rollout().bytes())
    packed = (
        tmp_path
        / ".codex/sessions/2026/02/09/rollout-2026-02-09T14-00-00-packed.jsonl.zst"
    )
    packed.write_bytes(b"\x28\xb5\x2f\xfd")
    found = list(codex.host.recorded(tmp_path))
    assert [session.session[-6:] for session in found] == ["000001", "000001", "packed"]
    assert (found[0].cwd, found[0].started_at) == (
        "/home/ann/kasha",
        "2026-02-09T14:00:00Z",
    )
    assert "zstd" in codex.host.read_transcript(packed, Cursor()).problems[0]


def test_what_is_not_known_is_named(rollout: Any, codex: Any) -> None:
    t = rollout(history_mode="ledger")
    t.task("task-1")
    t.user("Drop Redis")
    codex.write(t.bytes())
    reading = host_named("codex").read_transcript(codex.path, Cursor())
    assert "'ledger' of Codex 0.145.0" in reading.problems[0]
    assert (
        only([event for event in reading.events if isinstance(event, Turn)]).user
        == "Drop Redis"
    )
    assert (
        host_named("codex").read_transcript(codex.path, reading.cursor).problems == ()
    )
    codex.write(b'{"kind":"of tomorrow"}\n')
    assert (
        "a newer codex"
        in host_named("codex").read_transcript(codex.path, Cursor()).problems[0]
    )
