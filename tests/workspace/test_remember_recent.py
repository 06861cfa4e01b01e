"""``remember`` without a text: the last exchanges of the session become one permanent note,
once.
"""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from keeplore.errors import NotFound
from keeplore.memory import Conversation, new_id, parse
from keeplore.memory.names import short_id
from keeplore.recall.request import RecallRequest
from keeplore.text.dates import now
from keeplore.workspace.recording.remember_recent import _note_id, remember_recent
from keeplore_hooks.events import Command, Origin, Session, Turn

TALK = [
    ("Where do jobs wait?", "In memory so far."),
    ("What could hold the jobs?", "A table in Postgres, or Redis."),
    ("Redis was down twice last month.", "Then the table is the safer choice."),
    (
        "Let's go with the Postgres table, because a job and its invoice are one transaction.",
        "Agreed.",
    ),
]
NEXT_TOPIC = ("How long does a lease last?", "Five minutes.")


def turn(
    number: int, user: str, *replies: str, cwd: Path, session: str = "session-1"
) -> Turn:
    at = f"2026-02-09T14:{number:02d}:00Z"
    return Turn(
        f"{session}-{number}",
        Origin("claude-code", session, str(cwd)),
        at,
        user,
        replies,
    )


def say(workspace, project, talk=TALK, session: str = "session-1") -> None:
    for number, (user, reply) in enumerate(talk):
        workspace.emit(
            turn(number, user, *filter(None, [reply]), cwd=project, session=session)
        )


def typed(
    name: str, minute: int, cwd: Path, args: str = "", session: str = "session-1"
) -> Command:
    at = f"2026-02-09T14:{minute:02d}:30Z"
    return Command(
        f"{session}-command-{minute}",
        Origin("claude-code", session, str(cwd)),
        at,
        name,
        args,
    )


def notes(root: Path) -> list[str]:
    texts = [path.read_text() for path in sorted(root.glob("**/memory/**/*.md"))]
    # what the talk itself decides may become a note without a command
    return [
        text
        for text in texts
        if parse(text).kind == "note" and parse(text).meta["trigger"] == "remember"
    ]


def test_the_last_exchanges_are_kept_word_for_word_with_what_was_decided(
    workspace, project
):
    say(workspace, project)
    outcome = remember_recent(workspace, project, "session-1")
    memory = outcome.memory
    assert outcome.is_new and memory.is_permanent
    assert (memory.kind, memory.scope, memory.project, memory.trust) == (
        "note",
        "project",
        "ledgerly",
        "assistant",
    )
    assert memory.category == "architectural-decisions"
    assert memory.turns == ("session-1-1", "session-1-2", "session-1-3")
    session = ("claude-code", "session-1")
    assert memory.id == new_id("note", *session, "recent", *memory.turns)
    assert parse((workspace.root / outcome.path).read_text()).body == (
        "# Go with the Postgres table\n\n"
        "Let's go with the Postgres table, because a job and its invoice are one "
        "transaction.\n\n"
        "> **User, 2026-02-09 14:01 UTC:** What could hold the jobs?\n>\n"
        "> **Assistant:** A table in Postgres, or Redis.\n>\n"
        "> **User, 2026-02-09 14:02 UTC:** Redis was down twice last month.\n>\n"
        "> **Assistant:** Then the table is the safer choice.\n>\n"
        "> **User, 2026-02-09 14:03 UTC:** Let's go with the Postgres table, because a job and "
        "its invoice are one transaction.\n>\n"
        "> **Assistant:** Agreed.\n"
    )
    ((relationship, id_),) = memory.links
    assert relationship == "refines"
    assert workspace.store.load(workspace.store.find(id_)).kind == "conversation"


def test_the_same_exchanges_are_one_note(workspace, project):
    say(workspace, project)
    first = remember_recent(workspace, project, "session-1")
    again = remember_recent(workspace, project, "session-1")
    assert (again.memory.id, again.path, again.is_new) == (
        first.memory.id,
        first.path,
        False,
    )
    workspace.emit(turn(9, "And how many retries?", "Five.", cwd=project))
    assert remember_recent(workspace, project, "session-1").memory.id != first.memory.id
    assert len(notes(workspace.root)) == 2


def test_a_short_talk_is_kept_whole_and_one_without_an_answer_is_none(
    workspace, project
):
    say(workspace, project, [(TALK[0][0], "")])
    with pytest.raises(NotFound, match="keeplore remember"):
        remember_recent(workspace, project, "session-1")
    say(workspace, project, TALK[:1])
    workspace.emit(turn(5, "/keeplore:remember", "It is remembered.", cwd=project))
    workspace.emit(turn(6, "Thanks, and the cache?", cwd=project))
    assert remember_recent(workspace, project, "session-1").memory.turns == (
        "session-1-0",
    )


def test_without_a_session_the_newest_one_of_the_project_counts(workspace, project):
    say(workspace, project, TALK, "session-old")
    other = Path.home() / "code" / "other"
    other.mkdir()
    say(workspace, other, TALK * 2, "session-elsewhere")
    say(workspace, project, [NEXT_TOPIC] * 6, "session-new")
    assert remember_recent(workspace, project).memory.source["session"] == "session-new"


