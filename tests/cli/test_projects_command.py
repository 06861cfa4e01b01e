"""``keeplore projects`` and ``keeplore clone --projects``, as a person runs them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

Git = Callable[..., str]


@pytest.fixture
def workspace(home: Path, run: Callable, git: Git) -> Path:
    """A workspace with a remote; it knows the projects ``shop``, whose remote nobody has, and
    ``register``.
    """
    assert run("init", "memory").returncode == 0
    git("init", "-q", "--bare", "-b", "main", str(home / "memory.git"), cwd=home)
    git("remote", "add", "origin", str(home / "memory.git"), cwd=home / "memory")
    for name in ("shop", "till"):
        (home / name).mkdir()
        git("init", "-q", cwd=home / name)
        (home / name / "app.py").write_text(name)
        git("add", "app.py", cwd=home / name)
        git("commit", "-qm", name, cwd=home / name)
    git(
        "remote",
        "add",
        "origin",
        "https://shop.invalid/acme/shop.git",
        cwd=home / "shop",
    )
    assert (
        run("projects", "add", str(home / "shop")).stdout
        == "shop: shop.invalid/acme/shop\n"
    )
    assert (
        run("projects", "add", str(home / "till"), "--name", "register").returncode == 0
    )
    return home / "memory"


def test_projects_are_listed_added_and_joined(workspace: Path, run: Callable) -> None:
    assert [line.split("\t")[0] for line in run("projects").stdout.splitlines()] == [
        "register",
        "shop",
    ]
    again = run("projects", "add", str(workspace.parent / "shop"))
    assert again.returncode == 1 and "already" in again.stderr
    joined = run("projects", "reassign", "register", "till")
    assert joined.stdout.startswith("register is till now")
    listed = json.loads(run("projects", "--json").stdout)
    assert [(project["name"], project["also"]) for project in listed] == [
        ("shop", []),
        ("till", ["register"]),
    ]
    assert (
        json.loads(run("whoami", "--json", cwd=workspace.parent / "till").stdout)[
            "project"
        ]
        == "till"
    )


@pytest.mark.parametrize("old", ["webshop", "shop"])
def test_a_project_is_found_again_after_its_remote_was_renamed(
    workspace: Path, run: Callable, git: Git, old: str
) -> None:
    shop = workspace.parent / "shop"
    run("remember", "Tea is served at four", cwd=shop)
    git(
        "remote", "set-url", "origin", "https://shop.invalid/acme/webshop.git", cwd=shop
    )
    assert run("list", cwd=shop).stdout == ""
    told = run("whoami", cwd=shop).stderr
    assert told == (
        "note: shop begins with the same commit; if it is this project, "
        "`keeplore projects reassign webshop shop`\n"
    )
    new = "shop" if old == "webshop" else "webshop"
    assert run("projects", "reassign", old, new, cwd=shop).returncode == 0
    whoami = run("whoami", cwd=shop)
    assert f"project:   {new} (by git remote " in whoami.stdout
    assert whoami.stderr == ""
    assert "Tea is served" in run("list", cwd=shop).stdout
    assert git("status", "--short", cwd=workspace) == ""


def test_a_list_in_the_workspace_is_offered_and_taken_in(
    workspace: Path, run: Callable
) -> None:
    (workspace / "projects.json").write_text(
        json.dumps({"projects": {"api": "git@example.invalid:acme/api.git", "odd": 7}})
    )
    assert "projects add --from" in run("projects").stderr
    done = run("projects", "add", "--from", str(workspace / "projects.json"))
    assert (
        done.stdout == "api: example.invalid/acme/api\n"
        and "1 of its entries has no address" in done.stderr
    )
    assert (
        "no project of it is new"
        in run("projects", "add", "--from", str(workspace / "projects.json")).stderr
    )
    assert (
        run(
            "projects", "add", "x", "--from", str(workspace / "projects.json")
        ).returncode
        == 2
    )


def test_a_clone_says_what_came_of_each_project(
    workspace: Path, run: Callable, home: Path
) -> None:
    assert run("sync").returncode == 0
    other = {
        "KEEPLORE_STATE_DIR": str(home / "b" / "state"),
        "KEEPLORE_CACHE_DIR": str(home / "b" / "cache"),
    }
    done = run(
        "clone",
        str(home / "memory.git"),
        str(home / "b" / "memory"),
        "--projects",
        "all",
        "--into",
        "b",
        **other,
    )
    assert done.returncode == 0, done.stderr
    assert (
        "shop: not cloned" in done.stdout
        and "register: not cloned: it has no remote" in done.stdout
    )
    again = run("clone", str(home / "memory.git"), str(home / "b" / "again"), **other)
    assert "`keeplore projects clone --all` clones its projects as well (1)." in (
        again.stdout
    )
    assert run("projects", "clone", **other).returncode == 2
    assert run("projects", "clone", "nobody", **other).returncode == 1
    assert (
        run(
            "projects", "clone", "shop", "--into", str(home / "code"), **other
        ).returncode
        == 1
    )


def test_a_clone_connects_agents_when_asked_and_tells_what_is_not_well(
    workspace: Path, run: Callable, home: Path
) -> None:
    assert run("sync").returncode == 0
    (home / ".codex").mkdir()
    other = {
        "KEEPLORE_STATE_DIR": str(home / "b" / "state"),
        "KEEPLORE_CACHE_DIR": str(home / "b" / "cache"),
    }
    done = run(
        "clone",
        str(home / "memory.git"),
        str(home / "b" / "memory"),
        "--connect",
        **other,
    )
    assert done.returncode == 0, done.stderr
    assert (
        "Codex CLI: connected" in done.stdout
        and (home / ".codex" / "hooks.json").is_file()
    )
    assert "nothing needs you" in done.stdout and "ok  " not in done.stdout
    assert "never on this machine" not in done.stdout  # it has just brought everything
    again = run(
        "clone",
        str(home / "memory.git"),
        str(home / "c" / "memory"),
        "--name",
        "c",
        **other,
    )
    assert "`keeplore connect` lets" in again.stdout


def test_a_project_of_two_workspaces_is_said_with_the_one_that_is_used(
    workspace: Path, run: Callable
) -> None:
    home = workspace.parent
    assert run("init", "team").returncode == 0
    assert run("whoami", cwd=home / "shop").stderr == ""
    listed = home / "list.json"
    listed.write_text('["https://shop.invalid/acme/shop.git"]')
    assert run("projects", "add", "--from", str(listed), cwd=home / "team").stdout
    asked = run("whoami", cwd=home / "shop")
    assert asked.stdout.startswith(f"workspace: memory ({workspace}), home\n")
    assert asked.stderr == (
        "note: shop is known to memory and team; memory is used, as the first that is asked. "
        "`keeplore workspaces home team` lets team be asked first\n"
    )
    run("workspaces", "home", "team")
    told = json.loads(run("whoami", "--json", cwd=home / "shop").stdout)
    assert (told["workspace"], told["also_known_in"]) == ("team", ["memory"])
    assert run("whoami", cwd=workspace).stderr == ""
