"""Keeplore's own hosts, connected as any plugin connects its own: files of ours in folders of ours,
and entries in files that a person shares.
"""

from __future__ import annotations

import functools
import json
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from keeplore.connect import assets, hook_events, host_signs
from keeplore.connect.hook_events import Launcher
from keeplore.connect.host_connection import (
    ConnectPlace,
    Desired,
    HostConnection,
    HostLocation,
)
from keeplore.connect.json_edit import JsonEntry
from keeplore.connect.resources import JsonEntries, OwnFile, TomlTable
from keeplore_hooks.hosts import PLUGIN
from keeplore_hooks.specs import hookimpl

_TABLE = Path(__file__).with_name("host_locations.toml")
# host → where it is; the table is in the order in which hosts are named
_LOCATIONS: Mapping[str, HostLocation] = {
    host: HostLocation(**facts)
    for host, facts in tomllib.loads(_TABLE.read_text(encoding="utf-8")).items()
}
SHARED = ".agents"  # below the home: where several hosts look for skills
AUTO_MEMORY = "autoMemoryDirectory"
GEMINI_MANIFEST = "gemini-extension.json"


def auto_memory(directory: Path, place: Path) -> Desired:
    """Claude Code's own notes in another place: one folder for all projects."""
    entries = JsonEntries(
        (JsonEntry((AUTO_MEMORY,), str(place)),), host=_LOCATIONS["claude-code"].label
    )
    return Desired(directory / "settings.json", entries)


def _claude(place: ConnectPlace) -> Iterator[Desired]:
    folder, launcher = place.directory, place.launcher
    host = "claude-code"
    yield from _files(folder, assets.host_files(host, launcher.command))
    yield _hooks_file(folder / "hooks" / "hooks.json", host, launcher)
    if launcher.mcp:
        yield _json_file(folder / ".mcp.json", {"mcpServers": _servers(host, launcher)})


def _gemini(place: ConnectPlace) -> Iterator[Desired]:
    folder, launcher = place.directory, place.launcher
    host = "gemini-cli"
    files = assets.host_files(host, launcher.command)
    facts = json.loads(files.pop(GEMINI_MANIFEST))
    facts["mcpServers"] = _servers(host, launcher) if launcher.mcp else {}
    yield from _files(folder, files)
    yield _json_file(folder / GEMINI_MANIFEST, facts)
    yield _hooks_file(folder / "hooks" / "hooks.json", host, launcher)


def _codex(place: ConnectPlace) -> Iterator[Desired]:
    directory, launcher = place.directory, place.launcher
    yield _hook_entries(
        directory, "codex", launcher, strict_for=_LOCATIONS["codex"].label
    )
    if launcher.mcp:
        values = (("command", launcher.mcp[0]), ("args", launcher.mcp[1:]))
        table = TomlTable(f"mcp_servers.{PLUGIN}", values)
        yield Desired(directory / "config.toml", table)
    yield from _skills("codex", place)


def _cursor(place: ConnectPlace) -> Iterator[Desired]:
    directory, launcher = place.directory, place.launcher
    yield _hook_entries(directory, "cursor", launcher)
    if launcher.mcp:
        yield _server_entry(directory / "mcp.json", "cursor", launcher)
    yield from _skills("cursor", place)


def _copilot(place: ConnectPlace) -> Iterator[Desired]:
    """A file of host events, and the MCP server among those that Copilot CLI knows."""
    directory, launcher = place.directory, place.launcher
    host = "copilot"
    yield _hooks_file(directory / "hooks" / f"{PLUGIN}.json", host, launcher)
    if launcher.mcp:
        yield _server_entry(directory / "mcp-config.json", host, launcher)
    yield from _skills("copilot", place)


def _opencode(place: ConnectPlace) -> Iterator[Desired]:
    directory, launcher = place.directory, place.launcher
    yield from _files(directory, assets.host_files("opencode", launcher.command))


def _skills(host: str, place: ConnectPlace) -> Iterator[Desired]:
    """The skills, put where Codex, Cursor and Copilot all look for them."""
    yield from _files(
        place.home / SHARED, assets.host_files(host, place.launcher.command)
    )


def _hook_entries(
    directory: Path, host: str, launcher: Launcher, strict_for: str = ""
) -> Desired:
    """Every group of host events as an element of its list; what else the file needs is there if we
    make it.
    """
    content = hook_events.hooks(host, launcher)
    entries = [
        JsonEntry(("hooks", event), group, is_element=True)
        for event, several in content.pop("hooks").items()
        for group in several
    ]
    resource = JsonEntries(
        tuple(entries), skeleton=json.dumps(content), host=strict_for
    )
    return Desired(directory / "hooks.json", resource)


def _server_entry(path: Path, host: str, launcher: Launcher) -> Desired:
    entry = JsonEntry(("mcpServers", PLUGIN), hook_events.mcp(host, launcher))
    return Desired(path, JsonEntries((entry,)))


def _servers(host: str, launcher: Launcher) -> dict[str, object]:
    return {PLUGIN: hook_events.mcp(host, launcher)}


def _files(folder: Path, files: Mapping[str, bytes]) -> Iterator[Desired]:
    return (Desired(folder / name, OwnFile.of(data)) for name, data in files.items())


def _hooks_file(path: Path, host: str, launcher: Launcher) -> Desired:
    return _json_file(path, hook_events.hooks(host, launcher))


def _json_file(path: Path, content: Mapping[str, object]) -> Desired:
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    return Desired(path, OwnFile.of(text.encode()))


# host → what connects it, the folder that is ours alone, what keeps it from running our entries,
# and what it leaves behind
_PARTS: Mapping[str, Mapping[str, Any]] = {
    "claude-code": {
        "files": _claude,
        "own_folder": f"skills/{PLUGIN}",
        "switched_off": host_signs.claude_switched_off,
    },
    "codex": {
        "files": _codex,
        "switched_off": host_signs.codex_switched_off,
        "left_behind": host_signs.codex_left_behind,
    },
    "gemini-cli": {"files": _gemini, "own_folder": f"extensions/{PLUGIN}"},
    "cursor": {"files": _cursor},
    "copilot": {"files": _copilot},
    "opencode": {"files": _opencode, "left_behind": host_signs.opencode_left_behind},
}


@hookimpl
def keeplore_connections() -> list[HostConnection]:
    return [
        HostConnection(
            host,
            location,
            installed_otherwise=functools.partial(host_signs.installed_otherwise, host),
            **_PARTS[host],
        )
        for host, location in _LOCATIONS.items()
    ]
