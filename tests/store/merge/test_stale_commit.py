"""A person commits what a git command of theirs has noted that a commit of ours overtook."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from keeplore.errors import RepositoryBusy
from keeplore.store import Store, create
from keeplore.store.commit_cycle import BY_US
from keeplore.store.git.ref_log import last_entries
from keeplore.store.merge.stale_checkout import WINDOW_S

AT = "2026-03-01T10:00:00Z"


@pytest.fixture(params=["libgit2", "the user's git"])
def store(request, workspace_dir: Path, template: Path, git) -> Store:
    """A workspace with app.py of the person's."""
    is_plain = request.param == "libgit2"
    options = [] if is_plain else ["--object-format=sha256"]
    git("init", "-qb", "main", *options, str(workspace_dir), cwd=workspace_dir.parent)
    create(workspace_dir, template)
    (workspace_dir / "app.py").write_text("a\n")
    git("add", "app.py", cwd=workspace_dir)
    git("commit", "-qm", "Start", cwd=workspace_dir)
    return fresh(workspace_dir)


def fresh(root: Path) -> Store:
    return Store(root, branch="main", machine="studio")


class OvertakenStash:
    """A stash of app.py that is popped, and whose git had read the index before our last commit and
    HEAD after it: disk and index are without what that commit wrote.
    """

    def __init__(self, store: Store, note: Callable, git: Callable) -> None:
        self.store, self.note, self._git = store, note, git
        self.root = store.root
        self.gone = note("It goes")
        store.save(self.gone)
        self.changed = store.save(note("It changes"))
        store.commit()
        self.new = ""

    def git(self, *arguments: str) -> str:
        return self._git(*arguments, cwd=self.root)

    def pop(self) -> None:
        index = self.root / ".git" / "index"
        before = index.read_bytes()
        self.write()
        now = index.read_bytes()
        (self.root / "app.py").write_text("edited\n")
        index.write_bytes(before)
        self.git("stash", "push", "-q", "--", "app.py")
        index.write_bytes(now)
        self.git("checkout", "-q", "HEAD", "--", "memory", "forgotten")
        self.git("stash", "pop", "-q")
        self.git("checkout", "-q", "HEAD~1", "--", self.changed)
        self.git("add", "--all", "memory", "forgotten")
        assert not (self.root / self.new).exists()

    def write(self) -> None:
        """One commit of ours: a memory that is new, one that changes, one that is forgotten."""
        self.new = self.store.save(self.note("It is new"))
        body = "# It changes\n\nIt is otherwise.\n"
        self.store.save(self.note("It changes", body=body))
        self.store.forget(self.gone.id, "studio", AT)
        self.store.commit()

    def is_whole(self) -> bool:
        """Whether all of it is on disk, in HEAD and in the index, and app.py as the person left
        it.
        """
        held = {file.path: self.store.load(file.path) for file in self.store.scan()}
        titles = {path: memory.title for path, memory in held.items()}
        listed = self.git("ls-tree", "-r", "--name-only", "HEAD", "memory")
        return (
            titles == {self.new: "It is new", self.changed: "It changes"}
            and "otherwise" in held[self.changed].body
            and self.store.is_forgotten(self.gone.id)
            and listed.splitlines() == sorted(titles)
            and self.git("status", "--porcelain") == ""
            and (self.root / "app.py").read_text() == "edited\n"
        )


@pytest.fixture
def stash(store: Store, note: Callable, git: Callable) -> OvertakenStash:
    return OvertakenStash(store, note, git)


def committed(stash: OvertakenStash) -> None:
    stash.git("commit", "-qam", "Mine")


def rebased(stash: OvertakenStash) -> None:
    """Commits of ours before it are others then, and the log of HEAD does not say "commit"."""
    stash.git("commit", "-qam", "Mine")
    time.sleep(1.1)  # the picks are later than the author's time
    stash.git("rebase", "-q", "--force-rebase", "HEAD~1")


def merged_forward(stash: OvertakenStash) -> None:
    stash.git("checkout", "-qb", "topic")
    stash.git("commit", "-qam", "Mine")
    stash.git("checkout", "-q", "main")
    stash.git("merge", "-q", "topic")


def merged_after_a_commit_of_ours(stash: OvertakenStash) -> None:
    """The commit is older than our last one, which could not see it."""
    stash.git("checkout", "-qb", "topic")
    stash.git("commit", "-qam", "Mine")
    stash.git("checkout", "-q", "main")
    stash.store.record("studio", {"at": AT, "what": "looked"})
    fresh(stash.root).commit()
    stash.git("merge", "-q", "--no-edit", "topic")


def overtaken_by_a_merge_of_ours(stash: OvertakenStash) -> None:
    """What another machine has is merged before the next look at what differs."""
    stash.git("checkout", "-qb", "other", "HEAD~1", "--force")
    (stash.root / "other.py").write_text("b\n")
    stash.git("add", "other.py")
    stash.git("commit", "-qm", "Theirs")
    stash.git("checkout", "-q", "main")
    stash.git("revert", "--no-commit", "HEAD")
    (stash.root / "app.py").write_text("edited\n")
    stash.git("commit", "-qam", "Mine")
    fresh(stash.root).merge(stash.git("rev-parse", "other"))


@pytest.mark.parametrize(
    "ends",
    [
        committed,
        rebased,
        merged_forward,
        merged_after_a_commit_of_ours,
        overtaken_by_a_merge_of_ours,
    ],
)
def test_what_such_a_commit_removed_is_there_again(stash, ends):
    stash.pop()
    ends(stash)
    assert not stash.is_whole()
    fresh(stash.root).commit()
    assert stash.is_whole()
    assert fresh(stash.root).commit().commit is None


