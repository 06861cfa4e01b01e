"""``keeplore exclude``, ``include`` and ``pause``: what they write, say and undo."""

from __future__ import annotations

import json
import os
from pathlib import Path

import click
import pytest
import yaml
from click.testing import CliRunner, Result
from new_workspace import lay_down

from keeplore.cli.main import cli
from keeplore.config.places import Places
from keeplore.errors import KeeploreError
from keeplore.workspace import Registry
from keeplore_hooks.events import Origin, Session, Turn

REMOTE = "git@git.example.com:Acme/API.git"


def keeplore(*arguments: str) -> Result:
    done = CliRunner().invoke(cli, arguments, standalone_mode=False)
    if done.exception:
        raise done.exception
    return done


def rules() -> list[tuple[str, bool, str]]:
    found = json.loads(keeplore("exclude", "--list", "--json").stdout)["rules"]
    return [(one["rule"], one["may"], one["whose"]) for one in found]


def whether() -> str:
    (line,) = (
        line for line in keeplore("whoami").stdout.splitlines() if "captured:" in line
    )
    return line.partition(":")[2].strip()


@pytest.fixture
def places(home: Path) -> Places:
    found = Places.from_environment(os.environ)
    lay_down(found, home / "memory")
    return found


@pytest.fixture
def api(places: Places, home: Path, git, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with a remote, in which the person is."""
    folder = home / "code" / "api"
    (folder / "src").mkdir(parents=True)
    git("init", "-q", cwd=folder)
    git("remote", "add", "origin", REMOTE, cwd=folder)
    monkeypatch.chdir(folder / "src")
    return folder


def test_the_project_here_is_left_out_by_its_place_and_its_remotes(api: Path) -> None:
    assert whether() == "yes"
    shown = keeplore("exclude")
    offered = f"keeplore exclude {api}"
    assert (shown.stdout, shown.stderr.splitlines()) == (
        "",
        [
            "note: there is no rule: every project is captured",
            "note: this directory is captured",
            f"note: `{offered}` leaves this project out",
        ],
    )
    assert rules() == []
    assert keeplore(*offered.split()[1:]).stdout == (
        "Left out of memory, on this machine:\n"
        "  path:~/code/api\n"
        "  remote:git.example.com/acme/api\n"
    )
    assert whether() == "no, because path:~/code/api is excluded on this machine"
    assert keeplore("exclude").stderr.splitlines()[1:] == [
        "note: `keeplore include` lets it in"
    ]
    keeplore("include")
    assert (whether(), rules()) == ("yes", [])


def test_to_include_what_nothing_leaves_out_changes_nothing(api: Path) -> None:
    told = "Nothing leaves ~/code/api out: it is captured, as before.\n"
    assert keeplore("include").stdout == told
    assert keeplore("include", "--workspace").stdout == told
    told_of_folder = "Nothing leaves ~/code/api/docs out: it is captured, as before.\n"
    assert keeplore("include", str(api / "docs")).stdout == told_of_folder
    shown = json.loads(keeplore("include", "--json").stdout)
    assert shown == {
        "rules": ["path:~/code/api", "remote:git.example.com/acme/api"],
        "may": True,
        "is_shared": False,
    }
    assert rules() == []


def test_a_place_without_a_project_is_named_by_its_directory(
    api: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home)
    keeplore("exclude", str(home))
    found = json.loads(keeplore("exclude", "--list", "--json").stdout)
    assert found["rules"] == [
        {"rule": f"path:{home}", "may": False, "whose": "machine", "means": [str(home)]}
    ]


def test_a_folder_of_a_project_is_left_out_alone(api: Path) -> None:
    keeplore("exclude", str(api / "docs"))
    assert rules() == [("path:~/code/api/docs", False, "machine")]
    assert whether() == "yes"


def test_a_bare_name_is_a_project_where_no_directory_has_it(api: Path) -> None:
    told = keeplore("exclude", "api")
    assert told.stdout == "Left out of memory, on this machine:\n  project:api\n"
    assert whether() == "no, because project:api is excluded on this machine"
    keeplore("include", "api")
    assert (whether(), rules()) == ("yes", [])
    (api / "src" / "docs").mkdir()
    keeplore("exclude", "docs")
    assert rules() == [("path:~/code/api/src/docs", False, "machine")]


@pytest.mark.parametrize(
    ("typed", "rule"),
    [
        ("project:api", "project:api"),
        ("path:~/clients", "path:~/clients"),
        ("remote:git.example.com/acme/*", "remote:git.example.com/acme/*"),
        ("pattern:secret-*", "pattern:secret-*"),
    ],
)
def test_a_rule_is_taken_as_the_settings_write_it(
    api: Path, typed: str, rule: str
) -> None:
    told = keeplore("exclude", typed)
    assert told.stdout == f"Left out of memory, on this machine:\n  {rule}\n"
    assert rules() == [(rule, False, "machine")]
    keeplore("include", typed)
    assert rules() == []


@pytest.mark.parametrize("words", [["apy"], ["project:apy"], ["--project", "apy"]])
def test_a_project_that_nobody_knows_is_refused(api: Path, words: list[str]) -> None:
    with pytest.raises(KeeploreError) as refused:
        keeplore("exclude", *words)
    assert (refused.value.message, refused.value.remedy) == (
        "no project is called 'apy'",
        "Known are api; name its directory where it is new",
    )
    assert rules() == []


def test_an_inclusion_overrides_a_wider_rule_and_is_no_more_than_that(
    api: Path,
) -> None:
    keeplore("exclude", str(api.parent))
    keeplore("include")
    assert rules() == [
        ("path:~/code", False, "machine"),
        ("path:~/code/api", True, "machine"),
        ("remote:git.example.com/acme/api", True, "machine"),
    ]
    assert whether() == "yes, because path:~/code/api is included on this machine"
    keeplore("exclude", str(api))
    assert [may for _, may, _ in rules()] == [False, False, False]


def test_a_rule_of_the_workspace_stands_in_its_settings(api: Path, home: Path) -> None:
    settings = home / "memory" / "keeplore.yaml"
    before = yaml.safe_load(settings.read_text())
    keeplore("exclude", "--remote", "git.example.com/acme/*", "--workspace")
    assert rules() == [("remote:git.example.com/acme/*", False, "memory")]
    assert whether() == (
        "no, because remote:git.example.com/acme/* is excluded by the workspace"
    )
    keeplore("include", "--remote", "git.example.com/acme/*", "--workspace")
    assert (yaml.safe_load(settings.read_text()), whether()) == (before, "yes")


def test_what_was_captured_before_is_offered_for_forgetting(
    api: Path, places: Places, home: Path
) -> None:
    origin = Origin("claude-code", "s-1", str(api))
    with Registry(places) as registry:
        workspace = registry.named("memory")
        for number in (1, 2):
            at = f"2026-02-09T1{number}:00:00Z"
            origin = Origin("claude-code", f"s-{number}", str(api))
            said = Turn(f"t-{number}", origin, at, "Redis?", ("We decided on Redis.",))
            workspace.emit(said)
            workspace.emit(Session(f"e-{number}", origin, at, "ended"))
    told = keeplore("exclude", str(api)).stdout.splitlines()[3:]
    count = int(told[0].split()[2])
    command = f"keeplore exclude {api} --forget"
    assert told == [
        f"Memory holds {count} memories of api from before.",
        f"`{command}` forgets them.",
    ]
    with pytest.raises(KeeploreError, match="nobody can be asked"):
        keeplore(*command.split()[1:])
    assert keeplore(*command.split()[1:], "--yes").stdout.splitlines()[3:] == [
        f"Forgotten: {count} memories of api."
    ]
    assert [*(home / "memory" / "projects").rglob("*.md")] == []


def test_what_is_named_must_be_something(
    api: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "file").write_text("")
    with pytest.raises(KeeploreError, match="is a file"):
        keeplore("exclude", str(home / "file"))
    for option in ("--workspace", "--forget"):
        with pytest.raises(click.UsageError, match="name what is to be left out"):
            keeplore("exclude", option)
    monkeypatch.chdir(home)
    with pytest.raises(KeeploreError, match="belongs to no project"):
        keeplore("include")
    assert keeplore("exclude").stderr.splitlines()[2:] == [
        "note: `keeplore exclude .` leaves this directory out"
    ]
    assert rules() == []


@pytest.mark.parametrize(
    ("words", "is_known"),
    [
        (["--project", "ap*"], True),
        (["--remote", "git.example.com/*"], True),
        (["--project", "nobody*"], False),
        (["--pattern", "secret-*"], False),
        (["../nowhere"], False),
    ],
)
def test_what_means_nothing_that_is_known_is_said_so(
    api: Path, words: list[str], is_known: bool
) -> None:
    told = keeplore("exclude", *words).stderr
    unknown = (
        "note: it means nothing that is known here, and holds for what is to come\n"
    )
    assert told == ("" if is_known else unknown)
    assert len(rules()) == 1


def test_a_pause_ends_in_time_or_when_told(api: Path, places: Places) -> None:
    marker = places.state / "paused"
    told = keeplore("pause", "--for", "2h").stdout
    assert told.startswith("Paused until ") and len(marker.read_text()) == 15
    assert whether().startswith("no, because paused since ")
    keeplore("pause")
    assert marker.read_text() == "\n"
    found = keeplore("doctor").stdout
    assert "nothing is captured on this machine" in found
    assert keeplore("pause", "--end").stdout == "Capturing again.\n"
    assert keeplore("pause", "--end").stdout == "There was no pause.\n"
    assert (whether(), marker.exists()) == ("yes", False)


def test_the_doctor_names_rules_that_mean_nothing(api: Path) -> None:
    for rule in (["--project", "nobody*"], ["--remote", REMOTE], [str(api / "gone")]):
        keeplore("exclude", *rule)
    lines = [
        line for line in keeplore("doctor").stdout.splitlines() if " rule " in line
    ]
    assert [line.partition("the rule ")[2].split()[0] for line in lines] == [
        "project:nobody*",
        "path:~/code/api/gone",
    ]


def test_a_file_in_a_place_that_is_left_out_is_not_ingested(
    api: Path, home: Path
) -> None:
    (api / "plan.md").write_text("# Plan\n\nThe canary sings.\n")
    keeplore("exclude", str(api))
    with pytest.raises(KeeploreError, match="api is left out of memory"):
        keeplore("ingest", "../plan.md")
    done = CliRunner().invoke(cli, ["ingest", "--scope", "workspace", "../plan.md"])
    assert done.exit_code == 1 and "is left out of memory" in done.stderr
    kept = [*(home / "memory").rglob("*.md")]
    assert [path for path in kept if "canary" in path.read_text()] == []
