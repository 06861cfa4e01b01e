"""Which files of a project are looked at for what it is made of, and what is written of them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from keeplore.config.places import Places
from keeplore.workspace.identity import Project, save_project
from keeplore.workspace.importing import project_manifests
from keeplore.workspace.importing.project_manifests import (
    MAX_FILE,
    ProjectManifests,
    manifests,
)
from keeplore.workspace.lifecycle.setup import initialise
from keeplore.workspace.registry import Registry


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.fixture
def workspace(home):
    places = Places.from_environment(os.environ)
    initialise(places, home / "memory")
    with Registry(places) as registry:
        workspace = registry.named("memory")
        save_project(workspace.store, Project("shop", path="~/shop"))
        yield workspace


def written(workspace) -> dict[str, object]:
    (path,) = (workspace.root / "projects" / "shop" / "manifests").iterdir()
    assert path.name == f"{workspace.machine}.json"
    return json.loads(path.read_text())


def test_the_top_its_folders_and_the_parts_of_a_product_are_looked_at_and_no_link_is_followed(
    home,
):
    shop, elsewhere = home / "shop", home / "elsewhere"
    wanted = ["package.json", "api/pyproject.toml", "packages/ui/package.json"]
    unwanted = [
        "node_modules/package.json",
        ".venv/setup.cfg",
        "api/v1/setup.cfg",
        "packages/ui/x/package.json",
    ]
    for path in (*wanted, *unwanted, "other/package.json", "other/.git"):
        write(shop / path, "{}")
    write(elsewhere / "Cargo.toml", "")
    (shop / "linked").symlink_to(elsewhere)
    (shop / "Cargo.toml").symlink_to(elsewhere / "Cargo.toml")
    os.mkfifo(shop / "Gemfile")
    assert [file.path for file in manifests(shop)] == wanted


def test_names_are_written_once_and_only_where_they_change(workspace, home):
    take = ProjectManifests().take
    write(
        home / "shop" / "pyproject.toml",
        '[project]\nname = "shop"\ndependencies = ["httpx"]',
    )
    write(home / "shop" / "web" / "package.json", '{"dependencies": {"next": "14"}}')
    assert [take(workspace, home / "shop") for _ in range(2)] == [True, False]
    assert written(workspace) == {
        "schema": 1,
        "own": ["shop"],
        "packages": ["httpx", "next"],
    }

    write(
        home / "shop" / "pyproject.toml",
        '[project]\nname = "shop"\ndependencies = ["httpx>=1"]',
    )
    assert not take(workspace, home / "shop")
    assert not ProjectManifests().take(workspace, home / "shop")
    (home / "shop" / "web" / "package.json").unlink()
    assert take(workspace, home / "shop")
    assert written(workspace) == {"schema": 1, "own": ["shop"], "packages": ["httpx"]}
    (home / "shop" / "pyproject.toml").unlink()
    assert take(workspace, home / "shop")
    assert list((workspace.root / "projects" / "shop" / "manifests").iterdir()) == []


def test_a_name_that_holds_a_secret_and_a_file_that_is_too_large_are_left_out(
    workspace, home
):
    token = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
    names = dict.fromkeys(["next", token])
    write(home / "shop" / "package.json", json.dumps({"dependencies": names}))
    write(
        home / "shop" / "Cargo.toml", "[dependencies]\nserde = '1'\n" + "#" * MAX_FILE
    )
    assert ProjectManifests().take(workspace, home / "shop")
    assert written(workspace) == {"schema": 1, "packages": ["next"]}


def test_a_project_that_is_not_known_or_cannot_be_read_is_left_alone(workspace, home):
    write(home / "other" / "package.json", '{"name": "other"}')
    assert not ProjectManifests().take(workspace, home / "other")
    assert not ProjectManifests().take(workspace, home / "no\0directory")
    write(home / "shop" / "package.json", '{"name": "shop-web"}')
    assert ProjectManifests().take(workspace, home / "shop")
    (home / "shop").rename(home / "away")
    assert not ProjectManifests().take(workspace, home / "shop")
    assert written(workspace) == {"schema": 1, "own": ["shop-web"]}


@pytest.mark.parametrize(
    ("most", "bytes_", "found"),
    [
        (3, 1_000, ["package.json", "api/package.json", "web/package.json"]),
        (2, 1_000, ["package.json", "api/package.json"]),
        (3, 9, ["package.json", "api/package.json", "web/package.json"]),
        (3, 8, ["package.json", "api/package.json"]),
        (0, 1_000, []),
    ],
)
def test_so_many_manifests_are_looked_at_and_so_many_bytes(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    most: int,
    bytes_: int,
    found: list[str],
) -> None:
    monkeypatch.setattr(project_manifests, "MAX_MANIFESTS", most)
    monkeypatch.setattr(project_manifests, "MAX_TOTAL", bytes_)
    for folder in ("", "api", "web"):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / "package.json").write_text("{ }")
    assert sorted(one.path for one in manifests(tmp_path)) == sorted(found)
