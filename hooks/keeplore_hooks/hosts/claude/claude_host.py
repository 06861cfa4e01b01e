"""Claude Code: payloads of its host events and its transcripts → events; the context it asks
for.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from keeplore_hooks.events import Origin
from keeplore_hooks.hosts import jsonl
from keeplore_hooks.hosts.base import COMMANDS, PLUGIN, Ask, Cursor, Reading, Recorded, origin_of
from keeplore_hooks.hosts.claude import claude_lines as lines
from keeplore_hooks.hosts.claude.claude_lines import HOST
from keeplore_hooks.hosts.jsonl import Json, text

CONTEXT_LIMIT = 10_000  # UTF-16 code units; above it Claude Code shows a path in place of the text
_ANSWERING = ("SessionStart", "UserPromptSubmit", "UserPromptExpansion", "PreToolUse")
_EDITED = {
    "Edit": "file_path",
    "Write": "file_path",
    "MultiEdit": "file_path",
    "NotebookEdit": "notebook_path",
}
_SOURCES = {
    "startup": "startup",
    "resume": "resume",
    "fork": "fork",
    "clear": "clear",
    "compact": "compact",
}
_END_OF_TIME = "9999"


class ClaudeCode:
    """The adapter of Claude Code 1.0 to 2.1."""

    name = HOST
    context_bytes = CONTEXT_LIMIT  # no text has more UTF-16 units than bytes of UTF-8
    variable = "CLAUDE_CONFIG_DIR"
    folder = "projects"

    def origin(self, event: str, payload: bytes) -> Origin | None:  # noqa: ARG002 (other hosts need the event)
        return origin_of(HOST, payload)

    def read(self, event: str, payload: bytes, cursor: Cursor, at: str) -> Reading:
        origin, data = self.origin(event, payload), jsonl.payload(payload)
        if data is None or origin is None:
            return Reading(
                (), cursor, (f"the payload of {event} is no JSON object with a session_id",)
            )
        # here, as in read_transcript
        from keeplore_hooks.hosts.claude import claude_payloads as payloads

        return payloads.read(event, data, origin, cursor, at)

    def read_transcript(self, path: Path, cursor: Cursor) -> Reading:
        # here, because a prompt is asked about by its payload alone, and the person waits for every
        # import
        from keeplore_hooks.hosts.claude import claude_transcript as transcript

        try:
            read = transcript.read(path, cursor, path.stem, _END_OF_TIME)
        except OSError as e:
            return Reading((), cursor, (f"the transcript cannot be read: {e}",))
        return Reading(read.events, read.cursor(read.state), read.problems)

    def recorded(self, home: Path, config_dir: str = "") -> Iterator[Recorded]:
        from keeplore_hooks.hosts.claude import claude_transcript as transcript  # here, as above

        return transcript.recorded(Path(config_dir) if config_dir else home / ".claude")

    def ask(self, event: str, payload: bytes) -> Ask | None:
        origin, data = self.origin(event, payload), jsonl.payload(payload)
        if data is None or origin is None or origin.agent:
            return None
        if event == "SessionStart":
            return Ask("brief", source=_SOURCES.get(text(data, "source"), "startup"))
        if event == "UserPromptExpansion":
            name = _own_command(data)
            return Ask("command", text(data, "command_args").strip(), name) if name else None
        if event == "PreToolUse":
            path = text(jsonl.mapping(data, "tool_input"), _EDITED.get(text(data, "tool_name"), ""))
            return Ask("edit", path) if path else None
        prompt = lines.typed(data) if event == "UserPromptSubmit" else ""
        return Ask("prompt", text=prompt) if prompt and not lines.slash_command(prompt) else None

    def reply(self, event: str, context: str) -> bytes:
        if not context.strip() or event not in _ANSWERING:
            return b""
        output = {"hookEventName": event, "additionalContext": _within_limit(jsonl.clean(context))}
        return json.dumps({"hookSpecificOutput": output}).encode("ascii")


def _own_command(data: Json) -> str:
    """Which of COMMANDS was typed; "" for any other, and for one of this name that is not from a
    plugin.
    """
    plugin, _, name = text(data, "command_name").strip().removeprefix("/").rpartition(":")
    is_own = plugin == PLUGIN or (not plugin and text(data, "command_source") == "plugin")
    return name if is_own and name in COMMANDS else ""


def _within_limit(context: str) -> str:
    """Whole lines while they fit; a single line that is too long is cut."""
    if _units(context) <= CONTEXT_LIMIT:
        return context
    cut = context.encode("utf-16-le")[: CONTEXT_LIMIT * 2].decode("utf-16-le", "ignore")
    return cut.rpartition("\n")[0] or cut


def _units(value: str) -> int:
    return len(value.encode("utf-16-le")) // 2
