"""What stands in the directories of our hosts that has to do with Keeplore: from elsewhere, by a
person, or by the host itself.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from keeplore.connect.jsonc import parse
from keeplore_hooks.hosts import PLUGIN
from keeplore_hooks.hosts.jsonl import mapping

MAX_BYTES = 4 << 20  # of a file that is read
# how Claude Code calls the plugin in its folder of skills
_IN_PLACE = f"{PLUGIN}@skills-dir"


def installed_otherwise(host: str, directory: Path) -> str:
    """What tells that the host has Keeplore from elsewhere, "" where nothing does."""
    # Gemini CLI has none: a linked extension is the very folder that we would write
    return next(_SIGNS[host](directory), "") if host in _SIGNS else ""


def claude_switched_off(directory: Path) -> str:
    """The setting that switches our hooks off, and its file; "" where none does."""
    file = directory / "settings.json"
    settings = _json(file)
    if settings.get("disableAllHooks") is True:
        return f"disableAllHooks in {file}"
    if mapping(settings, "enabledPlugins").get(_IN_PLACE) is False:
        return f"{_IN_PLACE} in enabledPlugins of {file}"
    return ""


def codex_switched_off(directory: Path) -> str:
    file = directory / "config.toml"
    if mapping(_toml(file), "features").get("hooks") is False:
        return f"hooks under [features] in {file}"
    return ""


def codex_left_behind(directory: Path) -> str:
    file = directory / "config.toml"
    state = mapping(mapping(_toml(file), "hooks"), "state")
    trusted = [key for key in state if key.startswith(f"{directory / 'hooks.json'}:")]
    if trusted:
        return (
            f'Codex itself has noted what you trusted: [hooks.state."{trusted[0]}"] and what '
            f"begins so ({len(trusted)} in all) stay in {file}. Without the entries they do "
            f"nothing; take them out by hand if you like"
        )
    return ""


def opencode_left_behind(directory: Path) -> str:
    names = ("node_modules", "package.json", "package-lock.json", "bun.lock")
    stay = [name for name in names if (directory / name).exists()]
    if "node_modules" in stay:
        return (
            f"{', '.join(stay)} in {directory} were put there by OpenCode for plugins, and "
            f"stay: remove them by hand where no other plugin needs them"
        )
    return ""


def _enabled(plugins: Mapping[str, Any]) -> Iterator[str]:
    """The enabled plugins of ours; ``plugins`` maps ``name@marketplace`` to whether it is on."""
    for name, is_on in plugins.items():
        if name.split("@")[0] == PLUGIN and is_on:
            yield f"its plugin {name} is enabled"


def _claude(directory: Path) -> Iterator[str]:
    plugins = mapping(_json(directory / "settings.json"), "enabledPlugins")
    return _enabled({**plugins, _IN_PLACE: False})


def _codex(directory: Path) -> Iterator[str]:
    plugins = mapping(_toml(directory / "config.toml"), "plugins")
    return _enabled(
        {
            name: not isinstance(facts, dict) or facts.get("enabled", True)
            for name, facts in plugins.items()
        }
    )


def _copilot(directory: Path) -> Iterator[str]:
    # one of a directory is read where it lies, and only enabled here
    settings = _lenient_json(directory / "settings.json")
    yield from _enabled(mapping(settings, "enabledPlugins"))
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
    named = _lenient_json(file).get("plugin")
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


def _json(path: Path) -> dict[str, Any]:
    """The settings in a file of plain JSON."""
    return _read_settings(path, json.loads)


def _lenient_json(path: Path) -> dict[str, Any]:
    """The settings in a file in which the host takes comments and trailing commas."""
    return _read_settings(path, lambda data: parse(data.decode()).root.value)


def _toml(path: Path) -> dict[str, Any]:
    return _read_settings(path, lambda data: tomllib.loads(data.decode()))


def _read_settings(path: Path, loads: Callable[[bytes], Any]) -> dict[str, Any]:
    """What a host's settings say, nothing where they cannot be read."""
    try:
        with path.open("rb") as file:
            data = loads(file.read(MAX_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}
