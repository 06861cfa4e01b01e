"""What adapters of hosts and other sources of sessions offer, and what ours share."""

from __future__ import annotations

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

__all__ = (
    "COMMANDS",
    "IMAGE",
    "PLUGIN",
    "Ask",
    "AskKind",
    "Cursor",
    "Host",
    "OwnCommand",
    "Reading",
    "Recorded",
    "SessionSource",
    "prompt_key",
)
