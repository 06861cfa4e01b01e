"""Killed at any step, the store loses nothing, and its next cycle needs no human."""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path

import pytest
from sample_note import note
from step_script import struck

from keeplore.errors import RepositoryBusy
from keeplore.store import Store, create
from keeplore.store.git.git_locks import OWNER, STAYING

STEPS = Path(__file__).with_name("store_steps.py")
TEMPLATE = Path(__file__).resolve().parents[2] / "workspace_template"
FEWEST = {
    "save": 40,
    "rename": 40,
    "merge": 40,
}  # points; fewer would mean that the steps are no longer seen


@pytest.fixture
def workspace(tmp_path, git):
    """A workspace with a person's staged file, one memory to change, one to remove, one commit of
    another machine.
    """
    store = create(tmp_path / "base" / "workspace", TEMPLATE)
    store.save(note("Draft"))
    (store.root / "memory" / "removed.md").write_text("---\nid: x\n---\n")
    store.commit()
    there = tmp_path / "there"
    git("clone", "-q", str(store.root), str(there), cwd=tmp_path)
    second = Store(there, branch="main")
    second.save(note("Theirs"))
    second.save(note("Draft", "Their words.\n"))
    second.commit()
    git("fetch", "-q", str(there), "main", cwd=store.root)
    store.save(note("Ours"))
    (store.root / "staged.txt").write_text("staged\n")
    git("add", "staged.txt", cwd=store.root)
    return store, second.head()


@pytest.mark.parametrize("stride", [13, pytest.param(1, marks=pytest.mark.soak)])
def test_a_kill_at_every_step_loses_nothing_and_needs_no_human(workspace, git, stride):
    store, other = workspace
    points: Counter[str] = Counter()
    for line in struck(STEPS, store.root, other, stride):
        copy, deed, _, _ = line.rsplit(" ", 3)
        points[deed] += 1
        expect_whole(Path(copy), deed, other, git)
    assert all(points[deed] * stride >= fewest for deed, fewest in FEWEST.items()), (
        points
    )


def expect_whole(root, deed, other, git):
    """After the next cycle everything is there, once, in disk, index and HEAD; then the deed can be
    done again.
    """
    store = Store(root, branch="main")
    store.commit()
    if deed == "save":
        store.save(note("New", "New words.\n"))
        (root / "memory" / "removed.md").unlink(missing_ok=True)
    elif deed == "rename":
        store.save(note("Draft", "More of it.\n").with_meta(title="A better title"))
    else:
        store.merge(other)
    store.commit()
    expected = {
        "save": {"Draft": "It is so.\n", "Ours": "It is so.\n", "New": "New words.\n"},
        "rename": {"A better title": "More of it.\n", "Ours": "It is so.\n"},
        "merge": {
            "Draft": "Their words.\n",
            "Ours": "It is so.\n",
            "Theirs": "It is so.\n",
        },
    }[deed]
    found = [
        store.load(file.path)
        for file in store.scan()
        if not file.path.endswith("removed.md")
    ]
    assert sorted((memory.title, memory.body) for memory in found) == sorted(
        expected.items()
    )
    assert git("status", "--porcelain", cwd=root) == "A  staged.txt"
    assert not list((root / ".git").rglob("*.lock"))
    assert git("fsck", "--no-dangling", "--no-progress", cwd=root) == ""


def plant(store: Store, lock: Path, content: str, facts: dict[str, object]) -> Path:
    """What a process leaves that died inside libgit2 or git, with its note beside it."""
    (store.root / ".git" / OWNER).write_text(json.dumps(facts))
    path = store.root / ".git" / lock
    path.write_text(content)
    return path


@pytest.mark.parametrize("content", ["", "a" * 40 + "\n"], ids=["empty", "written"])
def test_a_ref_lock_that_we_left_is_removed(workspace, content):
    store, _ = workspace
    facts = {
        "token": "keeplore 1",
        "ref": "refs/heads/main",
        "commit": "a" * 40,
        "at": time.time(),
    }
    lock = plant(store, Path("refs/heads/main.lock"), content, facts)
    assert store.commit().commit
    assert not lock.exists()


def test_an_index_lock_that_we_left_is_removed(workspace):
    store, _ = workspace
    facts = {"token": "keeplore 1", "ref": "refs/heads/main", "at": time.time()}
    lock = plant(store, Path("index.lock"), "keeplore 1", facts)
    assert store.commit().commit
    assert not lock.exists()


@pytest.mark.parametrize(
    ("name", "content", "at"),
    [
        ("index.lock", "", 0.0),
        ("index.lock", "DIRC", 0.0),
        ("index.lock", "keeplore 2", 0.0),
        ("refs/heads/main.lock", "b" * 40 + "\n", 0.0),
        ("refs/heads/main.lock", "", -3600.0),
    ],
)
def test_a_lock_that_is_not_ours_is_reported_and_stays(workspace, name, content, at):
    store, _ = workspace
    facts = {
        "token": "keeplore 1",
        "ref": "refs/heads/main",
        "commit": "a" * 40,
        "at": time.time() + at,
    }
    lock = plant(store, Path(name), content, facts)
    head = store.head()
    with pytest.raises(RepositoryBusy, match=name):
        store.commit()
    assert lock.read_text() == content
    assert store.head() == head
    lock.unlink()
    assert store.commit().commit


@pytest.mark.parametrize("content", ["{", "[]", "null", "\0" * 100, '{"at": "x"}'])
def test_a_torn_note_is_no_obstacle(workspace, content):
    store, _ = workspace
    (store.root / ".git" / OWNER).write_text(content)
    assert store.commit().commit


def test_a_git_that_died_over_our_copy_of_the_index_leaves_nothing_in_the_way(
    workspace, git
):
    store, _ = workspace
    for name in (
        "keeplore-index-0a1b2c3d",
        "keeplore-index-0a1b2c3d.lock",
        "keeplore-tree.lock",
        f"{OWNER}-0a1b2c3d",
    ):
        (store.root / ".git" / name).write_text("half")
    assert store.commit().commit
    left = {path.name for path in (store.root / ".git").glob("keeplore-*")}
    assert left == {*STAYING}
