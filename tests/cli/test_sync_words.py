"""What ``keeplore sync`` and its neighbours say beside the result, word for word."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from keeplore.cli.commands.machine import machines_
from keeplore.cli.commands.tidy import restore_, sync_
from keeplore.cli.doctor import check_chains
from keeplore.errors import NotFound
from keeplore.store.git import git_command, inspection

WORKSPACE: Any = SimpleNamespace(root=None)


@pytest.mark.parametrize(
    ("count", "new", "beginning"),
    [
        (1, 0, "1 contradiction waits for you: "),
        (2, 0, "2 contradictions wait for you: "),
        (3, 1, "3 contradictions wait for you, 1 of them new: "),
    ],
)
def test_contradictions_are_counted_with_those_that_are_new(
    capsys: pytest.CaptureFixture[str], count: int, new: int, beginning: str
) -> None:
    sync_._say_contradictions(count, new)
    assert capsys.readouterr().out == (
        f"{beginning}two machines changed the same lines; `keeplore review` shows them.\n"
    )


@pytest.mark.parametrize(
    ("count", "told"),
    [
        (0, ""),
        (1, "1 file of memory is"),
        (2, "2 files of memory are"),
    ],
)
def test_files_that_git_is_told_to_ignore_are_counted(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    count: int,
    told: str,
) -> None:
    monkeypatch.setattr(inspection, "ignored_files", lambda _: range(count))
    monkeypatch.setattr(inspection, "unstorable_paths", lambda _: [])
    monkeypatch.setattr(git_command, "ignored", lambda *_: set())
    sync_._note_ignored(WORKSPACE)
    because = (
        "left out of commits, because git is told so: `keeplore doctor` says which"
    )
    assert capsys.readouterr().err == (f"note: {told} {because}\n" if told else "")


def test_paths_that_no_commit_takes_are_counted_but_for_ignored_ones(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, git: Callable[..., str]
) -> None:
    git("init", "-q", cwd=tmp_path)
    (tmp_path / ".gitignore").write_text("aside.md\n")
    facts = tmp_path / "memory" / "facts"
    facts.mkdir(parents=True)
    (facts / "Tea.md").touch()
    (facts / "aside.md").symlink_to(tmp_path)
    place: Any = SimpleNamespace(root=tmp_path)
    sync_._note_ignored(place)
    assert "which not every system" not in capsys.readouterr().err
    (tmp_path / ".gitignore").unlink()
    (facts / "aside.md").unlink()
    (facts / 'quote".md').touch()
    sync_._note_ignored(place)
    (facts / "link.md").symlink_to(tmp_path)
    sync_._note_ignored(place)
    why = "left out of commits, which not every system can hold: `keeplore doctor` says which"
    assert capsys.readouterr().err == (
        f"note: 1 path of memory is {why}\nnote: 2 paths of memory are {why}\n"
    )


@pytest.mark.parametrize(
    ("count", "told"),
    [
        (0, ""),
        (1, "1 memory is a newer version of"),
        (2, "2 memories are newer versions of"),
    ],
)
def test_newer_versions_of_what_was_forgotten_are_counted(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    count: int,
    told: str,
) -> None:
    monkeypatch.setattr(check_chains, "left_versions", lambda _: range(count))
    sync_._note_left_versions(WORKSPACE)
    rest = "what was forgotten meanwhile: `keeplore doctor` says which, and how to forget that too"
    assert capsys.readouterr().err == (f"note: {told} {rest}\n" if told else "")


def test_a_machine_that_never_wrote_here_is_told_with_those_that_did(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(machines_, "_memories_by_machine", lambda _: {})
    known = [SimpleNamespace(id=id_) for id_ in ("studio-1", "laptop-1")]
    trust = SimpleNamespace(machines=lambda _: known)
    workspace: Any = SimpleNamespace(machine_trust=trust)
    machines_._check(workspace, ("laptop-1", "studio-1"))
    with pytest.raises(NotFound) as caught:
        machines_._check(workspace, ("laptop-1", "mill-1"))
    assert caught.value.message == "no machine 'mill-1' has written here"
    assert caught.value.remedy == "Known are laptop-1, studio-1"


@pytest.mark.parametrize(
    ("email", "at", "count", "cells"),
    [
        ("", "", 0, ("laptop-1", "-", "-", 0, "yours")),
        (
            "ann@example.com",
            "2026-02-09T10:00:00Z",
            3,
            ("laptop-1", "ann@example.com", "2026-02-09", 3, "yours"),
        ),
    ],
)
def test_a_machine_of_which_little_is_known_has_dashes(
    email: str, at: str, count: int, cells: tuple[object, ...]
) -> None:
    machine: Any = SimpleNamespace(id="laptop-1", email=email, at=at, state="yours")
    counts = {"laptop-1": count} if count else {}
    assert machines_._cells(machine, counts) == cells
    assert machines_._as_json(machine, counts) == {
        "id": "laptop-1",
        "email": email,
        "state": "yours",
        "last_seen": at,
        "memories": count,
    }


@pytest.mark.parametrize(
    ("title", "is_purged", "shown"),
    [
        ("The ledger", False, "The ledger"),
        ("The ledger", True, "(purged)"),
        ("", False, "(no text in git here; it was forgotten on studio-1)"),
    ],
)
def test_what_cannot_come_back_has_its_reason_in_place_of_a_title(
    title: str, is_purged: bool, shown: str
) -> None:
    tombstone = SimpleNamespace(machine="studio-1", is_purged=is_purged)
    deleted: Any = SimpleNamespace(tombstone=tombstone, title=title)
    assert restore_._title(deleted) == shown
