"""Killed at any step, the writing of a note kept with the code leaves whole files, nothing that a
``git add`` would take along by mistake, and can be done again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from code_note_deeds import DEEDS, KEPT, note, opened
from step_script import struck

from keeplore.config.project_file import NAME
from keeplore.store import create
from keeplore.workspace.lifecycle.code_switch import write_settings

STEPS = Path(__file__).with_name("code_note_steps.py")
TEMPLATE = Path(__file__).resolve().parents[2] / "workspace_template"
FEWEST = {"write": 3, "change": 3, "archive": 4, "forget": 6}
OLD, NEW, OTHER = "It is so.\n", "New words.\n", "Other words.\n"
# what the files may say after a kill, and what they do once the deed was done again
MAY_BE = {
    "write": ([OLD], [OLD, NEW]),
    "change": ([OLD], [OTHER]),
    "archive": ([OLD], [OLD, OLD]),
    "forget": ([OLD], []),
}
DONE = {"write": [OLD, NEW], "change": [OTHER], "archive": [OLD], "forget": []}
Git = Callable[..., str]


@pytest.fixture
def base(tmp_path: Path, git: Git) -> Path:
    """Code with one committed note, and the person's workspace."""
    base = tmp_path / "base"
    create(base / "workspace", TEMPLATE)
    git("init", "-q", base / "shop", cwd=base)
    write_settings(base / "shop")
    opened(base).save(note("Kept"))
    git("add", "-A", cwd=base / "shop")
    git("commit", "-qm", "Keep", cwd=base / "shop")
    return base


def test_a_kill_at_every_step_leaves_whole_notes(base: Path, git: Git) -> None:
    points: Counter[str] = Counter()
    for line in struck(STEPS, base):
        place, deed, _, _ = line.rsplit(" ", 3)
        points[deed] += 1
        expect_whole(Path(place), deed, git)
    assert all(points[deed] >= fewest for deed, fewest in FEWEST.items()), points


def expect_whole(place: Path, deed: str, git: Git) -> None:
    assert texts(place) in MAY_BE[deed]
    git("add", "-A", cwd=place / "shop")
    tracked = git("ls-files", cwd=place / "shop").splitlines()
    assert [path for path in tracked if not path.endswith(".md")] == [
        f"{NAME}/.gitattributes",
        f"{NAME}/.gitignore",
        f"{NAME}/project.yaml",
    ]
    store = opened(place)
    if deed != "archive" or "archive" not in (store.find(KEPT) or ""):
        DEEDS[deed](store)
    assert [memory.body for memory in memories(place)] == DONE[deed]
    assert git("fsck", "--no-dangling", "--no-progress", cwd=place / "workspace") == ""


def texts(place: Path) -> list[str]:
    """The body of each file, sorted; a torn one would have none of these."""
    files = (place / "shop" / NAME).rglob("*.md")
    return sorted(path.read_text().partition("\n---\n")[2].lstrip() for path in files)


def memories(place: Path):
    store = opened(place)
    found = {}
    for file in store.scan():
        memory = store.load(file.path)
        found[memory.id] = memory
    return sorted(found.values(), key=lambda memory: memory.body)
