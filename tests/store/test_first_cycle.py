"""The first cycle of a process: git tells which of many files are as they were, and is not believed
blindly.
"""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from keeplore.memory import Memory, new_id, new_meta, relative_path, serialise
from keeplore.store import Store
from keeplore.store.commit import ASK_GIT_FROM, indexed


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace of more files than are hashed one by one, all committed."""
    root = tmp_path / "workspace"
    _git(tmp_path, "init", "-q", "-b", "main", str(root))
    for number in range(ASK_GIT_FROM + 5):
        memory = _note(number)
        path = root / relative_path(memory)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(serialise(memory))
        os.utime(path, (1_700_000_000, 1_700_000_000))
    Store(root).commit()
    return root


def test_nothing_differs_for_the_next_process(root: Path) -> None:
    assert len(indexed(root)) == ASK_GIT_FROM + 5
    assert Store(root).commit().commit is None


def test_what_changed_came_and_went_is_seen(root: Path) -> None:
    changed, gone, *_ = sorted(root.rglob("*.md"))
    changed.write_text(changed.read_text() + "More.\n")
    gone.unlink()
    path = Store(root).save(_note(10_000))
    assert set(Store(root).commit().paths) == {
        _relative(root, changed),
        _relative(root, gone),
        path,
    }
    assert _git(root, "status", "--porcelain") == ""


def test_a_change_that_keeps_size_and_time_is_seen(root: Path) -> None:
    file = min(root.rglob("*.md"))
    before = file.stat()
    time.sleep(1.1)  # git compares the times of such changes by the second
    file.write_text(file.read_text().replace("Number", "numbeR"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert Store(root).commit().paths == (_relative(root, file),)


@pytest.mark.parametrize("mark", ["--assume-unchanged", "--skip-worktree"])
def test_what_git_is_told_not_to_look_at_is_looked_at(root: Path, mark: str) -> None:
    file = min(root.rglob("*.md"))
    _git(root, "update-index", mark, _relative(root, file))
    file.write_text(file.read_text() + "More.\n")
    assert _relative(root, file) not in indexed(root)
    assert Store(root).commit().paths == (_relative(root, file),)


def test_what_a_person_staged_is_no_proof_of_what_is_committed(root: Path) -> None:
    file = min(root.rglob("*.md"))
    file.write_text(file.read_text() + "More.\n")
    _git(root, "add", "-N", ".")
    _git(root, "add", _relative(root, file))
    assert Store(root).commit().paths == (_relative(root, file),)
    assert _git(root, "show", f"HEAD:{_relative(root, file)}") == file.read_text()


def _note(number: int) -> Memory:
    meta = new_meta(
        id=new_id("first", str(number)),
        kind="note",
        title=f"Number {number}",
        created_at="2026-02-09T14:03:11Z",
        scope="workspace",
    )
    return Memory(meta, f"# Number {number}\n")


def _relative(root: Path, file: Path) -> str:
    return file.relative_to(root).as_posix()


def _git(root: Path, *arguments: str) -> str:
    return subprocess.run(
        ["git", *arguments], cwd=root, check=True, capture_output=True, text=True
    ).stdout
