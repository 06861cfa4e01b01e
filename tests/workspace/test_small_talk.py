"""Talk that says too little makes no conversation of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from keeplore.config.machine import Machine
from keeplore.config.places import Places
from keeplore.memory import Conversation
from keeplore.workspace.lifecycle.setup import initialise
from keeplore.workspace.workspace import Workspace
from keeplore_hooks.events import Command, Origin, Turn, Work

ORIGIN = Origin("claude-code", "s1")
TALK = (
    "Move the invoice queue to Postgres",
    "I rewrote the worker, the queue is a table with SKIP LOCKED now.",
)


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    places = Places(tmp_path / "state", tmp_path / "cache")
    made = initialise(places, tmp_path / "memory")
    with Workspace(made.name, made.root, places, Machine.load(places)) as workspace:
        yield workspace


NOTHING_DONE = Work()


def say(
    workspace: Workspace,
    number: int,
    hour: int,
    said: tuple[str, str],
    work: Work = NOTHING_DONE,
) -> None:
    at = f"2026-03-01T{hour:02}:00:00Z"
    workspace.emit(Turn(f"t{number}", ORIGIN, at, said[0], (said[1],), at, work))


def close(workspace: Workspace) -> None:
    with workspace.recorder.capturing():
        workspace.recorder.capture.close(workspace.sessions.get(ORIGIN))


def talks(workspace: Workspace) -> list[Conversation]:
    return [
        Conversation.from_markdown(workspace.store.load(file.path).body)
        for file in workspace.store.scan()
    ]


@pytest.mark.parametrize(
    "said", [("hi", "Hello! How can I help?"), ("yes", ""), ("go on", "Which part?")]
)
def test_a_greeting_alone_leaves_no_file(
    workspace: Workspace, said: tuple[str, str]
) -> None:
    say(workspace, 1, 10, said)
    # it may still become a talk, and a crash loses nothing
    assert len(talks(workspace)) == 1
    close(workspace)
    assert talks(workspace) == []


def test_a_greeting_that_a_talk_follows_is_part_of_it(workspace: Workspace) -> None:
    say(workspace, 1, 10, ("hi", "Hello!"))
    say(workspace, 2, 10, TALK)
    close(workspace)
    [talk] = talks(workspace)
    assert [exchange.user for exchange in talk.exchanges] == ["hi", TALK[0]]


def test_a_word_that_set_work_going_is_kept(workspace: Workspace) -> None:
    say(workspace, 1, 10, ("go on", "Done."), Work(files=("queue.py",)))
    close(workspace)
    assert len(talks(workspace)) == 1


def test_greetings_on_both_sides_of_a_command_leave_no_file(
    workspace: Workspace,
) -> None:
    say(workspace, 1, 10, ("hi", "Hello!"))
    workspace.emit(Command("c1", ORIGIN, "2026-03-01T10:00:00Z", "clear"))
    say(workspace, 2, 10, ("ok", ""))
    close(workspace)
    assert talks(workspace) == []


def test_a_remark_after_a_long_pause_opens_no_conversation(
    workspace: Workspace,
) -> None:
    say(workspace, 1, 10, TALK)
    say(workspace, 2, 14, ("...sufficiently advanced technology...", "Ha, indeed."))
    say(
        workspace,
        3,
        18,
        (
            "Now the mail templates need a German translation of all headings",
            "I translated all of them.",
        ),
    )
    close(workspace)
    assert sorted(len(talk.exchanges) for talk in talks(workspace)) == [1, 2]


ASKED = (
    "{} which separator do exports have",
    "Nothing was found about the separator of exports, so I cannot say.",
)
FORMS = [
    "/keeplore:recall",
    "/keeplore-recall",
    "$keeplore-recall",
    "$recall",
    "/keeplore-remember",
]


@pytest.mark.parametrize("form", FORMS)
def test_what_keeplore_itself_is_asked_is_no_talk(
    workspace: Workspace, form: str
) -> None:
    say(workspace, 1, 10, (ASKED[0].format(form), ASKED[1]))
    close(workspace)
    assert talks(workspace) == []
    say(workspace, 2, 11, TALK)
    say(workspace, 3, 11, (ASKED[0].format(form), ASKED[1]))
    close(workspace)
    [talk] = talks(workspace)
    assert [exchange.user for exchange in talk.exchanges] == [TALK[0]]


def test_a_short_name_counts_where_the_host_told_of_our_command(
    workspace: Workspace,
) -> None:
    workspace.emit(
        Command(
            "t1",
            ORIGIN,
            "2026-03-01T10:00:00Z",
            "recall",
            "which separator do exports have",
        )
    )
    say(workspace, 1, 10, (ASKED[0].format("/recall"), ASKED[1]))
    close(workspace)
    assert talks(workspace) == []
    workspace.emit(
        Command(
            "t2",
            ORIGIN,
            "2026-03-01T10:00:00Z",
            "user:recall",
            "which separator do exports have",
        )
    )
    say(workspace, 2, 10, (ASKED[0].format("/recall"), ASKED[1]))
    close(workspace)
    [talk] = talks(workspace)
    assert [exchange.user for exchange in talk.exchanges] == [
        ASKED[0].format("/recall")
    ]


def test_work_that_a_command_set_going_is_kept(workspace: Workspace) -> None:
    say(
        workspace,
        1,
        10,
        (ASKED[0].format("/keeplore:recall"), "Semicolons; I wrote it so."),
        Work(files=("csv.py",)),
    )
    [talk] = talks(workspace)
    assert talk.work.files == ("csv.py",)
    # the order was one to Keeplore, and decides nothing
    assert [exchange.user for exchange in talk.exchanges] == [""]
