"""The Claude Agent SDK: callbacks that hand its host events to Keeplore's client, as Claude Code's
own entries do.

A program's sessions are sessions of Claude Code, with its payloads and transcripts: they are
spooled, read and answered by the worker in the same way. So nothing is captured or told twice where
the plugin's own entries fire as well.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keeplore import client
from keeplore.config import installation
from keeplore.config.places import Places
from keeplore.connect import hook_events
from keeplore.frameworks.extras import importing_extra
from keeplore_hooks import durable

with importing_extra("claude-agent-sdk"):
    import anyio
    from claude_agent_sdk import HookMatcher

if TYPE_CHECKING:
    from claude_agent_sdk.types import HookEvent

LOG = logging.getLogger(__name__)
HOST = "claude-code"
# of the events that Claude Code's entries name, those for which the SDK calls Python
EVENTS: tuple[HookEvent, ...] = (
    "UserPromptSubmit",
    "PostToolUse",
    "Stop",
    "SubagentStop",
    "PreCompact",
)
CLIENT = str(Path(client.__file__).with_name("client.py"))
CLIENT_S = 5.0  # the client itself gives up sooner
CALLBACK_S = 15.0  # the SDK's own limit: a session's first prompt runs the client twice


def hooks() -> dict[HookEvent, list[HookMatcher]]:
    """The hooks for ``ClaudeAgentOptions(hooks=hooks())``.

    Each prompt brings what is recalled for it, a session's first one the project's brief as well.
    Nothing that fails here reaches the session.
    """
    callback = _Client().callback
    found: dict[HookEvent, list[HookMatcher]] = {event: [] for event in EVENTS}
    for entry in hook_events.EVENTS[HOST]:
        for event in EVENTS:
            if entry.event == event:
                matcher = entry.matcher or None
                found[event].append(
                    HookMatcher(matcher, [callback], timeout=CALLBACK_S)
                )
    return found


class _Client:
    def __init__(self) -> None:
        self._begun: set[str] = set()  # sessions
        self._has_failed = False

    async def callback(
        self, payload: Any, _tool_use_id: str | None, _context: Any
    ) -> Any:
        """What the SDK calls; the reply of Claude Code's own entry for this event, {} for none."""
        try:
            event = payload["hook_event_name"]
            replies = (
                [await _send_event("SessionStart", _start(payload))]
                if self._begins_session(payload)
                else []
            )
            replies.append(await _send_event(event, payload))
        except Exception as e:  # noqa: BLE001  # a broken memory must never break the session
            level = logging.DEBUG if self._has_failed else logging.WARNING
            reason = str(e) or type(e).__name__  # a limit of time has no words
            LOG.log(level, "Keeplore is left out: %s", reason)
            self._has_failed = True
            return {}
        context = "\n".join(filter(None, map(_context_of, replies)))
        if not context:
            return {}
        return {
            "hookSpecificOutput": {"hookEventName": event, "additionalContext": context}
        }

    def _begins_session(self, payload: Any) -> bool:
        """True for the first prompt of a session, which then counts as begun: the SDK tells Python
        of no beginning.
        """
        session = str(payload["session_id"])
        is_beginning = (
            payload["hook_event_name"] == "UserPromptSubmit"
            and session not in self._begun
        )
        if is_beginning:
            self._begun.add(session)
        return is_beginning


def _start(payload: Any) -> dict[str, Any]:
    """The payload of a start, as of a session that goes on: one that was briefed before hears only
    what is new.
    """
    kept = {
        key: payload[key]
        for key in ("session_id", "transcript_path", "cwd")
        if key in payload
    }
    return {**kept, "hook_event_name": "SessionStart", "source": "resume"}


async def _send_event(event: str, payload: Any) -> dict[str, Any]:
    """The client's reply to an event. Raises OSError, ValueError or TimeoutError."""
    state = await anyio.to_thread.run_sync(_state)
    command = [sys.executable, "-I", "-S", CLIENT, HOST, event]
    with anyio.fail_after(CLIENT_S):
        done = await anyio.run_process(
            command,
            input=json.dumps(payload).encode(),
            stderr=subprocess.DEVNULL,
            check=False,
            env={**os.environ, "KEEPLORE_STATE_DIR": str(state)},
        )
    reply: dict[str, Any] = json.loads(done.stdout) if done.stdout.strip() else {}
    return reply


def _state() -> Path:
    """The state directory, with this installation in it as the one whose worker is started, if none
    is known.
    """
    state = Places.from_environment(os.environ).state
    durable.make_private(state)
    installation.register(state)
    return state


def _context_of(reply: dict[str, Any]) -> str:
    return str(reply.get("hookSpecificOutput", {}).get("additionalContext", ""))
