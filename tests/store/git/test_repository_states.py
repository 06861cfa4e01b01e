"""Every state that a repository can be in, and what a commit does in it: the table says it all."""

from __future__ import annotations

import gc
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pygit2
import pytest
from refusals import refused

from keeplore.errors import RepositoryBusy, RepositoryError
from keeplore.store import Store, create
from keeplore.store.git.libgit_backend import LibgitBackend
from keeplore.store.repository_state import directories

Git = Callable[..., str]


@dataclass(frozen=True)
class Row:
    prepare: Callable[[Path, Git], None]
    expected: str  # "commits", or the words of the error
    error: type[Exception] = RepositoryBusy
    release: Callable[[Path, Git], None] | None = (
        None  # what the person does then, after which it commits
    )


def attempt(*command: str, root: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=root, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )


def other_branch(root: Path, git: Git, name: str) -> None:
    """A branch whose last commit conflicts with main's in app.py. Nothing that is staged or edited
    takes part.
    """
    git("stash", "-q", cwd=root)
    git("checkout", "-qb", "other", cwd=root)
    (root / "app.py").write_text(f"{name}\n")
    git("commit", "-qam", "Theirs", cwd=root)
    git("checkout", "-q", "main", cwd=root)
    (root / "app.py").write_text("ours\n")
    git("commit", "-qam", "Ours", cwd=root)


def merging(root: Path, git: Git) -> None:
    other_branch(root, git, "merge")
    assert attempt("git", "merge", "other", root=root).returncode == 1


def rebasing(root: Path, git: Git) -> None:
    other_branch(root, git, "rebase")
    assert attempt("git", "rebase", "other", root=root).returncode == 1


def rebasing_by_apply(root: Path, git: Git) -> None:
    other_branch(root, git, "apply")
    assert attempt("git", "rebase", "--apply", "other", root=root).returncode == 1


def picking(root: Path, git: Git) -> None:
    other_branch(root, git, "pick")
    assert attempt("git", "cherry-pick", "other", root=root).returncode == 1


def reverting(root: Path, git: Git) -> None:
    other_branch(root, git, "revert")
    (root / "app.py").write_text("later\n")
    git("commit", "-qam", "Later", cwd=root)
    assert attempt("git", "revert", "--no-edit", "HEAD~1", root=root).returncode == 1


def bisecting(root: Path, git: Git) -> None:
    git("stash", "-q", cwd=root)
    git("bisect", "start", cwd=root)


def bisecting_on_branch(root: Path, git: Git) -> None:
    git("bisect", "start", cwd=root)


def detached(root: Path, git: Git) -> None:
    git("checkout", "-q", "--detach", cwd=root)


def on_other_branch(root: Path, git: Git) -> None:
    git("checkout", "-qb", "feature", cwd=root)


def back_on_main(root: Path, git: Git) -> None:
    git("checkout", "-q", "main", cwd=root)


def held_index(root: Path, git: Git) -> None:
    (root / ".git" / "index.lock").write_bytes(b"")


def held_ref(root: Path, git: Git) -> None:
    (root / ".git" / "refs" / "heads" / "main.lock").write_bytes(b"")


def unmerged_index(root: Path, git: Git) -> None:
    other_branch(root, git, "unmerged")
    attempt("git", "merge", "other", root=root)
    (root / ".git" / "MERGE_HEAD").unlink()


def sparse(root: Path, git: Git) -> None:
    git("sparse-checkout", "set", "--no-cone", "/*", "!/left-out/", cwd=root)


def sparse_index(root: Path, git: Git) -> None:
    git("stash", "-q", cwd=root)
    git("sparse-checkout", "set", "--cone", "--sparse-index", "memory", cwd=root)


def split_index(root: Path, git: Git) -> None:
    git("update-index", "--split-index", cwd=root)


def index_version_four(root: Path, git: Git) -> None:
    git("update-index", "--index-version", "4", cwd=root)


def signing_without_key(root: Path, git: Git) -> None:
    git("config", "commit.gpgsign", "true", cwd=root)
    git("config", "user.signingkey", "DEADBEEF", cwd=root)


