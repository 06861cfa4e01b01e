"""From which directory a question is asked, for each way in which hosts start a server."""

from __future__ import annotations

from pathlib import Path

import pytest

from keeplore.errors import ConfigError
from keeplore.mcp_server.project_roots import ProjectRoots, ResolvedDirectory
from keeplore.workspace.recording.cursors import Cursors, SessionProgress
from keeplore_hooks.events import Origin


@pytest.fixture
def project(home: Path) -> Path:
    project = home / "code" / "api"
    project.mkdir(parents=True)
    return project


@pytest.fixture
def sessions(tmp_path: Path) -> Path:
    directory = tmp_path / "sessions"
    directory.mkdir()
    return directory


def heard(sessions: Path, host: str, session: str, cwd: Path, at: str) -> None:
    Cursors(sessions).save(
        SessionProgress(Origin(host, session, str(cwd)), heard_at=at)
    )


def test_what_the_call_names_goes_before_all(
    project: Path, sessions: Path, tmp_path: Path
) -> None:
    place = ProjectRoots({"CLAUDE_PROJECT_DIR": str(tmp_path)}, sessions, tmp_path)
    assert place.asked(str(project)) == ResolvedDirectory(project)
    assert place.asked("~/code/api") == ResolvedDirectory(project)


@pytest.mark.parametrize(
    "named",
    ["code/api", "/no/such/place", "~nobody-has-this-name", "/" + "x" * 5_000, "\0"],
)
def test_a_name_that_is_no_directory_is_refused(
    named: str, project: Path, sessions: Path
) -> None:
    with pytest.raises(ConfigError, match="is no directory"):
        ProjectRoots({}, sessions, project).asked(named)


@pytest.mark.parametrize(
    "variable", ["CLAUDE_PROJECT_DIR", "CURSOR_PROJECT_DIR", "GEMINI_PROJECT_DIR"]
)
def test_then_the_directory_that_the_host_says(
    variable: str, project: Path, sessions: Path, tmp_path: Path
) -> None:
    assert ProjectRoots({variable: str(project)}, sessions, tmp_path).asked(
        ""
    ) == ResolvedDirectory(project)


def test_a_variable_that_the_client_did_not_fill_in_is_passed_over(
    project: Path, sessions: Path
) -> None:
    assert ProjectRoots(
        {"CLAUDE_PROJECT_DIR": "${workspaceFolder}"}, sessions, project
    ).asked("") == ResolvedDirectory(project)


def test_then_where_the_hosts_session_was_heard_of(
    project: Path, sessions: Path, tmp_path: Path
) -> None:
    heard(sessions, "copilot", "s-1", project, "2026-01-01T10:00:00Z")
    heard(sessions, "copilot", "s-2", tmp_path, "2026-01-02T10:00:00Z")
    environment = {"COPILOT_AGENT_SESSION_ID": "s-1", "PLUGIN_ROOT": str(tmp_path)}
    place = ProjectRoots(environment, sessions, tmp_path)
    assert place.asked("") == ResolvedDirectory(project)
    assert (place.session.host, place.session.session) == ("copilot", "s-1")


def test_then_the_directory_that_it_was_started_in(
    project: Path, sessions: Path, tmp_path: Path
) -> None:
    heard(sessions, "codex", "s-1", tmp_path, "2026-01-01T10:00:00Z")
    assert ProjectRoots({}, sessions, project).asked("") == ResolvedDirectory(project)


@pytest.mark.parametrize(
    "where",
    [
        ".",
        ".codex/plugins/keeplore",
        ".gemini/extensions/keeplore",
        "plugin/inside",
        "gone",
    ],
)
def test_where_nobody_works_the_newest_session_is_guessed(
    where: str, home: Path, project: Path, sessions: Path, tmp_path: Path
) -> None:
    cwd = home / where
    if where != "gone":
        cwd.mkdir(parents=True, exist_ok=True)
    place = ProjectRoots({"CURSOR_PLUGIN_ROOT": str(home / "plugin")}, sessions, cwd)
    assert place.asked("") == ResolvedDirectory(home, is_known=False)
    heard(sessions, "cursor", "s-1", tmp_path, "2026-01-01T10:00:00Z")
    heard(sessions, "cursor", "s-2", project, "2026-01-02T10:00:00Z")
    (sessions / "broken.json").write_text("{")
    assert place.asked("") == ResolvedDirectory(project, is_known=False)
    assert ProjectRoots({}, sessions, Path("/")).asked("") == ResolvedDirectory(
        project, is_known=False
    )


@pytest.mark.parametrize(
    ("before", "is_read"),
    [
        ("file://", True),
        ("file://localhost", True),
        ("FILE://", True),
        ("http://", False),
        ("https://localhost", False),
        ("file://elsewhere", False),
        ("", False),
    ],
)
def test_a_directory_that_the_host_has_open_is_a_file_of_this_machine(
    project: Path, sessions: Path, home: Path, before: str, is_read: bool
) -> None:
    folder = project / "with space"
    folder.mkdir()
    uri = f"{before}{project}/with%20space"
    place = ProjectRoots({}, sessions, home, roots=["file:///no/such", uri])
    found = ResolvedDirectory(folder) if is_read else None
    assert place.asked("") == (found or ResolvedDirectory(home, is_known=False))
