"""GitHub Copilot CLI: payloads of its host events and its event logs → events; the context it asks
for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

from keeplore_hooks.events import HostEvent, Origin, Question, Turn
from keeplore_hooks.hosts import prompt_text
from keeplore_hooks.hosts.base import Cursor, Recorded, StartReason, recorded_at
from keeplore_hooks.hosts.copilot import copilot_lines as lines
from keeplore_hooks.hosts.copilot.copilot_turns import CopilotTurnReader
from keeplore_hooks.hosts.cursor_state import stored_state
from keeplore_hooks.hosts.jsonl import (
    Json,
    first_text,
    open_regular,
    payload_object,
    read_heads,
    text,
    utc_time,
)
from keeplore_hooks.hosts.log_host import LogHost, LogPayload
from keeplore_hooks.hosts.payload import SHARED_KINDS, HostPayload, PayloadKind

LOG = "events.jsonl"
CONTEXT_BYTES = 10_000  # UTF-8, of the 10 KB that Copilot takes
_NAME = re.compile(r"[\w-]{1,100}", re.ASCII)
_STARTS = ("session.start", "session.resume")
# Copilot takes events under names of its own and under those of Claude Code, with other keys in
# the payload.
_ALIASES = {
    "sessionStart": "SessionStart",
    "userPromptSubmitted": "UserPromptSubmit",
    "postToolUse": "PostToolUse",
    "preCompact": "PreCompact",
    "agentStop": "Stop",
    "subagentStop": "SubagentStop",
    "errorOccurred": "ErrorOccurred",
    "sessionEnd": "SessionEnd",
}


class Copilot(LogHost):
    """The adapter of GitHub Copilot CLI 0.0.369 to 1.0.92."""

    name = "copilot"
    context_bytes = CONTEXT_BYTES
    variable = "COPILOT_HOME"
    folder = "session-state"
    session_key = "session id"
    kinds = SHARED_KINDS | {"ErrorOccurred": PayloadKind.PROGRESS}
    aliases = _ALIASES
    shows_messages = False
    answering = ("SessionStart", "UserPromptSubmit")
    starts = (StartReason.STARTUP, StartReason.RESUME, StartReason.CLEAR)
    reader = CopilotTurnReader

    def origin(self, event: str, payload: bytes) -> Origin | None:  # noqa: ARG002 (some need it)
        data = payload_object(payload)
        # an editor names the session with where it runs before its id
        session = first_text(data, "sessionId", "session_id").rpartition("/")[2]
        if not session:
            return None
        transcript = first_text(
            data, "transcriptPath", "transcript_path"
        ) or _usual_log(session)
        return Origin(self.name, session, text(data, "cwd"), transcript=transcript)

    def without_log(self, payload: HostPayload, cursor: Cursor) -> LogPayload:
        """Prompts of subagents come under a session of their own, which no payload has told to
        begin.
        """
        has_started = payload.kind is PayloadKind.SESSION_STARTED
        has_started = has_started or bool(stored_state(cursor).get("has_started"))
        return replace(super().without_log(payload, cursor), is_of_person=has_started)

    def extra_state(self, received: LogPayload) -> Json:
        return {"has_started": received.is_of_person}

    def last_words(self, received: LogPayload) -> list[HostEvent]:
        """Copilot does not say in a payload what the assistant said; where there is no log, the
        prompt alone is known.
        """
        missing, origin = received.prompts.missing, received.payload.origin
        if missing is None or received.log is not None:
            return []
        return [Turn(missing.id, origin, missing.at, missing.text, is_provisional=True)]

    def answers(self, received: LogPayload) -> Iterator[Question]:
        """The questions in this payload with their answers, where no log holds them."""
        payload, data = received.payload, received.payload.data
        name = first_text(data, "toolName", "tool_name")
        if name not in lines.ASK or received.log is not None:
            return
        given = data.get("toolArgs", data.get("tool_input"))
        response = data.get("tool_result", data.get("tool_response"))
        result = data.get("toolResult", response)
        call_id = payload.id("asked", json.dumps(given, default=str))
        call = lines.CopilotCall(call_id, name, lines.given_to(given))
        for question in islice(lines.questions(call, payload.origin, payload.at), 1):
            yield replace(question, answer=lines.answer_in(lines.result_in(result)))

    def head(self, path: Path) -> Recorded:
        session = path.parent.name if path.name == LOG else path.stem
        with open_regular(path) as file:
            size = file.seek(0, 2)
            heads = read_heads(file)
        started_at = next(
            filter(None, (utc_time(text(head, "timestamp")) for head in heads)), ""
        )
        starts = (head for head in heads if text(head, "type") in _STARTS)
        cwd = text(next(starts, None), "data", "context", "cwd")
        return Recorded(path, session, cwd, started_at, size)

    def recorded(self, home: Path, config_dir: str = "") -> Iterator[Recorded]:
        base = (Path(config_dir) if config_dir else home / ".copilot") / self.folder
        paths = sorted((*base.glob(f"*/{LOG}"), *base.glob("*.jsonl")))
        return recorded_at(paths, self.head)

    def prompt_in(self, data: Json) -> str:
        return lines.typed_prompt(text(data, "prompt"))

    def command_in(self, prompt: str) -> tuple[str, str] | None:
        return lines.command_in(prompt)

    def answer(self, event: str, context: str) -> Json:  # noqa: ARG002 (some need it)
        return {"additionalContext": prompt_text.cut_to_bytes(context, CONTEXT_BYTES)}


def _usual_log(session: str) -> str:
    """The log of a session where nothing was moved: payloads of prompts do not name it."""
    if not _NAME.fullmatch(session):
        return ""
    path = Path(f"~/.copilot/session-state/{session}/{LOG}").expanduser()
    return str(path) if path.is_file() else ""
