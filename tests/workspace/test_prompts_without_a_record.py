"""A prompt that never came into its host's record leaves no secret in the state directory."""

from __future__ import annotations

import json
import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from keeplore import client
from keeplore.config.places import Places
from keeplore.worker.tasks.base import NEVER
from keeplore.worker.tasks.spool_task import SpoolTask
from keeplore.workspace import Registry
from keeplore.workspace.importing.intake import Intake
from keeplore.workspace.lifecycle.setup import initialise
from keeplore_hooks.spool import Spool, SpoolEntry

CLIENT = Path(client.__file__).with_name("client.sh")
TOKEN = "ghp_" + "Zk3v9QwErTyUiOpAsDfG" + "hJkLzXcVbN12mQ8s"  # made up


def begin(directory: Path) -> tuple[Places, dict[str, str]]:
    """A workspace, where the interpreter that would start a worker ends at once, and what each
    payload of a session says whose record is empty.
    """
    places = Places.from_environment(os.environ)
    initialise(places, Path.home() / "memory")
    (places.state / "python").write_text("/bin/true\n")
    record = directory / "session.jsonl"
    record.write_text("")
    return places, {
        "session_id": "5e551011-0000-4000-8000-000000000001",
        "transcript_path": str(record),
        "cwd": str(directory),
    }


def record_of(common: dict[str, str], *said: tuple[str, str]) -> None:
    """Write what the host's record has: roles and words."""
    lines = [
        {
            "type": role,
            "uuid": f"5e551011-0000-4000-8000-00000000010{number}",
            "timestamp": f"2026-02-09T15:00:0{number}.000Z",
            "sessionId": common["session_id"],
            "cwd": common["cwd"],
            "message": {"role": role, "content": words},
        }
        for number, (role, words) in enumerate(said)
    ]
    text = "".join(f"{json.dumps(line)}\n" for line in lines)
    Path(common["transcript_path"]).write_text(text)


def fire(common: dict[str, str], event: str, **payload: str) -> None:
    """As a host does: its client puts the payload into the spool."""
    data = {"hook_event_name": event, **common, **payload}
    command = ["sh", str(CLIENT), "claude-code", event]
    subprocess.run(command, input=json.dumps(data), text=True, check=True)


def take(places: Places, intake: Intake) -> None:
    spool = Spool(places.spool)
    assert SpoolTask(spool, intake, lambda: False, lambda _: None).run(0.0) == NEVER
    assert [*spool.pending()] == []


def holding(*folders: Path) -> list[Path]:
    files = [path for folder in folders for path in folder.rglob("*")]
    return [
        path for path in files if path.is_file() and TOKEN.encode() in path.read_bytes()
    ]


@pytest.mark.parametrize("words", [f"deploy with {TOKEN}, Anna's key", TOKEN])
def test_a_prompt_that_no_record_has_yet_leaves_no_secret(
    tmp_path: Path, words: str
) -> None:
    places, common = begin(tmp_path)
    with Registry(places) as registry:
        intake = Intake(registry)
        fire(common, "UserPromptSubmit", prompt=words)
        assert holding(places.spool)
        take(places, intake)
        [kept] = places.sessions.glob("*.json")
        assert "[REDACTED" in kept.read_text()
        assert holding(places.state, Path.home() / "memory") == []
        fire(common, "SessionEnd", reason="exit")
        take(places, intake)
        assert intake.sweep(datetime(2099, 2, 9, 16, tzinfo=UTC)) == ()
        assert holding(places.state, Path.home() / "memory") == []


@pytest.mark.parametrize("is_restarted", [False, True])
def test_a_prompt_with_a_secret_is_known_again_in_the_record(
    tmp_path: Path, is_restarted: bool
) -> None:
    places, common = begin(tmp_path)
    prompt = f"deploy with {TOKEN}, Anna's key"
    with Registry(places) as registry:
        intake = Intake(registry)
        fire(common, "UserPromptSubmit", prompt=prompt)
        take(places, intake)
        if is_restarted:
            intake = Intake(registry)
        record_of(common, ("user", prompt), ("assistant", "It is deployed."))
        fire(common, "Stop")
        take(places, intake)
        assert intake.sweep(datetime(2099, 2, 9, 16, tzinfo=UTC)) == ()
    [talk] = (Path.home() / "memory").rglob("conversations/**/*.md")
    assert talk.read_text().count("<!-- keeplore:turn ") == 1
    assert holding(places.state, Path.home() / "memory") == []


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
