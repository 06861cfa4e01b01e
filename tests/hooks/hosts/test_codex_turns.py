"""The turns of a Codex rollout where little of what is around them is known, or it is told twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from keeplore_hooks.events import Turn
from keeplore_hooks.hosts import Cursor
from keeplore_hooks.hosts.codex.codex_lines import _TITLING
from keeplore_hooks.hosts.jsonl import digest
from keeplore_hooks.hosts.turn_assembly import ID_LENGTH


@pytest.fixture
def codex(codex_in: Any, tmp_path: Path) -> Any:
    return codex_in(tmp_path)


@pytest.fixture
def nameless(rollout: Any) -> Any:
    """A rollout without its first line, which says whose it is."""
    t = rollout()
    t.session = t.raw.pop().split(b'"id": "')[1].split(b'"')[0].decode()
    return t


def told(turns: list[Turn]) -> list[tuple[Any, ...]]:
    return [(turn.id, turn.origin.cwd, turn.user, *turn.replies) for turn in turns]


def test_turns_of_a_task_are_counted_however_often_it_is_told(
    rollout: Any, codex: Any
) -> None:
    t = rollout()
    t.task("task-1")
    t.user("Drop Redis")
    t.line("turn_context", turn_id="task-1", cwd="/srv/other")
    t.user("And the cache")
    t.line("turn_context")
    t.user("And the queue")
    t.task("task-2")
    t.user("Bye")
    here = "/home/ann/kasha"
    assert told(codex.turns(t.bytes())) == [
        ("task-1", here, "Drop Redis"),
        ("task-1:1", "/srv/other", "And the cache"),
        ("task-1:2", "/srv/other", "And the queue"),
        ("task-2", here, "Bye"),
    ]


@pytest.mark.parametrize("length", [ID_LENGTH, ID_LENGTH + 1])
def test_a_task_whose_name_is_too_long_names_no_turn(
    nameless: Any, codex: Any, length: int
) -> None:
    task = "t" * length
    nameless.event("task_started", turn_id=task)
    nameless.user("Drop Redis")
    nameless.user("Drop Redis")
    ids = [task, f"{task}:1"]
    if length > ID_LENGTH:
        counts = ("0", "1")
        made = (digest(nameless.session, count, "Drop Redis") for count in counts)
        ids = [f"codex:{key}" for key in made]
    expected = [(id_, "", "Drop Redis") for id_ in ids]
    assert told(codex.turns(nameless.bytes())) == expected


def test_words_before_the_first_prompt_are_a_turn_of_their_own(
    rollout: Any, codex: Any
) -> None:
    t = rollout()
    t.task("task-1")
    t.say("Looking.")
    t.event("agent_message", message="Done.")
    t.user("Thanks")
    session = t.raw[0].split(b'"id": "')[1].split(b'"')[0].decode()
    key = digest(session, "task-1", "middle")
    here = "/home/ann/kasha"
    assert told(codex.turns(t.bytes())) == [
        (f"codex:{key}", here, "", "Looking.", "Done."),
        ("task-1:1", here, "Thanks"),
    ]


def test_what_the_app_asks_for_itself_is_left_out_with_its_answer(
    rollout: Any, codex: Any
) -> None:
    t = rollout()
    t.task("task-1")
    t.event("user_message", message=f"{_TITLING}\nDrop Redis")
    t.event("agent_message", message="Redis dropped")
    t.task("task-2")
    t.user("Drop Redis")
    t.event("agent_message", message="Done.")
    expected = [("task-2", "/home/ann/kasha", "Drop Redis", "Done.")]
    assert told(codex.turns(t.bytes())) == expected


def test_words_in_both_forms_are_told_once_and_others_each(
    rollout: Any, codex: Any
) -> None:
    t = rollout()
    t.task("task-1")
    t.item("user", "Drop Redis")
    for words in ("Looking.", "Still looking."):
        t.item("assistant", words)
    for words in ("Still looking.", "Done.", "Done."):
        t.event("agent_message", message=words)
    (turn,) = codex.turns(t.bytes())
    assert turn.replies == ("Looking.", "Still looking.", "Done.", "Done.")


def test_output_that_goes_on_is_that_of_the_command_before(
    rollout: Any, codex: Any
) -> None:
    t = rollout()
    t.task("task-1")
    t.user("Commit it")
    t.call("exec_command", {"cmd": "git commit -v"}, "still running")
    t.call("update_plan", {"plan": []}, "[main 7654321] No commit\n")
    t.call("write_stdin", {"chars": ""}, "[main 1234567] Drop Redis\n 1 file changed")
    (turn,) = codex.turns(t.bytes())
    assert (turn.work.commands, turn.work.commits) == (
        ("git commit -v",),
        ("1234567 Drop Redis",),
    )


def test_a_history_that_is_not_known_is_told_and_read_nevertheless(
    rollout: Any, codex: Any
) -> None:
    t = rollout(history_mode="m" * 41)
    t.raw[0] = t.raw[0].replace(b'"0.145.0"', b'"' + b"9" * 41 + b'"')
    t.user("Drop Redis")
    t.line("of_tomorrow")
    codex.write(t.bytes())
    reading = codex.host.read_transcript(codex.path, Cursor())
    assert [event.user for event in reading.events] == ["Drop Redis"]
    assert reading.problems == (
        f"history_mode {'m' * 40!r} of Codex {'9' * 40} is not known here; it is read in part",
    )