def no_signing(root: Path, git: Git) -> None:
    git("config", "commit.gpgsign", "false", cwd=root)


def failing_git_hooks(root: Path, git: Git) -> None:
    for name in (
        "pre-commit",
        "commit-msg",
        "prepare-commit-msg",
        "post-commit",
        "reference-transaction",
        "post-merge",
    ):
        hook = root / ".git" / "hooks" / name
        hook.write_text('#!/bin/sh\ntouch "$(git rev-parse --git-dir)/ran"\nexit 1\n')
        hook.chmod(0o755)


def without_identity(root: Path, git: Git) -> None:
    Path(os.environ["GIT_CONFIG_GLOBAL"]).write_text("")


def partial_clone(root: Path, git: Git) -> None:
    git("config", "core.repositoryformatversion", "1", cwd=root)
    git("config", "extensions.partialClone", "origin", cwd=root)


def packed(root: Path, git: Git) -> None:
    git("gc", "-q", cwd=root)


def untracked_cache(root: Path, git: Git) -> None:
    git("update-index", "--force-untracked-cache", cwd=root)


def clean(root: Path, git: Git) -> None:
    git("stash", "-q", cwd=root)


def nothing(root: Path, git: Git) -> None:
    """The person's work of the fixture: staged, unstaged, both, untracked, removed."""


UNDER_WAY = (
    "{} is under way in {{root}}. Finish it; what was written since is on disk and is committed "
    "afterwards"
)
ON_DISK = "what was written is on disk and is committed then"
HELD = (
    "a git command holds {{root}}/{0}, for \\d+ s. Nothing is lost; it is tried again soon. If no git "
    "command runs there, a killed one left it: `rm '{{root}}/{0}'`"
)
STATES = {
    "clean": Row(clean, "commits"),
    "dirty in every way": Row(nothing, "commits"),
    "merge": Row(merging, UNDER_WAY.format("a merge")),
    "rebase": Row(rebasing, UNDER_WAY.format("a rebase")),
    "rebase by apply": Row(rebasing_by_apply, UNDER_WAY.format("a rebase or `git am`")),
    "cherry-pick": Row(picking, UNDER_WAY.format("a cherry-pick")),
    "revert": Row(reverting, UNDER_WAY.format("a revert")),
    "bisect": Row(bisecting, UNDER_WAY.format("a bisect")),
    "bisect on the branch": Row(
        bisecting_on_branch,
        UNDER_WAY.format("a bisect"),
        release=lambda r, g: g("bisect", "reset", cwd=r),
    ),
    "detached HEAD": Row(
        detached,
        f"{{root}} is on no branch. Check out a branch; {ON_DISK}",
        release=back_on_main,
    ),
    "another branch": Row(
        on_other_branch,
        "{root} is on branch feature, and Keeplore commits on main. Check out main, or set "
        f"`branch: feature` in keeplore.yaml; {ON_DISK}",
        release=back_on_main,
    ),
    "index locked": Row(
        held_index,
        HELD.format(".git/index.lock"),
        release=lambda r, g: (r / ".git/index.lock").unlink(),
    ),
    "ref locked": Row(
        held_ref,
        HELD.format(".git/refs/heads/main.lock"),
        release=lambda r, g: (r / ".git/refs/heads/main.lock").unlink(),
    ),
    "unmerged entries": Row(
        unmerged_index,
        "unresolved conflicts are in the index. Resolve them; nothing is lost",
    ),
    "sparse checkout": Row(sparse, "commits"),
    "sparse index": Row(sparse_index, "commits"),
    "split index": Row(split_index, "commits"),
    "index version 4": Row(index_version_four, "commits"),
    "signing without a key": Row(
        signing_without_key,
        "git could not make a commit: .*Unlock the key's agent, or set `commit.gpgsign` to false in "
        "this repository",
        RepositoryError,
        no_signing,
    ),
    "git hooks that fail": Row(failing_git_hooks, "commits"),
    "no identity": Row(without_identity, "commits"),
    "partial clone": Row(partial_clone, "commits"),
    "packed": Row(packed, "commits"),
    "untracked cache": Row(untracked_cache, "commits"),
}


