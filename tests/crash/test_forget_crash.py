"""Killed at any step, a forgetting, a restoring or a purge is finished by doing it again, and
nothing else is lost.
"""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path

import pytest
from sample_note import note
from step_script import struck

from keeplore.errors import RepositoryBusy
from keeplore.memory import new_id
from keeplore.store import Store, create
from keeplore.store.delete.purge import PENDING

STEPS = Path(__file__).with_name("forget_steps.py")
TEMPLATE = Path(__file__).resolve().parents[2] / "workspace_template"
FEWEST = {
    "forget": 10,
    "restore": 6,
    "purge": 15,
}  # points; fewer would mean that the steps are no longer seen
AT = "2026-03-01T10:00:00Z"
LEAKED, DROPPED = new_id("Leaked"), new_id("Dropped")


@pytest.fixture
def workspace(tmp_path, git):
    """One memory with two versions in history and one that is staged, one that is forgotten, a tag,
    a stash.
    """
    store = create(tmp_path / "base" / "workspace", TEMPLATE)
    store.save(note("Kept", "kept words\n"))
    store.save(note("Dropped", "dropped words\n"))
    for body in ("first hidden words\n", "second hidden words\n"):
        store.save(note("Leaked", body))
        store.commit()
    git("tag", "v1", cwd=store.root)
    (store.root / "README.md").write_text("stashed\n")
    git("stash", "push", "-q", cwd=store.root)
    store.forget(DROPPED, "studio", AT)
    store.commit()
    (store.root / "staged.txt").write_text("staged\n")
    git("add", "staged.txt", cwd=store.root)
    return store


@pytest.mark.parametrize("times", [5, pytest.param(1, marks=pytest.mark.soak)])
def test_a_kill_at_every_step_is_made_good_by_doing_it_again(workspace, git, times):
    blobs = [
        git("rev-parse", f"HEAD{back}:{workspace.find(LEAKED)}", cwd=workspace.root)
        for back in ("", "~2")
    ]
    points: Counter[str] = Counter()
    for line in struck(STEPS, workspace.root, times):
        copy, deed, _, status = line.rsplit(" ", 3)
        points[deed] += 1
        expect_readable(Path(copy), git)
        expect_finished(Path(copy), deed, blobs, git, is_whole=status == "0")
    assert all(points[deed] * times >= fewest for deed, fewest in FEWEST.items()), (
        points
    )


def expect_readable(root, git):
    """Whatever was half done: every ref leads to whole objects, and what was not meant is there."""
    assert git("fsck", "--no-dangling", "--no-progress", cwd=root) == ""
    assert git("rev-list", "--objects", "--all", "--count", cwd=root)
    assert Store(root, branch="main").load(
        next((root / "memory").rglob("*kept*.md")).relative_to(root).as_posix()
    )


def expect_finished(root, deed, blobs, git, *, is_whole):
    store = Store(root, branch="main")
    try:
        again(store, deed, is_whole=is_whole)
    except (
        RepositoryBusy
    ):  # a git that outlived the killed process may hold a lock for a moment
        again(store, deed, is_whole=is_whole)
    titles = sorted(
        memory.title
        for _, memory in (
            store.get(i) for i in (new_id("Kept"), LEAKED, DROPPED) if store.find(i)
        )
    )
    assert (
        titles
        == {
            "forget": ["Kept"],
            "restore": ["Dropped", "Kept", "Leaked"],
            "purge": ["Kept"],
        }[deed]
    )
    assert git("status", "--porcelain", cwd=root) == "A  staged.txt"
    assert git("stash", "list", "--format=%gs", cwd=root).startswith("WIP on main")
    assert not list((root / ".git").rglob("*.lock"))
    if deed == "purge":
        gone = [
            subprocess.run(
                ["git", "cat-file", "-e", blob], cwd=root, capture_output=True
            ).returncode
            for blob in blobs
        ]
        assert all(gone) and not (root / ".git" / PENDING).exists()
        assert "hidden words" not in git("log", "--all", "--reflog", "-p", cwd=root)
    assert git("fsck", "--no-dangling", "--no-progress", cwd=root) == ""


def again(store, deed, *, is_whole):
    store.commit()
    if deed == "forget":
        store.forget(LEAKED, "studio", AT)
    elif deed == "purge":
        store.purge([LEAKED], "studio", AT)
    elif store.is_forgotten(DROPPED) and not is_whole:
        store.restore(DROPPED)
    store.commit()
