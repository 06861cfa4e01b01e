"""Rollouts of Codex in the forms that newer versions write: items in place of events, and packed
with zstd.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from keeplore_hooks.events import Turn
from keeplore_hooks.hosts import Cursor
from keeplore_hooks.hosts.zstd import open_head, open_record
from keeplore_hooks.installed import host_named

CODEX = host_named("codex")


def item(t: Any, task: str, kind: str, **fields: Any) -> None:
    t.event(
        "item_completed",
        thread_id="t",
        turn_id=task,
        item={"type": kind, "id": f"{kind}-{len(t.raw)}", **fields},
    )


def paginated(rollout: Any) -> Any:
    """A rollout of the mode paginated: what the model was sent stands before the item that says who
    spoke.
    """
    t = rollout(history_mode="paginated")
    t.event("task_started", turn_id="task-1")
    t.item("user", "# AGENTS.md instructions for /home/ann/kasha\nBe brief.")
    t.item(
        "user", "<environment_context><cwd>/home/ann/kasha</cwd></environment_context>"
    )
    t.item("user", "Drop Redis")
    picture = {"type": "local_image", "path": "/home/ann/plan.png"}
    item(
        t,
        "task-1",
        "UserMessage",
        content=[{"type": "text", "text": "Drop Redis", "text_elements": []}, picture],
    )
    item(t, "task-1", "Reasoning", summary_text=["hm"])
    t.item("assistant", "I look where it is used.")
    item(
        t,
        "task-1",
        "AgentMessage",
        content=[{"type": "Text", "text": "I look where it is used."}],
        phase="commentary",
    )
    item(
        t,
        "task-1",
        "FileChange",
        changes={"/home/ann/kasha/cache.py": {"type": "update"}},
        status="completed",
    )
    item(
        t,
        "task-1",
        "FileChange",
        changes={"/home/ann/kasha/other.py": {"type": "update"}},
        status="declined",
    )
    item(
        t,
        "task-1",
        "UserMessage",
        content=[{"type": "text", "text": "And keep the tests"}],
    )
    item(t, "task-1", "Plan", text="1. Remove the client")
    item(
        t,
        "task-1",
        "AgentMessage",
        content=[{"type": "Text", "text": "Redis is gone."}],
        phase="final_answer",
    )
    t.event("task_complete", turn_id="task-1")
    return t


def test_a_rollout_of_the_mode_paginated_is_read_from_its_items(
    rollout: Any, codex_in: Any, tmp_path: Path
) -> None:
    session = codex_in(tmp_path)
    session.write(paginated(rollout).bytes())
    reading = CODEX.read_transcript(session.path, Cursor())
    first, second = (event for event in reading.events if isinstance(event, Turn))
    assert reading.problems == ()
    assert (first.id, first.user, first.replies) == (
        "task-1",
        "Drop Redis\n[image]",
        ("I look where it is used.",),
    )
    assert first.work.files == ("/home/ann/kasha/cache.py",)
    assert (second.id, second.user) == ("task-1:1", "And keep the tests")
    assert second.replies == ("1. Remove the client", "Redis is gone.")


def test_a_paginated_rollout_reads_the_same_line_by_line(
    rollout: Any, codex_in: Any, final: Any, tmp_path: Path
) -> None:
    session, t = codex_in(tmp_path), paginated(rollout)
    events: list[Any] = []
    for count in range(1, len(t.raw) + 1):
        session.write(b"".join(t.raw[:count]))
        events += session.hear("SubagentStop").events
    assert final(events) == final(CODEX.read_transcript(session.path, Cursor()).events)


def pack(path: Path) -> Path:
    program = shutil.which("zstd")
    if program is None:
        pytest.skip("the program zstd is not installed")
    subprocess.run([program, "-q", "--rm", str(path)], check=True)
    return path.with_name(path.name + ".zst")


def test_a_packed_rollout_is_listed_and_read_like_the_one_that_it_was(
    rollout: Any, codex_in: Any, tmp_path: Path
) -> None:
    folder = tmp_path / "sessions" / "2026" / "02" / "09"
    folder.mkdir(parents=True)
    session = codex_in(folder)
    session.write(paginated(rollout).bytes())
    (before,) = CODEX.recorded(tmp_path, str(tmp_path))
    plain = CODEX.read_transcript(session.path, Cursor())
    session.write(paginated(rollout).bytes()[:-200])
    half = CODEX.read_transcript(session.path, Cursor())
    session.write(paginated(rollout).bytes())
    packed = pack(session.path)
    (found,) = CODEX.recorded(tmp_path, str(tmp_path))
    assert (found.path, found.session, found.cwd, found.started_at) == (
        packed, before.session, before.cwd, before.started_at
    )  # fmt: skip
    turns = [
        (event.id, event.user, getattr(event, "replies", ())) for event in plain.events
    ]
    read = CODEX.read_transcript(packed, Cursor())
    assert [
        (event.id, event.user, getattr(event, "replies", ())) for event in read.events
    ] == turns
    assert [
        event.id for event in CODEX.read_transcript(packed, half.cursor).events
    ] == ["task-1:1"]
    assert {
        event.id for event in CODEX.read_transcript(packed, plain.cursor).events
    } <= {"task-1:1"}


def test_of_a_rollout_that_was_unpacked_again_the_plain_file_counts(
    rollout: Any, codex_in: Any, tmp_path: Path
) -> None:
    folder = tmp_path / "archived_sessions"
    folder.mkdir()
    session = codex_in(folder)
    session.write(paginated(rollout).bytes())
    pack(session.path)
    session.write(paginated(rollout).bytes())
    assert [found.path for found in CODEX.recorded(tmp_path, str(tmp_path))] == [
        session.path
    ]


def test_a_packed_rollout_of_a_subagent_is_not_listed(
    rollout: Any, codex_in: Any, tmp_path: Path
) -> None:
    folder = tmp_path / "archived_sessions"
    folder.mkdir()
    session = codex_in(folder)
    session.write(rollout(source={"subagent": {"thread_spawn": {}}}).bytes())
    pack(session.path)
    assert list(CODEX.recorded(tmp_path, str(tmp_path))) == []


def test_without_the_program_the_problem_names_it_and_moves_no_cursor(
    monkeypatch: Any, rollout: Any, codex_in: Any, tmp_path: Path
) -> None:
    folder = tmp_path / "sessions"
    folder.mkdir()
    session = codex_in(folder)
    session.write(paginated(rollout).bytes())
    packed = session.path.rename(session.path.with_name(session.path.name + ".zst"))
    monkeypatch.setenv("PATH", str(tmp_path))
    (found,) = CODEX.recorded(tmp_path, str(tmp_path))
    assert found.session == session.common["session_id"]
    reading = CODEX.read_transcript(packed, Cursor())
    (problem,) = reading.problems
    assert "install the program zstd" in problem
    assert (reading.events, reading.cursor) == ((), Cursor())


def test_what_is_damaged_or_too_long_is_a_problem_and_its_beginning_can_be_read(
    tmp_path: Path,
) -> None:
    plain = tmp_path / "one.jsonl"
    plain.write_bytes(b'{"type":"session_meta"}\n' * 100_000)
    packed = pack(plain)
    with pytest.raises(OSError, match="more than 1000 bytes"):
        open_record(packed, 1000)
    with open_head(packed, 1000) as file:
        assert file.readline() == b'{"type":"session_meta"}\n'
    packed.write_bytes(packed.read_bytes()[:40] + os.urandom(40))
    with pytest.raises(OSError, match="damaged"):
        open_record(packed)
    packed.write_bytes(b"")
    assert CODEX.read_transcript(packed, Cursor()).events == ()


def test_a_pipe_is_not_unpacked(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "rollout-2026-02-09T14-00-00-x.jsonl.zst")
    began = time.monotonic()
    (problem,) = CODEX.read_transcript(
        tmp_path / "rollout-2026-02-09T14-00-00-x.jsonl.zst", Cursor()
    ).problems
    assert "regular file" in problem
    assert time.monotonic() - began < 60  # it would wait for ever
