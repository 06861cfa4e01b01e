"""On a disk that is really full each step says so, loses nothing, and goes on when there is
room.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from sample_note import note

from keeplore.config.machine import Machine
from keeplore.config.places import Places
from keeplore.errors import KeeploreError
from keeplore.memory import serialise
from keeplore.memory.note import NoteDraft
from keeplore.store import Store, create
from keeplore.sync import synchronise
from keeplore.workspace.workspace import Workspace

TEMPLATE = Path(__file__).resolve().parents[2] / "workspace_template"
SIZE = 4 * 1024 * 1024  # bytes
ROOM = (0, 8, 24, 48, 80, 160, 400)  # kilobytes that are left


@pytest.fixture
def disk(tmp_path) -> Iterator[Path]:
    """A small file system of its own."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(place)]
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("a file system can only be mounted by root")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def fill(disk: Path, left: int) -> None:
    """Leave so many kilobytes."""
    filler = disk / "filler"
    filler.unlink(missing_ok=True)
    with filler.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * 4096)
        except OSError:
            pass
        file.truncate(max(file.tell() - left * 1024, 0))


@pytest.mark.parametrize("is_remote_full", [False, True])
def test_every_step_on_a_full_disk_says_so_and_is_made_good_later(
    tmp_path, disk, git, is_remote_full
):
    here, there = (tmp_path, disk) if is_remote_full else (disk, tmp_path)
    git("init", "-q", "--bare", "-b", "main", "remote.git", cwd=there)
    store = create(here / "workspace", TEMPLATE)
    git("remote", "add", "origin", str(there / "remote.git"), cwd=store.root)
    git("config", "gc.auto", "0", cwd=store.root)
    path = store.save(note("Argued", "base\n"))
    synchronise(store)
    git("clone", "-q", str(there / "remote.git"), "elsewhere", cwd=tmp_path)
    other = Store(tmp_path / "elsewhere", branch="main")
    refused: list[str] = []
    for number, left in enumerate(ROOM):
        before = (store.root / path).read_text()
        written = note("Argued", f"mine {number}\n")
        other.save(note("Argued", f"theirs {number}\n"))
        other.save(note(f"Added {number}", f"{number} " * 3000))
        synchronise(other)
        fill(disk, left)
        is_saved = False
        try:
            store.save(written)
            is_saved = True
            store.commit()
            synchronise(store)
        except (KeeploreError, OSError) as e:
            refused.append(str(e))
        (disk / "filler").unlink()
        assert is_saved or (store.root / path).read_text() in (
            before,
            serialise(written),
        )
        assert not list(store.root.rglob(".*.tmp"))
        store.save(written)
        synchronise(store)
        synchronise(other)
        everything = "".join(store.load(file.path).body for file in store.scan())
        assert f"mine {number}\n" in everything
        assert f"{number} " * 3000 in everything
        assert git("status", "--porcelain", cwd=store.root) == ""
        for root in (store.root, other.root):
            assert (
                git("fsck", "--strict", "--no-dangling", "--no-progress", cwd=root)
                == ""
            )
    assert refused and all(
        "space left" in said or "disk is full" in said for said in refused
    ), refused


@pytest.mark.parametrize("left", [0, 40])
def test_a_note_is_written_where_the_index_has_no_room_and_known_later(
    disk: Path, tmp_path: Path, left: int
) -> None:
    root = tmp_path / "workspace"
    create(root, TEMPLATE)
    places = Places(tmp_path / "state", disk)
    places.create()
    machine = Machine("0f1e2d3c", "studio", "memory", {"memory": root})
    fill(disk, left)
    draft = NoteDraft("Prices are kept in cents", category="gotchas")
    with Workspace("memory", root, places, machine) as workspace:
        outcome = workspace.notes.write(draft)
        assert (bool(workspace.commit()), outcome.is_new) == (True, True)
        (disk / "filler").unlink()
        again = workspace.notes.write(draft)
        assert (again.is_new, again.path) == (False, outcome.path)
