"""The files for Codex, Copilot, Cursor, Gemini CLI and OpenCode keep each host's rules, and what
they run works.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import keeplore
from keeplore.connect.hook_events import BEFORE_EDIT, EVENTS, Launcher, hooks, mcp
from keeplore.errors import ConfigError
from keeplore_hooks.hosts import COMMANDS
from keeplore_hooks.spool import Spool

ROOT = Path(__file__).resolve().parents[2]
PLUGIN = ROOT / "plugin"
CLAUDE = json.loads((PLUGIN / ".claude-plugin" / "plugin.json").read_bytes())
MANIFESTS = {
    "codex": ".codex-plugin/plugin.json",
    "cursor": ".cursor-plugin/plugin.json",
    "copilot": ".plugin/plugin.json",
    "gemini-cli": "gemini/gemini-extension.json",
}
FILES = {
    "codex": ("hooks/codex.json", "PLUGIN_ROOT", PLUGIN),
    "cursor": ("hooks/cursor.json", "CURSOR_PLUGIN_ROOT", PLUGIN),
    "copilot": ("hooks/copilot.json", "PLUGIN_ROOT", PLUGIN),
    "gemini-cli": ("gemini/hooks/hooks.json", "extensionPath", PLUGIN / "gemini"),
}
COMMON = {"name", "version", "description", "author", "license", "keywords"}
# a host drops or refuses a handler with a key that it does not know
GROUPED = {
    "codex": {"type", "command", "commandWindows", "timeout"},
    "gemini-cli": {"type", "name", "command", "timeout"},
}
FLAT = {
    "cursor": {"command", "timeout", "matcher"},
    "copilot": {"type", "bash", "powershell", "timeoutSec", "matcher"},
}
SHELL_KEYS = {
    "codex": "command",
    "gemini-cli": "command",
    "cursor": "command",
    "copilot": "bash",
}
WITHOUT_MATCHER = {"UserPromptSubmit", "Stop", "Interrupt"}  # Codex reads none there


def load(name: str) -> Any:
    return json.loads((PLUGIN / name).read_bytes())


def handlers(host: str) -> list[tuple[str, str, dict[str, Any]]]:
    """Event, matcher and handler, out of either form."""
    found = []
    for event, entries in load(FILES[host][0])["hooks"].items():
        for entry in entries:
            inner = entry["hooks"] if host in GROUPED else [entry]
            found += [(event, entry.get("matcher", ""), handler) for handler in inner]
    return found


ALL = [(host, *handler) for host in FILES for handler in handlers(host)]


@pytest.mark.parametrize("name", MANIFESTS.values(), ids=MANIFESTS.keys())
def test_every_manifest_tells_the_same_of_the_plugin(name: str) -> None:
    manifest = load(name)
    told = {key: value for key, value in manifest.items() if key in COMMON}
    assert told == {key: CLAUDE[key] for key in told}
    assert {"name", "version", "description"} <= set(told) and manifest[
        "version"
    ] == keeplore.__version__


def test_the_manifests_have_no_key_that_their_host_does_not_know() -> None:
    assert set(load(MANIFESTS["copilot"])) == COMMON | {"skills", "mcpServers", "hooks"}
    assert set(load(MANIFESTS["codex"])) == COMMON | {
        "skills",
        "mcpServers",
        "hooks",
        "interface",
    }
    assert set(load(MANIFESTS["cursor"])) == COMMON | {
        "displayName",
        "skills",
        "mcpServers",
        "hooks",
    }
    assert set(load(MANIFESTS["gemini-cli"])) == {
        "name",
        "version",
        "description",
        "mcpServers",
    }


def test_there_is_no_manifest_that_stands_above_those_of_the_hosts() -> None:
    """Codex and Copilot would take the portable plugin.json first, which knows no entries: nothing
    would be told.
    """
    assert not (PLUGIN / "plugin.json").exists()


@pytest.mark.parametrize("host", ["codex", "cursor", "copilot"])
def test_what_a_manifest_names_is_there(host: str) -> None:
    """Each names its own entries: hooks/hooks.json, which they would take, is Claude Code's."""
    manifest = load(MANIFESTS[host])
    paths = [manifest[key] for key in ("skills", "mcpServers", "hooks")]
    assert all(path.startswith("./") and (PLUGIN / path).exists() for path in paths)
    assert manifest["hooks"] == f"./{FILES[host][0]}"


