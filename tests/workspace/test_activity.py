"""What was done on this machine, counted: by day, in files that stay small."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from keeplore.workspace import activity
from keeplore.workspace.activity import Activity, ActivityLog, Counted, activity_since


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Sets the clock."""

    def set_to(moment: str) -> None:
        monkeypatch.setattr(activity, "now", lambda: moment)

    return set_to


def test_days_are_added_up_from_the_one_that_is_asked_for(
    tmp_path: Path, at: Any
) -> None:
    for day, number in (("2026-01-30", 1), ("2026-01-31", 20), ("2026-02-01", 300)):
        at(f"{day}T08:00:00Z")
        log = ActivityLog(tmp_path)  # a worker of its own
        log.count(Counted.TURNS, number)
        log.count(Counted.ERRORS, 0)
        log.save(is_last=True)
        log.count(Counted.USED)
        log.save()  # not due yet
    found = activity_since(tmp_path, "2026-01-31")
    assert dict(found.counts) == {"turns": 320}
    assert dict(activity_since(tmp_path, "2026-01-01").counts) == {"turns": 321}
    assert dict(activity_since(tmp_path, "2026-02-02").counts) == {}


def test_times_are_told_as_shares_within_a_quarter(tmp_path: Path) -> None:
    found = Activity()
    found.times["prompt"].update({10: 90, 20: 9, 30: 1})
    shares = [found.within_ms("prompt", share) for share in (0.5, 0.9, 0.95, 0.99, 1)]
    assert shares == [9.3, 9.3, 87.0, 87.0, 810.0]
    assert found.within_ms("recall", 0.5) == 0.0
    log = ActivityLog(tmp_path)
    with log.timed("prompt"):
        pass
    log.save(is_last=True)
    kept = activity_since(tmp_path, "2026-01-01").times
    assert {name: steps.total() for name, steps in kept.items()} == {"prompt": 1}


def test_a_year_is_kept_and_a_broken_file_counts_as_empty(
    tmp_path: Path, at: Any
) -> None:
    for number in range(15):
        at(f"{2025 + number // 12}-{number % 12 + 1:02d}-05T08:00:00Z")
        log = ActivityLog(tmp_path)
        log.count(Counted.TOLD)
        log.save(is_last=True)
    folder = tmp_path / activity.FOLDER
    names = sorted(path.name for path in folder.iterdir())
    assert (names[0], len(names)) == ("2025-03.json", 13)
    for text in ("{", "[]", '{"2026-03-05": {"counts": []}}', '{"a": 1}'):
        (folder / "2026-03.json").write_text(text)
        assert activity_since(tmp_path, "2025-01-01").counts["told"] == 12
    assert json.loads((folder / "2025-03.json").read_text()) == {
        "2025-03-05": {"counts": {"told": 1}, "times": {}}
    }
