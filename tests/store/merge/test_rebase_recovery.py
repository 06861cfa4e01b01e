"""A commit of ours that came just before git knew of a rebase, and that `git rebase --abort` took
back with it.
"""

from __future__ import annotations

import shutil

import pytest

from keeplore.memory import new_id
from keeplore.store import Store, create
from keeplore.store.tombstones import Tombstone

AT = "2026-03-01T10:00:00Z"


@pytest.fixture(params=["libgit2", "the user's git"])
def store(request, workspace_dir, template, git):
    options = ["--object-format=sha256"] if request.param == "the user's git" else []
    git(
        "init",
        "-q",
        "-b",
        "main",
        *options,
        str(workspace_dir),
        cwd=workspace_dir.parent,
    )
    create(workspace_dir, template)
    git("branch", "other", cwd=workspace_dir)
    (workspace_dir / "app.py").write_text("ours\n")
    git("add", "app.py", cwd=workspace_dir)
    git("commit", "-qm", "Ours", cwd=workspace_dir)
    git("checkout", "-q", "other", cwd=workspace_dir)
    (workspace_dir / "app.py").write_text("theirs\n")
    git("add", "app.py", cwd=workspace_dir)
    git("commit", "-qm", "Theirs", cwd=workspace_dir)
    git("checkout", "-q", "main", cwd=workspace_dir)
    store = Store(workspace_dir, branch="main", machine="studio")
    store.commit()
    return store


@pytest.fixture
def take_back(store, git):
    """Commit what is on disk, and have a rebase aborted that had noted the branch as it was
    before.
    """

    def run():
        before = git("rev-parse", "main", cwd=store.root)
        assert store.commit().commit
        git("config", "rerere.enabled", "false", cwd=store.root)
        with pytest.raises(AssertionError, match="CONFLICT"):
            git("rebase", "other", cwd=store.root)
        (store.root / ".git" / "rebase-merge" / "orig-head").write_text(f"{before}\n")
        git("rebase", "--abort", cwd=store.root)
        assert git("rev-parse", "main", cwd=store.root) == before

    return run


def in_head(store, git):
    return set(git("ls-tree", "-r", "--name-only", "HEAD", cwd=store.root).splitlines())


def test_what_an_aborted_rebase_took_back_is_committed_again_once(
    store, take_back, note, git
):
    store.record("studio", {"at": AT, "what": "first"})
    changed = store.save(note("It changes"))
    store.commit()
    added = store.save(note("It is new"))
    store.save(note("It changes", body="# It changes\n\nIt is otherwise.\n"))
    store.record("studio", {"at": AT, "what": "second"})
    take_back()
    assert not (store.root / added).exists()
    store.record("studio", {"at": AT, "what": "third"})
    again = store.commit()
    assert {added, changed} < set(again.paths)
    assert added in in_head(store, git)
    assert "otherwise" in git("show", f"HEAD:{changed}", cwd=store.root)
    assert [store.load(path).title for path in (added, changed)] == [
        "It is new",
        "It changes",
    ]
    assert sorted(entry["what"] for entry in store.records()) == [
        "first",
        "second",
        "third",
    ]
    assert git("status", "--porcelain", cwd=store.root) == ""
    for looking in (store, Store(store.root, branch="main", machine="studio")):
        assert looking.commit().commit is None
    git("reset", "-q", "--hard", "HEAD~1", cwd=store.root)
    for looking in (store, Store(store.root, branch="main", machine="studio")):
        assert looking.commit().commit is None
    assert not (store.root / added).exists()


def test_neither_a_persons_reset_nor_another_machines_commit_is_undone(
    store, take_back, note, git
):
    added = store.save(note("It is new"))
    store.commit()
    git("reset", "-q", "--hard", "HEAD~1", cwd=store.root)
    assert store.commit().commit is None
    store.save(note("It is new"))
    take_back()
    assert Store(store.root, branch="main", machine="laptop").commit().commit is None
    assert not (store.root / added).exists()
    assert store.commit().paths == (added,)


def test_what_is_forgotten_does_not_come_back(store, take_back, note, git):
    forgotten = store.save(note("It is forgotten"))
    store.commit()
    store.forget(new_id("It is forgotten"), "studio", AT)
    added = store.save(note("It is new"))
    take_back()
    assert (store.root / forgotten).exists()
    store.tombstones.write(Tombstone(new_id("It is new"), AT, "laptop"))
    store.commit()
    assert not {forgotten, added} & in_head(store, git)
    assert list(store.scan()) == []
    assert store.is_forgotten(new_id("It is forgotten"))


def test_without_a_log_of_the_branch_nothing_is_brought_back_and_commits_go_on(
    store, take_back, note, git
):
    git("config", "core.logAllRefUpdates", "false", cwd=store.root)
    shutil.rmtree(store.root / ".git" / "logs")
    store.save(note("It is new"))
    take_back()
    assert store.commit().commit is None
    assert store.commit().skipped == ()
