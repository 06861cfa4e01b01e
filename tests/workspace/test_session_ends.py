"""When a session is over: told by its host, by its silence, or by the next one."""

from __future__ import annotations

import math
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from keeplore.workspace.importing.session_ends import SessionEnds
from keeplore.workspace.recording.cursors import SessionProgress
from keeplore_hooks.events import Origin

NOON = datetime(2026, 2, 9, 12, tzinfo=UTC)


def session(host: str, heard_at: str, **fields: str) -> SessionProgress:
    origin = Origin(
        host,
        fields.pop("session", "s"),
        "/home/ann/kasha",
        transcript=fields.pop("transcript", ""),
    )
    at = f"2026-02-09T{heard_at}:00Z"
    return SessionProgress(origin, heard_at=at, **{"began_at": at, **fields})


@pytest.mark.parametrize(
    ("host", "heard_at", "left_s"),
    [
        ("opencode", "11:50", 600),
        ("opencode", "11:40", 0),
        ("codex", "11:39", 0),
        ("claude-code", "11:39", math.inf),
        ("claude-code", "00:01", math.inf),
        ("gemini-cli", "11:00", math.inf),
        ("gone", "11:00", math.inf),
    ],
)
def test_twenty_minutes_of_silence_end_a_session_of_which_no_end_is_told(
    host: str, heard_at: str, left_s: float
) -> None:
    silent = session(host, heard_at)
    assert SessionEnds([silent], NOON).due_in_s(silent) == left_s


def test_twelve_hours_end_any_session() -> None:
    silent = session("claude-code", "00:00")
    later = datetime(2026, 2, 9, 12, 1, tzinfo=UTC)
    assert SessionEnds([silent], later).due_in_s(silent) == 0


def test_the_next_session_in_a_directory_ends_the_one_before(tmp_path: Path) -> None:
    first = session("opencode", "11:58")
    second = session("opencode", "11:59", session="t")
    beside = session("opencode", "11:58", session="u", began_at="2026-02-09T11:57:00Z")
    ends = SessionEnds([first, second, beside], NOON)
    assert (ends.due_in_s(first), ends.due_in_s(beside)) == (0, 0)
    assert ends.due_in_s(second) == 19 * 60
    # two that run beside one another end neither
    both = session("opencode", "11:59", began_at="2026-02-09T11:50:00Z")
    assert SessionEnds([both, beside], NOON).due_in_s(both) == 19 * 60


def test_a_record_that_grows_is_no_silence(tmp_path: Path) -> None:
    record = tmp_path / "rollout.jsonl"
    record.write_text("")
    written = NOON.timestamp() - 300
    os.utime(record, (written, written))
    busy = session("codex", "11:00", transcript=str(record))
    assert SessionEnds([busy], NOON).due_in_s(busy) == 900


def test_a_session_that_ended_settles_first() -> None:
    at = "2026-02-09T11:59:50Z"
    ended = session("claude-code", "11:59", ended_at=at)
    assert SessionEnds([ended], NOON).due_in_s(ended) == 10
    broken = session("codex", "11:59")
    broken = SessionProgress(broken.origin, heard_at="yesterday")
    assert SessionEnds([broken], NOON).due_in_s(broken) == 0
