"""Where libgit2 cannot read a repository, the user's git merges it by the same rules."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from keeplore.store import Store, create

Git = Callable[..., str]


def sha256(root: Path, git: Git) -> None:
    """Made so from the beginning."""


def split_index(root: Path, git: Git) -> None:
    git("update-index", "--split-index", cwd=root)


def sparse(root: Path, git: Git) -> None:
    git("sparse-checkout", "set", "--no-cone", "/*", "!/left-out/", cwd=root)


KINDS = {"sha256": sha256, "split index": split_index, "sparse checkout": sparse}


@pytest.fixture(params=KINDS.values(), ids=KINDS)
def pair(
    request: pytest.FixtureRequest, tmp_path: Path, template: Path, git: Git
) -> tuple[Store, Store]:
    """Two machines whose repositories are of such a kind, with two memories and a file of the
    person's.
    """
    root, clone = tmp_path / "one", tmp_path / "other"
    root.mkdir()
    form = "sha256" if request.param is sha256 else "sha1"
    git("init", "-q", "-b", "main", f"--object-format={form}", cwd=root)
    create(root, template)
    (root / "left-out").mkdir()
    for name in ("app.py", "left-out/far.md"):
        (root / name).write_text("first\n\nlast\n")
        git("add", name, cwd=root)
    git("commit", "-qm", "Code", cwd=root)
    git("clone", "-q", str(root), str(clone), cwd=tmp_path)
    for place in (root, clone):
        request.param(place, git)
    return Store(root, branch="main", machine="studio"), Store(
        clone, branch="main", machine="laptop"
    )


def exchange(one: Store, other: Store, git: Git) -> None:
    for here, there in ((one, other), (other, one)):
        here.commit()
        there.commit()
        git("fetch", "-q", str(there.root), "main", cwd=here.root)
        here.merge(there.head())
        assert git("status", "--porcelain", cwd=here.root) == ""
    assert git("rev-parse", "HEAD^{tree}", cwd=one.root) == git(
        "rev-parse", "HEAD^{tree}", cwd=other.root
    )


def test_everything_that_two_machines_did_is_in_both(pair, note, git):
    one, other = pair
    argued = note("Argued", body="# Argued\n\nline\n")
    moved, gone = note("Moved", body="first\n\nlast\n"), note("Gone")
    paths = [one.save(memory) for memory in (argued, moved, gone)]
    exchange(one, other, git)
    one.save(
        note("Argued", body="# Argued\n\nours\n", updated_at="2026-02-20T00:00:00Z")
    )
    other.save(
        note("Argued", body="# Argued\n\ntheirs\n", updated_at="2026-03-01T00:00:00Z")
    )
    archived = paths[1].replace("memory/", "memory/archive/", 1)
    one.move(paths[1], archived)
    other.save(note("Moved", body="first\n\nedited\n\nlast\n"))
    one.forget(gone.id, "studio", "2026-03-01T10:00:00Z")
    other.save(note("Gone", body="edited too\n"))
    for store, text in ((one, "mine\n\nlast\n"), (other, "first\n\ntheirs\n")):
        (store.root / "app.py").write_text(text)
        git("commit", "-qam", "Edit", cwd=store.root)
    (one.root / "memory" / "Todo").write_text("mine\n")
    (other.root / "memory" / "todo").write_text("theirs\n")
    exchange(one, other, git)
    texts = {file.path: one.load(file.path) for file in one.scan()}
    assert sorted(m.body for m in texts.values() if m.title == "Argued") == [
        "# Argued\n\nours\n",
        "# Argued\n\ntheirs\n",
    ]
    assert texts[archived].body == "first\n\nedited\n\nlast\n" and paths[1] not in texts
    assert gone.id not in {memory.id for memory in texts.values()}
    assert (one.root / "app.py").read_text() == "mine\n\ntheirs\n"
    assert {
        path.read_text() for path in (one.root / "memory").iterdir() if path.is_file()
    } == {
        "mine\n",
        "theirs\n",
    }
    assert (
        git("ls-tree", "-r", "--name-only", "HEAD", "left-out", cwd=one.root)
        == "left-out/far.md"
    )
    assert "Fast-forward" in git(
        "log", "-g", "-1", "--format=%gs", cwd=one.root
    )  # git's own words, not libgit2's
    merges = git(
        "log",
        "--merges",
        "--format=%(trailers:key=Keeplore-Machine,valueonly)",
        cwd=one.root,
    )
    assert set(merges.split()) == {"studio"}


@pytest.mark.parametrize("pair", [sha256], ids=["sha256"], indirect=True)
def test_a_history_that_was_merged_crosswise_is_merged_by_both_in_the_same_way(
    pair, note, git
):
    one, other = pair
    one.save(note("Argued", body="a\n\nb\n\nc\n"))
    exchange(one, other, git)
    one.save(note("Argued", body="A\n\nb\n\nc\n"))
    other.save(note("Argued", body="a\n\nb\n\nC\n"))
    one.commit(), other.commit()
    heads = one.head(), other.head()
    for store, theirs in ((one, heads[1]), (other, heads[0])):
        there = other if store is one else one
        git("fetch", "-q", str(there.root), "main", cwd=store.root)
        store.merge(theirs)
    one.save(note("Argued", body="A\n\nB\n\nC\n"))
    other.save(note("Argued", body="A\n\nb\n\nC\n\nd\n"))
    exchange(one, other, git)
    [body] = {one.load(file.path).body for file in one.scan()}
    assert body == "A\n\nB\n\nC\n\nd\n"
