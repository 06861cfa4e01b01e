"""How far sessions were read: what is kept, and which of them come first."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from keeplore.workspace.recording.cursors import Cursors, SessionProgress
from keeplore_hooks.events import Origin
from keeplore_hooks.hosts import Cursor

EARLY, LATE = "2026-02-09T10:00:00Z", "2026-02-09T11:00:00Z"


@pytest.fixture
def cursors(tmp_path: Path) -> Cursors:
    """Two sessions of Codex and one of Cursor; each file is a second younger than the one before."""
    (tmp_path / "sessions").mkdir()
    made = Cursors(tmp_path / "sessions")
    for progress in (
        SessionProgress(
            Origin("codex", "s-1"), Cursor(offset=9), heard_at=LATE, began_at=EARLY
        ),
        SessionProgress(
            Origin("codex", "s-2"), heard_at=EARLY, began_at=EARLY, ended_at="swept"
        ),
        SessionProgress(Origin("cursor", "s-1"), Cursor(offset=7), heard_at=EARLY),
    ):
        made.save(progress)
    for number, origin in enumerate(
        (("codex", "s-1"), ("codex", "s-2"), ("cursor", "s-1"))
    ):
        os.utime(made._path(Origin(*origin)), (number, number))
    return made


def test_each_session_has_its_own_cursor(cursors: Cursors) -> None:
    offsets = {
        (host, session): cursors.get(Origin(host, session)).cursor.offset
        for host in ("codex", "cursor")
        for session in ("s-1", "s-2")
    }
    assert offsets == {
        ("codex", "s-1"): 9,
        ("codex", "s-2"): 0,
        ("cursor", "s-1"): 7,
        ("cursor", "s-2"): 0,
    }


def test_a_session_that_is_read_again_begins_anew_and_no_other(
    cursors: Cursors,
) -> None:
    cursors.restart("codex", "s-1")
    cursors.restart("codex", "never-heard-of")
    assert cursors.get(Origin("codex", "s-1")).cursor == Cursor()
    assert cursors.get(Origin("codex", "s-1")).heard_at == LATE
    assert cursors.get(Origin("cursor", "s-1")).cursor.offset == 7
    assert len(cursors.latest(9)) == 3


def test_sessions_in_their_orders(cursors: Cursors, tmp_path: Path) -> None:
    one, two, three = (
        Origin("codex", "s-1"),
        Origin("codex", "s-2"),
        Origin("cursor", "s-1"),
    )
    assert {progress.origin for progress in cursors.unfinished()} == {one, three}
    newest = cursors.newest()
    assert newest and newest.origin == one
    assert cursors.latest(2) == [three, two]
    assert cursors.heard() == {"codex": LATE}
    assert cursors.problems() == {}
    (tmp_path / "none").mkdir()
    assert Cursors(tmp_path / "none").newest() is None
