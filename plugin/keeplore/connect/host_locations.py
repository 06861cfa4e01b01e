"""Where each host keeps its files on this machine, whether it is here, and whether it has Keeplore
already.
"""

from __future__ import annotations

import json
import shutil
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from keeplore_hooks.hosts import PLUGIN

_TABLE = Path(__file__).with_name("host_locations.toml")
MAX_BYTES = 4 << 20  # of a file that is read
# how Claude Code calls the plugin in its folder of skills
_IN_PLACE = f"{PLUGIN}@skills-dir"


@dataclass(frozen=True, slots=True)
class HostLocation:
    """``variable`` names the host's own directory, ``home_variable`` what holds ``folder`` in place
    of the home.
    """

    label: str
    folder: str
    programs: Sequence[str]
    next_step: str  # what a person does then
    variable: str = ""
    home_variable: str = ""
    home: str = ""  # from the home directory, what holds ``folder``


# host → where it is; host_locations.toml is in the order in which hosts are named
LOCATIONS: Mapping[str, HostLocation] = {
    host: HostLocation(**facts)
    for host, facts in tomllib.loads(_TABLE.read_text(encoding="utf-8")).items()
}


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

    def skills(self) -> Path:
        """Where Codex, Cursor and Copilot alike look for skills."""
        return self.home / ".agents"

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


def installed_otherwise(host: str, directory: Path) -> str:
    """What tells that the host has Keeplore from elsewhere, "" where nothing does."""
    # Gemini CLI has none: a linked extension is the very folder that we would write
    return next(_SIGNS[host](directory), "") if host in _SIGNS else ""


def switched_off(host: str, directory: Path) -> str:
    """The setting with which a person keeps the host from running our entries, "" where there is
    none.
    """
    if host == "claude-code":
        file = directory / "settings.json"
        settings = _json(file)
        if settings.get("disableAllHooks") is True:
            return f"disableAllHooks in {file}"
        if _dict(settings, "enabledPlugins").get(_IN_PLACE) is False:
            return f"{_IN_PLACE} in enabledPlugins of {file}"
    if host == "codex":
        file = directory / "config.toml"
        if _dict(_toml(file), "features").get("hooks") is False:
            return f"hooks under [features] in {file}"
    return ""


def _claude(directory: Path) -> Iterator[str]:
    for name, is_on in _dict(
        _json(directory / "settings.json"), "enabledPlugins"
    ).items():
        if name.split("@")[0] == PLUGIN and is_on and name != _IN_PLACE:
            yield f"its plugin {name} is enabled"


def _codex(directory: Path) -> Iterator[str]:
    for name, facts in _dict(_toml(directory / "config.toml"), "plugins").items():
        is_on = not isinstance(facts, dict) or facts.get("enabled", True)
        if name.split("@")[0] == PLUGIN and is_on:
            yield f"its plugin {name} is enabled"


def _copilot(directory: Path) -> Iterator[str]:
    for folder in sorted((directory / "installed-plugins").glob("*/*")):
        if folder.name == PLUGIN or (
            folder.parent.name == "_direct" and PLUGIN in folder.name
        ):
            yield f"its plugin is in {folder}"


def _cursor(directory: Path) -> Iterator[str]:
    folder = directory / "plugins" / "local" / PLUGIN
    if folder.exists():
        yield f"its plugin is in {folder}"


def _opencode(directory: Path) -> Iterator[str]:
    file = directory / "opencode.json"
    named = _json(file).get("plugin")
    for name in named if isinstance(named, list) else ():
        if isinstance(name, str) and PLUGIN in name:
            yield f"its plugin {name} is in {file}"


_SIGNS = {
    "claude-code": _claude,
    "codex": _codex,
    "cursor": _cursor,
    "copilot": _copilot,
    "opencode": _opencode,
}


def _dict(data: Mapping[str, Any], key: str) -> dict[str, Any]:
    """The object there, an empty one where something else is."""
    found = data.get(key)
    return found if isinstance(found, dict) else {}


def _json(path: Path) -> dict[str, Any]:
    return _read(path, json.loads)


def _toml(path: Path) -> dict[str, Any]:
    return _read(path, lambda data: tomllib.loads(data.decode()))


def _read(path: Path, loads: Callable[[bytes], Any]) -> dict[str, Any]:
    """What a host's settings say, nothing where they cannot be read."""
    try:
        with path.open("rb") as file:
            data = loads(file.read(MAX_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}
