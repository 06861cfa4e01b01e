"""Host adapters and other sources of sessions: one class each, under its name in ``HOSTS`` or ``SOURCES``."""

from __future__ import annotations

from keeplore_hooks.hosts.base import (
    COMMANDS,
    IMAGE,
    PLUGIN,
    Ask,
    Cursor,
    Host,
    Reading,
    Recorded,
    Source,
    prompt_key,
)
from keeplore_hooks.hosts.claude_code import ClaudeCode
from keeplore_hooks.hosts.codex import Codex
from keeplore_hooks.hosts.copilot import Copilot
from keeplore_hooks.hosts.cursor import CursorHost
from keeplore_hooks.hosts.gemini import GeminiCli
from keeplore_hooks.hosts.opencode import OpenCode
from keeplore_hooks.hosts.specstory import SpecStory

HOSTS: dict[str, Host] = {
    host.name: host for host in (ClaudeCode(), Codex(), Copilot(), CursorHost(), GeminiCli(), OpenCode())
}
# what sessions can be imported from: every host, and what keeps sessions of hosts and reports nothing itself
SOURCES: dict[str, Source] = {**HOSTS, SpecStory.name: SpecStory()}


def host_named(name: str) -> Host:
    """The adapter of the host called ``name``; KeyError that lists the names otherwise."""
    try:
        return HOSTS[name]
    except KeyError:
        raise KeyError(f"no host is called {name!r}; use one of: {', '.join(sorted(HOSTS))}") from None


def source_named(name: str) -> Source:
    """The host or other source called ``name``; KeyError that lists the names otherwise."""
    try:
        return SOURCES[name]
    except KeyError:
        raise KeyError(f"no source is called {name!r}; use one of: {', '.join(sorted(SOURCES))}") from None


__all__ = (
    "COMMANDS",
    "HOSTS",
    "IMAGE",
    "PLUGIN",
    "SOURCES",
    "Ask",
    "Cursor",
    "Host",
    "Reading",
    "Recorded",
    "Source",
    "host_named",
    "prompt_key",
    "source_named",
)
