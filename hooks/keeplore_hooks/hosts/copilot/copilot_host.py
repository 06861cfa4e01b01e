"""GitHub Copilot CLI: payloads of its host events and its event logs → events; the context it asks
for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from keeplore_hooks.events import Command, HostEvent, Origin, Question, Turn
from keeplore_hooks.hosts import jsonl, prompt_text, transcript_log
from keeplore_hooks.hosts.base import Ask, Cursor, Reading, Recorded, command_ask
from keeplore_hooks.hosts.copilot import copilot_lines as lines
from keeplore_hooks.hosts.copilot.copilot_turns import Lines
from keeplore_hooks.hosts.jsonl import mapping, text
from keeplore_hooks.hosts.payload import Heard
from keeplore_hooks.hosts.pending_prompts import PROMPT_LIMIT, Announced, Missing

HOST = "copilot"
LOG = "events.jsonl"
CONTEXT_BYTES = 10_000  # UTF-8, of the 10 KB that Copilot takes
# Copilot takes events under names of its own and under those of Claude Code, with other keys in the
# payload.
_EVENTS = {
    "sessionStart": "SessionStart",
    "userPromptSubmitted": "UserPromptSubmit",
    "postToolUse": "PostToolUse",
    "preCompact": "PreCompact",
    "agentStop": "Stop",
    "subagentStop": "SubagentStop",
    "errorOccurred": "ErrorOccurred",
    "sessionEnd": "SessionEnd",
}
_ENDS = ("Stop", "SessionEnd", "SessionStart")
_ANSWERING = ("SessionStart", "UserPromptSubmit")
_SOURCES = {"new": "startup", "startup": "startup", "resume": "resume", "clear": "clear"}
_NAME = re.compile(r"[\w-]{1,100}", re.ASCII)
_HEAD_LINES = 20  # in which a log says whose it is


@dataclass(frozen=True, slots=True)
class _Heard(Heard):
    """A payload with what the log has given so far."""

    log: transcript_log.Log | None  # None where there is no log to read
    has_started: bool  # the session is known as one of a person


class Copilot:
    """The adapter of GitHub Copilot CLI 0.0.369 to 1.0.92."""

    name = HOST
    context_bytes = CONTEXT_BYTES
    variable = "COPILOT_HOME"
    folder = "session-state"

    def origin(self, event: str, payload: bytes) -> Origin | None:  # noqa: ARG002 (other hosts need the event)
        data = jsonl.payload(payload)
        # an editor names the session with where it runs before its id
        session = _either(data, "sessionId", "session_id").rpartition("/")[2]
        if data is None or not session:
            return None
        transcript = _either(data, "transcriptPath", "transcript_path") or _usual_log(session)
        return Origin(HOST, session, cwd=text(data, "cwd"), transcript=transcript)

    def read(self, event: str, payload: bytes, cursor: Cursor, at: str) -> Reading:
        origin, data, event = (
            self.origin(event, payload),
            jsonl.payload(payload),
            _EVENTS.get(event, event),
        )
        if data is None or origin is None:
            return Reading(
                (), cursor, (f"the payload of {event} is no JSON object with a session id",)
            )
        if event not in _EVENTS.values():
            return Reading((), cursor)
        log = transcript_log.read_for(origin, cursor, Lines, at, at if event in _ENDS else "")
        has_started = event == "SessionStart" or bool(
            transcript_log.pending(cursor).get("has_started")
        )
        if isinstance(log, str):
            heard = _Heard(event, data, origin, at, None, has_started)
            events, announced = _told(heard, transcript_log.announced_in(cursor))
            return transcript_log.without_log(
                cursor, announced, events, log, has_started=has_started
            )
        events, announced = _told(
            _Heard(event, data, origin, at, log, has_started=True), log.announced(cursor)
        )
        return log.reading(announced, events)

    def read_transcript(self, path: Path, cursor: Cursor) -> Reading:
        try:
            session = _head(path).session
        except OSError as e:
            return Reading((), cursor, (f"the transcript cannot be read: {e}",))
        return transcript_log.read_recorded(
            path, Origin(HOST, session, transcript=str(path)), cursor, Lines
        )

    def recorded(self, home: Path, config_dir: str = "") -> Iterator[Recorded]:
        base = (Path(config_dir) if config_dir else home / ".copilot") / self.folder
        for path in sorted((*base.glob(f"*/{LOG}"), *base.glob("*.jsonl"))):
            try:
                session = _head(path)
            except OSError:
                continue  # it went away, or is no regular file
            if session.size:
                yield session

    def ask(self, event: str, payload: bytes) -> Ask | None:
        data, event = jsonl.payload(payload), _EVENTS.get(event, event)
        if data is None or self.origin(event, payload) is None:
            return None
        if event == "SessionStart":
            return Ask("brief", source=_SOURCES.get(text(data, "source"), "startup"))
        prompt = lines.typed_in(text(data, "prompt")) if event == "UserPromptSubmit" else ""
        if not prompt:
            return None
        if command := lines.command_in(prompt):
            return command_ask(*command)
        return Ask("prompt", text=prompt)

    def reply(self, event: str, context: str) -> bytes:
        if not context.strip() or _EVENTS.get(event, event) not in _ANSWERING:
            return b""
        return json.dumps({"additionalContext": prompt_text.within(context, CONTEXT_BYTES)}).encode(
            "ascii"
        )


def _either(data: object, *keys: str) -> str:
    """Keys are in camel case where Copilot's own names of events are used, else in snake case."""
    return next((value for key in keys if (value := text(data, key))), "")


