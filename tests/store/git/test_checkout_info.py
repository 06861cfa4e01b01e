"""What is told about the code repository around a directory."""

from __future__ import annotations

import pytest

from keeplore.store.git.checkout_info import checkout_info


@pytest.fixture
def project(tmp_path, git):
    root = tmp_path / "my projekt ä"
    root.mkdir()
    git("init", "-q", "-b", "main", cwd=root)
    git("commit", "-q", "--allow-empty", "-m", "First", cwd=root)
    git("commit", "-q", "--allow-empty", "-m", "Second", cwd=root)
    return root


def first_commit(root, git):
    return git("rev-list", "--max-parents=0", "HEAD", cwd=root)


def test_a_directory_below_the_top_tells_of_its_repository(project, git):
    git("remote", "add", "origin", "git@example.invalid:me/x.git", cwd=project)
    below = project / "src" / "deep"
    below.mkdir(parents=True)
    found = checkout_info(below)
    assert found is not None
    assert (found.top, found.main, found.branch) == (project, project, "main")
    assert found.remotes == {"origin": "git@example.invalid:me/x.git"}
    assert found.head == git("rev-parse", "HEAD", cwd=project)
    assert found.root_commit == first_commit(project, git) != found.head


def test_worktrees_share_their_main_worktree_and_first_commit(project, git, tmp_path):
    git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"), cwd=project)
    found = checkout_info(tmp_path / "side")
    assert found is not None
    assert (found.top, found.main, found.branch) == (tmp_path / "side", project, "side")
    assert found.root_commit == first_commit(project, git)


def test_worktrees_of_a_bare_repository_share_its_directory(project, git, tmp_path):
    bare = tmp_path / "x.git"
    git("clone", "-q", "--bare", str(project), str(bare), cwd=tmp_path)
    git("worktree", "add", "-q", str(tmp_path / "tree"), "main", cwd=bare)
    found = checkout_info(tmp_path / "tree")
    assert found is not None and found.main == bare


def test_a_submodule_is_a_repository_of_its_own(project, git, tmp_path):
    git(
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        str(project),
        "part",
        cwd=project,
    )
    found = checkout_info(project / "part")
    assert found is not None
    assert found.top == found.main == project / "part"


def test_a_repository_without_a_commit_has_no_head(tmp_path, git):
    git("init", "-q", "-b", "trunk", cwd=tmp_path)
    found = checkout_info(tmp_path)
    assert found is not None
    assert (found.branch, found.head, found.root_commit) == ("trunk", "", "")


def test_a_detached_head_is_on_no_branch(project, git):
    git("checkout", "-q", "--detach", cwd=project)
    found = checkout_info(project)
    assert found is not None and found.branch == "" and found.head


def test_a_shallow_clone_does_not_know_its_first_commit(project, git, tmp_path):
    git("clone", "-q", "--depth", "1", project.as_uri(), "shallow", cwd=tmp_path)
    found = checkout_info(tmp_path / "shallow")
    assert found is not None and found.root_commit == "" and found.head


def test_where_libgit2_cannot_read_the_users_git_tells_the_same(tmp_path, git):
    git("init", "-q", "-b", "main", "--object-format=sha256", cwd=tmp_path)
    git("commit", "-q", "--allow-empty", "-m", "First", cwd=tmp_path)
    git("remote", "add", "origin", "https://example.invalid/x", cwd=tmp_path)
    found = checkout_info(tmp_path)
    assert found is not None
    assert (found.branch, found.remotes) == (
        "main",
        {"origin": "https://example.invalid/x"},
    )
    assert found.root_commit == found.head and len(found.head) == 64


def test_outside_of_a_repository_and_in_a_broken_one_there_is_nothing_to_tell(
    tmp_path, git
):
    assert checkout_info(tmp_path) is None
    assert checkout_info(tmp_path / "missing") is None
    (tmp_path / ".git").write_text("gitdir: nowhere\n")
    assert checkout_info(tmp_path) is None


def test_programs_that_a_repository_names_are_not_run(project, git, tmp_path):
    mark = tmp_path / "ran"
    for key in ("core.fsmonitor", "core.sshCommand", "credential.helper", "core.pager"):
        git("config", key, f"touch '{mark}'", cwd=project)
    git("config", "extensions.partialClone", "origin", cwd=project)
    assert checkout_info(project) is not None
    assert not mark.exists()


def test_a_repository_of_the_home_directory_is_around_its_own_files_alone(
    tmp_path, git, monkeypatch
):
    home = tmp_path / "anna"
    for name in ("code/shop/src", ".config/vim"):
        (home / name).mkdir(parents=True)
    (home / ".config" / "vim" / "vimrc").write_text("set number\n")
    git("init", "-q", "-b", "main", cwd=home)
    git("add", "-f", ".config", cwd=home)
    git("commit", "-q", "-m", "Settings", cwd=home)
    monkeypatch.setenv("HOME", str(home))
    around = {home / name for name in ("", ".config", ".config/vim")}
    beside = {home / name for name in ("code", "code/shop", "code/shop/src")}
    found = {place for place in around | beside if checkout_info(place)}
    assert found == around
    monkeypatch.setenv("HOME", str(tmp_path))
    assert all(map(checkout_info, beside))
