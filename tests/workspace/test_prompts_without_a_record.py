"""A prompt that never came into its host's record leaves no secret in the state directory."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path

from keeplore.config.places import Places
from keeplore.workspace import Registry
from keeplore.workspace.importing.intake import Intake
from keeplore.workspace.lifecycle.setup import initialise
from keeplore_hooks.spool import SpoolEntry

TOKEN = "ghp_" + "Zk3v9QwErTyUiOpAsDfG" + "hJkLzXcVbN12mQ8s"  # made up


def begin(directory: Path) -> tuple[Places, dict[str, str]]:
    """A workspace, and what each payload of a session says whose record is empty."""
    places = Places.from_environment(os.environ)
    initialise(places, Path.home() / "memory")
    record = directory / "session.jsonl"
    record.write_text("")
    return places, {
        "session_id": "5e551011-0000-4000-8000-000000000001",
        "transcript_path": str(record),
        "cwd": str(directory),
    }


def test_when_the_session_is_over_what_is_kept_of_it_holds_no_secret(
    tmp_path: Path,
) -> None:
    places, common = begin(tmp_path)
    fired = (
        ("UserPromptSubmit", {"prompt": f"deploy with {TOKEN}, Anna's key"}),
        ("SessionEnd", {"reason": "exit"}),
    )
    with Registry(places) as registry:
        intake = Intake(registry)
        for second, (event, payload) in enumerate(fired):
            path = tmp_path / "entry"
            path.write_text(json.dumps({"hook_event_name": event, **common, **payload}))
            at = f"2026-02-09T15:00:0{second}Z"
            intake.take(SpoolEntry("entry", "claude-code", event, at, 0, path))
        [kept] = places.sessions.glob("*.json")
        assert TOKEN in kept.read_text()  # until its record may have it
        assert intake.sweep(datetime(2026, 2, 9, 16, tzinfo=UTC)) == ()
    assert "Anna's key" in kept.read_text()
    holding = [
        path
        for path in places.state.rglob("*")
        if path.is_file() and TOKEN in path.read_text(errors="replace")
    ]
    assert holding == []


def test_once_the_session_is_left_out_what_is_kept_of_it_holds_no_secret(
    tmp_path: Path,
) -> None:
    places, common = begin(tmp_path)
    common["hook_event_name"] = "UserPromptSubmit"
    path = tmp_path / "entry"
    with Registry(places) as registry:
        intake = Intake(registry)
        for second, prompt in enumerate((f"deploy with {TOKEN}", "and this not")):
            path.write_text(json.dumps({**common, "prompt": prompt}))
            at = f"2026-02-09T15:00:0{second}Z"
            intake.take(
                SpoolEntry("entry", "claude-code", "UserPromptSubmit", at, 0, path)
            )
            own = f"capture: {{exclude: ['path:{tmp_path}']}}"
            (places.state / "settings.yaml").write_text(own)
    [kept] = places.sessions.glob("*.json")
    said = kept.read_text()
    assert "deploy with" in said and TOKEN not in said and "this not" not in said
