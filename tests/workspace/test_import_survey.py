"""What a survey tells of the sessions of one source."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

from keeplore.workspace.importing.import_survey import SourceSurvey
from keeplore_hooks.hosts import Recorded
from keeplore_hooks.installed import SOURCES


def recorded(
    path: Path, cwd: str = "", started: str = "", written: str = "", size: int = 0
) -> Recorded:
    return Recorded(path, path.name, cwd, started, size, written)


def surveyed(*sessions: Recorded) -> SourceSurvey:
    return SourceSurvey(next(iter(SOURCES.usable())), sessions)


def test_sizes_days_and_directories(tmp_path: Path) -> None:
    nothing = surveyed()
    told = (nothing.size, nothing.days, nothing.directories, nothing.known)
    assert told == (0, ("", ""), (), 0)
    gone = tmp_path / "gone"
    assert surveyed(recorded(gone)).days == ("", "")
    kept = tmp_path / "kept"
    kept.write_text("{}")
    moment = datetime(2026, 3, 5, 12, tzinfo=UTC).timestamp()
    os.utime(kept, (moment, moment))
    assert surveyed(recorded(kept), recorded(gone)).days == ("", "2026-03-05")
    found = surveyed(
        recorded(gone, "/b", "2026-02-03T10:00:00Z", "2026-02-04T10:00:00Z", 10),
        recorded(gone, "/a", "2026-02-02T10:00:00Z", "no date", 200),
        recorded(kept, "/c", "", "2026-02-01T10:00:00Z", 3000),
        recorded(gone, "/c"),
        recorded(gone),
    )
    assert found.size == 3210
    assert found.days == ("2026-02-02", "2026-02-04")
    assert found.directories == ("/c", "/a", "/b")
    late = recorded(gone, "", "2026-02-09T10:00:00Z")
    assert surveyed(*found.sessions, late).days == ("2026-02-02", "2026-02-09")
