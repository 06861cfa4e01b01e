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
    AskKind,
    Cursor,
    Host,
    OwnCommand,
    Reading,
    Recorded,
    SessionSource,
    prompt_key,
)

_Adapter = TypeVar("_Adapter", bound=SessionSource)


class LazyAdapters(Mapping[str, _Adapter]):
    """Name → adapter, whose module is loaded when it is first asked for: most commands need none,
    and no one all.
    """

    def __init__(self, places: Mapping[str, str], what: str) -> None:
        self._places = places  # name → "module:class"
        self._what = what  # the adapters are of, in messages
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

    def named(self, name: str) -> _Adapter:
        """The adapter of that name; KeyError that lists the names otherwise."""
        if name not in self._places:
            names = ", ".join(sorted(self))
            raise KeyError(f"no {self._what} is called {name!r}; use one of: {names}")
        return self[name]


_HOSTS = {
    "claude-code": "claude.claude_host:ClaudeCode",
    "codex": "codex.codex_host:Codex",
    "copilot": "copilot.copilot_host:Copilot",
    "cursor": "cursor.cursor_host:CursorHost",
    "gemini-cli": "gemini.gemini_host:GeminiCli",
    "opencode": "opencode.opencode_host:OpenCode",
}
HOSTS: LazyAdapters[Host] = LazyAdapters(_HOSTS, "host")
# what sessions can be imported from: every host, and what keeps sessions of hosts and reports
# nothing itself
SOURCES: LazyAdapters[SessionSource] = LazyAdapters(
    {
        **_HOSTS,
        "specstory": "specstory.specstory_source:SpecStory",
    },
    "source",
)
host_named = HOSTS.named
source_named = SOURCES.named

__all__ = (
    "COMMANDS",
    "HOSTS",
    "IMAGE",
    "PLUGIN",
    "SOURCES",
    "Ask",
    "AskKind",
    "Cursor",
    "Host",
    "OwnCommand",
    "Reading",
    "Recorded",
    "SessionSource",
    "host_named",
    "prompt_key",
    "source_named",
)
