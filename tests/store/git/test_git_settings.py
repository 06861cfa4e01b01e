"""What git says of its settings is asked once, and again where it may be otherwise."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from keeplore.store.git import git_settings
from keeplore.store.git.git_settings import settings

Git = Callable[..., str]
NAME = r"^user\.name$"


@pytest.fixture
def project(tmp_path: Path, git: Git) -> Path:
    git("init", "-q", str(tmp_path / "project"), cwd=tmp_path)
    return tmp_path / "project"


@pytest.fixture
def starts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The commands of git that were started."""
    commands: list[str] = []
    run = git_settings.run

    def noted(root: Path, command: str, **options: object) -> object:
        commands.append(command)
        return run(root, command, **options)

    monkeypatch.setattr(git_settings, "run", noted)
    return commands


def named(project: Path) -> list[str]:
    return [value for _, value in settings(project, NAME)]


def test_git_is_asked_once_and_all_that_it_says_stays_in_its_order(
    project: Path, git: Git, starts: list[str]
) -> None:
    git("config", "user.name", "Ann of here", cwd=project)
    git("config", "remote.Two.url", "a\nb", cwd=project)
    with (project / ".git" / "config").open("a") as file:
        file.write("[commit]\n\tgpgSign\n")
    for _ in range(3):
        assert named(project) == ["Test Person", "Ann of here"]
        assert settings(project, r"^remote\..*\.url$") == [("remote.Two.url", "a\nb")]
        assert settings(project, "gpgsign") == [("commit.gpgsign", "true")]
    assert len(starts) == 1


def test_whatever_file_says_otherwise_is_heard(
    project: Path, git: Git, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert named(project) == ["Test Person"]
    git("config", "--global", "user.name", "Another Person", cwd=project)
    assert named(project) == ["Another Person"]
    git("config", "user.name", "Here", cwd=project)
    assert named(project) == ["Another Person", "Here"]
    git("config", "extensions.worktreeConfig", "true", cwd=project)
    git("config", "--worktree", "user.name", "In This Tree", cwd=project)
    assert named(project) == ["Another Person", "Here", "In This Tree"]
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    assert named(project) == ["Here", "In This Tree"]
    monkeypatch.delenv("GIT_CONFIG_GLOBAL")
    (home / ".config" / "git").mkdir(parents=True)
    (home / ".config" / "git" / "config").write_text("[user]\n\tname = By XDG\n")
    assert named(project) == ["By XDG", "Another Person", "Here", "In This Tree"]


def test_a_linked_worktree_hears_its_own_and_the_shared_ones(
    project: Path, git: Git, tmp_path: Path
) -> None:
    git("commit", "-q", "--allow-empty", "-m", "Begin", cwd=project)
    git("config", "extensions.worktreeConfig", "true", cwd=project)
    git("worktree", "add", "-q", str(tmp_path / "linked"), cwd=project)
    linked = tmp_path / "linked"
    assert named(linked) == ["Test Person"]
    git("config", "user.name", "Shared", cwd=project)
    assert named(linked) == ["Test Person", "Shared"]
    git("config", "--worktree", "user.name", "Linked", cwd=linked)
    assert named(linked) == ["Test Person", "Shared", "Linked"]
    assert named(project) == ["Test Person", "Shared"]


def test_an_included_file_counts_from_the_moment_that_it_is_there(
    project: Path, git: Git, tmp_path: Path
) -> None:
    included = tmp_path / "work.gitconfig"
    condition = f"includeIf.gitdir:{project}/.path"
    git("config", "--global", condition, str(included), cwd=project)
    assert named(project) == ["Test Person"]
    included.write_text("[user]\n\tname = At Work\n")
    assert named(project) == ["Test Person", "At Work"]
    included.write_text("[user]\n\tname = At Home\n")
    assert named(project) == ["Test Person", "At Home"]
