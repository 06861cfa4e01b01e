"""A person's git commands beside a writing worker and a sync: every memory ends in HEAD, the work
stays theirs.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import random
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from sample_note import note

from keeplore.errors import KeeploreError
from keeplore.store import Store, create
from keeplore.sync import clone, synchronise

TEMPLATE = Path(__file__).resolve().parents[2] / "workspace_template"
TRIES = 200  # of one command, before the person asks for help
LATE = 20  # tries after which a worker may have ended


def worker(root: Path, name: str, count: int) -> None:
    """Writes, commits and syncs all the time; what git is busy with is tried again, as the worker
    does.
    """
    store = Store(root, branch="main")
    with (root.parent / f"{name}.log").open("w") as log:
        for number in range(count):
            title = f"{name} {number}"
            store.save(note(title))
            log.write(f"{title}\n")
            log.flush()
            try:
                synchronise(store) if number % 3 == 0 else store.commit()
            except KeeploreError:
                time.sleep(0.05)


class Person:
    """Works on app.py in the same repository; ``lines`` are those that must be in it."""

    environment: Mapping[str, str] = {"LC_ALL": "C"}  # git's own words are read

    def __init__(self, root: Path, dice: random.Random) -> None:
        self.root, self.dice = root, dice
        self.lines: list[str] = []

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["git", *arguments],
            cwd=self.root,
            capture_output=True,
            check=False,
            text=True,
            env={**os.environ, **self.environment},
        )

    def git(self, *arguments: str) -> int:
        return self.run(*arguments).returncode

    def write(self) -> None:
        self.lines.append(f"line {len(self.lines)}")
        (self.root / "app.py").write_text(self.text)

    @property
    def text(self) -> str:
        return "".join(f"{line}\n" for line in self.lines)

    def add(self) -> None:
        self.git("add", "app.py")

    def commit(self) -> None:
        self.git("commit", "-qm", "Mine", "--", "app.py")

    def commit_all(self) -> None:
        self.git("commit", "-qam", "All")

    def stash(self) -> None:
        self.git("add", "app.py")
        if self.git("stash", "push", "-q", "--", "app.py") == 0:
            self.pop()
        else:  # git may have stored it before a lock stopped it, and then left the file alone
            self.git("stash", "drop", "-q")

    def pop(self) -> None:
        """Conflicts in memory are the worker's to resolve, and git keeps the entry then."""
        self.insist("stash", "pop", "-q")
        if self.run("stash", "list").stdout:
            self.insist("stash", "drop", "-q")

    def checkout(self) -> None:
        """Another branch for a moment; the work in hand goes along or git refuses."""
        if self.git("checkout", "-q", "-B", "topic") == 0:
            self.git("commit", "-qam", "On a topic")
            self.insist("checkout", "-q", "main")
            self.insist("merge", "-q", "--no-edit", "topic")

    def rebase(self) -> None:
        self.git("commit", "-qam", "Before")
        self.git("rebase", "-q", "--keep-base", "origin/main")

    def insist(self, *arguments: str) -> None:
        """As a person does whom a lock, or what the next cycle mends, was in the way; a merge that
        has begun is for ``settle``. Raises AssertionError with git's words where it stays so.
        """
        said = ""
        for number in range(TRIES):
            done = self.run(*arguments)
            is_begun = arguments[0] == "merge" and self.is_merging()
            if done.returncode == 0 or is_begun:
                return
            said = done.stderr
            if self.run("ls-files", "--unmerged").stdout:
                self.cycle()
                if arguments[0] == "stash":
                    return
            elif "untracked working tree files would be" in said:
                self.keep_untracked()
            elif "app.py" in said and arguments[0] == "merge":
                self.git("commit", "-qam", "Before the merge")
            elif number >= LATE:
                self.cycle()
            time.sleep(0.05)
        where = (self.root / ".git" / "HEAD").read_text().strip()
        raise AssertionError(f"git {' '.join(arguments)} at {where}: {said}")

    def keep_untracked(self) -> None:
        """Move out of the way what a checkout would overwrite, as git tells: into this branch. Its
        commit was made of an index that a commit of ours had overtaken.
        """
        self.git("add", "--", "memory")
        self.git("commit", "-qm", "What was in the way")

    def cycle(self) -> None:
        """What a worker does, which in real life is still there."""
        store = Store(self.root, branch="main")
        with contextlib.suppress(KeeploreError):
            store.conclude()
            store.commit()

    def is_merging(self) -> bool:
        return (self.root / ".git" / "MERGE_HEAD").exists()

    def act(self) -> None:
        self.write()
        self.dice.choice(
            (
                self.add,
                self.commit,
                self.commit_all,
                self.stash,
                self.checkout,
                self.rebase,
            )
        )()
        self.settle()

    def settle(self) -> None:
        """Finish what git leaves where HEAD moved or a lock came in the middle, as it tells a
        person to.
        """
        if (self.root / ".git" / "rebase-merge").exists():
            self.insist("rebase", "--abort")
        if self.is_merging():
            (self.root / "app.py").write_text(self.text)
            self.insist("add", "app.py")
            self.insist("commit", "-q", "--no-edit")


