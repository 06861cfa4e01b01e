"""The files that Claude Code reads when it installs the plugin keep the host's rules, and what they
name works.

The rules are those of ``claude plugin validate --strict`` as far as they are known.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

import keeplore
from keeplore_hooks.hosts import COMMANDS, PLUGIN
from keeplore_hooks.installed import host_named
from keeplore_hooks.spool import Spool

FOLDER = Path(__file__).resolve().parents[2] / "plugin"
MANIFEST = json.loads((FOLDER / ".claude-plugin" / "plugin.json").read_bytes())
EVENTS = json.loads((FOLDER / "hooks" / "hooks.json").read_bytes())["hooks"]
SERVERS = json.loads((FOLDER / ".mcp.json").read_bytes())["mcpServers"]
MARKET = json.loads(
    (FOLDER.parent / ".claude-plugin" / "marketplace.json").read_bytes()
)
HANDLERS = [
    (event, group, handler)
    for event, groups in EVENTS.items()
    for group in groups
    for handler in group["hooks"]
]

KEBAB = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*\Z")
# a wrong type under a key that the host knows makes the plugin fail to load
MANIFEST_TYPES = {
    "name": str,
    "displayName": str,
    "version": str,
    "description": str,
    "author": dict,
    "homepage": str,
    "repository": str,
    "license": str,
    "keywords": list,
}
REFUSED_NAMES = re.compile(
    r"(claude-|anthropic-|anthropics-|cc-plugin-)|(claude|anthropic|claude-code|claude-mods)\Z"
)
TAKEN_MARKETS = ("claude-plugins-official", "agent-skills")
WITH_MATCHER = (
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PermissionRequest",
    "UserPromptExpansion",
)
# the host waits for context there, and the client.py asks for it
ANSWERED = (
    "SessionStart",
    "UserPromptSubmit",
    "UserPromptExpansion ^(keeplore:)?(remember|recall|forget|memory)$",
    "SubagentStart",
)


def test_the_manifest_has_the_keys_and_types_that_the_host_knows() -> None:
    assert {key: type(value) for key, value in MANIFEST.items()} == {
        key: MANIFEST_TYPES[key] for key in MANIFEST
    }
    assert set(MANIFEST["author"]) <= {"name", "email", "url"}
    assert all(isinstance(word, str) for word in MANIFEST["keywords"])
    # what is no URL makes the plugin fail to load
    urls = [MANIFEST[key] for key in ("homepage", "repository") if key in MANIFEST]
    assert [
        url
        for url in urls
        if urlsplit(url).scheme != "https" or not urlsplit(url).netloc
    ] == []


def test_the_manifest_names_no_file_that_is_found_without_it() -> None:
    """A path of entries would be read beside hooks/hooks.json, and every event would come twice."""
    assert (
        set(MANIFEST) & {"hooks", "mcpServers", "skills", "commands", "agents"} == set()
    )


def test_the_server_is_started_out_of_the_plugin() -> None:
    ((name, server),) = SERVERS.items()
    assert name == PLUGIN and set(server) == {"command", "args"}
    assert server["args"][-1].startswith("${CLAUDE_PLUGIN_ROOT}/")
    assert (
        FOLDER / server["args"][-1].removeprefix("${CLAUDE_PLUGIN_ROOT}/")
    ).is_file()


@pytest.mark.parametrize(
    "name", [MANIFEST["name"], MARKET["name"], *(p["name"] for p in MARKET["plugins"])]
)
def test_names_are_ones_that_the_host_accepts(name: str) -> None:
    assert KEBAB.match(name)
    assert not REFUSED_NAMES.match(name)
    assert name not in TAKEN_MARKETS


def test_the_plugin_has_the_version_of_the_package() -> None:
    assert MANIFEST["version"] == keeplore.__version__


def test_the_marketplace_leads_to_the_plugin() -> None:
    (entry,) = MARKET["plugins"]
    assert entry["name"] == MANIFEST["name"]
    assert entry["source"].startswith("./")
    assert (FOLDER.parent / entry["source"]).resolve() == FOLDER
    assert "version" not in entry  # one place says it
    assert set(MARKET) == {"name", "description", "owner", "plugins"}
    assert MARKET["owner"]["name"] and set(MARKET["owner"]) <= {"name", "email", "url"}
    assert {key: type(value) for key, value in entry.items()} == dict.fromkeys(
        entry, str
    )


def test_the_plugin_folder_can_be_copied() -> None:
    """A host copies plugin/ alone and follows no link out of it; a CLAUDE.md in it would be dead
    text.
    """
    names = [
        path.relative_to(FOLDER).as_posix()
        for path in FOLDER.rglob("*")
        if "__pycache__" not in path.parts
    ]
    assert [name for name in names if (FOLDER / name).is_symlink()] == []
    assert [
        name for name in names if name.rpartition("/")[2] in ("CLAUDE.md", "AGENTS.md")
    ] == []
    assert sorted(path.name for path in (FOLDER / ".claude-plugin").iterdir()) == [
        "plugin.json",
    ]
    # Claude Code puts this folder on the PATH of an agent's shell
    assert [path.name for path in (FOLDER / "bin").iterdir()] == ["keeplore"]
    assert os.access(FOLDER / "bin" / "keeplore", os.X_OK)


def test_every_useful_event_is_captured() -> None:
    assert set(EVENTS) == {
        "SessionStart",
        "UserPromptSubmit",
        "UserPromptExpansion",
        "PostToolUse",
        "Stop",
        "StopFailure",
        "SubagentStart",
        "SubagentStop",
        "PreCompact",
        "PostCompact",
        "SessionEnd",
    }


@pytest.mark.parametrize(
    ("event", "group", "handler"), HANDLERS, ids=[event for event, _, _ in HANDLERS]
)
def test_a_handler_keeps_the_hosts_rules(
    event: str, group: dict[str, Any], handler: dict[str, Any]
) -> None:
    assert set(group) <= {"matcher", "hooks"}
    if "matcher" in group:
        assert event in WITH_MATCHER
        is_pattern = not re.fullmatch(r"[A-Za-z0-9_\- ,|]+", group["matcher"])
        # the host does not anchor a pattern
        assert not is_pattern or (group["matcher"][0], group["matcher"][-1]) == (
            "^",
            "$",
        )
    # an "if" outside tool events never runs, "once" is ignored, "async" is killed when the host
    # exits
    assert set(handler) == {"type", "command", "args", "timeout"}
    assert handler["type"] == "command"
    # seconds; the session waits
    assert 0 < handler["timeout"] <= (1 if event == "SessionEnd" else 5)
    assert handler["command"] == "sh" and handler["args"][0] == "-c"


@pytest.mark.parametrize(
    ("event", "group", "handler"), HANDLERS, ids=[event for event, _, _ in HANDLERS]
)
def test_what_a_handler_names_puts_the_event_into_the_spool(
    event: str, group: dict[str, Any], handler: dict[str, Any], home: Path
) -> None:
    client = (
        "client.py"
        if f"{event} {group.get('matcher', '')}".strip() in ANSWERED
        else "client.sh"
    )
    line = " ".join(handler["args"])
    assert f"keeplore/client/{client}" in line
    assert ("client.py" in line) == (client == "client.py")
    (home / "state" / time.strftime("advised-%Y%m%d", time.gmtime())).touch()
    payload = json.dumps(
        {"session_id": "s", "hook_event_name": event, "cwd": str(home)}
    ).encode()
    assert run(handler, FOLDER, payload) == (0, b"", b"")
    entries = Spool(home / "state" / "spool").pending()
    kept = [(entry.host, entry.event, entry.read()) for entry in entries]
    # a subagent that starts has said nothing yet
    is_kept = event != "SubagentStart"
    assert kept == ([("claude-code", event, payload)] if is_kept else [])


def run(
    handler: dict[str, Any], folder: Path, payload: bytes
) -> tuple[int, bytes, bytes]:
    arguments = [
        argument.replace("${CLAUDE_PLUGIN_ROOT}", str(folder))
        for argument in handler["args"]
    ]
    done = subprocess.run(
        [handler["command"], *arguments],
        input=payload,
        capture_output=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("event", ["UserPromptSubmit", "Stop"])
def test_a_handler_whose_client_is_gone_stops_no_session(
    event: str, tmp_path: Path
) -> None:
    """The host takes the 2 with which sh and Python then exit for a refusal."""
    ((handler, *_),) = (group["hooks"] for group in EVENTS[event])
    assert run(handler, tmp_path, b"{}")[:2] == (0, b"")
    client = tmp_path / "keeplore" / "client"
    client.mkdir(parents=True)
    for name in ("client.py", "client.sh"):
        (client / name).write_text("if (")
    assert run(handler, tmp_path, b"{}")[:2] == (0, b"")


def handlers_for(command: str) -> list[str]:
    groups = [
        group
        for group in EVENTS["UserPromptExpansion"]
        if re.search(group["matcher"], command)
    ]
    return [
        "asked" if "client.py" in handler["args"][1] else "told"
        for group in groups
        for handler in group["hooks"]
    ]


@pytest.mark.parametrize(
    "command", [*COMMANDS, *(f"{PLUGIN}:{name}" for name in COMMANDS)]
)
def test_a_command_of_ours_is_answered_and_no_other_handler_runs(command: str) -> None:
    assert handlers_for(command) == ["asked"]


@pytest.mark.parametrize(
    "command",
    [
        "review",
        "other:remember",
        "keeplore:other",
        "remembering",
        "xremember",
        "keeplore:recall:x",
        "mcp__a__b",
    ],
)
def test_any_other_command_is_only_spooled(command: str) -> None:
    assert handlers_for(command) == ["told"]


def test_the_adapter_asks_for_the_commands_that_have_a_skill() -> None:
    names = {path.name for path in (FOLDER / "skills").iterdir()}
    assert names == set(COMMANDS)
    assert MANIFEST["name"] == PLUGIN
    host = host_named("claude-code")
    for name in names:
        payload = {
            "session_id": "s",
            "command_name": f"{MANIFEST['name']}:{name}",
            "command_args": " two words ",
        }
        ask = host.ask("UserPromptExpansion", json.dumps(payload).encode())
        assert ask is not None and (ask.kind, ask.source, ask.text) == (
            "command",
            name,
            "two words",
        )
