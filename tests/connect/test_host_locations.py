"""Hosts that plugins of others bring: where they are, and what is said where one of them fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from keeplore.connect import host_locations
from keeplore.connect.host_connection import (
    ConnectPlace,
    Desired,
    HostConnection,
    HostLocation,
)
from keeplore.connect.host_locations import (
    LOCATIONS,
    Surroundings,
    desired,
    installed_otherwise,
    left_behind,
    own_folder,
    switched_off,
)
from keeplore.errors import ConfigError
from keeplore_hooks.installed import PluginProblem

PLACE = HostLocation("Odd", ".odd", ("odd-cli",), "Start it", variable="ODD_HOME")
BRINGS = "keeplore_connections"


def nothing(_: ConnectPlace) -> list[Desired]:
    return []


def failing(*_: object) -> Any:
    raise ZeroDivisionError("by zero")


ODD = HostConnection("odd", PLACE, nothing, "ours")
OLD = replace(ODD, host="old", location=replace(PLACE, folder=".old"), own_folder="")
Bring = Callable[..., list[PluginProblem]]


@pytest.fixture
def bring(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bring]:
    """Has plugins bring these hosts alone; what becomes of it."""

    def brought(*connections: HostConnection) -> list[PluginProblem]:
        items = [("a-package", one) for one in connections]
        host_locations._connections.cache_clear()
        monkeypatch.setattr(host_locations, "plugin_items", lambda *_: (items, []))
        return host_locations.problems()

    yield brought
    host_locations._connections.cache_clear()


def test_a_host_that_no_plugin_knows_any_more_is_told_by_its_name(bring: Bring) -> None:
    assert bring(ODD, OLD) == []
    assert ([*LOCATIONS], len(LOCATIONS)) == (["odd", "old"], 2)
    assert ("odd" in LOCATIONS, "gone" in LOCATIONS) == (True, False)
    assert LOCATIONS["odd"] == PLACE
    assert LOCATIONS["gone"] == HostLocation(
        "gone", "", (), "install the package again that brings it"
    )


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"host": "Odd One"}, "'Odd One' is no name of a host"),
        ({"host": 7}, "7 is no name of a host"),
        ({}, "odd is connected by another plugin"),
        (
            {"host": "new", "location": replace(PLACE, before=7)},
            "the location of new holds something that is no text",
        ),
        (
            {"host": "new", "location": replace(PLACE, label=["x"])},
            "the location of new holds something that is no text",
        ),
    ],
)
def test_what_is_no_connection_is_refused_and_the_others_stay(
    bring: Bring, change: dict[str, Any], why: str
) -> None:
    problems = bring(ODD, replace(ODD, **change), OLD)
    assert problems == [PluginProblem("a-package", BRINGS, why)]
    assert [*LOCATIONS] == ["odd", "old"]


def test_where_a_host_is_and_whether_it_is_here(bring: Bring, tmp_path: Path) -> None:
    home = replace(PLACE, home_variable="ODD_TOP", home="top", folder="odd")
    bring(ODD, OLD, replace(OLD, host="new", location=home))

    def around(**environment: str) -> Surroundings:
        return Surroundings(tmp_path, tmp_path / "state", environment)

    hosts = ("odd", "old", "new", "gone")
    assert [around().directory(host) for host in hosts] == [
        tmp_path / ".odd",
        tmp_path / ".old",
        tmp_path / "top" / "odd",
        tmp_path,
    ]
    assert around(ODD_HOME="~/x/y").directory("odd") == tmp_path / "x" / "y"
    assert around(ODD_HOME="/x").directory("old") == Path("/x")
    assert around(ODD_TOP="/x").directory("new") == Path("/x/odd")
    assert around(ODD_TOP="/x").directory("odd") == tmp_path / ".odd"
    assert around().found() == []
    (tmp_path / ".old").mkdir()
    assert around(PATH=str(tmp_path)).found() == ["old"]
    program = tmp_path / "odd-cli"
    program.write_text("#!/bin/sh\n")
    assert around(PATH=str(tmp_path)).found() == ["old"]  # it is none that runs
    program.chmod(0o755)
    assert around(PATH=str(tmp_path)).found() == ["odd", "old", "new"]
    assert around().found() == ["old"]


def test_what_connects_a_host_gets_its_folder(bring: Bring, tmp_path: Path) -> None:
    asked: list[ConnectPlace] = []
    resource: Any = object()
    wanted = Desired(tmp_path / "a", resource)

    def files(place: ConnectPlace) -> list[Desired]:
        asked.append(place)
        return [wanted, wanted]

    bring(replace(ODD, files=files), replace(OLD, files=files))
    around = Surroundings(tmp_path, tmp_path / "state", {})
    launcher: Any = "a launcher"
    for host in ("odd", "old"):
        assert desired(host, around, launcher) == [wanted, wanted]
    assert asked == [
        ConnectPlace(tmp_path, tmp_path / ".odd" / "ours", launcher),
        ConnectPlace(tmp_path, tmp_path / ".old", launcher),
    ]
    folders = [own_folder(host, Path("/d")) for host in ("odd", "old", "gone")]
    assert folders == [Path("/d/ours"), None, None]


def test_what_fails_in_a_plugin_of_others_is_told_by_its_name(
    bring: Bring, tmp_path: Path
) -> None:
    around = Surroundings(tmp_path, tmp_path / "state", {})
    launcher: Any = "a launcher"

    def said(host: str) -> str:
        with pytest.raises(ConfigError) as refused:
            desired(host, around, launcher)
        return str(refused.value)

    def refusing(_: ConnectPlace) -> list[Desired]:
        raise ConfigError("its settings are broken", "Mend them")

    def unreadable(_: ConnectPlace) -> list[Desired]:
        raise PermissionError("not yours")

    bring(replace(ODD, files=failing), replace(OLD, files=refusing))
    assert said("gone") == (
        "the package that brings gone does not say how to connect it. Ask its documentation"
    )
    assert said("odd") == (
        "what connects odd fails: ZeroDivisionError('by zero'). Update or uninstall its package"
    )
    assert said("old") == "its settings are broken. Mend them"
    bring(replace(ODD, files=unreadable))
    with pytest.raises(PermissionError, match="not yours"):
        desired("odd", around, launcher)


@pytest.mark.parametrize(
    ("ask", "field"),
    [
        (installed_otherwise, "installed_otherwise"),
        (switched_off, "switched_off"),
        (left_behind, "left_behind"),
    ],
)
def test_signs_are_asked_with_the_directory_and_never_raise(
    bring: Bring, ask: Callable[[str, Path], str], field: str
) -> None:
    told: Any = {field: lambda directory: f"see {directory}"}
    bring(replace(ODD, **told), replace(OLD, **{field: failing}))
    asked = [ask(host, Path("/d")) for host in ("odd", "old", "gone")]
    assert asked == ["see /d", "", ""]
    assert host_locations.problems() == [
        PluginProblem("old", BRINGS, "ZeroDivisionError('by zero')")
    ]
