"""What was opened is told once a day, and what nobody can count goes."""

from pathlib import Path

import pytest

from keeplore.memory import new_id
from keeplore.worker.usage import view_log
from keeplore.worker.usage.view_log import note_opened, take_opened, was_shown

ONE, OTHER = "mem_3f0c9a2e-6f0b-4d55-9c5e-0f5f6a1b2c3d", new_id("other")


def names(state: Path) -> dict[str, bytes]:
    return {
        note.name: note.read_bytes() for note in (state / view_log.FOLDER).iterdir()
    }


def test_an_opening_counts_once_a_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert take_opened(tmp_path) == []
    monkeypatch.setattr(view_log, "today", lambda: "2026-06-01")
    note_opened(tmp_path, ONE)
    note_opened(tmp_path, ONE)
    note_opened(tmp_path, "../no-id")
    assert names(tmp_path) == {f"2026-06-01.{ONE}": b""}
    assert take_opened(tmp_path) == [(ONE, "2026-06-01")]
    assert names(tmp_path) == {f"2026-06-01.{ONE}": b"counted\n"}
    note_opened(tmp_path, ONE)
    note_opened(tmp_path, OTHER)
    assert take_opened(tmp_path) == [(OTHER, "2026-06-01")]
    note_opened(tmp_path, new_id("late"))
    monkeypatch.setattr(view_log, "today", lambda: "2026-06-02")
    note_opened(tmp_path, ONE)
    (tmp_path / view_log.FOLDER / "2026-06-02.stray").touch()
    assert take_opened(tmp_path) == [
        (new_id("late"), "2026-06-01"),
        (ONE, "2026-06-02"),
    ]
    assert names(tmp_path) == {f"2026-06-02.{ONE}": b"counted\n"}


def test_of_very_many_openings_some_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(view_log, "MAX_WAITING", 2)
    ids = sorted(new_id(str(number)) for number in range(3))
    for memory in ids:
        note_opened(tmp_path, memory)
    assert [memory for memory, _ in take_opened(tmp_path)] == ids[:2]


def test_what_a_session_was_given_is_told(tmp_path: Path) -> None:
    assert not was_shown(tmp_path, ONE)
    (tmp_path / "shown.json").write_text(f'{{"a": {{"ids": {{"{ONE}": "x"}}}}}}')
    assert (was_shown(tmp_path, ONE), was_shown(tmp_path, ONE[:-1])) == (True, False)