def traces(roots: Mapping[str, Path]) -> str:
    """What each branch of each machine was moved by, for whoever has to find a lost memory."""
    logs = {name: (root / ".git" / "logs" / "HEAD") for name, root in roots.items()}
    return "\n".join(f"{name}:\n{log.read_text()}" for name, log in logs.items())


@pytest.mark.parametrize("count", [15, pytest.param(400, marks=pytest.mark.soak)])
def test_after_one_quiet_cycle_every_memory_is_in_head_and_the_work_is_there(
    tmp_path, git, count
):
    git("init", "-q", "--bare", "-b", "main", "remote.git", cwd=tmp_path)
    first = create(tmp_path / "one" / "workspace", TEMPLATE)
    git("remote", "add", "origin", str(tmp_path / "remote.git"), cwd=first.root)
    synchronise(first)
    clone(str(tmp_path / "remote.git"), tmp_path / "two" / "workspace")
    roots = {name: tmp_path / name / "workspace" for name in ("one", "two")}
    (first.root / "app.py").write_text("")
    git("add", "app.py", cwd=first.root)
    git("commit", "-qm", "Start", cwd=first.root)
    context = multiprocessing.get_context("spawn")
    workers = [
        context.Process(target=worker, args=(root, name, count))
        for name, root in roots.items()
    ]
    for process in workers:
        process.start()
    person = Person(first.root, random.Random(count))
    while any(process.is_alive() for process in workers):
        person.act()
    for process in workers:
        process.join()
    assert [process.exitcode for process in workers] == [0, 0]
    for _ in range(3):
        for root in roots.values():
            synchronise(Store(root, branch="main"))
    written = [
        line
        for name in roots
        for line in (tmp_path / name / f"{name}.log").read_text().splitlines()
    ]
    assert len(written) == 2 * count
    for root in roots.values():
        store = Store(root, branch="main")
        held = set(git("ls-tree", "-r", "--name-only", "HEAD", cwd=root).split("\n"))
        assert {file.path for file in store.scan()} <= held
        held_titles = sorted(store.load(file.path).title for file in store.scan())
        assert held_titles == sorted(written), traces(roots)
        assert git("fsck", "--strict", "--no-dangling", "--no-progress", cwd=root) == ""
    assert (first.root / "app.py").read_text() == person.text
    assert git("stash", "list", cwd=first.root) == ""
    assert git("symbolic-ref", "HEAD", cwd=first.root) == "refs/heads/main"
    assert [
        line
        for line in git("status", "--porcelain", cwd=first.root).split("\n")
        if "app.py" not in line
    ] in (
        [],
        [""],
    )
