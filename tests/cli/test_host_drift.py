"""What doctor says of the version of a host's program."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from keeplore.cli.doctor.host_drift import version_findings
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
