"""Machines that write, edit, forget, restore and purge in any order, offline and online, come to
the same.
"""

from __future__ import annotations

import random
import subprocess
import sys

import pytest
from sample_note import note

from keeplore.errors import NotFound
from keeplore.memory import new_id
from keeplore.store import Store
from keeplore.sync import synchronise

AT = "2026-03-01T10:00:00Z"
STEPS = 30
TITLES = [f"Note {number}" for number in range(6)]
DEEDS = ["write", "edit", "forget", "restore", "purge", "sync", "sync", "pull by hand"]


@pytest.fixture(autouse=True)
def no_pause(monkeypatch):
    monkeypatch.setattr(sys.modules["keeplore.sync.synchronise"], "PAUSE_S", 0.001)


def pull_by_hand(store: Store) -> None:
    """A person who pulls and pushes without Keeplore, and gives up where git reports a conflict."""
    for command in (["pull", "-q", "--no-rebase", "--no-edit"], ["push", "-q"]):
        if subprocess.run(
            ["git", *command], cwd=store.root, capture_output=True
        ).returncode:
            subprocess.run(
                ["git", "merge", "--abort"], cwd=store.root, capture_output=True
            )
            return


class Play:
    """What was done, so that it can be said what must be there at the end."""

    def __init__(self, machines, seed):
        self.machines, self.chance = machines, random.Random(seed)
        self.purged: set[str] = set()
        self.writer: dict[str, int] = {}

    def step(self):
        number = self.chance.randrange(len(self.machines))
        store, title, deed = (
            self.machines[number],
            self.chance.choice(TITLES),
            self.chance.choice(DEEDS),
        )
        memory_id = new_id(title)
        is_here = store.find(memory_id) is not None
        if deed == "sync":
            synchronise(store)
        elif deed == "pull by hand":
            store.commit()
            pull_by_hand(store)
        elif deed == "write" and title not in self.writer:
            self.writer[title] = number
            store.add(note(title, f"{title} says 0\n"))
        elif (
            deed == "edit"
            and is_here
            and self.writer[title] == number
            and not store.is_forgotten(memory_id)
        ):
            store.save(note(title, f"{title} says {self.chance.random()}\n"))
        elif deed == "forget" and is_here:
            store.forget(memory_id, str(number), AT)
        elif (
            deed == "restore"
            and store.is_forgotten(memory_id)
            and self.writer[title] == number
        ):
            # elsewhere git may have an older text only, and two restored texts are a conflict like
            # any other
            try:
                store.restore(memory_id)
            except NotFound:
                assert title in self.purged
        elif deed == "purge" and (is_here or store.is_forgotten(memory_id)):
            self.purged.add(title)
            store.purge([memory_id], str(number), AT)


@pytest.mark.parametrize("seed", range(6))
def test_all_machines_end_with_the_same_and_purged_text_is_nowhere(
    network, first, git, seed
):
    machines = [first, network.machine("second"), network.machine("third")]
    play = Play(machines, seed)
    for _ in range(STEPS):
        play.step()
    for _ in range(3):
        for store in machines:
            synchronise(store)
    assert len({store.head() for store in machines}) == 1
    for store in machines:
        here = {store.load(file.path).title for file in store.scan()}
        gone = {title for title in TITLES if store.is_forgotten(new_id(title))}
        assert not here & gone and here | gone == play.writer.keys()
        assert play.purged <= gone
        assert git("status", "--porcelain", cwd=store.root) == ""
        assert git("fsck", "--no-dangling", "--no-progress", cwd=store.root) == ""
    for repository in (*(store.root for store in machines), network.remote):
        words = git("log", "--all", "-p", "-m", "--format=", cwd=repository)
        assert not [title for title in play.purged if f"{title} says" in words]
