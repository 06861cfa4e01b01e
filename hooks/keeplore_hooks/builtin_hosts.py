"""Keeplore's own hosts and sources of sessions, brought as any plugin brings its own."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from keeplore_hooks.contracts import HostPlugin, SourcePlugin
from keeplore_hooks.specs import hookimpl

_HOSTS = {
    "claude-code": "claude.claude_host:ClaudeCode",
    "codex": "codex.codex_host:Codex",
    "copilot": "copilot.copilot_host:Copilot",
    "cursor": "cursor.cursor_host:CursorHost",
    "gemini-cli": "gemini.gemini_host:GeminiCli",
    "opencode": "opencode.opencode_host:OpenCode",
}
_SOURCES = {
    "specstory": "specstory.specstory_source:SpecStory",
    "chatgpt": "exports.chatgpt:ChatGpt",
    "claude-ai": "exports.claude_ai:ClaudeAi",
}
_PAGES = "docs/hosts/{}.md"
_TOGETHER = {"chatgpt": "exports", "claude-ai": "exports"}  # sources on one page


@hookimpl
def keeplore_hosts() -> list[HostPlugin]:
    return [
        HostPlugin(name, _lazy_adapter(place), _PAGES.format(name))
        for name, place in _HOSTS.items()
    ]


@hookimpl
def keeplore_sources() -> list[SourcePlugin]:
    return [
        SourcePlugin(
            name, _lazy_adapter(place), _PAGES.format(_TOGETHER.get(name, name))
        )
        for name, place in _SOURCES.items()
    ]


def _lazy_adapter(place: str) -> Callable[[], Any]:
    """Makes the adapter of "module:class" when it is called: most commands need none, and no one
    all.
    """
    module, _, name = place.partition(":")

    def made() -> Any:
        found = importlib.import_module(f"keeplore_hooks.hosts.{module}")
        return getattr(found, name)()

    return made
