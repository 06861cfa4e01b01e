"""The tests' own safety net holds: each claim is tried."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from shared_vectors import DIM, PLACE, SIZE, SharedVectors


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


class Model:
    """Each text that it reads has another vector."""

    def __init__(self) -> None:
        self.read: list[str] = []

    def vector(self, text: str) -> NDArray[np.float32]:
        self.read.append(text)
        return np.full(DIM, len(self.read), np.float32)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where no vector is yet."""
    with (tmp_path / "vectors").open("wb") as empty:
        empty.truncate(SIZE)
    return tmp_path / "vectors"


def test_what_a_model_made_of_a_text_is_asked_for_once(file: Path) -> None:
    first, other = Model(), Model()
    vectors = SharedVectors(first, "a model", file)
    made = vectors.vector("a text")
    again = SharedVectors(other, "a model", file).vector("a text")
    assert made.tolist() == again.tolist() == [1.0] * DIM
    assert (first.read, other.read) == (["a text"], [])
    # neither another text nor another model
    vectors.vector("a text, too")
    SharedVectors(other, "another model", file).vector("a text")
    assert (first.read, other.read) == (["a text", "a text, too"], ["a text"])


def test_half_a_vector_is_none(file: Path) -> None:
    SharedVectors(Model(), "a model", file).vector("a text")
    held = np.fromfile(file, PLACE)
    held["vector"][:, DIM // 2 :] = 0
    held.tofile(file)
    found = SharedVectors(Model(), "a model", file).vector("a text")
    assert found.tolist() == [1.0] * DIM
