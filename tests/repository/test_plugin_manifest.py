"""The files that Claude Code reads when it installs the plugin keep the host's rules, and what they name works."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

import keeplore
from keeplore_hooks.spool import Spool

PLUGIN = Path(__file__).resolve().parents[2] / "plugin"
MANIFEST = json.loads((PLUGIN / ".claude-plugin" / "plugin.json").read_bytes())
EVENTS = json.loads((PLUGIN / "hooks" / "hooks.json").read_bytes())["hooks"]
MARKET = json.loads((PLUGIN.parent / ".claude-plugin" / "marketplace.json").read_bytes())
HANDLERS = [
    (event, group, handler) for event, groups in EVENTS.items() for group in groups for handler in group["hooks"]
]

KEBAB = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*\Z")
# a wrong type under a key that the host knows makes the plugin fail to load
MANIFEST_TYPES = {
    "name": str, "displayName": str, "version": str, "description": str, "author": dict, "homepage": str,
    "repository": str, "license": str, "keywords": list,
}  # fmt: skip
REFUSED_NAMES = re.compile(r"(claude-|anthropic-|anthropics-|cc-plugin-)|(claude|anthropic|claude-code|claude-mods)\Z")
TAKEN_MARKETS = ("claude-plugins-official", "agent-skills")
WITH_TOOL_MATCHER = ("PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest")
ANSWERED = ("SessionStart", "UserPromptSubmit")  # the host waits for context there, and the client.py asks for it


def test_the_manifest_has_the_keys_and_types_that_the_host_knows() -> None:
    assert {key: type(value) for key, value in MANIFEST.items()} == {key: MANIFEST_TYPES[key] for key in MANIFEST}
    assert set(MANIFEST["author"]) <= {"name", "email", "url"}


@pytest.mark.parametrize("name", [MANIFEST["name"], MARKET["name"], *(p["name"] for p in MARKET["plugins"])])
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
    assert (PLUGIN.parent / entry["source"]).resolve() == PLUGIN
    assert "version" not in entry  # one place says it
    assert MARKET["owner"]["name"]


def test_the_plugin_folder_can_be_copied() -> None:
    """A host copies plugin/ alone and follows no link out of it; a CLAUDE.md in it would be dead text."""
    names = [path.relative_to(PLUGIN).as_posix() for path in PLUGIN.rglob("*") if "__pycache__" not in path.parts]
    assert [name for name in names if (PLUGIN / name).is_symlink()] == []
    assert [name for name in names if name.rpartition("/")[2] in ("CLAUDE.md", "AGENTS.md")] == []
    assert sorted(path.name for path in (PLUGIN / ".claude-plugin").iterdir()) == ["plugin.json"]
    assert not (PLUGIN / "bin").exists()


def test_every_useful_event_is_captured() -> None:
    assert set(EVENTS) == {
        "SessionStart", "UserPromptSubmit", "UserPromptExpansion", "PostToolUse", "Stop", "StopFailure",
        "SubagentStop", "PreCompact", "PostCompact", "SessionEnd",
    }  # fmt: skip


@pytest.mark.parametrize(("event", "group", "handler"), HANDLERS, ids=[event for event, _, _ in HANDLERS])
def test_a_handler_keeps_the_hosts_rules(event: str, group: dict[str, Any], handler: dict[str, Any]) -> None:
    assert set(group) <= {"matcher", "hooks"}
    if "matcher" in group:
        assert event in WITH_TOOL_MATCHER
        assert re.fullmatch(r"[A-Za-z0-9_\- ,|]+", group["matcher"])  # anything else is an unanchored pattern
    # an "if" outside tool events never runs, "once" is ignored, "async" is killed when the host exits
    assert set(handler) == {"type", "command", "args", "timeout"}
    assert handler["type"] == "command"
    assert 0 < handler["timeout"] <= (1 if event == "SessionEnd" else 5)  # seconds; the session waits
    assert " " not in handler["command"]
    assert handler["args"][-2:] == ["claude-code", event]


@pytest.mark.parametrize(("event", "group", "handler"), HANDLERS, ids=[event for event, _, _ in HANDLERS])
def test_what_a_handler_names_puts_the_event_into_the_spool(
    event: str, group: dict[str, Any], handler: dict[str, Any], home: Path
) -> None:
    root = "${CLAUDE_PLUGIN_ROOT}"
    arguments = [argument.replace(root, str(PLUGIN)) for argument in handler["args"]]
    client = "client.py" if event in ANSWERED else "client.sh"
    assert str(PLUGIN / "keeplore" / "client" / client) in arguments
    payload = json.dumps({"session_id": "s", "hook_event_name": event, "cwd": str(home)}).encode()
    done = subprocess.run([handler["command"], *arguments], input=payload, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    (entry,) = Spool(home / "state" / "spool").pending()
    assert (entry.host, entry.event, entry.read()) == ("claude-code", event, payload)
