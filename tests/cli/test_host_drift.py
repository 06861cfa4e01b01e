"""What doctor says of the version of a host's program."""

from __future__ import annotations

import json
import os
from datetime import datetime
from pathlib import Path

import pytest

from keeplore.cli.doctor.host_drift import unheard_findings, version_findings
from keeplore.connect.host_locations import LOCATIONS, Surroundings

TRIED = LOCATIONS["codex"].tried
NEWER = f"Codex CLI 99.0.1 is here; the newest version that was tried is {TRIED}"
REPORT = "Where something of a session is missing, report it with both versions"


@pytest.mark.parametrize(
    ("here", "told"),
    [
        ("99.0.1", [("note", NEWER, REPORT)]),
        (TRIED, [("ok", f"Codex CLI {TRIED} is here, tried up to {TRIED}", "")]),
        ("", []),
    ],
)
def test_a_version_that_was_never_tried_is_told(
    tmp_path: Path, here: str, told: list[tuple[str, str, str]]
) -> None:
    if here:
        (tmp_path / "package.json").write_text(json.dumps({"version": here}))
        (tmp_path / "codex").write_text("#!/bin/sh\n")
        (tmp_path / "codex").chmod(0o755)
    surroundings = Surroundings(tmp_path, tmp_path, {"PATH": str(tmp_path)})
    found = list(version_findings("codex", surroundings))
    assert {one.part for one in found} <= {"host codex"}
    assert [(one.level, one.message, one.remedy) for one in found] == told


@pytest.mark.parametrize(
    ("heard_at", "since", "known_at"),
    [
        ("2026-02-09T12:00:00Z", "2026-02-08T09:00:00Z", "2026-02-09 12:00"),
        ("", "2026-02-08T09:00:00Z", "2026-02-08 09:00"),
        ("2026-02-09T13:30:00Z", "2026-02-08T09:00:00Z", ""),
        ("", "2026-02-09T13:30:00Z", ""),
        ("", "", ""),
    ],
)
def test_sessions_that_grow_without_an_event_are_told(
    tmp_path: Path, heard_at: str, since: str, known_at: str
) -> None:
    session = tmp_path / ".claude" / "projects" / "-code-api" / "s-1.jsonl"
    session.parent.mkdir(parents=True)
    session.write_text(json.dumps({"type": "user", "cwd": "/code/api"}) + "\n")
    written = datetime.fromisoformat("2026-02-09T14:00:00Z").timestamp()
    os.utime(session, (written, written))
    surroundings = Surroundings(tmp_path, tmp_path, {})
    found = list(unheard_findings("claude-code", surroundings, heard_at, since))
    message = (
        "its sessions grow, the last one at 2026-02-09 14:00, and no event of it came since "
        f"{known_at}: it runs none of our entries"
    )
    told = [("host claude-code", "note", message)] if known_at else []
    assert [(one.part, one.level, one.message) for one in found] == told
