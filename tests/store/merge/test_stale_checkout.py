"""A git command of the person's that looks at the branch, is overtaken by a commit of ours, and then
writes index and files as they were before.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from refusals import refused

from keeplore.errors import RepositoryBusy
from keeplore.store import Store, commit, create
from keeplore.store.merge.stale_checkout import WINDOW_S

AT = "2026-03-01T10:00:00Z"
# git runs `git stash create` between its look and its lock of the index
WAITING_GIT = """#!/bin/sh
if [ "$1 $2" = "stash create" ]; then echo > {looked}; read go < {go_on}; fi
exec {git} "$@"
"""


@pytest.fixture(params=["libgit2", "the user's git"])
def store(request, workspace_dir, template, git):
    """A workspace in which the branches main and topic have changed app.py in places of their
    own.
    """
    is_plain = request.param == "libgit2"
    options = [] if is_plain else ["--object-format=sha256"]
    git("init", "-qb", "main", *options, str(workspace_dir), cwd=workspace_dir.parent)
    create(workspace_dir, template)

    def change(text: str, message: str) -> None:
        (workspace_dir / "app.py").write_text(text)
        git("add", "app.py", cwd=workspace_dir)
        git("commit", "-qm", message, cwd=workspace_dir)

    change("a\nb\nc\nd\ne\n", "Start")
    git("checkout", "-qb", "topic", cwd=workspace_dir)
    change("a\nb\nc\nd\nE\n", "Theirs")
    git("checkout", "-q", "main", cwd=workspace_dir)
    change("A\nb\nc\nd\ne\n", "Ours")
    store = fresh(workspace_dir)
    store.commit()
    return store


def fresh(root: Path) -> Store:
    return Store(root, branch="main", machine="studio")


class Work:
    """A memory that is new, one that changes and one that is forgotten."""

    def __init__(self, store: Store, note) -> None:
        self.store, self.note = store, note
        self.gone = note("It goes")
        self.old = store.save(self.gone)
        self.changed = store.save(note("It changes"))
        self.new = ""
        store.commit()

    def write(self) -> None:
        self.new = self.store.save(self.note("It is new"))
        other = self.note("It changes", body="# It changes\n\nIt is otherwise.\n")
        self.store.save(other)

    def do(self) -> None:
        self.write()
        self.store.forget(self.gone.id, "studio", AT)
        self.store.commit()

    def check(self, git) -> None:
        """Whether all of it is on disk, in HEAD and in the index."""
        root = self.store.root
        memories = {file.path: self.store.load(file.path) for file in self.store.scan()}
        assert {path: memory.title for path, memory in memories.items()} == {
            self.new: "It is new",
            self.changed: "It changes",
        }
        assert "otherwise" in memories[self.changed].body
        assert self.store.is_forgotten(self.gone.id)
        listed = git("ls-tree", "-r", "--name-only", "HEAD", "memory", cwd=root)
        assert listed.splitlines() == sorted(memories)
        assert git("status", "--porcelain", "--", "memory", "forgotten", cwd=root) == ""


@pytest.fixture
def work(store, note):
    return Work(store, note)


def test_a_merge_that_was_overtaken_can_be_concluded(store, work, git, tmp_path):
    binaries, own = Path(git("--exec-path", cwd=store.root)), tmp_path / "exec"
    own.mkdir()
    for program in binaries.iterdir():
        if program.name != "git":
            (own / program.name).symlink_to(program)
    looked, go_on = tmp_path / "looked", tmp_path / "go-on"
    os.mkfifo(looked)
    os.mkfifo(go_on)
    waiting = WAITING_GIT.format(looked=looked, go_on=go_on, git=shutil.which("git"))
    (own / "git").write_text(waiting)
    (own / "git").chmod(0o755)
    merge = subprocess.Popen(
        ["git", "merge", "--no-edit", "topic"],
        cwd=store.root,
        env={**os.environ, "GIT_EXEC_PATH": str(own)},
        stderr=subprocess.PIPE,
    )
    looked.read_text()
    work.do()
    go_on.write_text("\n")
    assert b"cannot lock ref 'HEAD'" in merge.communicate()[1]
    said = (
        f"a merge is under way in {store.root}. "
        "Finish it; what was written since is on disk and is committed afterwards"
    )
    with refused(RepositoryBusy, said):
        fresh(store.root).commit()
    git("commit", "-q", "--no-edit", cwd=store.root)
    assert work.new not in git("ls-tree", "-r", "--name-only", "HEAD", cwd=store.root)
    fresh(store.root).commit()
    work.check(git)
    assert (store.root / "app.py").read_text() == "A\nb\nc\nd\nE\n"


def test_an_index_that_git_wrote_without_our_commit_gets_it_again(store, work, git):
    """As a fast-forward does, which reads the index before it locks it."""
    index = store.root / ".git" / "index"
    before = index.read_bytes()
    work.do()
    index.write_bytes(before)
    status = git("status", "--porcelain", "--", "memory", "forgotten", cwd=store.root)
    assert len(status.splitlines()) == 5
    assert fresh(store.root).commit().commit is None
    work.check(git)


@pytest.mark.parametrize("is_edited", [False, True], ids=["clean", "edited"])
def test_what_a_failing_merge_takes_from_the_disk_is_there_again(
    store, work, git, monkeypatch, is_edited
):
    """The commands are those of ``save_state`` and ``restore_state`` in git's builtin/merge.c."""
    if is_edited:
        (store.root / "app.py").write_text("edited\n")
    before = git("rev-parse", "HEAD", cwd=store.root)
    stash = git("stash", "create", cwd=store.root)
    assert bool(stash) == is_edited
    work.do()
    git("read-tree", "-v", "--reset", "-u", before, cwd=store.root)
    if stash:
        monkeypatch.setenv("GIT_REFLOG_ACTION", "merge topic")
        git("stash", "apply", "--index", "--quiet", stash, cwd=store.root)
    assert not (store.root / work.new).exists()
    assert not store.is_forgotten(work.gone.id)
    fresh(store.root).commit()
    work.check(git)
    if is_edited:
        assert (store.root / "app.py").read_text() == "edited\n"
    assert fresh(store.root).commit().commit is None


