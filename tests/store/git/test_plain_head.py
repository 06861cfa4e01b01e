"""The commit that is checked out is told by git's files alone, and is the one that git names."""

from __future__ import annotations

import pytest

from keeplore.store import Store
from keeplore.store.repository_state import directories, plain_head


def _committed(store, note, title):
    store.save(note(title))
    return store.commit().commit


def test_a_branch_has_its_file_or_a_packed_line_and_the_file_counts(store, note, git):
    first = _committed(store, note, "First")
    assert plain_head(directories(store.root)) == first
    git("pack-refs", "--all", "--prune", cwd=store.root)
    assert not list((store.root / ".git" / "refs" / "heads").iterdir())
    assert plain_head(directories(store.root)) == first
    second = _committed(store, note, "Second")
    assert (
        plain_head(directories(store.root))
        == second
        == git("rev-parse", "HEAD", cwd=store.root).strip()
    )


def test_a_detached_head_and_a_worktree_have_their_own(store, note, git, tmp_path):
    first, second = _committed(store, note, "First"), _committed(store, note, "Second")
    git(
        "worktree",
        "add",
        "--quiet",
        "-b",
        "side",
        str(tmp_path / "side"),
        first,
        cwd=store.root,
    )
    assert Store(tmp_path / "side").head() == first
    git("checkout", "--quiet", "--detach", first, cwd=store.root)
    assert plain_head(directories(store.root)) == first != second


@pytest.mark.parametrize(
    "text",
    ["ref: refs/heads/../../config\n", "ref: refs/heads/none\n", "nonsense\n", ""],
)
def test_what_the_files_do_not_tell_is_left_to_git(store, note, text):
    _committed(store, note, "First")
    (store.root / ".git" / "HEAD").write_text(text)
    assert plain_head(directories(store.root)) == ""
