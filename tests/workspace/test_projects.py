"""The list of projects: adding, cloning again, and two entries that are one project."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from keeplore.config.places import Places
from keeplore.errors import AlreadyExists, ConfigError, NotFound
from keeplore.memory.note import NoteDraft
from keeplore.recall.request import RecallRequest
from keeplore.store import run
from keeplore.workspace.identity import Project, load_projects, save_project
from keeplore.workspace.lifecycle.projects import (
    add,
    add_missing,
    address,
    clone,
    parse_project_list,
    projects_named,
    reassign,
)
from keeplore.workspace.lifecycle.setup import initialise
from keeplore.workspace.registry import Registry
from keeplore.workspace.workspace import Workspace

Git = Callable[..., str]


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    places = Places(tmp_path / "state", tmp_path / "cache")
    initialise(places, tmp_path / "memory")
    with Registry(places) as registry:
        yield registry.named("memory")


@pytest.fixture
def ssh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that stands for every server that is reached by ssh."""
    servers = tmp_path / "servers"
    script = tmp_path / "ssh.sh"
    script.write_text(
        f'#!/bin/sh\nfor last; do :; done\ncd "{servers}" && eval "$(echo "$last" | sed '
        f'"s|\'/|\'./|")"\n'
    )
    script.chmod(0o755)
    servers.mkdir()
    monkeypatch.setenv("GIT_SSH_COMMAND", str(script))
    return servers


def repository(place: Path, git: Git) -> None:
    place.mkdir(parents=True)
    git("init", "-q", cwd=place)
    (place / "app.py").write_text(f"print('{place.name}')\n")
    git("add", "app.py", cwd=place)
    git("commit", "-qm", "Start", cwd=place)


def names(workspace: Workspace) -> set[str]:
    return {entry.name for entry in load_projects(workspace.store)}


def test_a_directory_is_added_once_under_its_own_or_a_given_name(
    workspace: Workspace, tmp_path: Path, git: Git
) -> None:
    repository(tmp_path / "shop", git)
    repository(tmp_path / "till", git)
    git(
        "remote",
        "add",
        "origin",
        "git@example.invalid:acme/Till.git",
        cwd=tmp_path / "till",
    )
    assert add(workspace, tmp_path / "shop", "store").name == "store"
    assert add(workspace, tmp_path / "till").remotes == ("example.invalid/acme/till",)
    workspace.identities.forget()
    assert workspace.identities.here(tmp_path / "shop").project == "store"
    with pytest.raises(AlreadyExists):
        add(workspace, tmp_path / "till")
    with pytest.raises(ConfigError):
        add(workspace, tmp_path / "nothing-here")
    (tmp_path / "other").mkdir()
    repository(tmp_path / "second", git)
    with pytest.raises(AlreadyExists) as taken:
        add(workspace, tmp_path / "second", "store")
    assert str(taken.value) == (
        "there is a project 'store' already. Choose another name with --name"
    )
    with pytest.raises(ConfigError, match="cannot be"):
        add(workspace, tmp_path / "other", "../up")


@pytest.mark.parametrize(
    "data",
    [
        [
            {"name": "shop", "url": "git@example.invalid:acme/shop.git"},
            "https://example.invalid/acme/till",
        ],
        {
            "shop": "ssh://git@example.invalid/acme/shop",
            "till": {"repository": "https://example.invalid/acme/till.git"},
        },
        {
            "projects": [
                {"remote": "example@example.invalid:acme/shop"},
                {"git": "https://example.invalid/acme/till"},
            ]
        },
    ],
)
def test_lists_of_other_tools_are_taken_in_and_known_projects_stay_as_they_are(
    workspace: Workspace, data: object
) -> None:
    save_project(
        workspace.store, Project("till", ("example.invalid/acme/till",), "abc")
    )
    assert [
        project.name
        for project in add_missing(workspace, parse_project_list(json.dumps(data))[0])
    ] == ["shop"]
    assert names(workspace) == {"shop", "till"}
    assert add_missing(workspace, parse_project_list(json.dumps(data))[0]) == []


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"projects": 3}', "[[[[", '[{"name": "x"}]', "[1, null, {}]"],
)
def test_what_is_no_list_of_projects_is_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        parse_project_list(text)


@pytest.mark.parametrize("name", ["../../etc", "-rf", "con", "a/b", "\x1b[31mred"])
def test_a_listed_name_never_leads_out_of_the_folder(
    workspace: Workspace, name: str
) -> None:
    add_missing(
        workspace,
        parse_project_list(json.dumps({name: "https://example.invalid/x/y"}))[0],
    )
    assert all(
        (workspace.root / "projects" / name).is_dir() for name in names(workspace)
    )
    assert sorted(
        path.name for path in (workspace.root / "projects").iterdir()
    ) == sorted(names(workspace))