def commit_later(stash: OvertakenStash, monkeypatch: pytest.MonkeyPatch) -> None:
    """The person commits more than a minute after us."""
    last = last_entries(stash.root / ".git" / "logs" / "HEAD")[-1]
    monkeypatch.setenv("GIT_AUTHOR_DATE", f"@{int(last.at + WINDOW_S + 30)} +0000")
    committed(stash)


def test_what_a_person_takes_back_later_stays_so(stash, monkeypatch):
    stash.pop()
    commit_later(stash, monkeypatch)
    assert fresh(stash.root).commit().commit is None
    assert not (stash.root / stash.new).exists()


def test_what_a_person_removes_again_later_stays_so(stash, monkeypatch):
    """Also where the first commit is still in the log: it was looked at."""
    stash.pop()
    committed(stash)
    fresh(stash.root).commit()
    stash.git("rm", "-q", stash.new)
    commit_later(stash, monkeypatch)
    assert fresh(stash.root).commit().commit is None
    assert not (stash.root / stash.new).exists()


def test_what_was_forgotten_since_stays_so(stash):
    stash.pop()
    stash.git("reset", "-q", "--hard")
    memory = stash.store.load(stash.new)
    stash.store.forget(memory.id, "studio", AT)
    committed(stash)
    fresh(stash.root).commit()
    assert not (stash.root / stash.new).exists()
    assert stash.store.is_forgotten(memory.id)


def test_a_memory_that_the_person_moved_stays_at_its_new_place(stash):
    stash.pop()
    stash.git("reset", "-q", "--hard")
    stash.git("mv", stash.new, "memory/gotchas/elsewhere.md")
    committed(stash)
    assert fresh(stash.root).commit().commit is None
    assert not (stash.root / stash.new).exists()
    assert stash.store.load("memory/gotchas/elsewhere.md").title == "It is new"


def test_what_another_machine_of_keeplore_removed_stays_so(stash):
    """It knew what it did, and the person may have pulled it within the minute."""
    stash.pop()
    stash.git("commit", "-qam", "Theirs", "--trailer", "Keeplore-Machine: laptop")
    assert fresh(stash.root).commit().commit is None
    assert not (stash.root / stash.new).exists()


def test_what_git_revert_takes_back_stays_so(store, note, git):
    """It is done on purpose, and says of which commit."""
    new = store.save(note("It is new"))
    ours = store.commit().commit
    git("config", "grep.patternType", "fixed", cwd=store.root)
    git("revert", "--no-edit", ours, cwd=store.root)
    assert fresh(store.root).commit().commit is None
    assert not (store.root / new).exists()


@pytest.mark.parametrize("is_seen", [True, False])
def test_what_a_revert_that_was_seen_takes_back_stays_so(store, note, git, is_seen):
    """The person writes the message; where nobody saw it, it cannot be told from an accident."""
    new = [store.save(note(title)) for title in ("It is new", "So is it")]
    ours = store.commit().commit
    git("revert", "--no-commit", ours, cwd=store.root)
    if is_seen:
        with pytest.raises(RepositoryBusy):
            fresh(store.root).commit()
    git("commit", "-qm", "Not that", cwd=store.root)
    fresh(store.root).commit()
    assert [(store.root / path).exists() for path in new] == [not is_seen] * 2
    assert is_seen == (git("log", "-1", "--format=%s", cwd=store.root) == "Not that")


def test_what_a_stale_index_kept_out_of_a_commit_is_committed_again(store, note, git):
    """A single memory, which is on disk: who removes it by hand leaves none there."""
    index = store.root / ".git" / "index"
    before = index.read_bytes()
    new = store.save(note("It is new"))
    store.commit()
    index.write_bytes(before)
    (store.root / "app.py").write_text("edited\n")
    git("commit", "-qam", "Mine", cwd=store.root)
    assert not git("ls-tree", "HEAD", new, cwd=store.root)
    fresh(store.root).commit()
    assert git("ls-tree", "HEAD", new, cwd=store.root)
    assert git("status", "--porcelain", cwd=store.root) == ""


def test_what_this_process_itself_removed_stays_so(stash, note):
    new = stash.store.save(note("It is new"))
    stash.store.commit()
    stash.store.remove(new)
    stash.git("commit", "-qam", "Mine")
    assert stash.store.commit().commit is None
    assert not (stash.root / new).exists()


def test_without_a_log_of_head_nothing_is_guessed(stash):
    stash.pop()
    committed(stash)
    log = stash.root / ".git" / "logs" / "HEAD"
    assert BY_US in log.read_text()
    log.unlink()
    assert fresh(stash.root).commit().commit is None
    assert not (stash.root / stash.new).exists()


def test_what_a_person_deletes_by_hand_at_once_stays_so(stash):
    """One memory of several, and the only one of a commit of ours."""
    stash.write()
    stash.git("rm", "-q", stash.new)
    stash.git("commit", "-qm", "Not that")
    assert fresh(stash.root).commit().commit is None
    alone = stash.store.save(stash.note("It is alone"))
    stash.store.commit()
    stash.git("rm", "-q", alone)
    stash.git("commit", "-qm", "Nor that")
    assert fresh(stash.root).commit().commit is None
    assert [file.path for file in stash.store.scan()] == [stash.changed]
