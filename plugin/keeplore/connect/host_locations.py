"""Where each host keeps its files on this machine, whether it is here, and whether it has Keeplore
already.
"""

from __future__ import annotations

import json
import shutil
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from keeplore_hooks.hosts import PLUGIN

MAX_BYTES = 4 << 20  # of a file that is read
_IN_PLACE = f"{PLUGIN}@skills-dir"  # how Claude Code calls the plugin in its folder of skills


@dataclass(frozen=True, slots=True)
class Place:
    """``variable`` names the host's own directory, ``home_variable`` what holds ``folder`` in place
    of the home.
    """

    label: str
    folder: str
    programs: tuple[str, ...]
    next_step: str  # what a person does then
    variable: str = ""
    home_variable: str = ""


PLACES: Mapping[str, Place] = {
    "claude-code": Place(
        "Claude Code",
        ".claude",
        ("claude",),
        "start a new session; one that runs takes `/reload-plugins` (Claude Code 2.1.157 or later)",
        variable="CLAUDE_CONFIG_DIR",
    ),
    "codex": Place(
        "Codex CLI",
        ".codex",
        ("codex",),
        "start a new session, run `/hooks` and trust the entries: Codex runs none before that",
        variable="CODEX_HOME",
    ),
    "gemini-cli": Place(
        "Gemini CLI", ".gemini", ("gemini",), "start it anew", home_variable="GEMINI_CLI_HOME"
    ),
    "cursor": Place(
        "Cursor",
        ".cursor",
        ("cursor", "cursor-agent"),
        "restart it, and allow the MCP server in its settings",
    ),
    "copilot": Place(
        "Copilot CLI", ".copilot", ("copilot",), "start a new session", variable="COPILOT_HOME"
    ),
    "opencode": Place(
        "OpenCode",
        "opencode",
        ("opencode",),
        "start it anew",
        variable="OPENCODE_CONFIG_DIR",
        home_variable="XDG_CONFIG_HOME",
    ),
}


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is known of the machine; only the command line reads the environment."""

    home: Path
    state: Path
    environment: Mapping[str, str]

    def directory(self, host: str) -> Path:
        """The host's own directory for what belongs to this person."""
        place = PLACES[host]
        if named := self.environment.get(place.variable):
            return self._absolute(named)
        if base := self.environment.get(place.home_variable):
            return self._absolute(base) / place.folder
        return self.home / (".config" if host == "opencode" else "") / place.folder

    def skills(self) -> Path:
        """Where Codex, Cursor and Copilot alike look for skills."""
        return self.home / ".agents"

    def found(self) -> list[str]:
        """The hosts of this machine: those with a directory, or with a program on the PATH."""
        path = self.environment.get("PATH", "")
        return [
            host
            for host, place in PLACES.items()
            if self.directory(host).is_dir()
            or any(shutil.which(name, path=path) for name in place.programs)
        ]

    def _absolute(self, named: str) -> Path:
        return self.home / named.removeprefix("~/")


def installed_otherwise(host: str, directory: Path) -> str:
    """What tells that the host has Keeplore from elsewhere, "" where nothing does."""
    return next(_SIGNS[host](directory), "")


def switched_off(host: str, directory: Path) -> str:
    """The setting with which a person keeps the host from running our entries, "" where there is
    none.
    """
    if host == "claude-code":
        settings = _json(directory / "settings.json")
        enabled = settings.get("enabledPlugins")
        if settings.get("disableAllHooks") is True:
            return f"disableAllHooks in {directory / 'settings.json'}"
        if isinstance(enabled, dict) and enabled.get(_IN_PLACE) is False:
            return f"{_IN_PLACE} in enabledPlugins of {directory / 'settings.json'}"
    if host == "codex":
        features = _toml(directory / "config.toml").get("features")
        if isinstance(features, dict) and features.get("hooks") is False:
            return f"hooks under [features] in {directory / 'config.toml'}"
    return ""


def _claude(directory: Path) -> Iterator[str]:
    enabled = _json(directory / "settings.json").get("enabledPlugins")
    for name, is_on in enabled.items() if isinstance(enabled, dict) else ():
        if name.split("@")[0] == PLUGIN and is_on and name != _IN_PLACE:
            yield f"its plugin {name} is enabled"


def _codex(directory: Path) -> Iterator[str]:
    plugins = _toml(directory / "config.toml").get("plugins")
    for name, facts in plugins.items() if isinstance(plugins, dict) else ():
        is_on = not isinstance(facts, dict) or facts.get("enabled", True)
        if name.split("@")[0] == PLUGIN and is_on:
            yield f"its plugin {name} is enabled"


def _copilot(directory: Path) -> Iterator[str]:
    for place in sorted((directory / "installed-plugins").glob("*/*")):
        if place.name == PLUGIN or (place.parent.name == "_direct" and PLUGIN in place.name):
            yield f"its plugin is in {place}"


def _cursor(directory: Path) -> Iterator[str]:
    place = directory / "plugins" / "local" / PLUGIN
    if place.exists():
        yield f"its plugin is in {place}"


def _opencode(directory: Path) -> Iterator[str]:
    named = _json(directory / "opencode.json").get("plugin")
    for name in named if isinstance(named, list) else ():
        if isinstance(name, str) and PLUGIN in name:
            yield f"its plugin {name} is in {directory / 'opencode.json'}"


_SIGNS = {
    "claude-code": _claude,
    "codex": _codex,
    "gemini-cli": lambda _directory: iter(
        ()
    ),  # a linked extension is the very folder that we would write
    "cursor": _cursor,
    "copilot": _copilot,
    "opencode": _opencode,
}


def _json(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            data = json.loads(file.read(MAX_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def _toml(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            return tomllib.loads(file.read(MAX_BYTES).decode())
    except (OSError, ValueError, RecursionError):
        return {}
