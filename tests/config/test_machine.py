"""A machine's identity: stable, and its own also after a home directory was copied."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from keeplore.config import machine_fingerprint
from keeplore.config.machine import FILE, Machine
from keeplore.config.places import Places


@pytest.fixture
def places(tmp_path: Path) -> Places:
    made = Places(tmp_path / "state", tmp_path / "cache")
    made.create()
    return made


def test_an_identity_stays_the_same(places: Places, tmp_path: Path) -> None:
    machine = Machine.load(places).with_workspace("memory", tmp_path)
    machine.save(places)
    assert Machine.load(places) == machine == Machine.load(places)


def test_a_copied_home_directory_gets_an_identity_of_its_own_and_keeps_its_workspaces(
    places: Places, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine_fingerprint, "mark", lambda: "a" * 16)
    machine = Machine.load(places).with_workspace("memory", tmp_path)
    machine.save(places)
    monkeypatch.setattr(machine_fingerprint, "mark", lambda: "b" * 16)
    copy = Machine.load(places)
    assert copy.id != machine.id and copy.copied_from == machine.id
    assert copy.workspaces == machine.workspaces and copy.home == machine.home
    assert Machine.load(places) == copy
    monkeypatch.setattr(
        machine_fingerprint, "mark", lambda: ""
    )  # a system that does not tell changes nothing
    assert Machine.load(places) == copy


def test_two_processes_that_notice_the_copy_at_once_come_to_one_identity(
    places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine_fingerprint, "mark", lambda: "a" * 16)
    Machine.load(places).save(places)
    text = (places.state / FILE).read_bytes()
    monkeypatch.setattr(machine_fingerprint, "mark", lambda: "b" * 16)
    first = Machine.load(places)
    (places.state / FILE).write_bytes(text)
    assert Machine.load(places).id == first.id


def test_the_systems_own_id_is_not_written_down(places: Places) -> None:
    Machine.load(places).save(places)
    mark = machine_fingerprint.mark()
    assert (
        json.loads((places.state / FILE).read_bytes())["hardware"]
        == mark
        == machine_fingerprint.mark()
    )
    system = Path("/etc/machine-id")
    if system.is_file() and (known := system.read_text().strip()):
        assert (
            known not in (places.state / FILE).read_text()
            and len(mark) == machine_fingerprint.MARK_CHARS
        )
