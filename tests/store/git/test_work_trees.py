"""The work trees of a repository and their branches, as git's own files have them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from keeplore.store.git.work_trees import WorkTree, work_tree_of, work_trees


@pytest.fixture
def top(tmp_path: Path, git: Callable[..., str]) -> Path:
    """A repository with linked work trees: on a branch, on none, and one that is gone."""
    top = (tmp_path / "code").resolve()
    git("init", "-q", top, cwd=tmp_path)
    git("commit", "-q", "--allow-empty", "-m", "first", cwd=top)
    git("worktree", "add", "-q", "-b", "fix/a", "../linked", cwd=top)
    git("worktree", "add", "-q", "--detach", "../apart", cwd=top)
    git("worktree", "add", "-q", "-b", "gone", "../gone", cwd=top)
    shutil.rmtree(tmp_path / "gone")
    (top / "below").mkdir()
    return top


def test_each_that_exists_with_its_branch_the_main_one_first(
    top: Path, tmp_path: Path
) -> None:
    above = top.parent
    assert [*work_trees(top)] == [
        WorkTree(top, top, "main"),
        WorkTree(above / "apart", top, ""),
        WorkTree(above / "linked", top, "fix/a"),
    ]
    assert [*work_trees(tmp_path / "none")] == []


def test_the_one_that_a_directory_is_in(top: Path) -> None:
    above = top.parent
    assert work_tree_of(top / "below") == WorkTree(top, top, "main")
    assert work_tree_of(above / "linked") == WorkTree(above / "linked", top, "fix/a")
    assert work_tree_of(above / "apart") == WorkTree(above / "apart", top, "")
    assert work_tree_of(above) is None


def test_those_of_a_bare_repository(top: Path, git: Callable[..., str]) -> None:
    bare = top.parent / "bare.git"
    git("clone", "-q", "--bare", top, bare, cwd=top.parent)
    git("worktree", "add", "-q", "../of-bare", "main", cwd=bare)
    (found,) = work_trees(bare)
    assert (found.top, found.branch) == (top.parent / "of-bare", "main")
