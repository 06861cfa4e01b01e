"""What git knows of a workspace, and what lies around in it: each answer as a whole."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from keeplore.memory.frontmatter import MAX_FILE
from keeplore.store import Store
from keeplore.store.git import inspection
from keeplore.store.git.inspection import (
    changed_paths,
    committed,
    contents,
    damaged_objects,
    introduced_blobs,
    is_as_committed,
    old_locks,
    other_versions,
    staged_contents,
    unpublished_contents,
    unstorable_paths,
    where_ignored,
)

Git = Callable[..., str]


@pytest.fixture
def root(store: Store, git: Git) -> Path:
    """A workspace with one memory of two versions and a picture, all committed."""
    folder = store.root
    put(folder, "memory/a.md", "One\n")
    put(folder, "picture.png", "P\0NG")
    save(folder, git, "First")
    put(folder, "memory/a.md", "Two\n")
    save(folder, git, "Second")
    return folder


def put(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)


def save(root: Path, git: Git, subject: str) -> None:
    git("add", "--all", cwd=root)
    git("commit", "-qm", subject, cwd=root)


def test_what_is_committed_and_what_differs_from_it(root: Path, git: Git) -> None:
    assert (committed(root, "memory/a.md"), committed(root, "b.md")) == (b"Two\n", None)
    assert (changed_paths(root), is_as_committed(root, "memory/a.md")) == ([], True)
    put(root, "user/new.md", "New\n")
    put(root, "memory/.hidden.tmp", "Half a file")
    put(root, "own.txt", "A person's\n")
    put(root, "memory/a.md", "Two, by hand\n")
    assert changed_paths(root) == ["memory/a.md", "user/new.md"]
    git("add", "memory/a.md", "user/new.md", cwd=root)
    for path in ("memory/a.md", "user/new.md", "memory/none.md"):
        assert not is_as_committed(root, path)
    assert is_as_committed(root, "picture.png")
    (root / "memory/a.md").unlink()
    (root / "user/new.md").unlink()
    assert changed_paths(root) == ["memory/a.md"]


def test_what_git_does_not_get(root: Path) -> None:
    assert unstorable_paths(root) == []
    (root / "user").mkdir(exist_ok=True)
    (root / "user" / "link.md").symlink_to(root / "memory" / "a.md")
    put(root, "memory/CON.md", "Not on Windows\n")
    put(root, "CON.md", "A person's\n")
    assert unstorable_paths(root) == ["memory/CON.md", "user/link.md"]


def test_versions_that_lost_their_place(root: Path, git: Git) -> None:
    lost = "memory/a.conflict-0123abcd.md", ".gitignore.conflict-0123abcd"
    for path in (
        *lost,
        "memory/a.conflict-0123.md",
        "memory/gone.conflict-0123abcd.md",
    ):
        put(root, path, "Lost\n")
    git("add", "--all", cwd=root)
    (root / "memory/gone.conflict-0123abcd.md").unlink()
    put(root, "user/new.conflict-fedcba98", "Lost\n")
    assert other_versions(root) == [lost[1], lost[0], "user/new.conflict-fedcba98"]


def test_locks_that_lie_around(root: Path) -> None:
    names = ("index.lock", "refs/heads/a/b.lock", "packed-refs.lock", "other.lock")
    places = [root / ".git" / name for name in names]
    for place in places:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.touch()
        os.utime(place, (0, 0))
    os.utime(places[2])
    found = dict(old_locks(root, 3600.0))
    assert found.keys() == {*places[:2]}
    assert all(age > 3600.0 for age in found.values())


def test_damage_is_told_in_gits_words(root: Path, git: Git) -> None:
    assert damaged_objects(root) == ""
    blob = git("rev-parse", "HEAD:memory/a.md", cwd=root)
    (root / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    assert damaged_objects(root) == f"missing blob {blob}"


def test_what_is_staged(root: Path, git: Git, tmp_path: Path) -> None:
    assert staged_contents(root, "") == {}
    put(root, ".gitattributes", "user/*.md filter=upper\n")
    git("config", "filter.upper.clean", "tr a-z A-Z", cwd=root)
    git("config", "filter.upper.smudge", "tr A-Z a-z", cwd=root)
    put(root, "memory/a.md", "Three\n")
    put(root, "memory/large.md", "x" * (MAX_FILE + 1))
    put(root, "memory/last.md", "x" * MAX_FILE)
    put(root, "user/filtered.md", "secret\n")
    put(root, "own.txt", "A person's\n")
    (root / "user" / "link.md").symlink_to("nowhere")
    git("add", "--all", cwd=root)
    (root / "memory" / "a.md").unlink()
    expected = {
        "memory/a.md": b"Three\n",
        "memory/large.md": None,
        "memory/last.md": b"x" * MAX_FILE,
        "user/filtered.md": b"secret\n",
    }
    assert staged_contents(root, "") == expected
    assert staged_contents(root, str(tmp_path / "no-index")) == {}


def test_what_a_push_would_publish(root: Path, git: Git) -> None:
    first, second = git("log", "--format=%H", "-2", cwd=root).splitlines()[::-1]
    blobs = {
        name: git("rev-parse", f"{commit}:{path}", cwd=root)
        for name, commit, path in (
            ("one", first, "memory/a.md"),
            ("two", second, "memory/a.md"),
            ("picture", first, "picture.png"),
        )
    }
    assert introduced_blobs(root, second, f"^{first}~1") == [
        (second, blobs["two"], "memory/a.md"),
        (first, blobs["one"], "memory/a.md"),
        (first, blobs["picture"], "picture.png"),
    ]
    # a picture of a person's own is no text
    versions = [("memory/a.md", b"Two\n"), ("memory/a.md", b"One\n")]
    assert [*unpublished_contents(root, second, f"{first}~1")] == versions
    assert [*unpublished_contents(root, second, first)] == versions[:1]
    assert [*unpublished_contents(root, second, second)] == []
    every = dict.fromkeys(path for path, _ in unpublished_contents(root, second, ""))
    assert {"memory/a.md", ".gitignore"} <= every.keys()
    (root / "memory" / "a.md").unlink()
    save(root, git, "Third")
    assert introduced_blobs(root, "HEAD", f"^{second}") == []


@pytest.mark.parametrize("batch", [0, 4, 8, 1000])
def test_contents_come_in_whatever_batches(
    root: Path, monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    monkeypatch.setattr(inspection, "BATCH", batch)
    names = [
        "HEAD:memory/a.md",
        "HEAD~1:memory/a.md",
        "HEAD:none",
        "HEAD",
        "a\nb",
        "HEAD:memory/a.md",
    ]
    told = [data for _, data in contents(root, names)]
    assert told == [b"Two\n", b"One\n", b"Two\n"]
    assert [*contents(root, [])] == []


def test_what_says_where_a_file_is_ignored_may_be_typed_as_it_stands(
    store: Store, git: Git
) -> None:
    folder = store.root / "memory" / "Jo's $HOME"
    folder.mkdir(parents=True)
    (store.root / ".git" / "info" / "exclude").write_text("*secret*\n")
    command = where_ignored(folder, "a secret's.md").split("`")[1]
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
    assert done.stdout.startswith(".git/info/exclude:1:*secret*")
