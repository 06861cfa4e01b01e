"""What each host is to have, and where: files of ours in folders of ours, and entries in files that
a person shares.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from keeplore.connect import assets, hook_entries
from keeplore.connect.hook_entries import Launcher
from keeplore.connect.host_locations import PLACES, Surroundings
from keeplore.connect.json_edit import Entry
from keeplore.connect.resources import Entries, Form, Own, Table
from keeplore_hooks.hosts import PLUGIN

Wanted = tuple[Path, Form]
AUTO_MEMORY = "autoMemoryDirectory"


def wanted(host: str, surroundings: Surroundings, launcher: Launcher) -> list[Wanted]:
    """Path → form of everything that connects ``host``. Raises ConfigError where the installation
    lacks a part.
    """
    return list(_MAKERS[host](surroundings, surroundings.directory(host), launcher))


def own_folder(host: str, directory: Path) -> Path | None:
    """The folder that is ours alone; None where a host has none."""
    folders = {
        "claude-code": directory / "skills" / PLUGIN,
        "gemini-cli": directory / "extensions" / PLUGIN,
    }
    return folders.get(host)


def auto_memory(directory: Path, place: Path) -> Wanted:
    """Claude Code's own notes in another place: one folder for all projects."""
    entry = Entry((AUTO_MEMORY,), str(place))
    return directory / "settings.json", Entries((entry,), host=PLACES["claude-code"].label)


def _claude(_surroundings: Surroundings, directory: Path, launcher: Launcher) -> Iterator[Wanted]:
    host, folder = "claude-code", directory / "skills" / PLUGIN
    yield from _files(folder, assets.host_files(host))
    yield folder / "hooks" / "hooks.json", _json(hook_entries.hooks(host, launcher))
    if launcher.mcp:
        yield (
            folder / ".mcp.json",
            _json({"mcpServers": {PLUGIN: hook_entries.mcp(host, launcher)}}),
        )


def _gemini(_surroundings: Surroundings, directory: Path, launcher: Launcher) -> Iterator[Wanted]:
    host, folder, manifest = (
        "gemini-cli",
        directory / "extensions" / PLUGIN,
        "gemini-extension.json",
    )
    files = assets.host_files(host)
    facts = json.loads(files.pop(manifest))
    facts["mcpServers"] = {PLUGIN: hook_entries.mcp(host, launcher)} if launcher.mcp else {}
    yield from _files(folder, files)
    yield folder / manifest, _json(facts)
    yield folder / "hooks" / "hooks.json", _json(hook_entries.hooks(host, launcher))


def _codex(surroundings: Surroundings, directory: Path, launcher: Launcher) -> Iterator[Wanted]:
    yield directory / "hooks.json", _hooks("codex", launcher, is_lenient=False)
    if launcher.mcp:
        values = (("command", launcher.mcp[0]), ("args", launcher.mcp[1:]))
        yield directory / "config.toml", Table(f"mcp_servers.{PLUGIN}", values)
    yield from _files(surroundings.skills(), assets.host_files("codex"))


def _cursor(surroundings: Surroundings, directory: Path, launcher: Launcher) -> Iterator[Wanted]:
    yield directory / "hooks.json", _hooks("cursor", launcher, is_lenient=True)
    if launcher.mcp:
        yield directory / "mcp.json", Entries((_server("cursor", launcher),))
    yield from _files(surroundings.skills(), assets.host_files("cursor"))


def _copilot(surroundings: Surroundings, directory: Path, launcher: Launcher) -> Iterator[Wanted]:
    yield directory / "hooks" / f"{PLUGIN}.json", _json(hook_entries.hooks("copilot", launcher))
    if launcher.mcp:
        yield (
            directory / "mcp-config.json",
            Entries((_server("copilot", launcher),), host=PLACES["copilot"].label),
        )
    yield from _files(surroundings.skills(), assets.host_files("copilot"))


def _opencode(
    _surroundings: Surroundings, directory: Path, _launcher: Launcher
) -> Iterator[Wanted]:
    yield from _files(directory, assets.host_files("opencode"))


_MAKERS: Mapping[str, Callable[[Surroundings, Path, Launcher], Iterator[Wanted]]] = {
    "claude-code": _claude,
    "codex": _codex,
    "gemini-cli": _gemini,
    "cursor": _cursor,
    "copilot": _copilot,
    "opencode": _opencode,
}


def _hooks(host: str, launcher: Launcher, *, is_lenient: bool) -> Entries:
    """Every group of host events as an element of its list; what else the file needs is there if we
    make it.
    """
    content = hook_entries.hooks(host, launcher)
    groups = content.pop("hooks")
    found = (
        Entry(("hooks", event), group, is_element=True)
        for event, several in groups.items()
        for group in several
    )
    return Entries(
        tuple(found), skeleton=json.dumps(content), host="" if is_lenient else PLACES[host].label
    )


def _server(host: str, launcher: Launcher) -> Entry:
    return Entry(("mcpServers", PLUGIN), hook_entries.mcp(host, launcher))


def _files(folder: Path, files: Mapping[str, bytes]) -> Iterator[Wanted]:
    return ((folder / name, Own.of(data)) for name, data in files.items())


def _json(content: Mapping[str, object]) -> Own:
    return Own.of((json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode())
