"""Where each host keeps its files on this machine, and what is to stand there: of every host that a
plugin says how to connect.
"""

from __future__ import annotations

import functools
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path

from keeplore.connect import builtin_connections
from keeplore.connect.hook_events import Launcher
from keeplore.connect.host_connection import (
    ConnectPlace,
    Desired,
    HostConnection,
    HostLocation,
)
from keeplore.errors import ConfigError
from keeplore_hooks.installed import NAME, PluginProblem, plugin_items

POINT = "keeplore_connections"


class HostLocations(Mapping[str, HostLocation]):
    """Host → where it is, in the order in which hosts are named; plugins are asked at first use.

    A host that no plugin knows any more is told by its name.
    """

    def __getitem__(self, host: str) -> HostLocation:
        known = _connections()[0].get(host)
        gone = "install the package again that brings it"
        return known.location if known else HostLocation(host, "", (), gone)

    def __contains__(self, host: object) -> bool:
        return host in _connections()[0]

    def __iter__(self) -> Iterator[str]:
        return iter(_connections()[0])

    def __len__(self) -> int:
        return len(_connections()[0])


LOCATIONS = HostLocations()


@functools.cache
def _connections() -> tuple[dict[str, HostConnection], list[PluginProblem]]:
    """The connections by host, and what plugins failed to bring."""
    found, problems = plugin_items(POINT, HostConnection, builtin_connections)
    known: dict[str, HostConnection] = {}
    for plugin, connection in found:
        if why := _refusal_reason(connection, known):
            problems.append(PluginProblem(plugin, POINT, why))
        else:
            known[connection.host] = connection
    return known, problems


def _refusal_reason(
    connection: HostConnection, known: Mapping[str, HostConnection]
) -> str:
    """Why a connection is refused."""
    if not isinstance(connection.host, str) or not NAME.fullmatch(connection.host):
        return f"{connection.host!r} is no name of a host"
    if connection.host in known:
        return f"{connection.host} is connected by another plugin"
    texts = [
        field.name for field in fields(connection.location) if field.name != "programs"
    ]
    if not all(isinstance(getattr(connection.location, name), str) for name in texts):
        return f"the location of {connection.host} holds something that is no text"
    return ""


def problems() -> list[PluginProblem]:
    """What plugins of others failed to bring."""
    return _connections()[1]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is known of the machine; only the command line reads the environment."""

    home: Path
    state: Path
    environment: Mapping[str, str]

    def directory(self, host: str) -> Path:
        """The host's own directory for what belongs to this person."""
        location = LOCATIONS[host]
        if named := self.environment.get(location.variable):
            return self._absolute(named)
        base = self.environment.get(location.home_variable) or location.home
        return self._absolute(base) / location.folder

    def found(self) -> list[str]:
        """The hosts of this machine: those with a directory, or with a program on the PATH."""
        return [host for host in LOCATIONS if self._is_here(host)]

    def _is_here(self, host: str) -> bool:
        path = self.environment.get("PATH", "")
        programs = LOCATIONS[host].programs
        return self.directory(host).is_dir() or any(
            shutil.which(name, path=path) for name in programs
        )

    def _absolute(self, named: str) -> Path:
        return self.home / named.removeprefix("~/")


def desired(host: str, surroundings: Surroundings, launcher: Launcher) -> list[Desired]:
    """Everything that connects ``host``. Raises ConfigError where that cannot be told."""
    connection = _connections()[0].get(host)
    if connection is None:
        raise ConfigError(
            f"the package that brings {host} does not say how to connect it",
            "Ask its documentation",
        )
    directory = surroundings.directory(host)
    folder = own_folder(host, directory) or directory
    place = ConnectPlace(surroundings.home, folder, launcher)
    try:
        return list(connection.files(place))
    except (ConfigError, OSError):
        raise
    except Exception as e:
        raise ConfigError(
            f"what connects {host} fails: {e!r}", "Update or uninstall its package"
        ) from e


def own_folder(host: str, directory: Path) -> Path | None:
    """The folder that is ours alone; None where a host has none."""
    connection = _connections()[0].get(host)
    own = connection.own_folder if connection else ""
    return directory / own if own else None


def installed_otherwise(host: str, directory: Path) -> str:
    """What tells that the host has Keeplore from elsewhere, "" where nothing does."""
    return _ask_host(host, lambda one: one.installed_otherwise(directory))


def switched_off(host: str, directory: Path) -> str:
    """The setting with which a person keeps the host from running our entries, "" where there is
    none.
    """
    return _ask_host(host, lambda one: one.switched_off(directory))


def left_behind(host: str, directory: Path) -> str:
    """What a host itself wrote because of our entries, which stays when they go; "" for nothing."""
    return _ask_host(host, lambda one: one.left_behind(directory))


def _ask_host(host: str, ask: Callable[[HostConnection], str]) -> str:
    known, flaws = _connections()
    if host not in known:
        return ""
    try:
        return str(ask(known[host]))
    except Exception as e:  # noqa: BLE001  # anything may come out of somebody else's code
        flaws.append(PluginProblem(host, POINT, repr(e)))
        return ""