def test_projects_are_cloned_by_ssh_where_the_workspace_is_and_one_that_fails_stops_none(
    workspace: Workspace, tmp_path: Path, git: Git, ssh: Path
) -> None:
    repository(ssh / "acme" / "shop.git", git)
    git(
        "remote",
        "add",
        "origin",
        "git@example.invalid:me/memory.git",
        cwd=workspace.root,
    )
    for project in (
        Project("shop", ("example.invalid/acme/shop",)),
        Project("gone", ("example.invalid/acme/gone",)),
        Project("here", path="~/here"),
        Project("taken", ("example.invalid/acme/taken",)),
    ):
        save_project(workspace.store, project)
    into = tmp_path / "code"
    repository(into / "taken", git)
    said: list[tuple[str, str]] = []
    done = {
        c.name: c
        for c in clone(
            workspace,
            projects_named(workspace, ()),
            into,
            lambda *text: said.append(text),
        )
    }
    assert done["shop"].is_new and not done["shop"].error
    assert (into / "shop" / "app.py").read_text() == "print('shop.git')\n"
    assert (
        "no remote" in done["here"].error
        and "something else" in done["taken"].error
        and done["gone"].error
    )
    assert sorted(path.name for path in into.iterdir()) == ["shop", "taken"]
    assert {name for name, _ in said} >= {"shop"}
    again = {
        c.name: c
        for c in clone(
            workspace, projects_named(workspace, ("shop",)), into, lambda *_: None
        )
    }
    # the clone's remote is the address that was made of the entry
    assert not again["shop"].is_new and not again["shop"].error
    with pytest.raises(NotFound):
        projects_named(workspace, ("nobody",))


@pytest.mark.parametrize(
    "remote",
    [
        "-oProxyCommand=touch ran/x",
        "--upload-pack=touch ran/x",
        "ext::sh -c touch% ran/x",
        "",
        "host",
    ],
)
def test_no_address_of_an_entry_is_run(
    workspace: Workspace, tmp_path: Path, remote: str
) -> None:
    (workspace.root / "projects" / "evil").mkdir(parents=True)
    entry = json.dumps({"schema": 1, "name": "evil", "remotes": [remote]})
    (workspace.root / "projects" / "evil" / "project.json").write_text(entry)
    for done in clone(
        workspace, projects_named(workspace, ()), tmp_path / "code", lambda *_: None
    ):
        assert done.error
    assert not list(tmp_path.rglob("ran*"))


def test_the_form_of_an_address_follows_the_workspaces_own() -> None:
    project = Project("shop", ("file/srv/shop", "example.invalid:2222/acme/shop"))
    assert (
        address(project, "git@example.invalid:me/memory.git")
        == "ssh://git@example.invalid:2222/acme/shop.git"
    )
    assert (
        address(project, "ssh://git@h/x")
        == "ssh://git@example.invalid:2222/acme/shop.git"
    )
    assert (
        address(project, "https://h/x")
        == address(project, "")
        == "https://example.invalid:2222/acme/shop.git"
    )
    assert (
        address(project, "ssh://ada@example.invalid:2222/x")
        == "ssh://ada@example.invalid:2222/acme/shop.git"
    )
    assert (
        address(project, "http://ada@example.invalid:2222/x")
        == "http://example.invalid:2222/acme/shop.git"
    )
    assert address(Project("local", ("file/srv/x",)), "") == ""


def test_two_entries_that_are_one_project_become_one_with_the_memory_of_both(
    workspace: Workspace, tmp_path: Path, git: Git
) -> None:
    for name, text in (
        ("shop", "Prices are in cents"),
        ("shop-1234", "Taxes are rounded once"),
    ):
        save_project(workspace.store, Project(name, path=f"{tmp_path}/{name}"))
        (tmp_path / name).mkdir()
        workspace.notes.write(NoteDraft(text, scope="project", project=name))
    joined = reassign(workspace, "shop-1234", "shop")
    assert names(workspace) == {"shop"} and joined.also == ("shop-1234",)
    here = workspace.identities.here(tmp_path / "shop")
    assert workspace.identities.here(tmp_path / "shop-1234") == here
    [entry] = load_projects(workspace.store)
    assert (entry, entry.paths) == (joined, (f"{tmp_path}/shop-1234",))
    found = workspace.recall(
        RecallRequest("are taxes rounded once", tmp_path / "shop", text_only=True)
    ).hits
    assert here.also == ("shop-1234",) and found[0].title.startswith("Taxes")
    assert here.distance("project", "shop-1234") == here.distance("project", "shop")
    with pytest.raises(NotFound):
        reassign(workspace, "nobody", "shop")
    again = reassign(workspace, "shop", "store")
    assert (again.path, again.paths) == (joined.path, joined.paths)
    for wrong in ("store", "../x"):
        with pytest.raises(ConfigError):
            reassign(workspace, "store", wrong)


def test_git_can_be_watched_and_is_ended_in_time(tmp_path: Path) -> None:
    said: list[str] = []
    done = run(
        tmp_path,
        "-c",
        "alias.talk=!echo one >&2; echo two >&2; echo out",
        "talk",
        on_progress=said.append,
    )
    assert done.text == "out" and said[-1] == "two"
    slow = run(
        tmp_path,
        "-c",
        "alias.wait=!echo on >&2; sleep 60",
        "wait",
        timeout_s=0.5,
        on_progress=said.append,
    )
    assert slow.code != 0
