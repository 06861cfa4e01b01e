"""Host adapters: one class a host, under the host's name in ``HOSTS``."""

from __future__ import annotations

from keeplore_hooks.hosts.base import COMMANDS, IMAGE, PLUGIN, Ask, Cursor, Host, Reading, Recorded, prompt_key
from keeplore_hooks.hosts.claude_code import ClaudeCode
from keeplore_hooks.hosts.codex import Codex
from keeplore_hooks.hosts.copilot import Copilot
from keeplore_hooks.hosts.cursor import CursorHost
from keeplore_hooks.hosts.gemini import GeminiCli

HOSTS: dict[str, Host] = {host.name: host for host in (ClaudeCode(), Codex(), Copilot(), CursorHost(), GeminiCli())}


def host_named(name: str) -> Host:
    """The adapter of the host called ``name``; KeyError that lists the names otherwise."""
    try:
        return HOSTS[name]
    except KeyError:
        raise KeyError(f"no host is called {name!r}; use one of: {', '.join(sorted(HOSTS))}") from None


__all__ = (
    "COMMANDS",
    "HOSTS",
    "IMAGE",
    "PLUGIN",
    "Ask",
    "Cursor",
    "Host",
    "Reading",
    "Recorded",
    "host_named",
    "prompt_key",
)
