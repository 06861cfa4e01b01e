"""Which host sent a payload: several run the entries that were made for Claude Code, with payloads
of their own.
"""

from __future__ import annotations

import re

from keeplore_hooks.hosts import Host
from keeplore_hooks.hosts.emitted import EMITTED, Emitted
from keeplore_hooks.hosts.jsonl import Json, first_text, payload_object, text
from keeplore_hooks.installed import host_named

_BORROWED = "claude-code"  # whose entries other hosts run
_CURSOR_EVENTS = {
    "SessionStart": "sessionStart",
    "UserPromptSubmit": "beforeSubmitPrompt",
    "PostToolUse": "postToolUse",
    "PreCompact": "preCompact",
    "Stop": "stop",
    "SubagentStop": "subagentStop",
    "SessionEnd": "sessionEnd",
}
_COPILOT_LOG = re.compile(r"session-state[/\\](?:[^/\\]+[/\\]events|[^/\\]+)\.jsonl$")
_CODEX_LOG = re.compile(r"[/\\]rollout-[^/\\]+\.jsonl$")


def sender(host: str, event: str, payload: bytes) -> tuple[Host, str]:
    """The host that a payload is from, and what that host calls the event; ``host`` is the one
    whose entry ran.

    A session is then known under one name, whichever entries fire, and however many. Raises
    KeyError as ``host_named`` does.
    """
    if host == EMITTED:
        return Emitted(), event
    data = payload_object(payload) if host == _BORROWED else None
    name = _name_in(data) if data else host
    if name != host:  # only Cursor calls the events by other names
        event = _CURSOR_EVENTS.get(event, event) if name == "cursor" else event
    return host_named(name), event


def _name_in(data: Json) -> str:
    """The name of the host whose payload it is."""
    transcript = first_text(data, "transcript_path", "transcriptPath")
    if _is_cursor(data):
        return "cursor"
    if _is_copilot(data, transcript):
        return "copilot"
    is_codex = _CODEX_LOG.search(transcript) or (
        text(data, "turn_id") and text(data, "model")
    )
    return "codex" if is_codex else _BORROWED


def _is_cursor(data: Json) -> bool:
    return bool(
        text(data, "cursor_version")
        or (text(data, "conversation_id") and "workspace_roots" in data)
    )


def _is_copilot(data: Json, transcript: str) -> bool:
    """Whether a payload is Copilot's: of a prompt it names no log, where Claude Code names one in
    each payload, and the time in none.
    """
    return bool(
        text(data, "sessionId")
        or _COPILOT_LOG.search(transcript)
        or (not transcript and data.get("timestamp"))
    )
