"""The tests' own safety net holds: each claim is tried."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest


def test_the_home_is_a_fresh_one(home: Path) -> None:
    names = sorted(entry.name for entry in home.iterdir())
    assert names == [
        ".cache",
        ".claude",
        ".config",
        ".gitconfig",
        ".local",
        "cache",
        "state",
        "tmp",
    ]
    assert tempfile.gettempdir() == str(home / "tmp")
    assert os.environ["KEEPLORE_STATE_DIR"] == str(home / "state")
    assert "KEEPLORE_OFF" not in os.environ


def test_the_home_of_a_child_process_is_the_same(home: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import pathlib; print(pathlib.Path.home())"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert str(home) == done.stdout.strip()


@pytest.mark.parametrize("address", ["192.0.2.1", "2001:db8::1"])
def test_a_connection_that_leaves_the_machine_is_refused(
    address: str, escapes: list[str]
) -> None:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with (
        socket.socket(family) as connection,
        pytest.raises(PermissionError, match="may not connect"),
    ):
        connection.connect((address, 80))
    assert len(escapes) == 1
    escapes.clear()


def test_loopback_is_allowed() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as client:
        client.connect(server.getsockname())


def test_a_write_to_the_real_home_is_refused(
    real_home: Path, escapes: list[str]
) -> None:
    with pytest.raises(PermissionError, match="may not write"):
        (real_home / ".claude" / "settings.json").open("a")
    with pytest.raises(PermissionError, match="may not write"):
        (real_home / ".local" / "state" / "keeplore").mkdir()
    assert len(escapes) == 2
    escapes.clear()


def test_git_has_an_identity_and_starts_on_main(
    tmp_path: Path, git: Callable[..., str]
) -> None:
    git("init", "-q", cwd=tmp_path)
    assert git("symbolic-ref", "--short", "HEAD", cwd=tmp_path) == "main"
    git("commit", "-q", "--allow-empty", "-m", "first", cwd=tmp_path)
    assert git("log", "--format=%ae", cwd=tmp_path) == "person@example.invalid"
