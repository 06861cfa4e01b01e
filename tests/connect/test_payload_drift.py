"""What hosts send that no adapter knows is counted by name and version, and told by doctor."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path
from typing import Any

import pytest

from keeplore.cli.doctor.host_drift import unknown_findings
from keeplore.connect.payload_drift import FILE, KNOWN, MOST, PayloadDrift, counted

KNOWN_FIELDS = {"session_id": "s", "cwd": "/p", "source": "startup"}


def look(state: Path, *payloads: Any, event: str = "SessionStart") -> PayloadDrift:
    drift = PayloadDrift(state, {"PATH": ""})
    for payload in payloads:
        data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        drift.count("codex", event, data)
    return drift


def test_what_is_known_is_not_counted(tmp_path: Path) -> None:
    look(tmp_path, KNOWN_FIELDS, b"", b"{", b"[7]", b"7")
    drift = PayloadDrift(tmp_path, os.environ)
    drift.count("a plugin's host", "Anything", b'{"new": 1}')
    drift.count("opencode", "session.created", b'{"new": 1}')
    assert list(tmp_path.iterdir()) == []


def test_names_alone_are_counted_and_told(tmp_path: Path) -> None:
    new = {**KNOWN_FIELDS, "mood": "a secret", "<b>": 1, "x" * 65: 1}
    look(tmp_path, *[new] * 5)
    look(tmp_path, KNOWN_FIELDS, event="Renamed")
    # written when the count has doubled: 1, 2 and 4
    names = {"SessionStart.mood": 4, "Renamed": 1}
    assert json.loads((tmp_path / FILE).read_bytes()) == {"codex": {"": names}}
    (found,) = unknown_findings("codex", tmp_path)
    assert found.message == (
        "Codex CLI of an unknown version sends what is not read here, each so many times at "
        "least: SessionStart.mood (4), Renamed (1)"
    )
    assert (found.level, [*unknown_findings("cursor", tmp_path)]) == ("note", [])


def test_a_host_cannot_fill_the_disk_with_names(tmp_path: Path) -> None:
    look(tmp_path, {f"field{number}": 1 for number in range(3 * MOST)})
    assert len(counted(tmp_path)["codex"][""]) == MOST


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"7", b'{"codex": 7}'])
def test_a_file_that_cannot_be_read_counts_as_none(tmp_path: Path, data: bytes) -> None:
    (tmp_path / FILE).write_bytes(data)
    look(tmp_path, {"mood": 1})
    assert counted(tmp_path) == {"codex": {"": {"SessionStart.mood": 1}}}


def test_each_event_for_which_a_host_runs_the_client_is_known() -> None:
    known = tomllib.loads(KNOWN.read_text())
    table = tomllib.loads(KNOWN.with_name("hook_events.toml").read_text())
    # the payloads of OpenCode are our plugin's own
    assert known.keys() == table.keys() - {"opencode"}
    for host, kinds in known.items():
        assert {entry["event"] for entry in table[host]} <= set(kinds["events"]), host
