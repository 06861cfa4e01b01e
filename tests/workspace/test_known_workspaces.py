"""Choosing the home workspace, renaming one, taking one off the list of this machine."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from keeplore.config.machine import Machine
from keeplore.config.places import Places
from keeplore.errors import ConfigError, NoWorkspace
from keeplore.workspace.lifecycle.known_workspaces import (
    RegisteredWorkspace,
    choose_home,
    registered_workspaces,
    remove,
    rename,
)
from keeplore.workspace.lifecycle.setup import initialise

OF_ONE = ("cache/index/b", "state/capture/b")
FILES_OF_ONE = ("state/sync/b.json", "state/machines/b.json", "cache/machines/b.json")


@pytest.fixture
def places(home: Path) -> Places:
    """A machine that knows three workspaces, of which ``b`` is its home."""
    places = Places.from_environment(os.environ)
    for name in ("b", "c", "a"):
        initialise(places, home / name)
    for folder in OF_ONE:
        (home / folder).mkdir(parents=True, exist_ok=True)
        (home / folder / "mine").touch()
    for file in FILES_OF_ONE:
        (home / file).parent.mkdir(parents=True, exist_ok=True)
        (home / file).write_text("{}", encoding="utf-8")
    return places


def there(home: Path, name: str) -> list[bool]:
    kept = (*(f"{folder}/mine" for folder in OF_ONE), *FILES_OF_ONE)
    return [(home / place.replace("/b", f"/{name}")).exists() for place in kept]


def refusal(
    error: type[ConfigError], act: object, *arguments: object
) -> tuple[str, str]:
    assert callable(act)
    with pytest.raises(error) as caught:
        act(*arguments)
    return caught.value.message, caught.value.remedy


def test_the_home_workspace_comes_first(places: Places, home: Path) -> None:
    shutil.rmtree(home / "c")
    assert registered_workspaces(places) == [
        RegisteredWorkspace("b", home / "b", is_home=True, is_there=True),
        RegisteredWorkspace("a", home / "a", is_home=False, is_there=True),
        RegisteredWorkspace("c", home / "c", is_home=False, is_there=False),
    ]


def test_another_one_becomes_home(places: Places, home: Path) -> None:
    chosen = RegisteredWorkspace("c", home / "c", is_home=True, is_there=True)
    assert choose_home(places, "c") == chosen
    assert [one.name for one in registered_workspaces(places)] == ["c", "a", "b"]
    assert refusal(NoWorkspace, choose_home, places, "d") == (
        "no workspace named 'd' on this machine",
        "It knows: a, b, c",
    )
    assert Machine.load(places).home == "c"


def test_a_renamed_one_keeps_what_is_known_of_it(places: Places, home: Path) -> None:
    (home / "cache/index/work/stale").mkdir(parents=True)
    renamed = RegisteredWorkspace("work", home / "b", is_home=True, is_there=True)
    assert rename(places, "b", "work") == renamed
    assert [one.name for one in registered_workspaces(places)] == ["work", "a", "c"]
    assert (there(home, "b"), there(home, "work")) == ([False] * 5, [True] * 5)
    assert not (home / "cache/index/work/stale").exists()
    assert not rename(places, "a", "z").is_home


def test_a_name_that_is_taken_or_none_is_refused(places: Places) -> None:
    assert refusal(ConfigError, rename, places, "a", "c") == (
        "this machine has another workspace named 'c'",
        "Choose another name",
    )
    assert refusal(ConfigError, rename, places, "a", "No Name") == (
        "'No Name' cannot be the name of a workspace",
        "Choose one of lower-case letters, digits, dots and dashes",
    )
    assert refusal(NoWorkspace, rename, places, "d", "e")[0] == (
        "no workspace named 'd' on this machine"
    )


def test_the_home_workspace_is_taken_off_last(places: Places, home: Path) -> None:
    assert refusal(ConfigError, remove, places, "b") == (
        "'b' is the home workspace",
        "`keeplore workspaces home NAME` chooses another: a, c",
    )
    assert remove(places, "a").name == "a"
    assert there(home, "b") == [True] * 5
    gone = RegisteredWorkspace("b", home / "b", is_home=False, is_there=True)
    assert remove(places, "b") == gone
    assert there(home, "b") == [False, True, True, False, False]
    assert (home / "b" / "keeplore.yaml").exists()
    assert (Machine.load(places).home, [*Machine.load(places).workspaces]) == (
        "c",
        ["c"],
    )
    remove(places, "c")
    assert refusal(NoWorkspace, remove, places, "c")[1] == "It knows: none"
    assert registered_workspaces(places) == []
