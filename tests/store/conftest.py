"""Workspaces in real repositories, and what a person had in them before Keeplore came by."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sample_note

from keeplore.memory import Memory
from keeplore.store import Store, create
from keeplore.store.paths import is_ours

TEMPLATE = Path(__file__).resolve().parents[2] / "workspace_template"


def make_note(title: str, *, body: str = "", **fields: Any) -> Memory:
    return sample_note.note(title, body or f"# {title}\n\nIt is so.\n", **fields)


@pytest.fixture
def note() -> Callable[..., Memory]:
    """``note(title, **front_matter)``: a memory whose id follows from its title."""
    return make_note


@pytest.fixture
def template() -> Path:
    return TEMPLATE


@pytest.fixture(scope="session")
def created(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new workspace, of which tests have copies."""
    return create(tmp_path_factory.mktemp("created") / "workspace", TEMPLATE).root


@pytest.fixture
def store(workspace_dir: Path, created: Path) -> Store:
    """A workspace on branch main with its first commit."""
    shutil.copytree(created, workspace_dir, dirs_exist_ok=True)
    return Store(workspace_dir, branch="main")


@pytest.fixture
def person(store: Store, git: Callable[..., str]) -> Callable[[], dict[str, Any]]:
    """Give the person work of every kind in the workspace; calling the fixture tells what it looks
    like now.
    """
    root = store.root
    for name in ("app.py", "gone.py", "half.py"):
        (root / name).write_text(f"# {name}\n" * 30)
    git("add", "app.py", "gone.py", "half.py", cwd=root)
    git("commit", "-qm", "Start", cwd=root)
    (root / "app.py").write_text("staged\n")
    (root / "new.py").write_text("new\n")
    git("add", "app.py", "new.py", cwd=root)
    git("rm", "-q", "--cached", "gone.py", cwd=root)
    (root / "app.py").write_text("staged\nand edited again\n")
    (root / "half.py").write_text("not staged\n")
    (root / "scratch.txt").write_text("untracked\n")
    return lambda: state_of(root)


def state_of(root: Path) -> dict[str, Any]:
    """Everything of the person's: index, status and files outside our paths, the branch, its
    settings, the stash.
    """

    def git(*arguments: str) -> list[str]:
        done = subprocess.run(
            ["git", *arguments], cwd=root, capture_output=True, check=False
        )
        return done.stdout.decode("utf-8", "surrogateescape").split("\0")

    def is_theirs(line: str) -> bool:
        return not is_ours(line.split("\t")[-1].split(" ")[-1])

    files = {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and ".git" not in path.relative_to(root).parts
    }
    return {
        "status": [
            line
            for line in git("status", "--porcelain", "-z", "-uall", "--no-renames")
            if is_theirs(line[3:])
        ],
        "index": [
            line for line in git("ls-files", "-s", "-t", "-z") if is_theirs(line)
        ],
        "files": {path: data for path, data in files.items() if not is_ours(path)},
        "branch": git("symbolic-ref", "-q", "HEAD"),
        "stash": git("stash", "list"),
        "config": git("config", "--local", "-l", "-z"),
    }
