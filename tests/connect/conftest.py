"""A home with the directories of hosts in it, and what it holds at a moment."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from keeplore.connect.apply import apply
from keeplore.connect.client_copy import launcher
from keeplore.connect.connect_plan import ConnectPlan, connect, disconnect
from keeplore.connect.connection_record import ConnectionRecord
from keeplore.connect.host_locations import LOCATIONS, Surroundings

Tree = dict[str, tuple[int, bytes | str]]


def tree(root: Path) -> Tree:
    """Every path with its rights and bytes; of a link, where it leads."""
    found: Tree = {}
    for path in sorted(root.rglob("*")):
        facts = path.lstat()
        content: bytes | str = b""
        if stat.S_ISLNK(facts.st_mode):
            content = str(path.readlink())
        elif stat.S_ISREG(facts.st_mode):
            content = path.read_bytes()
        found[str(path.relative_to(root))] = (stat.S_IMODE(facts.st_mode), content)
    return found


@dataclass
class Desk:
    """A person's home and the state directory beside it."""

    around: Surroundings

    @property
    def home(self) -> Path:
        return self.around.home

    @property
    def state(self) -> Path:
        return self.around.state

    def plan(self, *hosts: str, notes_in: Path | None = None) -> ConnectPlan:
        runs = launcher(
            self.state, search_path=os.defpath, has_mcp=True, is_windows=False
        )
        return connect(
            hosts or self.around.found(),
            self.around,
            ConnectionRecord.load(self.state),
            runs,
            notes_in,
        )

    def connect(self, *hosts: str, notes_in: Path | None = None) -> ConnectPlan:
        plan = self.plan(*hosts, notes_in=notes_in)
        apply(plan, self.state)
        return plan

    def disconnect(self, *hosts: str) -> ConnectPlan:
        plan = disconnect(hosts or list(LOCATIONS), ConnectionRecord.load(self.state))
        apply(plan, self.state)
        return plan

    def tree(self) -> Tree:
        return tree(self.home)

    def write(self, name: str, content: str | bytes, mode: int = 0o644) -> Path:
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        path.chmod(mode)
        return path


FOLDERS: Sequence[str] = (
    ".claude",
    ".codex",
    ".gemini",
    ".cursor",
    ".copilot",
    ".config/opencode",
)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A home in which every host has a directory, and nothing else."""
    home, state = tmp_path / "hö me", tmp_path / "the stäte"
    for name in FOLDERS:
        (home / name).mkdir(parents=True)
    state.mkdir()
    return Desk(Surroundings(home, state, {"PATH": str(tmp_path / "nothing")}))


@pytest.fixture
def bare(desk: Desk) -> Callable[[], Desk]:
    """The same home without any host."""

    def without_hosts() -> Desk:
        for path in sorted(desk.home.rglob("*"), reverse=True):
            path.rmdir()
        return desk

    return without_hosts