def test_codex_shows_a_name_and_a_category() -> None:
    interface = load(MANIFESTS["codex"])["interface"]
    assert (
        interface["displayName"] == CLAUDE["displayName"]
        and interface["category"] == "Productivity"
    )
    market = json.loads(
        (ROOT / ".agents" / "plugins" / "marketplace.json").read_bytes()
    )
    (entry,) = market["plugins"]
    assert set(market) == {"name", "interface", "plugins"}
    assert (
        entry["policy"] == {"installation": "AVAILABLE", "authentication": "ON_INSTALL"}
        and entry["category"]
    )
    assert (
        entry["source"] == {"source": "local", "path": "./plugin"}
        and (ROOT / entry["source"]["path"]).is_dir()
    )


def test_cursor_finds_the_plugin_in_its_marketplace() -> None:
    market = json.loads((ROOT / ".cursor-plugin" / "marketplace.json").read_bytes())
    (entry,) = market["plugins"]
    assert set(market) == {"name", "owner", "plugins"} and market["owner"]["name"]
    assert (entry["name"], entry["source"]) == (CLAUDE["name"], "./plugin")


@pytest.mark.parametrize("host", [*EVENTS])
def test_every_event_that_a_host_reports_is_explained_on_its_page_or_in_its_row(
    host: str,
) -> None:
    hosts = ROOT / "docs" / "hosts"
    told = (hosts / f"{host}.md").read_text(encoding="utf-8") + "".join(
        line
        for line in (hosts / "README.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("| [") and f"]({host}.md)" in line
    )
    assert [
        entry.event for entry in EVENTS[host] if f"`{entry.event}`" not in told
    ] == []


@pytest.mark.parametrize(
    ("host", "event", "matcher", "handler"),
    ALL,
    ids=[f"{one[0]}-{one[1]}" for one in ALL],
)
def test_a_handler_keeps_the_rules_of_its_host(
    host: str, event: str, matcher: str, handler: dict[str, Any]
) -> None:
    assert set(handler) <= {**GROUPED, **FLAT}[host]
    assert handler.get("type", "command") == "command"
    if host == "codex":
        assert "(?" not in matcher and not (matcher and event in WITHOUT_MATCHER)
        assert (
            0 < handler["timeout"] <= (3 if event in ("SessionEnd", "Interrupt") else 5)
        )  # seconds
    elif host == "gemini-cli":
        assert 1000 <= handler["timeout"] <= 5000  # milliseconds
    elif host == "copilot":
        assert 0 < handler["timeoutSec"] <= 5  # seconds; entries run one after another
        assert event != "preToolUse"  # what fails there forbids the tool
        assert handler["powershell"].endswith("; exit 0")
    else:
        assert 0 < handler["timeout"] <= 5  # seconds
    assert f" {host} {event}" in handler[SHELL_KEYS[host]]


@pytest.mark.parametrize("host", ["cursor", "copilot"])
def test_a_file_with_a_version_says_it(host: str) -> None:
    assert load(FILES[host][0])["version"] == 1


@pytest.mark.parametrize(
    ("host", "event", "matcher", "handler"),
    ALL,
    ids=[f"{one[0]}-{one[1]}" for one in ALL],
)
def test_what_a_handler_runs_puts_the_event_into_the_spool(
    host: str,
    event: str,
    matcher: str,
    handler: dict[str, Any],
    home: Path,
    tmp_path: Path,
) -> None:
    _, variable, folder = FILES[host]
    (home / "state" / time.strftime("advised-%Y%m%d", time.gmtime())).touch()
    command = handler[SHELL_KEYS[host]].replace("${extensionPath}", str(folder))
    run = {"shell": True, "input": b'{"session_id": "s"}', "capture_output": True}
    done = subprocess.run(
        command, **run, env=os.environ | {variable: str(folder)}, cwd=tmp_path
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    (entry,) = Spool(home / "state" / "spool").pending()
    assert (entry.host, entry.event, entry.read()) == (
        host,
        event,
        b'{"session_id": "s"}',
    )
    gone = subprocess.run(
        command.replace(str(folder), "/nowhere"),
        **run,
        env=os.environ | {variable: "/nowhere"},
    )
    assert (gone.returncode, gone.stdout) == (
        0,
        b"",
    )  # 2, as sh and Python end then, would be a refusal


def test_every_server_is_started_out_of_the_plugin() -> None:
    roots = {
        "copilot.mcp.json": "${PLUGIN_ROOT}",
        "cursor.mcp.json": "${CURSOR_PLUGIN_ROOT}",
        "codex.mcp.json": ".",
        MANIFESTS["gemini-cli"]: "${extensionPath}/..",
    }
    for name, root in roots.items():
        ((server_name, server),) = load(name)["mcpServers"].items()
        assert server_name == "keeplore" and server["command"] == "python3"
        assert server["args"] == ["-I", "-S", f"{root}/keeplore/client/mcp.py"]
    # without it Copilot loads none
    assert load("copilot.mcp.json")["mcpServers"]["keeplore"]["type"] == "stdio"
    assert "trust" not in load(MANIFESTS["gemini-cli"])["mcpServers"]["keeplore"]


@pytest.mark.parametrize("name", COMMANDS)
def test_nothing_typed_reaches_a_shell_through_a_command(name: str) -> None:
    gemini = tomllib.loads(
        (PLUGIN / "gemini" / "commands" / "keeplore" / f"{name}.toml").read_text(
            encoding="utf-8"
        )
    )
    assert re.findall(r"!\{|@\{|\{\{", gemini["prompt"]) == []
    text = (PLUGIN / "opencode" / "commands" / "keeplore" / f"{name}.md").read_text(
        encoding="utf-8"
    )
    assert re.findall(r"\$(?:ARGUMENTS|\d)|!`|(?:^|\s)@\w", text) == []


ODD = Launcher(
    ("py 3", "-I", "/a b/$x/client.py"),
    ("sh", "/a b/$x/client.sh"),
    ("py 3", "/a b/mcp.py"),
)


@pytest.mark.parametrize("host", FILES)
def test_paths_of_a_machine_are_quoted_for_its_shell(host: str, tmp_path: Path) -> None:
    (entry, *_), *_ = hooks(host, ODD)["hooks"].values()
    handler = entry["hooks"][0] if host in GROUPED else entry
    first = handler[SHELL_KEYS[host]].partition(" || ")[0]
    event = EVENTS[host][0].event
    shown = subprocess.run(
        f"printf '%s\\n' {first}",
        shell=True,
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert shown.stdout.splitlines() == [*ODD.ask, host, event]


def test_on_windows_no_host_needs_a_shell_of_unix() -> None:
    client = (
        r"C:\Users\Ann O'Neill\AppData\python.exe",
        "-I",
        "-S",
        r"C:\state\client.py",
    )
    launcher = Launcher(
        client, client, (*client[:3], r"C:\state\mcp.py"), is_windows=True
    )
    texts = {
        host: json.dumps(hooks(host, launcher)) for host in ("claude-code", *FILES)
    }
    assert [
        host for host, text in texts.items() if "client.sh" in text or '"bash"' in text
    ] == []
    stop = hooks("claude-code", launcher)["hooks"]["Stop"][0]["hooks"][0]
    assert [stop["command"], *stop["args"]] == [*client, "claude-code", "Stop"]
    stop = hooks("codex", launcher)["hooks"]["Stop"][0]["hooks"][0]
    assert (
        stop["command"]
        == rf'"{client[0]}" -I -S C:\state\client.py codex Stop || exit 0'
    )
    stop = hooks("copilot", launcher)["hooks"]["agentStop"][0]
    name = r"'C:\Users\Ann O''Neill\AppData\python.exe'"
    assert (
        stop["powershell"]
        == rf"& {name} -I -S C:\state\client.py copilot agentStop; exit 0"
    )


def test_an_entry_before_edits_is_written_where_it_is_wished() -> None:
    for host in BEFORE_EDIT:
        assert "PreToolUse" not in hooks(host, ODD)["hooks"]
        groups = hooks(host, replace(ODD, before_edit=True))["hooks"]["PreToolUse"]
        assert [group["matcher"] for group in groups]
        assert "client.sh" not in json.dumps(groups)  # nothing of it need be kept
    assert hooks("copilot", replace(ODD, before_edit=True)) == hooks("copilot", ODD)


def test_each_host_writes_a_server_in_its_own_way() -> None:
    command, *arguments = ODD.mcp
    assert mcp("codex", ODD) == {"command": command, "args": arguments}
    assert mcp("copilot", ODD) == {
        "type": "local",
        "command": command,
        "args": arguments,
        "tools": ["*"],
    }
    assert mcp("opencode", ODD) == {
        "type": "local",
        "command": list(ODD.mcp),
        "enabled": True,
    }


def test_a_host_without_a_file_of_entries_is_refused_with_the_names_of_others() -> None:
    with pytest.raises(
        ConfigError,
        match=r"opencode reads no file of host events\. Use one of: claude-code, codex",
    ):
        hooks("opencode", ODD)
