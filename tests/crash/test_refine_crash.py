"""Killed at any step, what refining changes is there as a whole, files and audit in one commit, or
not at all.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from step_script import struck

from keeplore.errors import RepositoryBusy
from keeplore.memory import Memory, new_id, new_meta
from keeplore.store import Store, create
from keeplore.store.repository_state import directories
from keeplore.store.transaction import log_path

STEPS = Path(__file__).with_name("refine_steps.py")
TEMPLATE = Path(__file__).resolve().parents[2] / "workspace_template"
FEWEST = 15  # points; fewer would mean that the steps are no longer seen
CHANGED = {
    "memory/gotchas/2026-02-09-one",
    "memory/gotchas/2026-02-09-other",
    "memory/archive/gotchas/2026-02-09-old",
    "memory/gotchas/2026-02-09-old",
    "audit/studio-1a2b/2026-02.jsonl",
}


@pytest.fixture
def workspace(tmp_path: Path) -> Store:
    store = create(tmp_path / "base" / "workspace", TEMPLATE)
    meta = {
        "id": new_id("Old"),
        "kind": "note",
        "title": "Old",
        "scope": "workspace",
        "category": "gotchas",
    }
    store.save(Memory(new_meta(**meta, created_at="2026-02-09T14:03:11Z"), "# Old\n"))
    store.commit()
    return store


@pytest.mark.parametrize("stride", [4, pytest.param(1, marks=pytest.mark.soak)])
def test_a_kill_at_every_step_leaves_nothing_or_all_of_it_in_one_commit(
    workspace, git, stride
) -> None:
    before = workspace.head()
    lines = struck(STEPS, workspace.root, stride)
    ends, cut_short = [], 0
    for line in lines:
        copy = Path(line.split(" ")[0])
        store = Store(copy, branch="main")
        if log_path(directories(copy)).exists():
            cut_short += 1
            if cut_short == 1:  # nobody commits half of it
                with pytest.raises(RepositoryBusy):
                    store.commit()
        store.recover()
        store.commit()
        log = git(
            "log",
            "--format=",
            "--name-only",
            "--no-renames",
            f"{before}..HEAD",
            cwd=copy,
        ).split()
        commits = git("rev-list", "--count", f"{before}..HEAD", cwd=copy)
        names = {path if path.endswith(".jsonl") else path[:-12] for path in log}
        assert (commits, names) in (("0", set()), ("1", CHANGED))
        lines = [entry["id"] for entry in store.records()]
        assert lines == ([new_id("One"), new_id("Other")] if names else [])
        ends.append(bool(names))
    assert len(ends) * stride >= FEWEST and cut_short * stride > FEWEST / 2
    assert (ends[0], ends[-1]) == (False, True) and ends == sorted(
        ends
    )  # from one step on it is there
