"""A minute of two processes and a person's git at work on one workspace."""

from __future__ import annotations

import multiprocessing
import subprocess
import time
from pathlib import Path

import pytest

from keeplore.config.places import Places
from keeplore.errors import RepositoryBusy
from keeplore.memory.note import NoteDraft
from keeplore.workspace.lifecycle.setup import initialise
from keeplore.workspace.registry import Registry

SECONDS = 60


@pytest.mark.soak
def test_two_processes_write_for_a_minute_and_nothing_is_lost(tmp_path: Path) -> None:
    places = Places(tmp_path / "state", tmp_path / "cache")
    root = initialise(places, tmp_path / "memory").root
    context = multiprocessing.get_context("spawn")
    writers = [
        context.Process(target=_write, args=(tmp_path, number)) for number in range(2)
    ]
    for writer in writers:
        writer.start()
    edits = 0
    while any(writer.is_alive() for writer in writers):
        (root / "mine.txt").write_text(f"{edits}\n")
        subprocess.run(
            ["git", "-C", str(root), "add", "mine.txt"],
            check=False,
            capture_output=True,
        )
        subprocess.run(
            ["git", "-C", str(root), "commit", "-qm", "Mine"],
            check=False,
            capture_output=True,
        )
        edits += 1
        time.sleep(0.05)
    assert [writer.exitcode for writer in writers] == [0, 0]
    with Registry(places) as registry:
        workspace = registry.for_directory(tmp_path)
        workspace.commit()
        kept = [workspace.store.load(file.path) for file in workspace.store.scan()]
    written = [
        line.split("\t")
        for number in range(2)
        for line in (tmp_path / f"{number}.log").read_text().splitlines()
    ]
    assert len(written) > 100
    assert {memory.id for memory in kept} == {id_ for id_, _ in written}
    in_head = subprocess.run(
        ["git", "-C", str(root), "ls-tree", "-r", "--name-only", "HEAD"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    assert {path for _, path in written} <= set(in_head)
    subprocess.run(
        ["git", "-C", str(root), "fsck", "--strict"], check=True, capture_output=True
    )
    for n in range(min(5, edits)):
        assert sum(memory.title == f"Shared {n}" for memory in kept) <= 1


def _write(directory: Path, number: int) -> None:
    until = time.monotonic() + SECONDS
    n = 0
    places = Places(directory / "state", directory / "cache")
    with Registry(places) as registry, (directory / f"{number}.log").open("w") as log:
        workspace = registry.for_directory(directory)
        while time.monotonic() < until:
            shared = workspace.notes.write(NoteDraft(f"Shared {n}"))
            own = workspace.notes.write(NoteDraft(f"Fact {n} of {number}"))
            pinned = workspace.notes.revise(own.memory.id, permanent=True)
            for outcome in (shared, own, pinned):
                if outcome.is_new:
                    log.write(f"{outcome.memory.id}\t{outcome.path}\n")
            log.flush()
            n += 1
            try:
                workspace.commit()
            except RepositoryBusy:
                continue
