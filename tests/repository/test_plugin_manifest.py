"""The files that Claude Code reads when it installs the plugin keep the host's rules, and what they name works."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

import keeplore
from keeplore.cli.main import cli
from keeplore.memory.fence import TAG
from keeplore_hooks.hosts import COMMANDS, PLUGIN, host_named
from keeplore_hooks.spool import Spool

FOLDER = Path(__file__).resolve().parents[2] / "plugin"
MANIFEST = json.loads((FOLDER / ".claude-plugin" / "plugin.json").read_bytes())
EVENTS = json.loads((FOLDER / "hooks" / "hooks.json").read_bytes())["hooks"]
MARKET = json.loads((FOLDER.parent / ".claude-plugin" / "marketplace.json").read_bytes())
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
WITH_MATCHER = ("PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest", "UserPromptExpansion")
# the host waits for context there, and the client.py asks for it
ANSWERED = ("SessionStart", "UserPromptSubmit", "UserPromptExpansion ^(keeplore:)?(remember|recall|forget|memory)$")
SKILLS = sorted((FOLDER / "skills").iterdir())
# what the host knows; arguments and hooks of a skill, and other shells, are not for us
SKILL_TYPES = {"name": str, "description": str, "argument-hint": str, "disable-model-invocation": bool}
BY_PERSON_ALONE = {"forget", "memory"}


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
    assert (FOLDER.parent / entry["source"]).resolve() == FOLDER
    assert "version" not in entry  # one place says it
    assert MARKET["owner"]["name"]


def test_the_plugin_folder_can_be_copied() -> None:
    """A host copies plugin/ alone and follows no link out of it; a CLAUDE.md in it would be dead text."""
    names = [path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*") if "__pycache__" not in path.parts]
    assert [name for name in names if (FOLDER / name).is_symlink()] == []
    assert [name for name in names if name.rpartition("/")[2] in ("CLAUDE.md", "AGENTS.md")] == []
    assert sorted(path.name for path in (FOLDER / ".claude-plugin").iterdir()) == ["plugin.json"]
    assert not (FOLDER / "bin").exists()


def test_every_useful_event_is_captured() -> None:
    assert set(EVENTS) == {
        "SessionStart", "UserPromptSubmit", "UserPromptExpansion", "PostToolUse", "Stop", "StopFailure",
        "SubagentStop", "PreCompact", "PostCompact", "SessionEnd",
    }  # fmt: skip


@pytest.mark.parametrize(("event", "group", "handler"), HANDLERS, ids=[event for event, _, _ in HANDLERS])
def test_a_handler_keeps_the_hosts_rules(event: str, group: dict[str, Any], handler: dict[str, Any]) -> None:
    assert set(group) <= {"matcher", "hooks"}
    if "matcher" in group:
        assert event in WITH_MATCHER
        is_pattern = not re.fullmatch(r"[A-Za-z0-9_\- ,|]+", group["matcher"])
        # the host does not anchor a pattern
        assert not is_pattern or (group["matcher"][0], group["matcher"][-1]) == ("^", "$")
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
    arguments = [argument.replace(root, str(FOLDER)) for argument in handler["args"]]
    client = "client.py" if f"{event} {group.get('matcher', '')}".strip() in ANSWERED else "client.sh"
    assert str(FOLDER / "keeplore" / "client" / client) in arguments
    payload = json.dumps({"session_id": "s", "hook_event_name": event, "cwd": str(home)}).encode()
    done = subprocess.run([handler["command"], *arguments], input=payload, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    (entry,) = Spool(home / "state" / "spool").pending()
    assert (entry.host, entry.event, entry.read()) == ("claude-code", event, payload)


def handlers_for(command: str) -> list[str]:
    groups = [group for group in EVENTS["UserPromptExpansion"] if re.search(group["matcher"], command)]
    return [handler["command"] for group in groups for handler in group["hooks"]]


@pytest.mark.parametrize("command", [*COMMANDS, *(f"{PLUGIN}:{name}" for name in COMMANDS)])
def test_a_command_of_ours_is_answered_and_no_other_handler_runs(command: str) -> None:
    assert handlers_for(command) == ["python3"]


@pytest.mark.parametrize(
    "command",
    ["review", "other:remember", "keeplore:other", "remembering", "xremember", "keeplore:recall:x", "mcp__a__b"],
)
def test_any_other_command_is_only_spooled(command: str) -> None:
    assert handlers_for(command) == ["sh"]


def test_the_adapter_asks_for_the_commands_that_have_a_skill() -> None:
    assert {path.name for path in SKILLS} == set(COMMANDS)
    assert MANIFEST["name"] == PLUGIN
    host = host_named("claude-code")
    for path in SKILLS:
        payload = {"session_id": "s", "command_name": f"{MANIFEST['name']}:{path.name}", "command_args": " two words "}
        ask = host.ask("UserPromptExpansion", json.dumps(payload).encode())
        assert ask is not None and (ask.kind, ask.source, ask.text) == ("command", path.name, "two words")


def skill(path: Path) -> tuple[dict[str, Any], str]:
    """Front matter and text."""
    empty, front, text = (path / "SKILL.md").read_text(encoding="utf-8").split("---\n", 2)
    assert empty == ""
    meta = yaml.safe_load(front)
    assert isinstance(meta, dict)
    return meta, text


@pytest.mark.parametrize("path", SKILLS, ids=lambda path: path.name)
def test_a_skill_has_the_front_matter_that_the_host_knows(path: Path) -> None:
    meta, text = skill(path)
    assert {key: type(value) for key, value in meta.items()} == {key: SKILL_TYPES[key] for key in meta}
    assert meta["name"] == path.name and KEBAB.match(path.name) and len(path.name) <= 64
    assert 40 <= len(meta["description"]) <= 1024 and "<" not in meta["description"]
    assert meta.get("disable-model-invocation", False) == (path.name in BY_PERSON_ALONE)
    assert 10 <= len(text.splitlines()) <= 500
    assert [other.name for other in path.iterdir()] == ["SKILL.md"]


@pytest.mark.parametrize("path", SKILLS, ids=lambda path: path.name)
def test_nothing_typed_reaches_a_shell_through_a_skill(path: Path) -> None:
    _, text = skill(path)
    assert re.findall(r"\$(?:ARGUMENTS|\d|\{)", text) == []  # the host would put what was typed there
    assert re.findall(r"(?:^|\s)!`", text) == []  # the host would run it before anybody sees it
    scripts = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert scripts and all(script.startswith("keeplore ") for script in scripts)
    assert all(re.search(r"<<'\w+'$", line) for script in scripts for line in script.splitlines() if "<<" in line)


@pytest.mark.parametrize("path", SKILLS, ids=lambda path: path.name)
def test_a_skill_tells_where_the_answer_to_a_typed_command_stands(path: Path) -> None:
    _, text = skill(path)
    assert f"`<{TAG}`" in text


@pytest.mark.parametrize("path", SKILLS, ids=lambda path: path.name)
def test_what_a_skill_runs_is_a_command_with_these_options(path: Path) -> None:
    _, text = skill(path)
    context = click.Context(cli)
    for line in re.findall(r"^keeplore .*", text, re.MULTILINE):
        _, name, *arguments = shlex.split(line.partition(" <<")[0])
        command = cli.get_command(context, name)
        assert command is not None, line
        known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
        assert {argument for argument in arguments if argument.startswith("--")} <= known, line
