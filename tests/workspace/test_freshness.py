"""Which files of a conversation changed after it was written."""

from __future__ import annotations

import os
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from keeplore.config.machine import Machine
from keeplore.config.places import Places
from keeplore.memory import Memory
from keeplore.workspace.lifecycle.setup import initialise
from keeplore.workspace.reading.freshness import Freshness, changed_since
from keeplore.workspace.workspace import Workspace
from keeplore_hooks.events import Origin, Turn, Work

FILES = ("app/a.py", "app/b.py", "c.py")
NOW = datetime.now(UTC).replace(microsecond=0)
WRITTEN = NOW - timedelta(hours=2)


def git(project: Path, *arguments: str, at: datetime = NOW) -> None:
    date = {"GIT_AUTHOR_DATE": at.isoformat(), "GIT_COMMITTER_DATE": at.isoformat()}
    identity = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    subprocess.run(
        ["git", *identity, *arguments],
        cwd=project,
        check=True,
        capture_output=True,
        env={**os.environ, **date},
    )


def age(path: Path, at: datetime) -> None:
    os.utime(path, (at.timestamp(), at.timestamp()))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = tmp_path / "shop"
    (project / "app").mkdir(parents=True)
    git(tmp_path, "init", "-q", str(project))
    for name in FILES:
        (project / name).write_text("one\n")
        age(project / name, WRITTEN - timedelta(hours=1))
    git(project, "add", ".")
    git(project, "commit", "-qm", "Begin", at=WRITTEN - timedelta(hours=1))
    return project


def conversation(
    tmp_path: Path, project: Path, files: tuple[str, ...] = FILES
) -> tuple[Workspace, Memory]:
    places = Places(tmp_path / "state", tmp_path / "cache")
    made = initialise(places, tmp_path / "memory")
    workspace = Workspace(made.name, made.root, places, Machine.load(places))
    origin = Origin("claude-code", "s1", str(project))
    at = WRITTEN.strftime("%Y-%m-%dT%H:%M:%SZ")
    work = Work(tuple(f"{project}/{name}" for name in files))
    workspace.emit(
        Turn("t1", origin, at, "round the prices", ("Rounded them.",), at, work)
    )
    [path] = [file.path for file in workspace.store.scan()]
    return workspace, workspace.store.load(path)


def test_files_that_nobody_touched_are_the_same(tmp_path: Path, project: Path) -> None:
    workspace, memory = conversation(tmp_path, project)
    with workspace:
        assert changed_since(workspace, memory, tmp_path) == Freshness(FILES, (), ())


def test_what_was_committed_edited_or_removed_since_is_told(
    tmp_path: Path, project: Path
) -> None:
    (project / "app/a.py").write_text("two\n")
    git(project, "commit", "-qam", "Change a")
    (project / "app/b.py").write_text("two\n")
    (project / "c.py").unlink()
    workspace, memory = conversation(tmp_path, project)
    with workspace:
        assert changed_since(workspace, memory, tmp_path) == Freshness(
            FILES, ("app/a.py", "app/b.py"), ("c.py",)
        )


def test_a_fresh_checkout_of_the_same_text_changes_nothing(
    tmp_path: Path, project: Path
) -> None:
    for name in FILES:
        age(project / name, NOW)
    workspace, memory = conversation(tmp_path, project)
    with workspace:
        assert changed_since(workspace, memory, tmp_path) == Freshness(FILES, (), ())


def test_a_session_in_a_folder_of_the_project_names_its_files_from_there(
    tmp_path: Path, project: Path
) -> None:
    (project / "app/a.py").write_text("two\n")
    git(project, "commit", "-qam", "Change a")
    workspace, memory = conversation(tmp_path, project / "app", ("a.py", "b.py"))
    with workspace:
        assert changed_since(workspace, memory, tmp_path) == Freshness(
            ("a.py", "b.py"), ("a.py",), ()
        )


def test_a_directory_without_git_goes_by_the_time_of_its_files(tmp_path: Path) -> None:
    plain = tmp_path / "notes"
    plain.mkdir()
    for name, at in (("a.txt", WRITTEN - timedelta(hours=1)), ("b.txt", NOW)):
        (plain / name).write_text("one\n")
        age(plain / name, at)
    workspace, memory = conversation(tmp_path, plain, ("a.txt", "b.txt"))
    with workspace:
        assert changed_since(workspace, memory, tmp_path) == Freshness(
            ("a.txt", "b.txt"), ("b.txt",), ()
        )


def test_a_project_that_is_not_here_is_not_judged(
    tmp_path: Path, project: Path
) -> None:
    workspace, memory = conversation(tmp_path, project)
    project.rename(tmp_path / "elsewhere")
    with workspace:
        assert changed_since(workspace, memory, tmp_path) is None


def test_paths_that_lead_out_of_the_project_are_not_looked_at(
    tmp_path: Path, project: Path
) -> None:
    (tmp_path / "secret.txt").write_text("x")
    workspace, memory = conversation(
        tmp_path, project, ("../secret.txt", "c.py", "-rf")
    )
    with workspace:
        found = changed_since(workspace, memory, tmp_path)
    assert found == Freshness(("c.py", "-rf"), (), ("-rf",))
