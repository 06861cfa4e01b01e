"""By which mark a computer is known again; it never changes, or each would seem to be a copy."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from keeplore.config import machine_fingerprint

ID = "0123456789abcdef0123456789abcdef"
MARK = "a26c79dcede8c42b"


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Where Linux says which system it is, in this order."""
    found = tmp_path / "machine-id", tmp_path / "dbus"
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(machine_fingerprint, "_FILES", tuple(map(str, found)))
    return found


def test_linux_is_known_by_its_machine_id(files: tuple[Path, Path]) -> None:
    first, second = files
    assert machine_fingerprint.mark() == ""
    second.write_text(f"{ID}\n")
    assert machine_fingerprint.mark() == MARK
    first.write_text("\n")  # an image that was not started yet
    assert machine_fingerprint.mark() == MARK
    first.write_text("another")
    assert machine_fingerprint.mark() not in ("", MARK)
    first.write_bytes(b"\xff" + ID.encode() + b"\n")
    assert machine_fingerprint.mark() == MARK


def test_no_more_is_read_than_an_id_has(files: tuple[Path, Path]) -> None:
    first, _ = files
    marks = []
    for count in (199, 200, 201):
        first.write_text("x" * count)
        marks.append(machine_fingerprint.mark())
    assert marks[0] != marks[1] == marks[2]


@pytest.mark.parametrize(("code", "is_known"), [(0, True), (-1, False)])
def test_macos_is_known_by_what_it_says_within_a_second(
    monkeypatch: pytest.MonkeyPatch, code: int, is_known: bool
) -> None:
    asked: list[list[int]] = []

    def gethostuuid(uuid: Any, wait: Any) -> int:
        asked.append([*wait])
        uuid[0] = 7
        return code

    library = SimpleNamespace(gethostuuid=gethostuuid)
    monkeypatch.setattr(ctypes, "CDLL", lambda _: library)
    monkeypatch.setattr(sys, "platform", "darwin")
    assert bool(machine_fingerprint.mark()) is is_known
    assert asked == [[1, 0]]
    assert machine_fingerprint._id_from_macos() == ("07" + "00" * 15) * is_known


@pytest.mark.parametrize("error", [OSError, AttributeError])
def test_a_system_that_cannot_be_asked_has_no_mark(
    monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def refuse(_: object) -> None:
        raise error

    monkeypatch.setattr(ctypes, "CDLL", refuse)
    monkeypatch.setattr(sys, "platform", "darwin")
    assert machine_fingerprint.mark() == ""
