"""A machine's identity: stable, and its own also after a home directory was copied."""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from keeplore.config import machine_fingerprint
from keeplore.config.machine import COPY, FILE, Machine
from keeplore.config.places import FORMAT, FORMAT_FILE, Places
from keeplore.errors import ConfigError


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


@pytest.mark.parametrize("damage", [b"", b'{"schema": 1, "id": "a', b"[]"])
def test_an_empty_or_torn_file_heals_from_its_copy(
    tmp_path: Path, damage: bytes
) -> None:
    places = Places(tmp_path / "state", tmp_path / "cache")
    places.create()
    machine = Machine.load(places).with_workspace("memory", tmp_path)
    machine.save(places)
    whole = (places.state / FILE).read_bytes()
    (places.state / FILE).write_bytes(damage)
    assert Machine.load(places) == machine
    assert (places.state / FILE).read_bytes() == whole
    (places.state / COPY).unlink()
    (places.state / FILE).write_bytes(b"")
    assert Machine.load(places).workspaces == {}


def hashed(found: str) -> str:
    """The mark of a system that calls itself so."""
    return hashlib.sha256(f"keeplore/{found}".encode()).hexdigest()[:16]


def gethostuuid(status: int) -> Callable[..., int]:
    """As gethostuuid(3) says: it fills in 16 bytes, and waits as long as the timespec says."""

    def fill(
        uuid: ctypes.Array[ctypes.c_ubyte], wait: ctypes.Array[ctypes.c_long]
    ) -> int:
        assert [*wait] == [1, 0]
        uuid[:] = [*range(16)]
        return status

    return fill


@pytest.mark.parametrize(
    ("library", "expected"),
    [
        (
            SimpleNamespace(gethostuuid=gethostuuid(0)),
            hashed("000102030405060708090a0b0c0d0e0f"),
        ),
        (SimpleNamespace(gethostuuid=gethostuuid(-1)), ""),
        (SimpleNamespace(), ""),
    ],
    ids=["it tells", "it fails", "there is no such function"],
)
def test_macos_is_asked_for_its_uuid(
    library: SimpleNamespace, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(ctypes, "CDLL", {None: library}.__getitem__)
    assert machine_fingerprint.mark() == expected


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        (
            {r"SOFTWARE\Microsoft\Cryptography": {"MachineGuid": "8a-9b"}},
            hashed("8a-9b"),
        ),
        ({r"SOFTWARE\Microsoft\Cryptography": {}}, ""),
        ({}, ""),
    ],
    ids=["it tells", "no value", "no key"],
)
def test_windows_is_asked_for_the_id_in_its_registry(
    known: dict[str, dict[str, str]], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextlib.contextmanager
    def open_key(place: str, name: str) -> Iterator[dict[str, str]]:
        if place != "machine" or name not in known:
            raise FileNotFoundError(name)
        yield known[name]

    def value(key: dict[str, str], name: str) -> tuple[str, int]:
        if name not in key:
            raise FileNotFoundError(name)
        return key[name], 1

    registry = SimpleNamespace(
        HKEY_LOCAL_MACHINE="machine", OpenKey=open_key, QueryValueEx=value
    )
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setitem(sys.modules, "winreg", registry)
    assert machine_fingerprint.mark() == expected


def test_the_inbox_of_a_newer_keeplore_is_left_as_it_is(places: Places) -> None:
    assert places.found_format == FORMAT
    (places.state / FORMAT_FILE).write_text(f"{FORMAT + 1}\n")
    with pytest.raises(ConfigError, match=r"of a newer Keeplore.*keeplore upgrade"):
        places.create()
    assert places.found_format == FORMAT + 1


def test_the_inbox_of_a_keeplore_that_noted_no_format_gets_one(places: Places) -> None:
    (places.state / FORMAT_FILE).unlink()
    assert places.found_format == 0
    places.create()
    assert places.found_format == FORMAT
