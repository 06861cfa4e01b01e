"""Every trap of Claude Code's transcript format, one small file each."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from keeplore_hooks.events import Command, Compaction, Question, Turn


def test_a_prompt_and_what_the_assistant_says_make_one_turn(
    session: Any, lines: Any
) -> None:
    t = lines()
    first = t.user("Which database?")
    t.say("Postgres.")
    second = t.user("Why?")
    t.say("You know it.")
    turns = session.turns(t)
    assert [(turn.id, turn.user, turn.replies) for turn in turns] == [
        (first, "Which database?", ("Postgres.",)),
        (second, "Why?", ("You know it.",)),
    ]
    assert [(turn.at, turn.ended_at) for turn in turns] == [
        ("2026-02-09T14:00:01Z", "2026-02-09T14:00:02Z"),
        ("2026-02-09T14:00:03Z", "2026-02-09T14:00:04Z"),
    ]
    origin = turns[0].origin
    assert (origin.host, origin.cwd, origin.branch) == (
        "claude-code",
        "/home/ann/kasha",
        "main",
    )
    assert (origin.session, origin.transcript) == (t.session, str(session.path))
    assert all(turn.is_complete for turn in turns)


def test_a_turn_is_of_the_session_that_its_lines_name_whatever_the_file_is_called(
    session: Any, lines: Any
) -> None:
    t = lines(session="5e551011-0000-4000-8000-000000000002")
    t.user("Which database?")
    t.say("Postgres.")
    t.user("Why?", sessionId="")
    t.session = "5e551011-0000-4000-8000-000000000003"
    t.user("Who says so?")
    assert [turn.origin.session[-1] for turn in session.turns(t)] == ["2", "2", "3"]


def test_a_turn_is_of_the_directory_and_branch_of_its_own_lines(
    session: Any, lines: Any
) -> None:
    t = lines()
    t.user("Which database?", cwd="/home/ann/shop", gitBranch="old")
    t.user("Why?")
    t.user("Who says so?", cwd="/home/ann/bank", gitBranch=None)
    places = [(turn.origin.cwd, turn.origin.branch) for turn in session.turns(t)]
    assert places == [
        ("/home/ann/shop", "old"),
        ("/home/ann/kasha", "main"),
        ("/home/ann/bank", ""),
    ]


def test_a_prompt_whose_id_is_none_or_too_long_has_one_of_its_session_and_place(
    session: Any, lines: Any
) -> None:
    def ids(t: Any) -> list[str]:
        return [turn.id for turn in session.turns(t)]

    def said_in(name: str, *uuids: str) -> Any:
        t = lines(session=name)
        for uuid in uuids:
            t.user("Which database?", uuid=uuid)
            t.say("Postgres.")
        return t

    longest, too_long = "u" * 100, "u" * 101
    assert ids(said_in("a", longest)) == [longest]
    first, second = ids(said_in("a", "", too_long))
    assert first != second
    assert first.startswith("line:") and second.startswith("line:")
    assert ids(said_in("a", "", too_long)) == [first, second]
    assert ids(said_in("b", ""))[0] != first
    assert ids(said_in("a", too_long))[0] != first


def test_blocks_of_one_message_stand_on_lines_of_their_own_and_make_one_reply(
    session: Any, lines: Any
) -> None:
    t = lines()
    t.user("Go on")
    t.think("msg_a")
    t.say("First I look.", "msg_a")
    call = t.call("Read", {"file_path": "/a.py"}, message="msg_a")
    t.say("It has two parts.", "msg_a")
    t.result(call, "a secret file content")
    t.say("Done.", "msg_b")
    (turn,) = session.turns(t)
    assert turn.replies == ("First I look.\n\nIt has two parts.", "Done.")


def test_a_block_that_is_written_twice_or_grows_is_taken_once(
    session: Any, lines: Any
) -> None:
    t = lines()
    t.user("Go on")
    t.say("I will", "msg_a")
    t.say("I will look.", "msg_a")
    t.say("I will look.", "msg_a")
    (turn,) = session.turns(t)
    assert turn.replies == ("I will look.",)


def test_the_old_schema_with_several_blocks_in_a_line_is_read(
    session: Any, lines: Any
) -> None:
    t = lines(version="1.0.24")
    t.user([{"type": "text", "text": "Look at it"}])
    blocks = [
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "c", "name": "LS", "input": {}},
    ]
    t.add("assistant", message={"id": "m", "role": "assistant", "content": blocks})
    t.add(
        "assistant", message={"id": "n", "role": "assistant", "content": "It is empty."}
    )
    t.bare(type="summary", summary="Looking", leafUuid="x")
    (turn,) = session.turns(t)
    assert (turn.user, turn.replies) == ("Look at it", ("I look.", "It is empty."))


def test_a_prompt_typed_ahead_is_a_turn_though_it_is_only_an_attachment(
    session: Any, lines: Any
) -> None:
    t = lines()
    t.user("Fix the search")
    t.say("I look into it.")
    t.bare(type="queue-operation", operation="enqueue", content="Pull first")
    t.bare(type="queue-operation", operation="remove", content="Pull first")
    queued = t.queued("Pull first", origin={"kind": "human"})
    t.say("Pulled.")
    turns = session.turns(t)
    assert [(turn.user, turn.replies) for turn in turns] == [
        ("Fix the search", ("I look into it.",)),
        ("Pull first", ("Pulled.",)),
    ]
    assert turns[1].id == queued


def test_a_queued_prompt_that_comes_as_a_user_line_too_is_one_turn(
    session: Any, lines: Any
) -> None:
    t = lines()
    t.user("Fix it")
    t.say("Yes.")
    t.queued("And test it")
    t.user("And test it", promptSource="queued")
    t.say("Tested.")
    assert [(turn.user, turn.replies) for turn in session.turns(t)] == [
        ("Fix it", ("Yes.",)),
        ("And test it", ("Tested.",)),
    ]


def test_a_queued_notification_or_command_is_no_prompt(
    session: Any, lines: Any
) -> None:
    t = lines()
    t.user("Fix it")
    t.queued(
        "<task-notification><status>completed</status></task-notification>",
        mode="task-notification",
    )
    t.queued("A teammate writes", origin={"kind": "teammate"})
    t.queued("/compact")
    t.say("Fixed.")
    (turn,) = session.turns(t)
    assert turn.replies == ("Fixed.",)


def test_in_old_versions_a_prompt_typed_ahead_stands_in_the_queue_alone(
    session: Any, lines: Any
) -> None:
    t = lines(version="2.1.29")
    t.user("Write the code")
    t.bare(
        type="queue-operation",
        operation="enqueue",
        content="<task-notification>done</task-notification>",
    )
    t.bare(type="queue-operation", operation="enqueue", content="Did we write tests?")
    t.bare(
        type="queue-operation",
        operation="enqueue",
        content="Taken back into the editor",
    )
    t.bare(type="queue-operation", operation="remove")
    t.bare(
        type="queue-operation", operation="remove", timestamp="2026-02-09T14:00:09.000Z"
    )
    t.bare(type="queue-operation", operation="popAll")
    t.bare(type="queue-operation", operation="remove")
    t.say("Not yet.")
    turns = session.turns(t)
    assert [(turn.user, turn.replies) for turn in turns] == [
        ("Write the code", ()),
        ("Did we write tests?", ("Not yet.",)),
    ]
    assert turns[1].at == "2026-02-09T14:00:09Z"
    assert turns[1].origin.cwd == "/home/ann/kasha"


@pytest.mark.parametrize(
    ("versions", "is_in_queue"),
    [
        (("2.1.91",), True),
        (("2.1.92",), False),
        (("2.0.99",), True),
        (("3.0.0",), False),
        (("2.1.91", "unknown"), True),  # as in the lines before
        (("2.1.92", ""), False),
    ],
)
def test_from_2_1_92_on_the_queue_says_nothing_that_attachments_do_not(
    session: Any, lines: Any, versions: tuple[str, ...], is_in_queue: bool
) -> None:
    t = lines()
    for t.version in versions:
        t.user("Write the code")
    t.bare(type="queue-operation", operation="enqueue", content="And the docs")
    t.bare(type="queue-operation", operation="remove")
    t.say("Written.")
    last = session.turns(t)[-1]
    assert last.user == ("And the docs" if is_in_queue else "Write the code")


def test_a_queued_prompt_that_was_dequeued_comes_as_its_user_line_alone(
    session: Any, lines: Any
) -> None:
    t = lines(version="2.1.29")
    t.user("Write the code")
    t.bare(type="queue-operation", operation="enqueue", content="And the docs")
    t.say("Written.")
    t.bare(type="queue-operation", operation="dequeue")
    t.user("And the docs")
    assert [turn.user for turn in session.turns(t)] == [
        "Write the code",
        "And the docs",
    ]


def test_words_added_to_a_tool_result_are_a_turn(session: Any, lines: Any) -> None:
    t = lines(version="2.1.33")
    t.user("Refactor it")
    call = t.call("Edit", {"file_path": "/a.py"})
    t.result(call, "updated", more=[{"type": "text", "text": "keep the old name"}])
    t.say("Kept.")
    turns = session.turns(t)
    assert [(turn.user, turn.replies) for turn in turns] == [
        ("Refactor it", ()),
        ("keep the old name", ("Kept.",)),
    ]
    assert turns[0].work.files == ("/a.py",)


@pytest.mark.parametrize(
    "words",
    [
        "<local-command-caveat>Caveat: the messages below …</local-command-caveat>",
        (
            "Caveat: The messages below were generated by the user while running local commands. "
            "DO "
            "NOT respond."
        ),
        "<bash-input>make test</bash-input>",
        "<bash-stdout>3 passed</bash-stdout><bash-stderr></bash-stderr>",
        (
            "<task-notification>\n<result>An agent's words</result>\n</task-notification>\nFull "
            "transcript at: /tmp/x"
        ),
        '<teammate-message teammate_id="bob" color="red">I am done</teammate-message>',
        "[Request interrupted by user]",
        "[Request interrupted by user for tool use]",
        "<system-reminder>\nRecalled by Keeplore: use Postgres.\n</system-reminder>",
        "<user-prompt-submit-hook>Recalled: use Postgres</user-prompt-submit-hook>",
        "  \n ",
    ],
)
def test_what_nobody_typed_as_a_prompt_is_no_turn(
    session: Any, lines: Any, words: str
) -> None:
    t = lines()
    t.user("Fix it")
    t.say("Fixing.")
    t.user(words)
    t.user([{"type": "text", "text": words}])
    t.say("Fixed.")
    (turn,) = session.turns(t)
    assert (turn.user, turn.replies) == ("Fix it", ("Fixing.", "Fixed."))


def test_lines_of_the_host_that_look_like_prompts_are_no_turns(
    session: Any, lines: Any
) -> None:
    t = lines()
    t.user("Fix it")
    t.user(
        [{"type": "text", "text": "Base directory for this skill: /s\n# Debugging"}],
        isMeta=True,
    )
    t.user(
        "Agent finished", origin={"kind": "task-notification"}, promptSource="system"
    )
    t.user("Shown in the transcript only", isVisibleInTranscriptOnly=True)
    t.user("A typed one", origin={"kind": "human"}, promptSource="typed")
    assert [turn.user for turn in session.turns(t)] == ["Fix it", "A typed one"]


def test_what_was_injected_into_a_prompt_is_taken_out_of_it(
    session: Any, lines: Any
) -> None:
    t = lines()
    t.user(
        "<ide_opened_file>The user opened a.py</ide_opened_file>\nUse "
        "uv<system-reminder>never</system-reminder>!"
    )
    t.user("What does <system-reminder> mean here?")
    assert [turn.user for turn in session.turns(t)] == [
        "Use uv!",
        "What does <system-reminder> mean here?",
    ]


def test_a_memory_typed_with_a_hash_sign_is_kept(session: Any, lines: Any) -> None:
    t = lines(version="1.0.60")
    t.user("<user-memory-input>always use uv</user-memory-input>")
    assert [turn.user for turn in session.turns(t)] == ["always use uv"]


def test_attachments_with_context_of_plugins_give_nothing(
    session: Any, lines: Any
) -> None:
    t = lines()
    t.user("Fix it")
    t.add(
        "attachment",
        attachment={
            "type": "hook_additional_context",
            "content": ["Recalled: use Postgres"],
        },
    )
    t.add(
        "attachment",
        attachment={"type": "hook_success", "stdout": "Recalled: use Postgres"},
    )
    t.add(
        "attachment", attachment={"type": "file", "content": "Recalled: use Postgres"}
    )
    t.add(
        "progress", data={"type": "hook_progress", "output": "Recalled: use Postgres"}
    )
    t.say("Fixed.")
    assert "Recalled" not in repr(session.events(t))


def test_a_command_that_the_host_runs_itself_leaves_the_turn_before_it_open(
    session: Any, lines: Any
) -> None:
    t = lines()
    first = t.user("Fix it")
    t.say("Fixing.")
    command = t.command("model", "opus")
    t.user("<local-command-stdout>Set model to opus</local-command-stdout>")
    t.say("Fixed.")
    events = session.events(t)
    assert [(event.kind, event.id) for event in events] == [
        ("turn", first),
        ("command", command),
        ("turn", first),
    ]
    assert events[1] == Command(
        command, events[1].origin, "2026-02-09T14:00:03Z", "model", "opus"
    )
    assert events[2].assistant == "Fixing.\n\nFixed."


def test_a_command_in_a_system_line_is_a_command(session: Any, lines: Any) -> None:
    t = lines()
    t.add(
        "system",
        subtype="local_command",
        content="<command-name>/remote-control</command-name>",
    )
    t.add(
        "system",
        subtype="local_command",
        content="<local-command-stdout></local-command-stdout>",
    )
    (event,) = session.events(t)
    assert isinstance(event, Command) and event.name == "remote-control"


def test_a_command_that_the_assistant_answers_is_a_turn_too(
    session: Any, lines: Any
) -> None:
    t = lines()
    uuid = t.user(
        "<command-message>review is "
        "running…</command-message>\n<command-name>/team:review</command-name>\n"
        "<command-args>the last commit</command-args>"
    )
    t.user([{"type": "text", "text": "You review code. Be strict."}], isMeta=True)
    t.say("Two things are wrong.")
    command, turn = session.events(t)
    assert (command.id, command.name, command.args) == (
        uuid,
        "team:review",
        "the last commit",
    )
    assert (turn.id, turn.user, turn.replies) == (
        uuid,
        "/team:review the last commit",
        ("Two things are wrong.",),
    )


def test_a_compaction_has_the_summary_and_the_summary_is_nobodys_words(
    session: Any, lines: Any
) -> None:
    t = lines()
    t.user("Drop Redis?")
    t.say("Yes.")
    boundary = t.compaction("manual")
    t.say("I go on.")
    before, compaction, after = session.events(t)
    assert isinstance(compaction, Compaction)
    assert (compaction.id, compaction.phase, compaction.trigger) == (
        boundary,
        "after",
        "manual",
    )
    assert compaction.summary.endswith("1. Redis was dropped.")
    assert (before.replies, before.is_complete) == (("Yes.",), False)
    assert (after.id, after.replies) == (before.id, ("Yes.", "I go on."))
    assert "Summary" not in repr((before, after))


def test_an_old_summary_without_boundary_and_mark_is_a_compaction(
    session: Any, lines: Any
) -> None:
    t = lines(version="1.0.24")
    uuid = t.user(
        "This session is being continued from a previous conversation that ran out of context. "
        "Analysis: …"
    )
    answer = t.say("I go on where I was.")
    compaction, turn = session.events(t)
    assert (compaction.kind, compaction.id, compaction.trigger) == (
        "compaction",
        uuid,
        "",
    )
    assert (turn.id, turn.user, turn.replies) == (answer, "", ("I go on where I was.",))


def test_a_boundary_whose_summary_is_missing_is_a_compaction_all_the_same(
    session: Any, lines: Any
) -> None:
    t = lines()
    boundary = t.add(
        "system", subtype="compact_boundary", compactMetadata={"trigger": "auto"}
    )
    t.user("Go on")
    compaction, turn = session.events(t)
    assert (compaction.id, compaction.summary, turn.user) == (boundary, "", "Go on")


def test_errors_that_the_host_writes_in_the_assistants_name_are_not_its_words(
    session: Any, lines: Any
) -> None:
    t = lines()
    t.user("Fix it")
    t.say("No response requested.", model="<synthetic>")
    t.say("API Error: 529 overloaded", isApiErrorMessage=True)
    t.say("Fixed.")
    (turn,) = session.turns(t)
    assert turn.replies == ("Fixed.",)


def test_reasoning_written_among_the_words_is_left_out(
    session: Any, lines: Any
) -> None:
    t = lines()
    t.user("Fix it")
    t.say("<thinking>\nWhat would they like?\n</thinking>\n\nFixed.")
    (turn,) = session.turns(t)
    assert turn.replies == ("Fixed.",)


def test_subagents_are_no_exchange(session: Any, lines: Any) -> None:
    t = lines()
    t.user("Look around")
    t.user("You are a scout. Look around.", isSidechain=True)
    t.say("I am the scout.", isSidechain=True)
    t.say("The scout found nothing.")
    (turn,) = session.turns(t)
    assert (turn.user, turn.replies) == ("Look around", ("The scout found nothing.",))
    agent = lines()
    agent.user("You are a scout.", isSidechain=True, agentId="a1")
    agent.say("I am the scout.", isSidechain=True, agentId="a1")
    assert session.events(agent) == []


def test_history_that_is_repeated_in_a_file_is_taken_once(
    session: Any, lines: Any
) -> None:
    t = lines()
    t.user("One")
    t.say("1")
    t.user("Two")
    t.say("2")
    t.raw += t.raw
    t.say("2b")
    t.user("Three")
    t.say("3")
    assert [(turn.user, turn.replies) for turn in session.events(t)] == [
        ("One", ("1",)),
        ("Two", ("2", "2b")),
        ("Three", ("3",)),
    ]


def test_a_fork_has_the_turns_of_its_history_under_the_same_ids(
    session: Any, lines: Any
) -> None:
    t, fork = lines(), lines(session="5e551011-0000-4000-8000-000000000002")
    for each in (t, fork):
        each.user("One")
        each.say("1")
    fork.user("Two")
    history, forked = session.turns(t), session.turns(fork)
    assert forked[0].id == history[0].id
    assert [turn.user for turn in forked] == ["One", "Two"]


def test_a_rewind_keeps_both_branches_in_the_order_of_the_file(
    session: Any, lines: Any
) -> None:
    t = lines()
    root = t.user("One")
    answer = t.say("1", parentUuid=root)
    t.user("Two", parentUuid=answer)
    t.say("2")
    t.user("Two, better", parentUuid=answer)
    t.say("2!")
    assert [turn.user for turn in session.turns(t)] == ["One", "Two", "Two, better"]


QUESTIONS = [
    {
        "question": "Which cache?",
        "header": "Cache",
        "options": [{"label": "None"}, {"label": "Redis"}],
    },
    {
        "question": 'Which "mode"?',
        "header": "Mode",
        "options": [{"label": "fast"}, {"label": "safe"}],
    },
]


def test_questions_stand_with_their_answers_where_they_were_put(
    session: Any, lines: Any
) -> None:
    t = lines()
    t.user("Set it up")
    t.say("I have two questions.")
    call = t.call("AskUserQuestion", {"questions": QUESTIONS})
    answers = {"Which cache?": "None", 'Which "mode"?': "safe, mostly"}
    notes = {"Which cache?": {"notes": "we dropped it in May"}}
    t.result(
        call,
        "…",
        toolUseResult={
            "questions": QUESTIONS,
            "answers": answers,
            "annotations": notes,
        },
    )
    t.say("Good.")
    one, two, turn = session.events(t)
    assert isinstance(one, Question) and isinstance(turn, Turn)
    assert (one.id, one.question, one.header, one.options) == (
        f"{call}:0",
        "Which cache?",
        "Cache",
        ("None", "Redis"),
    )
    assert (one.answer, two.answer) == ("None\nwe dropped it in May", "safe, mostly")
    assert turn.replies == ("I have two questions.", one, two, "Good.")


def test_answers_are_found_in_the_text_where_there_is_nothing_else(
    session: Any, lines: Any
) -> None:
    t = lines()
    t.user("Set it up")
    call = t.call("AskUserQuestion", {"questions": QUESTIONS})
    told = (
        'User has answered your questions: "Which cache?"="None", "Which "mode"?"="safe". You '
        "can now continue."
    )
    t.result(call, [{"type": "text", "text": told}])
    assert [
        event.answer for event in session.events(t) if isinstance(event, Question)
    ] == [
        "None",
        "safe",
    ]


def test_a_declined_question_has_no_answer(session: Any, lines: Any) -> None:
    t = lines()
    t.user("Set it up")
    call = t.call("AskUserQuestion", {"questions": QUESTIONS[:1]})
    told = (
        "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell "
        "you how to proceed, "
        "the user said:\nThe user wants to clarify these questions.\n  This means they may have "
        "more information."
    )
    t.result(call, told, is_error=True, toolUseResult=f"Error: {told}")
    question, turn = session.events(t)
    assert (question.answer, turn.replies) == ("", (question,))


def test_a_question_without_a_result_yet_is_in_the_turn_and_no_event(
    session: Any, lines: Any
) -> None:
    t = lines()
    t.user("Set it up")
    t.call("AskUserQuestion", {"questions": QUESTIONS[:1]})
    (turn,) = session.events(t)
    assert [reply.question for reply in turn.replies] == ["Which cache?"]


def test_the_words_with_which_a_tool_call_was_refused_are_kept(
    session: Any, lines: Any
) -> None:
    t = lines()
    t.user("Clean up")
    call = t.call("Bash", {"command": "git commit -m x\nmore"})
    told = (
        "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell "
        "you how to proceed, "
        "the user said:\nI did not say commit anything\n\nNote: The user's next message may "
        "contain a correction."
    )
    t.result(call, told, is_error=True)
    silent = t.call("Edit", {"file_path": "/a.py"})
    t.result(
        silent,
        "The user doesn't want to proceed with this tool use. STOP what you are doing.",
        is_error=True,
    )
    question, turn = session.events(t)
    assert (question.question, question.answer) == (
        "Allow Bash git commit -m x?",
        "I did not say commit anything",
    )
    assert turn.replies == (question,)
    assert (turn.work.files, turn.work.commands) == ((), ())


def test_a_plan_is_the_assistants_words_and_its_approval_an_answer(
    session: Any, lines: Any
) -> None:
    t = lines()
    t.user("Plan it")
    call = t.call("ExitPlanMode", {"plan": "# Plan\n1. Drop Redis"})
    t.result(call, "User has approved your plan.")
    question, turn = session.events(t)
    assert (question.question, question.answer) == ("Proceed with this plan?", "Yes")
    assert turn.replies == ("# Plan\n1. Drop Redis", question)


def test_work_names_files_commands_commits_and_pull_requests(
    session: Any, lines: Any
) -> None:
    t = lines()
    t.user("Do it")
    for name, key in (
        ("Edit", "file_path"),
        ("Write", "file_path"),
        ("NotebookEdit", "notebook_path"),
    ):
        t.result(t.call(name, {key: f"/{name}.py", "new_string": "x"}))
    t.result(t.call("MultiEdit", {"file_path": "/Edit.py", "edits": []}))
    t.result(t.call("Write", {"file_path": "/failed.py"}), "Error", is_error=True)
    t.result(t.call("Bash", {"command": "x" * 1000}))
    commit = t.call("Bash", {"command": "git add a &&\ngit commit -m 'Drop Redis'"})
    t.result(
        commit, "hook ran\n[main (root-commit) 1a2b3c4] Drop Redis\n 1 file changed"
    )
    t.result(
        t.call("Bash", {"command": "git log"}), "[main 9999999] not a commit of now"
    )
    for _ in range(2):
        t.bare(
            type="pr-link",
            prNumber=4,
            prUrl="https://forge.example/kasha/pull/4",
            sessionId=t.session,
        )
    (turn,) = session.turns(t)
    assert turn.work.files == ("/Edit.py", "/Write.py", "/NotebookEdit.py")
    assert turn.work.commands == ("x" * 200, "git add a &&", "git log")
    assert turn.work.commits == ("1a2b3c4 Drop Redis",)
    assert turn.work.links == ("https://forge.example/kasha/pull/4",)
    assert turn.origin.cwd == "/home/ann/kasha"


def test_the_output_of_a_command_names_quiet_commits_and_pull_requests(
    session: Any, lines: Any
) -> None:
    t = lines("1.0.24")
    t.user("Do it")
    message = "$(cat <<'EOF'\nDrop Redis\n\nNobody reads it.\nEOF\n)"
    script = f'# commit\ncd /home/ann/kasha\ngit commit -q -m "{message}" && git log --oneline -1'
    t.result(t.call("Bash", {"command": script}), "1a2b3c4 (HEAD -> main) Drop Redis")
    amend = t.call("Bash", {"command": "git commit --amend --no-edit"})
    t.result(amend, "[main 5d6e7f8] Drop Redis\n 2 files changed")
    t.result(
        t.call("Bash", {"command": "git commit -m 'Never'"}),
        "[main 9999999] Never",
        is_error=True,
    )
    t.result(
        t.call("Bash", {"command": "pytest -k commit"}), "[main 8888888] made by a test"
    )
    t.result(
        t.call("Bash", {"command": "gh pr create --fill"}),
        "https://forge.example/ann/kasha/pull/7",
    )
    (turn,) = session.turns(t)
    assert turn.work.commits == ("5d6e7f8 Drop Redis", "9999999 Never")
    assert turn.work.links == ("https://forge.example/ann/kasha/pull/7",)
    assert turn.work.commands[0].startswith("git commit -q -m")


def test_the_references_of_one_turn_are_limited(session: Any, lines: Any) -> None:
    t = lines()
    t.user("Do it")
    for number in range(120):
        t.call("Edit", {"file_path": f"/{number}.py"})
        t.call("Bash", {"command": f"make {number}"})
    (turn,) = session.turns(t)
    assert (len(turn.work.files), len(turn.work.commands)) == (100, 50)


def test_pictures_are_a_line_in_the_prompt(session: Any, lines: Any) -> None:
    picture = {"type": "image", "source": {"type": "base64", "data": "iVBORw0KGgo="}}
    t = lines()
    t.user([picture, {"type": "text", "text": "Why is it red?\n[Image #1]"}, picture])
    t.say("A style.")
    t.user([picture])
    call = t.call("Read", {"file_path": "/a.png"})
    t.result(call, [picture])
    assert [turn.user for turn in session.turns(t)] == [
        "[image]\nWhy is it red?\n[Image #1]\n[image]",
        "[image]",
    ]


def test_times_with_an_offset_are_given_in_utc_and_a_missing_one_is_that_of_the_line_before(
    session: Any, lines: Any
) -> None:
    t = lines()
    t.user("One", timestamp="2026-02-09T23:30:00.5+09:30")
    t.user("Two", timestamp="yesterday")
    t.user("Three", timestamp=17)
    assert [turn.at for turn in session.turns(t)] == ["2026-02-09T14:00:00Z"] * 3


def test_without_any_time_a_turn_has_that_of_the_file(session: Any, lines: Any) -> None:
    t = lines()
    t.user("One", timestamp="")
    t.say("1", timestamp="soon")
    t.user("Two")
    turns = session.turns(t)
    written = datetime.fromtimestamp(session.path.stat().st_mtime, UTC)
    assert [turn.at for turn in turns] == [
        written.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "2026-02-09T14:00:03Z",
    ]


def test_text_that_cannot_be_written_as_utf8_is_mended(
    session: Any, lines: Any
) -> None:
    t = lines()
    t.raw.append(
        b'{"type":"user","uuid":"u","message":{"content":"lone \\ud83d and \\u0000nul, pair '
        b'\\ud83d\\ude00"}}\n'
    )
    (turn,) = session.turns(t)
    assert turn.user == "lone \N{REPLACEMENT CHARACTER} and nul, pair \N{GRINNING FACE}"


@pytest.mark.parametrize(
    "told",
    [
        "The user doesn't want to proceed with this tool use. STOP what you are doing.",
        "Permission for this tool use was denied. The tool use was rejected.",
        "Permission to use Bash with command make deploy has been denied.",
        "Claude requested permissions to use Bash, but you haven't granted it yet.",
        "<tool_use_error>Sibling tool call errored</tool_use_error>",
        "denied",
    ],
)
def test_a_command_that_was_not_run_is_no_work(
    session: Any, lines: Any, told: str
) -> None:
    t = lines()
    t.user("Ship it")
    call = t.call("Bash", {"command": "make deploy"})
    denial = {"toolDenialKind": "user"} if told == "denied" else {}
    t.result(call, told, is_error=True, **denial)
    done = t.call("Bash", {"command": "make test"})
    t.result(done, "Exit code 1\nmake: *** [test] Error 1", is_error=True)
    turn = session.events(t)[-1]
    assert turn.work.commands == ("make test",)


def test_turns_are_of_the_agent_that_the_session_runs(session: Any, lines: Any) -> None:
    t = lines()
    t.bare(type="agent-setting", agentSetting="reviewer")
    t.user("Which database?")
    t.say("Postgres.")
    t.bare(type="agent-setting", agentSetting="reviewer")
    t.user("Why?")
    t.bare(type="agent-setting", agentSetting="Explore")
    t.user("Where is it?")
    names = [turn.origin.agent_name for turn in session.turns(t)]
    assert names == ["reviewer", "reviewer", ""]


def test_a_payload_tells_the_agent_where_the_transcript_does_not(
    session: Any, lines: Any
) -> None:
    t = lines()
    t.user("Which database?")
    t.say("Postgres.")
    session.write(t)
    events = session.hear("Stop", agent_type="reviewer").events
    assert {event.origin.agent_name for event in events} == {"reviewer"}