def test_without_a_session_one_that_ended_on_another_day_is_told_and_not_taken(
    workspace, project
):
    say(workspace, project)
    origin = Origin("claude-code", "session-1", str(project))
    workspace.emit(Session("end", origin, "2026-02-09T14:30:00Z", "ended"))
    with pytest.raises(NotFound) as refused:
        remember_recent(workspace, project)
    assert notes(workspace.root) == []
    ((_, talk),) = remember_recent(workspace, project, "session-1").memory.links
    assert (refused.value.message, refused.value.remedy) == (
        (
            "nothing was said here today; what was said last is of 2026-02-09: “Go with the "
            "Postgres table”"
        ),
        (
            f"`keeplore show {short_id(talk)}` shows it; "
            f'say what is to be kept: `keeplore remember "…"`'
        ),
    )


def test_without_a_session_one_that_ended_today_is_taken(workspace, project):
    said = turn(0, *TALK[3], cwd=project)
    workspace.emit(replace(said, at=now()))
    workspace.emit(Session("end", said.origin, now(), "ended"))
    assert remember_recent(workspace, project).memory.turns == (said.id,)


def test_another_session_is_never_taken_for_the_one_that_was_named(workspace, project):
    say(workspace, project)
    with pytest.raises(NotFound):
        remember_recent(workspace, project, "session-2")


def test_a_command_that_nobody_answered_is_carried_out_when_it_is_read(
    workspace, project
):
    say(workspace, project)
    workspace.emit(typed("keeplore:remember", 4, project))
    (text,) = notes(workspace.root)
    assert parse(text).turns == ("session-1-1", "session-1-2", "session-1-3")


def test_a_command_that_was_answered_makes_no_second_note_when_it_is_read(
    workspace, project
):
    say(workspace, project)
    answered = remember_recent(workspace, project, "session-1")
    with workspace.recorder.capturing():
        workspace.plugins.emit(typed("keeplore:remember", 4, project))
        workspace.plugins.emit(
            turn(5, "/keeplore:remember", "It is remembered.", cwd=project)
        )
        workspace.plugins.emit(turn(6, *NEXT_TOPIC, cwd=project))
    workspace.emit(typed("keeplore:remember", 4, project))
    (text,) = notes(workspace.root)
    assert parse(text).id == answered.memory.id


def test_a_command_with_nothing_before_it_is_passed_over(workspace, project):
    workspace.emit(typed("keeplore:remember", 1, project))
    say(workspace, project)
    assert notes(workspace.root) == []


@pytest.mark.parametrize("name", ["remember", "other:remember", "keeplore:recall"])
def test_another_command_writes_no_note_of_the_exchanges(workspace, project, name):
    say(workspace, project)
    workspace.emit(typed(name, 5, project))
    assert notes(workspace.root) == []


def test_a_command_about_memory_does_not_end_the_topic(workspace, project):
    say(workspace, project, TALK[:2])
    workspace.emit(typed("keeplore:recall", 2, project, "what about Redis"))
    workspace.emit(turn(3, *TALK[2], cwd=project))
    (path,) = (workspace.root / "projects").glob("**/conversations/**/*.md")
    assert len(Conversation.from_markdown(parse(path.read_text()).body).exchanges) == 3


def test_it_is_found_by_recall_after_the_index_was_lost(workspace, project, places):
    say(workspace, project)
    outcome = remember_recent(workspace, project, "session-1")
    shutil.rmtree(places.cache)
    hits = workspace.recall(
        RecallRequest("why a Postgres table for the jobs", project, text_only=True)
    ).hits
    (hit,) = [hit for hit in hits if hit.memory_id == outcome.memory.id]
    assert "Postgres table" in hit.passage and "<!--" not in hit.passage


def test_a_new_topic_is_kept_alone(workspace, project):
    another = ("Next task: the login page forgets the user.", "The cookie had no path.")
    say(workspace, project, [*TALK, another])
    body = remember_recent(workspace, project, "session-1").memory.body
    user, reply = another
    assert body.partition("\n\n> ")[2] == (
        f"**User, 2026-02-09 14:04 UTC:** {user}\n>\n> **Assistant:** {reply}\n"
    )


def test_where_nothing_was_decided_the_last_question_and_its_answer_are_the_statement(
    workspace, project
):
    code = "```sh\nmake\n```"
    say(workspace, project, [NEXT_TOPIC, ("And how is it built?", f"So:\n\n{code}")])
    body = remember_recent(workspace, project, "session-1").memory.body
    _, _, text = body.partition("\n\n")
    assert text.startswith(
        "And how is it built?\nSo:\n\n> **User, 2026-02-09 14:00 UTC:**"
    )
    assert text.endswith("> **Assistant:** So:\n>\n> ```sh\n> make\n> ```\n")


def test_a_note_of_the_same_turns_has_the_same_id_also_where_no_host_is_known() -> None:
    source = {"host": "codex", "session": "s-1"}
    known = new_id("note", "codex", "s-1", "recent", "t-1", "t-2")
    assert _note_id(source, ["t-1", "t-2"]) == known
    assert _note_id({}, ["t-1"]) == new_id("note", "", "", "recent", "t-1")
