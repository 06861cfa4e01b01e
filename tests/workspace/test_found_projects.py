"""The projects that an import finds: what is counted of each, and which a person means."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from keeplore.config.capture_choice import CaptureRule
from keeplore.errors import ConfigError
from keeplore.workspace.importing.auto_memory import AutoMemoryFile, AutoMemoryFiles
from keeplore.workspace.importing.found_projects import (
    FoundProject,
    found_projects,
    is_project_named,
    only_notes_of,
    only_of,
)
from keeplore.workspace.importing.import_survey import SourceSurvey
from keeplore.workspace.registry import Registry
from keeplore.workspace.workspace import Workspace
from keeplore.workspace.writing.person_choice import exclude
from keeplore_hooks.hosts.base import Recorded
from keeplore_hooks.installed import host_named

TRIAL = "/var/tmp/trial"


def session(cwd: str, started: str, written: str) -> Recorded:
    return Recorded(Path("/nowhere/x.jsonl"), "s", cwd, started, 1, written)


@pytest.fixture
def surveys(home: Path) -> list[SourceSurvey]:
    api, docs, bank = (str(home / "code" / one) for one in ("api", "api/docs", "bank"))
    for one in (docs, bank):
        Path(one).mkdir(parents=True)
    (home / "code" / "api" / ".keeplore-project").write_text("api")
    found = (
        (docs, "2026-02-03T10:00:00Z", "2026-02-04T10:00:00Z"),
        (api, "2026-02-02T10:00:00Z", "2026-02-02T11:00:00Z"),
        (api, "", "2026-02-06T10:00:00Z"),
        (bank, "", "no time"),
        (TRIAL, "2026-01-01T10:00:00Z", "2026-01-01T10:00:00Z"),
        ("", "2026-01-02T10:00:00Z", "2026-01-02T10:00:00Z"),
    )
    sessions = tuple(session(*one) for one in found)
    codex, claude = host_named("codex"), host_named("claude-code")
    return [SourceSurvey(codex, sessions[:2], 7), SourceSurvey(claude, sessions[2:])]


@pytest.fixture
def notes(home: Path) -> AutoMemoryFiles:
    at = datetime(2026, 2, 8, tzinfo=UTC)
    folders = ("code/api", "code/bank", "code/bank")
    return AutoMemoryFiles(
        tuple(
            AutoMemoryFile(home / "x", f"{number}.md", str(home / cwd), 1, at)
            for number, cwd in enumerate(folders)
        ),
        ((home / "y", "name it"),),
    )


def test_each_project_is_told_with_its_days_and_why_it_is_left_out(
    surveys: list[SourceSurvey],
    notes: AutoMemoryFiles,
    registry: Registry,
    workspace: Workspace,
    home: Path,
) -> None:
    code, excluded = f"{home}/code/", "path:~/code/bank is excluded on this machine"
    api = FoundProject(
        "api", (f"{code}api", f"{code}api/docs"), 3, 1, "2026-02-02", "2026-02-08"
    )
    none = FoundProject("", ("",), 1, 0, "2026-01-02", "2026-01-02")
    bank = FoundProject(
        "bank", (f"{code}bank",), 1, 2, "2026-02-08", "2026-02-08", excluded
    )
    trial = FoundProject(
        "trial", (TRIAL,), 1, 0, "2026-01-01", "2026-01-01", "a temporary directory"
    )
    exclude(workspace, (CaptureRule.parse("path:~/code/bank"),), is_shared=False)

    def found(notes: AutoMemoryFiles | None, **chosen: bool) -> list[FoundProject]:
        return found_projects(
            registry, surveys, notes, lambda one: chosen.get(one.name)
        )

    assert found(notes) == [api, none, bank, trial]
    # a person may want what goes away, and not what a rule leaves out
    chosen = found(notes, api=False, bank=True, trial=True)
    refused = replace(api, left_out="not chosen")
    assert chosen == [refused, none, bank, replace(trial, left_out="")]
    assert found(notes, api=True, bank=False, trial=False) == [api, none, bank, trial]
    alone = found(None)
    assert alone[0] == replace(api, notes=0, last="2026-02-06")
    assert alone[2] == FoundProject("bank", (f"{code}bank",), 1, 0, "", "", excluded)
    kept = only_of(surveys, [api, trial])
    assert [[one.cwd for one in survey.sessions] for survey in kept] == [
        [f"{code}api/docs", f"{code}api"],
        [f"{code}api", TRIAL],
    ]
    assert [survey.known for survey in kept] == [7, 0]
    assert only_notes_of(notes, [bank]) == replace(notes, files=notes.files[1:])


def test_directories_of_one_name_are_two_projects_and_clones_of_one_remote_are_one(
    registry: Registry, workspace: Workspace, home: Path, git: Callable[..., str]
) -> None:
    places = [home / one / "cli" for one in ("a", "b", "c", "d")]
    for place in places:
        place.mkdir(parents=True)
    for clone in places[2:]:
        git("init", "-q", cwd=clone)
        git("remote", "add", "origin", "https://x.example/y/cli.git", cwd=clone)
    sessions = tuple(session(str(place), "", "") for place in places)
    survey = SourceSurvey(host_named("codex"), sessions)
    found = found_projects(registry, [survey], None, lambda _: None)
    told = [(one.name, one.directories) for one in found]
    a, b, c, d = map(str, places)
    assert told == [("cli", (c, d)), ("cli", (a,)), ("cli", (b,))]


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("shop", True),
        ("sh*", True),
        ("till", True),  # the name of a directory of it
        ("sho", False),
        ("~/code", True),
        ("~/code/t*", True),
        ("~/code/x*", False),
        ("/code", False),
        ("~/code/till/docs", False),
    ],
)
def test_what_a_person_means(home: Path, text: str, is_one: bool) -> None:
    directories = (str(home / "code" / "shop"), str(home / "code" / "till"))
    assert (
        is_project_named(text, FoundProject("shop", directories, 1, 0, "", ""))
        is is_one
    )


def test_what_no_rule_can_be_is_told(home: Path) -> None:
    with pytest.raises(ConfigError) as error:
        is_project_named("a\nb", FoundProject("shop", (), 1, 0, "", ""))
    assert error.value.remedy == "Name a project or a directory"
    assert error.value.message == (
        "project: it should be one line of 500 characters at most"
    )
