"""Killed, or out of room, at any step of a synchronising, everything is there, and the next one
finishes it.
"""

from __future__ import annotations

import runpy
import signal
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from sample_note import note
from step_script import struck

from keeplore.errors import RepositoryBusy
from keeplore.memory import new_id
from keeplore.store import Store, create
from keeplore.sync import synchronise

STEPS = Path(__file__).with_name("sync_steps.py")
TEMPLATE = Path(__file__).resolve().parents[2] / "workspace_template"
with pytest.MonkeyPatch.context() as patch:
    patch.syspath_prepend(STEPS.parent)  # as for a script that is run
    conversation = runpy.run_path(str(STEPS))["conversation"]
FEWEST = {
    "kill": 200,
    "full": 30,
}  # points; fewer would mean that the steps are no longer seen
WORDS = (
    "mine",
    "theirs",
    "my last word",
    "edited there",
    "kept here",
    "put away there",
    "waits in a merge",
    "question 2",
    "answer 2",
)


@pytest.fixture
def base(tmp_path, git):
    """A machine and its remote with everything that a sync may meet: a clash, moves, a conflict of
    the person's.
    """
    base = tmp_path / "base"
    base.mkdir()
    git("init", "-q", "--bare", "-b", "main", "remote.git", cwd=base)
    machine = create(base / "machine", TEMPLATE)
    git("remote", "add", "origin", "../remote.git", cwd=machine.root)
    paths = {
        title: machine.save(note(title, f"{title}\n\nline\n"))
        for title in ("Argued", "Moved", "Parted", "Gone", "Torn")
    }
    machine.save(conversation(2))
    machine.commit()
    git("push", "-q", "origin", "main", cwd=machine.root)
    git("clone", "-q", "remote.git", "there", cwd=base)
    there = Store(base / "there", branch="main")
    there.save(note("Argued", "theirs\n"))
    there.save(note("Moved", "Moved\n\nedited there\n"))
    parted = paths["Parted"].replace("memory/", "memory/archive/", 1)
    there.move(paths["Parted"], parted)
    there.save(note("Parted", "put away there\n"), parted)
    there.forget(new_id("Gone"), "there", "2026-03-01T10:00:00Z")
    there.commit()
    git("push", "-q", "origin", "main", cwd=there.root)
    machine.save(note("Argued", "mine\n"))
    machine.save(note("Parted", "kept here\n"))
    machine.move(
        paths["Moved"], paths["Moved"].replace("memory/", "memory/archive/", 1)
    )
    machine.save(note("Torn", "Torn\n\nmy last word\n"))
    machine.commit()
    # the person is in the middle of a merge of another branch, which waits for a file of ours
    git("checkout", "-q", "-b", "other", "HEAD~1", cwd=machine.root)
    Store(machine.root).save(note("Torn", "Torn\n\nwaits in a merge\n"))
    git("commit", "-qam", "Other", cwd=machine.root)
    git("checkout", "-q", "main", cwd=machine.root)
    subprocess.run(
        ["git", "merge", "-q", "other"],
        cwd=machine.root,
        check=False,
        capture_output=True,
    )
    (machine.root / "mine.txt").write_text("untracked\n")
    return base


def run(base, stride):
    points: Counter[str] = Counter()
    for line in struck(STEPS, base, stride):
        copy, fault, _, status, said = line.split("\t")
        points[fault] += stride
        assert status == "0" or fault == "full" or int(status) == signal.SIGKILL, said
        yield Path(copy), fault, status, said
    assert all(points[fault] >= fewest for fault, fewest in FEWEST.items()), points


def expect_all_is_well(root, git):
    store = Store(root, branch="main")
    for _ in range(3):
        try:
            store.conclude()
            store.repair_merges([file.path for file in store.scan()])
            synchronise(store)
            break
        except (
            RepositoryBusy
        ):  # a git that outlived the killed process may hold a lock for a moment
            continue
    store.save(conversation(3))
    assert synchronise(store).fetched == 0
    texts = {file.path: store.load(file.path) for file in store.scan()}
    everything = "\n".join(memory.body for memory in texts.values())
    assert [word for word in WORDS if word not in everything] == []
    ids = [memory.id for memory in texts.values()]
    # five, and beside three of them a version that lost
    assert len(ids) == len(set(ids)) == 8
    assert new_id("Gone") not in ids
    assert git("status", "--porcelain", cwd=root) == "?? mine.txt"
    assert git("rev-parse", "HEAD", cwd=root) == git(
        "rev-parse", "main", cwd=root.parent / "remote.git"
    )
    assert git("fsck", "--strict", "--no-dangling", "--no-progress", cwd=root) == ""
    assert not list((root / ".git").rglob("*.lock"))


@pytest.mark.parametrize("stride", [35, pytest.param(1, marks=pytest.mark.soak)])
def test_a_kill_or_a_full_disk_at_any_step_loses_nothing(base, git, stride):
    for copy, fault, status, said in run(base, stride):
        expect_all_is_well(copy / "machine", git)
        if fault == "full":  # what a killed writer leaves is swept an hour later
            assert not list((copy / "machine").rglob(".*.tmp"))
        if fault == "full" and status != "0":
            assert "room" in said or "space" in said, said
