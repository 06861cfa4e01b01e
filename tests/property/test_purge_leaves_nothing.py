"""After forgetting, syncing and purging no byte of a memory is left: in no object, ref, path, index,
state, log or cache of two machines, and in nothing that the remote's refs lead to.

Histories are random: versions, other titles, edits on both machines that cannot both stay, records
of the audit, stashes, branches, tags, notes. ``KEEPLORE_SEEDS=40`` tries more of them.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from keeplore.config.places import Places
from keeplore.memory.note import NoteDraft
from keeplore.store.delete import mentions
from keeplore.workspace.lifecycle.setup import clone_workspace, initialise
from keeplore.workspace.lifecycle.sync_workspace import synchronise
from keeplore.workspace.registry import Registry
from keeplore.workspace.workspace import Workspace
from keeplore.workspace.writing.forget import forget, purge, purge_plan

SEEDS = int(os.environ.get("KEEPLORE_SEEDS", "3"))
TITLES = ("Zanzibar quokka protocol", "Zanzibar quokka agreement")
TEXT = "The xylographic vault opens with tangerine marmalade on every second Friday."
SAID = ("zanzibar-quokka", "Zanzibar quokka", "xylographic", "tangerine marmalade")
ACTS = ("retitle", "reword", "part", "relate", "record", "stash", "branch", "sync")


@dataclass
class Machine:
    places: Places
    git: Callable[..., str]

    @property
    def workspace(self) -> Workspace:
        return Registry(self.places).named("memory")

    @property
    def root(self) -> Path:
        return self.workspace.root

    def sync(self) -> None:
        synchronise(self.workspace)

    def files_saying(self) -> list[str]:
        objects = self.root / ".git" / "objects"
        found = []
        for folder in (self.root, self.places.state, self.places.cache):
            for path in folder.rglob("*"):
                if path.is_file() and not path.is_relative_to(objects):
                    data = path.read_bytes() + str(path).encode()
                    found += [str(path) for word in SAID if word.encode() in data]
        return found


@dataclass
class History:
    """Acts on one memory, by either of two machines."""

    machines: tuple[Machine, Machine]
    random: random.Random
    id: str = ""
    count: int = 0

    def act(self, name: str) -> None:
        self.count += 1
        machine = self.random.choice(self.machines)
        getattr(self, f"_{name}")(machine)

    def head(self, machine: Machine) -> str:
        workspace = machine.workspace
        workspace.index.refresh()
        return workspace.notes.history(self.id)[-1].row.id

    def _retitle(self, machine: Machine) -> None:
        title = f"{self.random.choice(TITLES)} {self.count}"
        machine.workspace.notes.revise(self.head(machine), title=title)

    def _reword(self, machine: Machine) -> None:
        machine.workspace.notes.revise(
            self.head(machine), text=f"{TEXT} Version {self.count}."
        )

    def _part(self, machine: Machine) -> None:
        """Both change the same line of a file by hand, so that a merge keeps two memories."""
        for one in self.machines:
            one.sync()
        self.machines[0].sync()
        for n, one in enumerate(self.machines):
            workspace = one.workspace
            workspace.index.refresh()
            path = one.root / (workspace.index.path_of(self.head(one)) or "")
            told = path.read_text().replace(
                "tangerine", f"{'ab'[n]}{self.count} tangerine"
            )
            path.write_text(told)
            workspace.commit()
        for one in (*self.machines, *self.machines):
            one.sync()

    def _relate(self, machine: Machine) -> None:
        link = {"id": self.head(machine), "relationship": "relates-to"}
        text = f"Another matter altogether, number {self.count}."
        machine.workspace.notes.write(NoteDraft(text, related=(link,)))

    def _record(self, machine: Machine) -> None:
        entry = {
            "at": "2026-02-01T10:00:00Z",
            "event": "refine",
            "target": self.id,
            "content": TEXT,
        }
        machine.workspace.store.record(machine.workspace.machine, entry)
        machine.workspace.commit()

    def _stash(self, machine: Machine) -> None:
        workspace = machine.workspace
        workspace.index.refresh()
        path = machine.root / (workspace.index.path_of(self.head(machine)) or "")
        path.write_text(path.read_text() + "\nAdded by hand.\n")
        machine.git("stash", "-q", cwd=machine.root)

    def _branch(self, machine: Machine) -> None:
        machine.git("branch", f"kept-{self.count}", cwd=machine.root)
        machine.git("tag", "-a", f"v{self.count}", "-m", "A tag", cwd=machine.root)
        machine.git("notes", "add", "-f", "-m", "A note", cwd=machine.root)

    def _sync(self, machine: Machine) -> None:
        machine.sync()


@pytest.fixture
def machines(tmp_path: Path, git: Callable[..., str]) -> tuple[Machine, Machine]:
    remote = tmp_path / "remote.git"
    git("init", "-q", "--bare", "-b", "main", remote, cwd=tmp_path)
    places = [Places(tmp_path / n / "state", tmp_path / n / "cache") for n in "ab"]
    initialise(places[0], tmp_path / "a" / "memory")
    first = Machine(places[0], git)
    git("remote", "add", "origin", remote, cwd=first.root)
    first.sync()
    clone_workspace(places[1], str(remote), tmp_path / "b" / "memory")
    return first, Machine(places[1], git)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_nothing_of_a_purged_memory_is_left(
    machines: tuple[Machine, Machine],
    git: Callable[..., str],
    tmp_path: Path,
    seed: int,
) -> None:
    first, second = machines
    first.workspace.notes.write(NoteDraft("Innocent words that stay where they are."))
    history = History(machines, random.Random(seed))
    draft = NoteDraft(TEXT, title=f"{TITLES[0]} 0")
    history.id = first.workspace.notes.write(draft).memory.id
    for one in (first, second):
        one.sync()
    for act in ("part", *history.random.sample(ACTS, 4)):
        history.act(act)
    for one in (*machines, *machines):
        one.sync()
    if seed % 3:
        forget(first.workspace, history.head(first))
        first.sync()
        second.sync()
    plan = purge_plan(first.workspace, history.id)
    assert plan.stays == () and plan.messages == 0
    assert purge(first.workspace, history.id).holding == ()
    for one in (*machines, *machines):
        one.sync()
    # what no ref leads to stays at the remote until git there tidies up
    remote = tmp_path / "remote.git"
    git("gc", "-q", "--prune=now", cwd=remote)
    assert mentions.objects_containing(remote, SAID) == {}
    for one in machines:
        assert mentions.objects_containing(one.root, SAID) == {}
        assert one.files_saying() == []
        assert git("fsck", "--no-dangling", "--no-progress", cwd=one.root) == ""
        one.workspace.index.refresh()
        assert "Innocent" in "".join(p.read_text() for p in one.root.rglob("*.md"))
