"""The writers of the spool, run as the programs that they are."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from keeplore_hooks.spool import Spool

CLIENT = Path(__file__).resolve().parents[2] / "plugin" / "keeplore" / "client"
ADD = """
import os, pathlib, sys
from keeplore_hooks.spool import Spool
place = pathlib.Path(os.environ["KEEPLORE_STATE_DIR"], "spool")
Spool(place).add(*sys.argv[1:], sys.stdin.buffer.read())
"""


@dataclass(frozen=True)
class Writer:
    command: tuple[str, ...]

    def start(self, host: str, event: str, **options: Any) -> subprocess.Popen[bytes]:
        streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        return subprocess.Popen([*self.command, host, event], **(streams | options))

    def put(
        self,
        payload: bytes = b"payload",
        host: str = "host",
        event: str = "Stop",
        **options: Any,
    ) -> None:
        """One event; the writer must succeed without a word."""
        with self.start(host, event, **options) as process:
            try:
                out, err = process.communicate(payload, timeout=60)
            finally:
                process.kill()
        assert (process.returncode, out or b"", err or b"") == (0, b"", b"")


def shell_client(folder: Path, *shell: str) -> Writer:
    return Writer((*shell, str(folder / "client.sh")))


def python_client(folder: Path) -> Writer:
    return Writer((sys.executable, "-I", "-S", str(folder / "client.py")))


SHELLS = [
    name.split()
    for name in ("sh", "dash", "bash", "bash --posix", "busybox ash", "ksh")
]
CLIENTS = {
    f"client.sh by {' '.join(shell)}": shell_client(CLIENT, *shell)
    for shell in SHELLS
    if shutil.which(shell[0])
}
CLIENTS["client.py"] = python_client(CLIENT)
WRITERS = {**CLIENTS, "Spool.add": Writer((sys.executable, "-c", ADD))}


@pytest.fixture(params=WRITERS.values(), ids=WRITERS.keys())
def writer(request: pytest.FixtureRequest) -> Writer:
    """Each of the three writers; the shell script under every shell that is here."""
    assert isinstance(request.param, Writer)
    return request.param


@pytest.fixture(params=CLIENTS.values(), ids=CLIENTS.keys())
def client(request: pytest.FixtureRequest) -> Writer:
    """Each of the writers that a host runs: they succeed whatever happens."""
    assert isinstance(request.param, Writer)
    return request.param


@pytest.fixture(scope="session")
def all_writers() -> list[Writer]:
    """The three writers, the shell script once."""
    return [WRITERS["client.sh by sh"], WRITERS["client.py"], WRITERS["Spool.add"]]


@pytest.fixture
def changed_client(tmp_path: Path) -> Callable[[str, dict[str, str]], Writer]:
    """``changed_client(name, {old: new})`` copies the folder, as hosts do, with other constants."""

    def change(name: str, changes: dict[str, str]) -> Writer:
        folder = tmp_path / "copied client"
        shutil.copytree(CLIENT, folder, dirs_exist_ok=True)
        text = (folder / name).read_text()
        for old, new in changes.items():
            assert text.count(old) == 1
            text = text.replace(old, new)
        (folder / name).write_text(text)
        return (
            shell_client(folder, "sh") if name == "client.sh" else python_client(folder)
        )

    return change


@pytest.fixture
def state(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state directory that does not exist yet."""
    directory = home / "a machine" / "state"
    monkeypatch.setenv("KEEPLORE_STATE_DIR", str(directory))
    return directory


@pytest.fixture
def spool(state: Path) -> Spool:
    return Spool(state / "spool")


@pytest.fixture
def small_disk(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A file system of 256 kB with a state directory on it."""
    disk = home / "disk"
    disk.mkdir()
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", disk], capture_output=True
    ).returncode:
        pytest.skip("mounting a small file system is not permitted here")
    monkeypatch.setenv("KEEPLORE_STATE_DIR", str(disk / "state"))
    yield disk
    subprocess.run(["umount", "-l", disk], check=True)


@pytest.fixture
def kept(spool: Spool) -> Callable[[], list[tuple[str, str, bytes]]]:
    """``kept()``: host, event and payload of what waits, in order; nothing else may lie in the
    spool.
    """

    def look() -> list[tuple[str, str, bytes]]:
        entries = spool.pending()
        aside = spool.directory / "tmp"
        assert not aside.is_dir() or list(aside.iterdir()) == []
        assert spool.counts() == {"new": len(entries), "claimed": 0, "dead": 0}
        return [(entry.host, entry.event, entry.read()) for entry in entries]

    return look
