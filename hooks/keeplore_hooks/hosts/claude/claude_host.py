"""Claude Code: payloads of its host events and its transcripts → events; the context it asks
for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from keeplore_hooks.events import Origin
from keeplore_hooks.hosts.base import (
    COMMANDS,
    PLUGIN,
    Ask,
    AskKind,
    Cursor,
    Reading,
    Recorded,
)
from keeplore_hooks.hosts.claude import claude_lines as lines
from keeplore_hooks.hosts.host_adapter import HostAdapter
from keeplore_hooks.hosts.jsonl import Json, clean, payload_object, text
from keeplore_hooks.hosts.payload import SHARED_KINDS, HostPayload, PayloadKind

# UTF-16 code units; above it Claude Code shows a path in place of the text
CONTEXT_LIMIT = 10_000
_END_OF_TIME = "9999"
_KINDS = SHARED_KINDS | {
    "UserPromptExpansion": PayloadKind.COMMAND,
    "PostCompact": PayloadKind.COMPACTED,
    "SubagentStart": PayloadKind.SUBAGENT_STARTED,
    "StopFailure": PayloadKind.INTERRUPTED,
}


class ClaudeCode(HostAdapter):
    """The adapter of Claude Code 1.0 to 2.1.

    What reads transcripts is imported where it is used: a prompt is asked about by its payload
    alone, and the person waits for every import.
    """

    name = lines.HOST
    context_bytes = CONTEXT_LIMIT  # no text has more UTF-16 units than bytes of UTF-8
    variable = "CLAUDE_CONFIG_DIR"
    folder = "projects"
    kinds = _KINDS
    builtin_agents = lines.BUILTIN_AGENTS
    answering = (
        "SessionStart",
        "UserPromptSubmit",
        "UserPromptExpansion",
        "PreToolUse",
        "SubagentStart",
    )

    def origin(self, event: str, payload: bytes) -> Origin | None:
        """A subagent is told what a session of its own would be."""
        found = super().origin(event, payload)
        if found is None or event != "SubagentStart":
            return found
        name = self.own_agent(text(payload_object(payload), "agent_type"))
        session = f"{found.session}-{found.agent}"
        return replace(found, session=session, agent="", agent_name=name)

    def may_ask(self, event: str, payload: bytes) -> bool:
        """Whether a payload may be answered with context: an agent of the host's own has no type,
        and shortens a context.
        """
        is_subagent = event == "SubagentStart"
        return super().may_ask(event, payload) and (
            not is_subagent or bool(text(payload_object(payload), "agent_type"))
        )

    def read_payload(self, payload: HostPayload, cursor: Cursor) -> Reading:
        from keeplore_hooks.hosts.claude import claude_payloads  # here: see the class

        return claude_payloads.read(self, payload, cursor)

    def read_record(self, path: Path, cursor: Cursor) -> Reading:
        from keeplore_hooks.hosts.claude import claude_transcript  # here: see the class

        read = claude_transcript.read(
            path,
            cursor,
            path.stem,
            _END_OF_TIME,
        )
        return Reading(read.events, read.cursor(read.state), read.problems)

    def recorded(self, home: Path, config_dir: str = "") -> Iterator[Recorded]:
        from keeplore_hooks.hosts.claude import claude_transcript  # here: see the class

        return claude_transcript.recorded(
            Path(config_dir) if config_dir else home / ".claude"
        )

    def ask_about(self, kind: PayloadKind, data: Json) -> Ask | None:
        if kind is PayloadKind.COMMAND:
            name = _own_command(data)
            args = text(data, "command_args").strip()
            return Ask(AskKind.COMMAND, args, name) if name else None
        if kind is PayloadKind.BEFORE_TOOL:
            key = lines.WRITERS.get(text(data, "tool_name"), "")
            path = text(data, "tool_input", key)
            return Ask(AskKind.EDIT, path) if path else None
        return None

    def prompt_in(self, data: Json) -> str:
        return lines.typed_prompt(data)

    def command_in(self, prompt: str) -> tuple[str, str] | None:
        command = lines.slash_command(prompt)
        return (command.name, command.args) if command else None

    def fitted(self, context: str) -> str:
        """Whole lines while they fit; a single line that is too long is cut."""
        words = clean(context)
        raw = words.encode("utf-16-le")
        if len(raw) <= CONTEXT_LIMIT * 2:
            return words
        cut = raw[: CONTEXT_LIMIT * 2].decode("utf-16-le", "ignore")
        return cut.rpartition("\n")[0] or cut


def _own_command(data: Json) -> str:
    """Which of COMMANDS was typed; "" for any other, and for one of this name that is not from a
    plugin.
    """
    plugin, _, name = (
        text(data, "command_name").strip().removeprefix("/").rpartition(":")
    )
    is_own = plugin == PLUGIN or (
        not plugin and text(data, "command_source") == "plugin"
    )
    return name if is_own and name in COMMANDS else ""