@pytest.mark.parametrize("row", STATES.values(), ids=STATES.keys())
def test_a_commit_does_what_the_table_says_and_leaves_the_persons_work_alone(
    row, store, person, note, git
):
    row.prepare(store.root, git)
    path = store.save(note("A memory of this state"))
    text = (store.root / path).read_bytes()
    before, head = person(), store.head()
    if row.expected == "commits":
        committed = store.commit()
        assert committed.paths == (path,)
        expect_committed(store, git, path, head)
    else:
        with pytest.raises(row.error) as caught:
            store.commit()
        said = row.expected.format(root=re.escape(str(store.root)))
        assert re.fullmatch(said, str(caught.value))
        assert store.head() == head
    assert person() == before
    assert (store.root / path).read_bytes() == text
    if row.release:
        row.release(store.root, git)
        head = store.head()
        assert store.commit().paths == (path,)
        expect_committed(store, git, path, head)


def expect_committed(store: Store, git: Git, path: str, parent: str) -> None:
    """One commit on top, of this path alone, which index and working tree agree with."""
    root = store.root
    assert git("rev-parse", "HEAD~1", cwd=root) == parent
    assert git("diff-tree", "-r", "--name-only", "HEAD~1", "HEAD", cwd=root) == path
    assert git("status", "--porcelain", "--", path, cwd=root) == ""
    assert git("show", f"HEAD:{path}", cwd=root) == (root / path).read_text().rstrip(
        "\n"
    )
    assert "error" not in git("fsck", "--no-progress", "--no-dangling", cwd=root)
    assert store.commit().commit is None
    assert not (root / ".git" / "ran").exists()
    assert not list((root / ".git").glob("*.lock"))


def test_files_that_a_sparse_checkout_leaves_out_are_not_taken_for_removed(
    store, note, git
):
    path = store.save(note("Left out"))
    store.commit()
    git("sparse-checkout", "set", "--no-cone", "/*", "!/memory/", cwd=store.root)
    assert not (store.root / path).exists()
    other = store.save(note("Another one", scope="project", project="kasha"))
    assert store.commit().paths == (other,)
    assert git("cat-file", "-t", f"HEAD:{path}", cwd=store.root) == "blob"


def test_a_repository_with_sha256_is_committed_by_the_users_git(
    tmp_path, template, note, git
):
    root = tmp_path / "sha256"
    root.mkdir()
    git("init", "-q", "-b", "main", "--object-format=sha256", cwd=root)
    store = create(root, template)
    path = store.save(note("Longer names"))
    assert len(store.commit().commit) == 64
    store.save(note("Longer names", body="changed\n"))
    head = store.head()
    store.commit()
    expect_committed(store, git, path, head)


def test_a_repository_with_reftable_is_committed_by_the_users_git(
    tmp_path, template, note, git
):
    root = tmp_path / "reftable"
    root.mkdir()
    if attempt(
        "git", "init", "-q", "-b", "main", "--ref-format=reftable", root=root
    ).returncode:
        pytest.skip("this git is older than 2.45 and knows no reftable")
    store = create(root, template)
    path = store.save(note("In a table"))
    head = store.head()
    store.commit()
    expect_committed(store, git, path, head)


def test_the_first_commit_of_a_repository_holds_our_files_alone(
    tmp_path, template, note, git
):
    git("init", "-q", "-b", "main", str(tmp_path), cwd=tmp_path)
    (tmp_path / "app.py").write_text("staged\n")
    git("add", "app.py", cwd=tmp_path)
    store = Store(tmp_path, branch="main")
    path = store.save(note("Before everything"))
    assert store.head() == ""
    assert store.commit().paths == (path,)
    assert git("ls-tree", "-r", "--name-only", "HEAD", cwd=tmp_path) == path
    assert git("status", "--porcelain", cwd=tmp_path) == "A  app.py"


