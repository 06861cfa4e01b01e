"""Copilot CLI with a person's settings: a plugin that it reads where it lies, and comments."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest
from host_lab import CHECKOUT, HostLab

PROMPT = "Tell me which queue we use"
SERVERS = """// mine
{
  "mcpServers": {
    "other": {"command": "true", "args": [], "tools": ["*"]}, // the last
  },
}
"""

Laboratory = Callable[[str], HostLab]

pytestmark = pytest.mark.timeout(600)


def test_a_plugin_that_it_reads_where_it_lies_is_seen(laboratory: Laboratory) -> None:
    lab = laboratory("copilot")
    copilot(lab, "plugin", "marketplace", "add", str(CHECKOUT))
    copilot(lab, "plugin", "install", "keeplore@keeplore")
    settings = lab.machine.home / ".copilot/settings.json"
    text = settings.read_text().rstrip().removesuffix("}")
    settings.write_text(f"// mine\n{text}, // the last\n}}\n")
    lab.machine.keeplore("init", "memory")
    seen = "its plugin keeplore@keeplore is enabled"
    assert f"{seen}, and nothing was heard yet" in said(lab, "doctor")
    assert f"has Keeplore already: {seen}" in said(lab, "connect", "copilot", "--yes")
    offered_tools(lab)
    lab.settle()
    assert f"host copilot: {seen}\n" in said(lab, "doctor")


def test_comments_in_its_servers_stay(laboratory: Laboratory) -> None:
    lab = laboratory("copilot")
    file = lab.machine.home / ".copilot/mcp-config.json"
    file.write_text(SERVERS)
    lab.connect()
    assert all(line in file.read_text() for line in SERVERS.splitlines())
    assert copilot(lab, "mcp", "list").split() == [
        *("User", "servers:"),
        *("other", "(local)"),
        *("keeplore", "(local)"),
    ]
    offered_tools(lab)
    lab.disconnect()
    assert file.read_text() == SERVERS


def offered_tools(lab: HostLab) -> None:
    """A session of it has the server's tools."""
    lab.server.script.answer(PROMPT, "A table.")
    lab.ask(PROMPT)
    tools = [request for request in lab.server.requests if request.tools][-1].tools
    assert any("keeplore-search" in tool for tool in tools)


def said(lab: HostLab, *arguments: str) -> str:
    done = lab.machine.keeplore(*arguments, check=False)
    return (done.stdout + done.stderr).decode()


def copilot(lab: HostLab, *arguments: str) -> str:
    """What a command of its own says."""
    done = subprocess.run(
        ("copilot", *arguments),
        env=lab.machine.environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout
