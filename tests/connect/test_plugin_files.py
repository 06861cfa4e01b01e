"""What stands below plugin/ for each host is the table of entries in that host's form, and the
skills in its commands.

To write the files anew: WRITE_GOLDEN=1 pytest tests/connect -k stands_in_the_plugin, then read the
difference.
"""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from keeplore.connect import assets
from keeplore.connect.hook_events import BUNDLED, hooks, mcp
from keeplore_hooks.hosts import COMMANDS

PLUGIN = Path(__file__).resolve().parents[2] / "plugin"
GEMINI = PLUGIN / "gemini" / "gemini-extension.json"


def skill(name: str) -> tuple[str, str]:
    """Description and text."""
    _, front, text = (
        (PLUGIN / "skills" / name / "SKILL.md")
        .read_text(encoding="utf-8")
        .split("---\n", 2)
    )
    return yaml.safe_load(front)["description"], text.strip()


def as_json(value: Any) -> str:
    return json.dumps(value, indent=2) + "\n"


def gemini_command(name: str) -> str:
    description, text = skill(name)
    return f"description = {json.dumps(description)}\nprompt = '''\n{text}\n'''\n"


def opencode_command(name: str) -> str:
    description, text = skill(name)
    return f"---\ndescription: {json.dumps(description)}\n---\n\n{text}\n"


def servers(entry: dict[str, Any]) -> str:
    return as_json({"mcpServers": {"keeplore": entry}})


def generated() -> dict[str, str]:
    """Path below plugin/ → text."""
    facts = json.loads(GEMINI.read_bytes())
    files = {
        "hooks/hooks.json": as_json(hooks("claude-code", BUNDLED["claude-code"])),
        "hooks/codex.json": as_json(hooks("codex", BUNDLED["codex"])),
        "hooks/cursor.json": as_json(hooks("cursor", BUNDLED["cursor"])),
        "hooks/copilot.json": as_json(hooks("copilot", BUNDLED["copilot"])),
        "gemini/hooks/hooks.json": as_json(hooks("gemini-cli", BUNDLED["gemini-cli"])),
        ".mcp.json": servers(mcp("claude-code", BUNDLED["claude-code"])),
        # a path is then relative to the plugin: Codex fills in no variables there
        "codex.mcp.json": servers({**mcp("codex", BUNDLED["codex"]), "cwd": "."}),
        "copilot.mcp.json": servers(
            {**mcp("copilot", BUNDLED["copilot"]), "type": "stdio"}
        ),
        "cursor.mcp.json": servers(mcp("cursor", BUNDLED["cursor"])),
        "gemini/gemini-extension.json": as_json(
            {
                **facts,
                "mcpServers": {"keeplore": mcp("gemini-cli", BUNDLED["gemini-cli"])},
            }
        ),
    }
    for name in COMMANDS:
        files[f"gemini/commands/keeplore/{name}.toml"] = gemini_command(name)
        files[f"opencode/commands/keeplore/{name}.md"] = opencode_command(name)
    return files


@pytest.mark.parametrize("name", generated())
def test_what_stands_in_the_plugin_is_what_the_table_gives(name: str) -> None:
    path, text = PLUGIN / name, generated()[name]
    if os.environ.get("WRITE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_has_the_words_of_the_skill(name: str) -> None:
    description, text = skill(name)
    gemini = tomllib.loads(
        (PLUGIN / "gemini" / "commands" / "keeplore" / f"{name}.toml").read_text(
            encoding="utf-8"
        )
    )
    assert gemini == {"description": description, "prompt": text + "\n"}
    _, front, body = (
        (PLUGIN / f"opencode/commands/keeplore/{name}.md")
        .read_text(encoding="utf-8")
        .split("---\n", 2)
    )
    assert (yaml.safe_load(front), body.strip()) == ({"description": description}, text)


def test_a_skill_in_a_shared_directory_has_the_name_of_its_directory_and_of_keeplore() -> (
    None
):
    for host in ("codex", "cursor", "copilot"):
        files = assets.host_files(host)
        skills = {
            path: data for path, data in files.items() if path.endswith("/SKILL.md")
        }
        assert set(skills) == {f"skills/keeplore-{name}/SKILL.md" for name in COMMANDS}
        for path, data in skills.items():
            _, front, text = data.decode().split("---\n", 2)
            assert yaml.safe_load(front)["name"] == path.split("/")[1]
            assert (
                text.strip() == skill(path.split("/")[1].removeprefix("keeplore-"))[1]
            )


@pytest.mark.parametrize("host", ["claude-code", "codex", "gemini-cli", "opencode"])
def test_an_agent_is_told_the_command_of_the_machine_and_no_folder_that_is_not_there(
    host: str,
) -> None:
    ours = "sh /home/me/client/command.sh"
    files = assets.host_files(host, ours)
    (text,) = (data.decode() for path, data in files.items() if "remember" in path)
    assert f"\n{ours} remember --permanent - <<" in text
    assert "If the shell does not find" not in text and "`bin`" not in text
    assert "If the shell does not find" in skill("remember")[1]


def test_a_host_gets_no_entry_that_names_another_place() -> None:
    """JsonEntries with paths are for ``entries`` to write: those of the plugin hold a variable of
    the host's.
    """
    for host in ("claude-code", "gemini-cli", "opencode", "codex", "cursor", "copilot"):
        files = assets.host_files(host)
        assert (
            files
            and [path for path in files if path.endswith((".mcp.json", "hooks.json"))]
            == []
        )
        assert [
            path for path in files if path.startswith(("/", "..")) or "\\" in path
        ] == []


def test_the_client_of_a_machine_is_the_one_of_the_plugin() -> None:
    files = assets.client_files()
    assert files == {
        name: (PLUGIN / "keeplore" / "client" / name).read_bytes() for name in files
    }
    assert set(files) == {
        "brief_on_disk.py",
        "client.py",
        "client.sh",
        "command.sh",
        "contact.py",
        "mcp.py",
        "mcp_offer.json",
        "mcp_pipe.py",
        "quick_json.py",
        "state_folder.py",
    }
