"""Host adapters and other sources of sessions: one class each, under its name in ``HOSTS`` or
``SOURCES``.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from typing import TypeVar

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

_Adapter = TypeVar("_Adapter", bound=Source)


class _Lazy(Mapping[str, _Adapter]):
    """Name → adapter, whose module is loaded when it is first asked for: most commands need none,
    and no one all.
    """

    def __init__(self, places: Mapping[str, str]) -> None:
        self._places = places  # name → "module:class"
        self._made: dict[str, _Adapter] = {}

    def __getitem__(self, name: str) -> _Adapter:
        if name not in self._made:
            module, _, kind = self._places[name].partition(":")
            adapter = getattr(importlib.import_module(f"{__name__}.{module}"), kind)()
            self._made.setdefault(name, adapter)  # one for all threads
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


_HOSTS = {
    "claude-code": "claude.claude_host:ClaudeCode",
    "codex": "codex.codex_host:Codex",
    "copilot": "copilot.copilot_host:Copilot",
    "cursor": "cursor.cursor_host:CursorHost",
    "gemini-cli": "gemini.gemini_host:GeminiCli",
    "opencode": "opencode.opencode_host:OpenCode",
}
HOSTS: Mapping[str, Host] = _Lazy(_HOSTS)
# what sessions can be imported from: every host, and what keeps sessions of hosts and reports
# nothing itself
SOURCES: Mapping[str, Source] = _Lazy(
    {**_HOSTS, "specstory": "specstory.specstory_source:SpecStory"}
)


def host_named(name: str) -> Host:
    """The adapter of the host called ``name``; KeyError that lists the names otherwise."""
    try:
        return HOSTS[name]
    except KeyError:
        raise KeyError(
            f"no host is called {name!r}; use one of: {', '.join(sorted(HOSTS))}"
        ) from None


def source_named(name: str) -> Source:
    """The host or other source called ``name``; KeyError that lists the names otherwise."""
    try:
        return SOURCES[name]
    except KeyError:
        raise KeyError(
            f"no source is called {name!r}; use one of: {', '.join(sorted(SOURCES))}"
        ) from None


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
