"""Machines that merged crosswise by plain git: whatever it leaves ends in the same whole files,
with every text.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from keeplore.memory.merge.conflict_marks import versions
from keeplore.store import Store
from keeplore.store.merge import merge_driver

# of edits and crosswise pulls: in the second there are two merge bases, merged by git into one
ROUNDS = 2
STYLES = ["diff3", "merge"]  # the last with our merge driver on one machine


@pytest.fixture
def pair(
    store: Store, note, git: Callable[..., str], tmp_path: Path
) -> tuple[Store, Store]:
    store.save(note("Argued", body="# Argued\n\nfirst\n\nmiddle\n\nlast\n"))
    store.commit()
    git("clone", "-q", str(store.root), str(tmp_path / "other"), cwd=tmp_path)
    return store, Store(tmp_path / "other", branch="main")


def pull(
    store: Store, there: Store, commit: str, git: Callable[..., str], *, is_last: bool
) -> None:
    """By plain git. What it leaves is concluded by us, in the last round committed by the person
    with all marks.
    """
    git("fetch", "-q", str(there.root), "main", cwd=store.root)
    subprocess.run(
        ["git", "merge", "-q", "--no-edit", commit],
        cwd=store.root,
        check=False,
        capture_output=True,
    )
    if is_last:
        subprocess.run(
            ["git", "commit", "-qam", "With marks"],
            cwd=store.root,
            check=False,
            capture_output=True,
        )
    else:
        store.conclude()
        store.commit()  # also what our driver wrote beside


def edit(store: Store, path: str, word: str) -> None:
    """Change the first line of the body, which the other machine changes too, and add one."""
    head, _, body = (store.root / path).read_text().partition("# Argued\n\n")
    _, _, rest = body.partition("\n")
    (store.root / path).write_text(
        f"{head}# Argued\n\n{word}\n{rest}\nadded by {word}\n"
    )


@pytest.mark.parametrize("style", STYLES)
def test_both_end_with_the_same_whole_files_and_every_text(style, pair, git):
    words = []
    [path] = [file.path for file in pair[0].scan()]
    if style == STYLES[-1]:
        merge_driver.install(pair[1].root)
    for number in range(ROUNDS):
        for store, name in zip(pair, ("mine", "theirs"), strict=True):
            git("config", "merge.conflictStyle", style, cwd=store.root)
            words.append(f"{name} {number}")
            edit(store, path, words[-1])
            git("commit", "-qam", f"Edit {number}", cwd=store.root)
        heads = [store.head() for store in pair]
        for store, there, theirs in zip(pair, pair[::-1], heads[::-1], strict=True):
            pull(store, there, theirs, git, is_last=number == ROUNDS - 1)
    assert len(git("merge-base", "--all", *heads, cwd=pair[0].root).split()) == 2
    torn = [versions((store.root / path).read_text()) for store in pair]
    assert any(torn) or style == STYLES[-1]
    for _ in range(2):
        for store, there in (pair, pair[::-1]):
            store.repair_merges([file.path for file in store.scan()])
            store.commit()
            git("fetch", "-q", str(there.root), "main", cwd=store.root)
            store.merge(git("rev-parse", "FETCH_HEAD", cwd=store.root))
    trees = [git("rev-parse", "HEAD^{tree}", cwd=store.root) for store in pair]
    texts = [
        (store.root / file.path).read_text() for store in pair for file in store.scan()
    ]
    assert trees[0] == trees[1]
    assert [
        line
        for text in texts
        for line in text.split("\n")
        if line[:7] in ("<" * 7, "|" * 7, "=" * 7, ">" * 7)
    ] == []
    assert [
        word for word in words if not any(f"added by {word}" in text for text in texts)
    ] == []
    assert [
        word for word in words[-2:] if not any(f"\n{word}\n" in text for text in texts)
    ] == []
