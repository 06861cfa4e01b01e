"""A person pulls with `--rebase`, again and again, beside sessions that write: nothing is lost, and
no rebase stays behind.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import re
import subprocess
import time
from pathlib import Path

import pytest

from keeplore.errors import KeeploreError
from keeplore.memory import Memory, new_id, new_meta
from keeplore.store import Store, create
from keeplore.sync import clone, synchronise

TEMPLATE = Path(__file__).resolve().parents[2] / "workspace_template"
QUIET_S = 0.3  # after which a rebase counts as stopped; a worker waits longer
CONTINUED = 100  # times that the person tries to go on


def talk(title: str, words: list[str]) -> Memory:
    meta = {"id": new_id(title), "kind": "note", "title": title, "scope": "workspace"}
    meta = new_meta(**meta, category="gotchas", created_at="2026-02-09T14:03:11Z")
    return Memory(meta, "\n\n".join((f"# {title}", *words)) + "\n")


def worker(root: Path, name: str, count: int, seed: int) -> None:
    """Three talks that go on, and notes; commits and syncs now and then."""
    dice = random.Random(f"{seed} {name}")
    store = Store(root, branch="main", machine=name)
    said: dict[str, list[str]] = {}
    with (root.parent / "said").open("w") as log:
        for number in range(count):
            title = f"{name} talk {dice.randrange(3)}"
            if title in said and dice.random() < 0.3:
                title = f"{name} note {number}"
            said.setdefault(title, []).append(f"{name}word{number}x")
            store.save(talk(title, said[title]))
            log.write(f"{name}word{number}x\n")
            log.flush()
            try:
                share = dice.random()
                if share < 0.25:
                    store.conclude(QUIET_S)
                    synchronise(store)
                elif share < 0.7:
                    store.commit()
            except KeeploreError:
                time.sleep(0.05)


def git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=root, check=False, text=True,
                          capture_output=True)  # fmt: skip
    return done.stdout + done.stderr


def pull(root: Path) -> None:
    """`git pull --rebase`, and what git tells somebody to do where it stopped."""
    git(root, "pull", "-q", "--rebase")
    said = ""
    for _ in range(CONTINUED):
        if not (root / ".git" / "rebase-merge").exists():
            return
        said = git(root, "-c", "core.editor=true", "rebase", "--continue")
        time.sleep(3 * QUIET_S)  # each try writes the index, and must not count as work
    raise AssertionError(f"the rebase is stuck: {said}")


@pytest.mark.parametrize(
    ("seed", "count"),
    [
        (0, 40),
        *(
            pytest.param(seed, 200, marks=pytest.mark.soak)
            for seed in range(int(os.environ.get("KEEPLORE_SEEDS", "60")))
        ),
    ],
)
def test_no_rebase_stays_behind_and_no_word_is_lost(
    tmp_path: Path, seed: int, count: int
) -> None:
    git(tmp_path, "init", "-q", "--bare", "-b", "main", "remote.git")
    remote = str(tmp_path / "remote.git")
    first = create(tmp_path / "one" / "workspace", TEMPLATE)
    git(first.root, "remote", "add", "origin", remote)
    synchronise(first)
    clone(remote, tmp_path / "two" / "workspace")
    roots = {name: tmp_path / name / "workspace" for name in ("one", "two")}
    context = multiprocessing.get_context("spawn")
    workers = [
        context.Process(target=worker, args=(root, name, count, seed))
        for name, root in roots.items()
    ]
    for process in workers:
        process.start()
    dice = random.Random(seed)
    while any(process.is_alive() for process in workers):
        time.sleep(dice.random() * QUIET_S)
        pull(first.root)
    assert [process.exitcode for process in workers] == [0, 0]
    for _ in range(4):
        for name, root in roots.items():
            store = Store(root, branch="main", machine=name)
            store.conclude()
            synchronise(store)
            store.repair_merges([file.path for file in store.scan()])
    said = [
        word
        for root in roots.values()
        for word in (root.parent / "said").read_text().split()
    ]
    for root in roots.values():
        held = set(re.findall(r"\w+word\d+x", git(root, "grep", "-h", "word", "HEAD")))
        assert len(said) == 2 * count and set(said) <= held
        assert git(root, "status", "--porcelain") == ""