def test_a_linked_worktree_is_committed_on_its_own_branch(store, note, git, tmp_path):
    place = tmp_path / "second tree"
    git("worktree", "add", "-q", "-b", "memory", str(place), cwd=store.root)
    (place / "app.py").write_text("staged\n")
    git("add", "app.py", cwd=place)
    linked = Store(place, branch="memory")
    main = store.head()
    path = linked.save(note("In a worktree"))
    assert linked.commit().paths == (path,)
    assert git("status", "--porcelain", cwd=place) == "A  app.py"
    assert (store.head(), git("rev-parse", "main", cwd=store.root)) == (main, main)
    assert (
        git("diff-tree", "-r", "--name-only", "main", "memory", "--", cwd=place) == path
    )


def test_a_file_that_a_filter_encrypts_is_never_stored_in_the_clear(store, note, git):
    secret = "plain words"
    git("config", "filter.turn.clean", "tr a-z n-za-m", cwd=store.root)
    git("config", "filter.turn.smudge", "tr a-z n-za-m", cwd=store.root)
    (store.root / ".gitattributes").write_text("memory/** filter=turn\n")
    path = store.save(note("Filtered", body=f"{secret}\n"))
    assert store.commit().paths == (path,)
    assert secret not in git("cat-file", "-p", f"HEAD:{path}", cwd=store.root)
    assert secret in git("cat-file", "--filters", f"HEAD:{path}", cwd=store.root)
    dump = ["git", "cat-file", "--batch-all-objects", "--batch"]
    assert (
        secret.encode()
        not in subprocess.run(
            dump, cwd=store.root, capture_output=True, check=True
        ).stdout
    )
    assert git("status", "--porcelain", "--", path, cwd=store.root) == ""
    assert store.commit().commit is None


def test_a_file_whose_filter_is_broken_is_not_committed_and_named(store, note, git):
    git("config", "filter.broken.clean", "false", cwd=store.root)
    git("config", "filter.broken.required", "true", cwd=store.root)
    (store.root / ".gitattributes").write_text("memory/** filter=broken\n")
    store.save(note("Filtered"))
    head = store.head()
    with pytest.raises(RepositoryError, match="broken"):
        store.commit()
    assert store.head() == head


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="needs ssh-keygen")
def test_commits_are_signed_where_the_person_signs(store, note, git, tmp_path):
    key = tmp_path / "key"
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True
    )
    for name, value in (
        ("gpg.format", "ssh"),
        ("user.signingkey", f"{key}.pub"),
        ("commit.gpgsign", "true"),
    ):
        git("config", name, value, cwd=store.root)
    path = store.save(note("Signed"))
    head = store.head()
    store.commit()
    expect_committed(store, git, path, head)
    assert "-----BEGIN SSH SIGNATURE-----" in git(
        "cat-file", "-p", "HEAD", cwd=store.root
    )


def test_a_lock_that_is_released_soon_is_waited_for(store, note):
    lock = store.root / ".git" / "index.lock"
    lock.write_bytes(b"")
    timer = threading.Timer(0.2, lock.unlink)
    timer.start()
    path = store.save(note("Waiting"))
    assert store.commit().paths == (path,)
    timer.join()


def test_a_directory_without_a_repository_is_refused_with_the_command_that_helps(
    tmp_path,
):
    with refused(RepositoryError, no_repository(tmp_path)):
        Store(tmp_path).commit()


def no_repository(root: Path) -> str:
    return f"{root} is not a git repository. Run `keeplore init {root}`"


def test_a_workspace_inside_another_repository_never_commits_there(tmp_path, git, note):
    git("init", "-q", str(tmp_path), cwd=tmp_path)
    (tmp_path / "inner").mkdir()
    inner = Store(tmp_path / "inner")
    inner.save(note("Inner"))
    with refused(RepositoryError, no_repository(inner.root)):
        inner.commit()
    assert git("status", "--porcelain", cwd=tmp_path) == "?? inner/"


def test_an_index_that_cannot_be_read_is_said_once(store, monkeypatch):
    said = []
    monkeypatch.setattr(sys, "unraisablehook", said.append)
    broken = store.root / ".git" / "index"
    broken.write_bytes(b"DIRC broken" * 20)
    backend = LibgitBackend(store.root, directories(store.root), store.cache)
    with pytest.raises(pygit2.GitError, match="invalid data in index"):
        backend.has_unmerged(broken)
    gc.collect()  # what was half made goes away in silence
    assert said == []