def test_what_a_stash_has_noted_as_removed_is_there_again(store, work, git):
    """A stash that read the index before a commit of ours and HEAD after it."""
    index = store.root / ".git" / "index"
    before = index.read_bytes()
    work.write()
    store.commit()
    now = index.read_bytes()
    (store.root / "app.py").write_text("edited\n")
    index.write_bytes(before)
    git("stash", "push", "-q", "--", "app.py", cwd=store.root)
    index.write_bytes(now)
    git("checkout", "-q", "HEAD", "--", "memory", cwd=store.root)
    git("stash", "pop", "-q", cwd=store.root)
    assert not (store.root / work.new).exists()
    fresh(store.root).commit()
    store.forget(work.gone.id, "studio", AT)
    fresh(store.root).commit()
    work.check(git)
    assert (store.root / "app.py").read_text() == "edited\n"


def test_what_git_takes_while_a_cycle_looks_is_there_again(
    store, work, git, monkeypatch
):
    """The index that it wrote in the end was not looked after: the disk had been read before."""
    before = git("rev-parse", "HEAD", cwd=store.root)
    work.do()
    (store.root / "app.py").write_text("edited\n")
    git("add", "app.py", cwd=store.root)
    seen_by_us, looks = commit._files_and_blob_ids, []

    def overtaken(*arguments):
        looks.append(seen_by_us(*arguments))
        if len(looks) == 1:
            git("read-tree", "--reset", "-u", before, cwd=store.root)
        return looks[-1]

    monkeypatch.setattr(commit, "_files_and_blob_ids", overtaken)
    fresh(store.root).commit()
    work.check(git)


def test_what_a_person_takes_back_later_stays_so(store, work, git):
    work.do()
    index = store.root / ".git" / "index"
    later = index.stat().st_mtime + WINDOW_S + 10
    git("checkout", "-q", "HEAD~1", "--", work.changed, cwd=store.root)
    git("rm", "-q", work.new, cwd=store.root)
    os.utime(index, (later, later))
    assert set(fresh(store.root).commit().paths) == {work.changed, work.new}
    assert not (store.root / work.new).exists()


def test_what_is_removed_again_stays_so(store, work, git):
    work.do()
    git("rm", "-q", work.new, cwd=store.root)
    fresh(store.root).commit()
    (store.root / work.new).unlink()
    assert fresh(store.root).commit().paths == (work.new,)


def test_what_is_only_removed_from_the_disk_stays_so(store, work):
    work.do()
    (store.root / work.new).unlink()
    assert fresh(store.root).commit().paths == (work.new,)


def test_what_keeplore_itself_removes_or_gives_an_earlier_text_stays_so(
    store, work, git
):
    work.do()
    (store.root / "app.py").write_text("edited\n")
    git("add", "app.py", cwd=store.root)
    before = git("show", f"HEAD~1:{work.changed}", cwd=store.root)
    store.write_text(work.changed, f"{before}\n")
    store.remove(work.new)
    assert set(store.commit().paths) == {work.changed, work.new}


def test_a_file_that_was_moved_stays_at_its_new_place(store, work, git):
    work.do()
    (store.root / "app.py").write_text("edited\n")
    git("add", "app.py", cwd=store.root)
    store.move(work.new, "memory/gotchas/elsewhere.md")
    paths = {work.new, "memory/gotchas/elsewhere.md"}
    assert set(fresh(store.root).commit().paths) == paths
