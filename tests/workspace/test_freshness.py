"""Which files of a conversation changed after it was written."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from keeplore.config.machine import Machine
from keeplore.config.places import Places
from keeplore.memory import Memory
from keeplore.memory.note import NoteDraft
from keeplore.recall.brief import brief
from keeplore.recall.render import TextBudget
from keeplore.recall.request import RecallRequest
from keeplore.recall.since.named_files import Freshness, NamedFiles, named_files
from keeplore.workspace import registry
from keeplore.workspace.freshness import changed_since, files_since
from keeplore.workspace.lifecycle.setup import initialise
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


def change(project: Path) -> None:
    """Commit a change, make one, and remove a file."""
    (project / "app/a.py").write_text("two\n")
    git(project, "commit", "-qam", "Change a")
    (project / "app/b.py").write_text("two\n")
    (project / "c.py").unlink()


def test_what_was_committed_edited_or_removed_since_is_told(
    tmp_path: Path, project: Path
) -> None:
    change(project)
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


@pytest.mark.parametrize(
    ("passage", "told"),
    [
        ("Prices are rounded in app/a.py.", (("app/a.py",), ())),
        ("Prices are rounded in `a.py`, not in b.py.", (("app/a.py", "app/b.py"), ())),
        ("c.py has the rates; see app/a.py:12", (("app/a.py",), ("c.py",))),
        ("only c.py", ((), ("c.py",))),
        ("Prices are rounded, i.e. cut. It takes 1.5 s.", ((), ())),
        ("see data.py and xa.py", ((), ())),
    ],
)
def test_of_a_passage_the_files_that_it_names_are_looked_at(
    tmp_path: Path,
    project: Path,
    passage: str,
    told: tuple[tuple[str, ...], tuple[str, ...]],
) -> None:
    change(project)
    workspace, memory = conversation(tmp_path, project)
    with workspace:
        [found] = files_since(workspace, tmp_path, [named_files(memory, passage)])
    assert told == ((found.changed, found.gone) if found else ((), ()))


def test_of_many_each_is_compared_with_its_own_time(
    tmp_path: Path, project: Path
) -> None:
    (project / "app/a.py").write_text("two\n")
    git(project, "commit", "-qam", "Change a", at=WRITTEN + timedelta(hours=1))
    (project / "app/a.py").write_text("three\n")
    git(project, "commit", "-qam", "Change a", at=WRITTEN + timedelta(hours=1))
    workspace, memory = conversation(tmp_path, project)
    later = (WRITTEN + timedelta(minutes=90)).isoformat()
    newer = replace(memory, meta={**memory.meta, "updated_at": later})
    asked = [NamedFiles(one, ("app/a.py",)) for one in (memory, newer, memory)]
    with workspace:
        found = files_since(workspace, tmp_path, [*asked, NamedFiles(memory, ())])
    old = Freshness(("app/a.py",), ("app/a.py",), ())
    assert found == [old, Freshness(("app/a.py",), (), ()), old, None]


def test_a_note_is_compared_with_the_files_that_git_knows_of(
    tmp_path: Path, project: Path
) -> None:
    (project / "app/a.py").write_text("two\n")
    (project / "c.py").unlink()
    git(project, "commit", "-qam", "Change a and drop c")
    workspace, memory = conversation(tmp_path, project)
    note = replace(memory, meta={**memory.meta, "kind": "note"})
    said = "Node.js reads app/a.py and app/b.py, v1.2.rc of c.py and lost/d.py"
    with workspace:
        [told] = files_since(workspace, tmp_path, [named_files(note, said)])
    assert told == Freshness(
        ("Node.js", "app/a.py", "app/b.py", "v1.2.rc", "c.py", "lost/d.py"),
        ("app/a.py",),
        ("c.py",),
    )


@pytest.mark.parametrize("at_once", [False, True])
def test_a_hit_says_what_became_of_the_files_that_its_passage_names(
    tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch, *, at_once: bool
) -> None:
    monkeypatch.setattr(registry, "PROMPT_TIMEOUT_S", 60.0)  # a busy machine
    (project / "c.py").unlink()
    workspace, memory = conversation(tmp_path, project)
    age(project / "app/a.py", NOW)
    said = "Prices are rounded in app/a.py with the rates of c.py"
    draft = NoteDraft(said, scope="project", project=memory.project)
    with workspace:
        workspace.notes.write(draft)
        workspace.index.refresh()
    (project / "app/a.py").write_text("two\n")
    age(project / "app/a.py", NOW + timedelta(hours=1))
    age(project / "app", NOW + timedelta(hours=1))
    with registry.Registry(workspace.places) as known:
        request = RecallRequest("where are prices rounded", project, at_once=at_once)
        [hit] = [hit for hit in known.recall(request).hits if hit.kind == "note"]
        [view] = known.views(project, 60.0)
        room = TextBudget(1500, 10_000)
        text, _ = brief([view], session="", source="startup", room=room)
    assert (hit.files_changed, hit.files_gone) == (("app/a.py",), ("c.py",))
    [line] = [line for line in text.splitlines() if said in line]
    assert line.endswith(") — changed since: app/a.py and gone since: c.py")
