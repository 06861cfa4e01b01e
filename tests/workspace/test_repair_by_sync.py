"""What a person's own git leaves in a workspace is put right by the next sync, on every machine in
the same way.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from keeplore.config.places import Places
from keeplore.memory.note import NoteDraft
from keeplore.workspace.lifecycle.setup import clone_workspace, initialise
from keeplore.workspace.lifecycle.sync_workspace import synchronise
from keeplore.workspace.registry import Registry
from keeplore.workspace.workspace import Workspace


@pytest.fixture
def machines(
    tmp_path: Path, git: Callable[..., str]
) -> Iterator[tuple[Workspace, Workspace]]:
    """One workspace on two machines, with one note that both know, and a bare remote."""
    remote = tmp_path / "remote.git"
    git("init", "-q", "--bare", str(remote), cwd=tmp_path)
    first, second = (
        Places(tmp_path / name / "state", tmp_path / name / "cache")
        for name in ("first", "second")
    )
    initialise(first, tmp_path / "first" / "memory")
    git("remote", "add", "origin", str(remote), cwd=tmp_path / "first" / "memory")
    with ExitStack() as stack:
        one = stack.enter_context(Registry(first)).named("memory")
        (one.root / "memory" / "facts").mkdir(parents=True)
        (one.root / "memory" / "facts" / "Rounding.md").write_text(
            "# Rounding\n\nOnce per rate.\n\nAlways.\n"
        )
        synchronise(one)
        clone_workspace(second, str(remote), tmp_path / "second" / "memory")
        yield one, stack.enter_context(Registry(second)).named("memory")


def edit(workspace: Workspace, text: str) -> None:
    (workspace.root / "memory" / "facts" / "Rounding.md").write_text(
        f"# Rounding\n\n{text}\n\nAlways.\n"
    )


def texts(workspace: Workspace) -> dict[str, str]:
    return {
        file.path: (workspace.root / file.path).read_text()
        for file in workspace.store.scan()
    }


@pytest.mark.parametrize("is_committed", [True, False])
def test_a_pull_that_ended_in_a_conflict_is_healed(
    machines: tuple[Workspace, Workspace],
    git: Callable[..., str],
    *,
    is_committed: bool,
) -> None:
    one, other = machines
    edit(one, "Once per line.")
    synchronise(one)
    edit(other, "Once per invoice.")
    other.commit()
    git("config", "--remove-section", "merge.keeplore", cwd=other.root)
    subprocess.run(
        ["git", "pull", "-q", "--no-rebase"],
        cwd=other.root,
        check=False,
        capture_output=True,
    )
    assert "<<<<<<<" in (other.root / "memory" / "facts" / "Rounding.md").read_text()
    if is_committed:
        git("commit", "-qam", "Never mind", cwd=other.root)
    synchronise(other)
    synchronise(one)
    assert texts(one) == texts(other)
    said = "\n".join(texts(one).values())
    assert (
        "Once per line." in said and "Once per invoice." in said and "<<<<" not in said
    )
    assert git("status", "--porcelain", cwd=other.root) == ""


def test_the_driver_is_there_after_init_and_clone(
    machines: tuple[Workspace, Workspace], git: Callable[..., str]
) -> None:
    for workspace in machines:
        assert "keeplore.store.merge.merge_driver" in git(
            "config", "merge.keeplore.driver", cwd=workspace.root
        )
        assert git(
            "check-attr", "merge", "memory/facts/x.md", cwd=workspace.root
        ).endswith(": keeplore")


def test_two_machines_that_edit_one_line_at_once_need_nobody(
    machines: tuple[Workspace, Workspace],
) -> None:
    one, other = machines
    edit(one, "Once per line.")
    edit(other, "Once per invoice.")
    for workspace in (one, other, one):
        synchronise(workspace)
    assert texts(one) == texts(other) and len(texts(one)) == 2


def test_what_is_forgotten_stays_so_where_git_put_it_under_the_name_of_another_memory(
    machines: tuple[Workspace, Workspace], git: Callable[..., str]
) -> None:
    one, other = machines
    said = ("Invoices are rounded once", "The rollback takes four minutes")
    notes = [one.notes.write(NoteDraft(text)).memory for text in said]
    synchronise(one)
    synchronise(other)
    old, place = (one.store.find(memory.id) or "" for memory in notes)
    one.store.forget(notes[0].id, "one", "2026-03-01T00:00:00Z")
    synchronise(one)
    misplaced = place.replace(notes[1].id[4:12], "0" * 8)
    (other.root / old).rename(other.root / misplaced)
    git("add", "memory", cwd=other.root)
    git("commit", "-qm", "By hand", cwd=other.root)
    for workspace in (other, one, other, one):
        synchronise(workspace)
    rounding = "memory/facts/Rounding.md"
    assert [{*texts(workspace)} for workspace in machines] == [{place, rounding}] * 2
    assert one.store.restore(notes[0].id)
