"""What each host is to have, and where: files of ours in folders of ours, and entries in files that
a person shares.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from keeplore.connect import assets, hook_events
from keeplore.connect.hook_events import Launcher
from keeplore.connect.host_locations import LOCATIONS, Surroundings
from keeplore.connect.json_edit import JsonEntry
from keeplore.connect.resources import JsonEntries, OwnFile, Resource, TomlTable
from keeplore_hooks.hosts import PLUGIN

AUTO_MEMORY = "autoMemoryDirectory"
GEMINI_MANIFEST = "gemini-extension.json"


@dataclass(frozen=True, slots=True)
class Desired:
    """A file, and what of ours is to stand in it."""

    path: Path
    resource: Resource


def desired(host: str, surroundings: Surroundings, launcher: Launcher) -> list[Desired]:
    """Everything that connects ``host``. Raises ConfigError where the installation lacks a part."""
    directory = surroundings.directory(host)
    folder = own_folder(host, directory)
    made = list(_MAKERS[host](folder or directory, launcher))
    if host in assets.SHARED_SKILLS:
        made += _files(surroundings.skills(), assets.host_files(host))
    return made


def own_folder(host: str, directory: Path) -> Path | None:
    """The folder that is ours alone; None where a host has none."""
    folders = {"claude-code": "skills", "gemini-cli": "extensions"}
    return directory / folders[host] / PLUGIN if host in folders else None


def auto_memory(directory: Path, place: Path) -> Desired:
    """Claude Code's own notes in another place: one folder for all projects."""
    entries = JsonEntries(
        (JsonEntry((AUTO_MEMORY,), str(place)),), host=LOCATIONS["claude-code"].label
    )
    return Desired(directory / "settings.json", entries)


def _claude(folder: Path, launcher: Launcher) -> Iterator[Desired]:
    host = "claude-code"
    yield from _files(folder, assets.host_files(host))
    yield _hooks_file(folder / "hooks" / "hooks.json", host, launcher)
    if launcher.mcp:
        yield _json_file(folder / ".mcp.json", {"mcpServers": _servers(host, launcher)})


def _gemini(folder: Path, launcher: Launcher) -> Iterator[Desired]:
    host = "gemini-cli"
    files = assets.host_files(host)
    facts = json.loads(files.pop(GEMINI_MANIFEST))
    facts["mcpServers"] = _servers(host, launcher) if launcher.mcp else {}
    yield from _files(folder, files)
    yield _json_file(folder / GEMINI_MANIFEST, facts)
    yield _hooks_file(folder / "hooks" / "hooks.json", host, launcher)


def _codex(directory: Path, launcher: Launcher) -> Iterator[Desired]:
    yield _hook_entries(
        directory, "codex", launcher, strict_for=LOCATIONS["codex"].label
    )
    if launcher.mcp:
        values = (("command", launcher.mcp[0]), ("args", launcher.mcp[1:]))
        table = TomlTable(f"mcp_servers.{PLUGIN}", values)
        yield Desired(directory / "config.toml", table)


def _cursor(directory: Path, launcher: Launcher) -> Iterator[Desired]:
    yield _hook_entries(directory, "cursor", launcher)
    if launcher.mcp:
        yield _server_entry(directory / "mcp.json", "cursor", launcher)


def _copilot(directory: Path, launcher: Launcher) -> Iterator[Desired]:
    """A file of host events, and the MCP server among those that Copilot CLI knows."""
    host = "copilot"
    yield _hooks_file(directory / "hooks" / f"{PLUGIN}.json", host, launcher)
    if launcher.mcp:
        label = LOCATIONS[host].label
        yield _server_entry(
            directory / "mcp-config.json", host, launcher, strict_for=label
        )


def _opencode(directory: Path, _launcher: Launcher) -> Iterator[Desired]:
    yield from _files(directory, assets.host_files("opencode"))


_MAKERS: Mapping[str, Callable[[Path, Launcher], Iterator[Desired]]] = {
    "claude-code": _claude,
    "codex": _codex,
    "gemini-cli": _gemini,
    "cursor": _cursor,
    "copilot": _copilot,
    "opencode": _opencode,
}


def _hook_entries(
    directory: Path, host: str, launcher: Launcher, strict_for: str = ""
) -> Desired:
    """Every group of host events as an element of its list; what else the file needs is there if we
    make it.
    """
    content = hook_events.hooks(host, launcher)
    groups = content.pop("hooks")
    entries = [
        JsonEntry(("hooks", event), group, is_element=True)
        for event, several in groups.items()
        for group in several
    ]
    resource = JsonEntries(
        tuple(entries), skeleton=json.dumps(content), host=strict_for
    )
    return Desired(directory / "hooks.json", resource)


def _server_entry(
    path: Path, host: str, launcher: Launcher, strict_for: str = ""
) -> Desired:
    entry = JsonEntry(("mcpServers", PLUGIN), hook_events.mcp(host, launcher))
    return Desired(path, JsonEntries((entry,), host=strict_for))


def _servers(host: str, launcher: Launcher) -> dict[str, object]:
    return {PLUGIN: hook_events.mcp(host, launcher)}


def _files(folder: Path, files: Mapping[str, bytes]) -> Iterator[Desired]:
    return (Desired(folder / name, OwnFile.of(data)) for name, data in files.items())


def _hooks_file(path: Path, host: str, launcher: Launcher) -> Desired:
    return _json_file(path, hook_events.hooks(host, launcher))


def _json_file(path: Path, content: Mapping[str, object]) -> Desired:
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    return Desired(path, OwnFile.of(text.encode()))
