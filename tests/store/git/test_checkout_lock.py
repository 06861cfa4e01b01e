"""A file of memory that is written while git writes files: nothing of either is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from keeplore.store import Store
from keeplore.store.checkout_lock import TICKET

SEEN_S = 0.5  # in which a save that does not wait for git would be done
KILLED = """
import os, signal, sys
from pathlib import Path
from keeplore.store import checkout_lock
with checkout_lock.held(Path(sys.argv[1])):
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def machine(store, note, git, tmp_path):
    """A clone with commits of its own, and a remote that has another one.

    git runs a program for `aaa.txt`, which it writes before all memory: it waits for a file `go`.
    """
    git("clone", "-q", str(store.root), str(tmp_path / "clone"), cwd=tmp_path)
    machine = Store(tmp_path / "clone", branch="main", machine="studio")
    machine.save(note("Kept", body="one\n"))
    machine.commit()
    git("push", "-q", "origin", "HEAD:other", cwd=machine.root)
    git("merge", "-q", "other", cwd=store.root)
    (store.root / "aaa.txt").write_text("theirs\n")
    git("add", "aaa.txt", cwd=store.root)
    git("commit", "-qm", "Theirs", cwd=store.root)
    machine.save(note("Kept", body="one\n\ntwo\n"))
    machine.save(note("Not pushed yet"))
    machine.commit()
    smudge = tmp_path / "smudge"
    smudge.write_text(
        f"#!/bin/sh\ntouch {tmp_path}/reached\n"
        f"until test -e {tmp_path}/go; do sleep 0.01; done\ncat\n"
    )
    smudge.chmod(0o755)
    git("config", "filter.slow.smudge", str(smudge), cwd=machine.root)
    attributes = machine.root / ".git" / "info" / "attributes"
    attributes.write_text("aaa.txt filter=slow\n")
    return machine


def wait_for(place):
    while not place.exists():
        time.sleep(0.01)


@pytest.mark.parametrize("title", ["Kept", "Not pushed yet", "New"])
def test_a_save_while_git_writes_files_is_neither_overwritten_nor_in_its_way(
    machine, note, git, tmp_path, title
):
    pulling = subprocess.Popen(["git", "pull", "-q", "--rebase"], cwd=machine.root)
    wait_for(tmp_path / "reached")
    assert not list((machine.root / "memory").rglob("*not-pushed-yet*"))
    saving = threading.Thread(
        target=machine.save, args=(note(title, body="one\n\ntwo\n\nthree\n"),)
    )
    saving.start()
    saving.join(SEEN_S)
    (tmp_path / "go").touch()
    saving.join()
    pulling.wait()
    machine.conclude()
    machine.commit()
    bodies = {
        "Kept": "one\n\ntwo\n",
        "Not pushed yet": "# Not pushed yet\n\nIt is so.\n",
    }
    bodies[title] = "one\n\ntwo\n\nthree\n"
    found = [machine.load(file.path) for file in machine.scan()]
    assert {memory.title: memory.body for memory in found} == bodies
    assert git("status", "--porcelain", cwd=machine.root) == ""
    assert git("symbolic-ref", "HEAD", cwd=machine.root) == "refs/heads/main"


@pytest.mark.parametrize("deed", ["save", "commit"])
def test_a_lock_that_a_killed_writer_left_is_removed(store, note, deed):
    command = [sys.executable, "-c", KILLED, store.root]
    done = subprocess.run(command, check=False, env=os.environ)
    lock = store.root / ".git" / "index.lock"
    assert done.returncode == -signal.SIGKILL and lock.exists()
    path = store.save(note("Later")) if deed == "save" else ""
    assert store.commit().paths == ((path,) if path else ())
    assert not lock.exists() and lock.with_name(TICKET).exists()


def test_a_lock_of_gits_that_stays_is_not_waited_for_again(store, note):
    lock = store.root / ".git" / "index.lock"
    lock.write_bytes(b"DIRC")
    os.utime(lock, (0, 0))
    path = store.save(note("Now"))
    assert store.load(path).title == "Now"
    store.remove(path)
    assert list(store.scan()) == []
    assert lock.read_bytes() == b"DIRC"