def _usual_log(session: str) -> str:
    """The log of a session where nothing was moved: payloads of prompts do not name it."""
    if not _NAME.fullmatch(session):
        return ""
    path = Path(f"~/.copilot/session-state/{session}/{LOG}").expanduser()
    return str(path) if path.is_file() else ""


def _head(path: Path) -> Recorded:
    """The session that a log is of. Raises OSError."""
    session = path.parent.name if path.name == LOG else path.stem
    with jsonl.open_regular(path) as file:
        size = file.seek(0, 2)
        heads = [
            line.data for line in islice(jsonl.read_lines(file, 0, jsonl.Problems()), _HEAD_LINES)
        ]
    started_at = next((at for head in heads if (at := jsonl.time(text(head, "timestamp")))), "")
    for head in heads:
        if text(head, "type") in ("session.start", "session.resume"):
            data = mapping(head, "data")
            return Recorded(path, session, text(mapping(data, "context"), "cwd"), started_at, size)
    return Recorded(path, session, "", started_at, size)


def _told(heard: _Heard, announced: Announced) -> tuple[list[HostEvent], Announced]:
    """The events that the payload adds to those of the log."""
    event, data = heard.event, heard.payload
    if event == "UserPromptSubmit":
        return _prompt_told(heard, announced)
    if event == "SessionStart":
        return [heard.session("started", text(data, "source"))], announced
    if event == "SessionEnd":
        return [heard.session("ended", text(data, "reason"))], announced
    if event == "PreCompact":
        return [heard.compaction("before")], announced
    if event == "PostToolUse":
        return list(_answers(heard)), announced
    if event == "Stop":
        return _last_words(heard, announced)
    return [], announced


def _prompt_told(heard: _Heard, announced: Announced) -> tuple[list[HostEvent], Announced]:
    """Prompts of subagents come under a session of their own, which no payload has told to
    begin.
    """
    prompt = lines.typed_in(text(heard.payload, "prompt"))[:PROMPT_LIMIT]
    if not prompt or not heard.has_started or announced.has("", prompt, heard.at):
        return [], announced
    events: list[HostEvent] = []
    missing = announced.again("", prompt, heard.at) or Missing(
        heard.id("prompt", prompt), "", prompt, heard.at
    )
    if (
        heard.log is None
        and missing is not announced.missing
        and (command := lines.command_in(prompt))
    ):
        events.append(Command(heard.id("command", prompt), heard.origin, heard.at, *command))
    turn = Turn(
        missing.id, heard.origin, missing.at, prompt, is_complete=False, is_provisional=True
    )
    return [*events, turn], replace(announced, missing=missing)


def _last_words(heard: _Heard, announced: Announced) -> tuple[list[HostEvent], Announced]:
    """Copilot does not say in a payload what the assistant said; where there is no log, the prompt
    alone is known.
    """
    missing = announced.missing
    if missing is None or heard.log is not None:
        return [], announced
    return [
        Turn(missing.id, heard.origin, missing.at, missing.text, is_provisional=True)
    ], announced


def _answers(heard: _Heard) -> Iterator[Question]:
    """The answers to the agent's questions, where no log tells them."""
    data = heard.payload
    name, given = (
        _either(data, "toolName", "tool_name"),
        data.get("toolArgs", data.get("tool_input")),
    )
    if name not in lines.ASK or heard.log is not None:
        return
    result = data.get("toolResult", data.get("tool_result", data.get("tool_response")))
    call = lines.Call(
        heard.id("asked", json.dumps(given, default=str)), name, lines.given_to(given)
    )
    for question in islice(lines.questions(call, heard.origin, heard.at), 1):
        yield replace(question, answer=lines.answer_in(lines.result_in(result)))
