"""Codex CLI: payloads of its host events and its rollouts → events; the context it asks for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from keeplore_hooks.events import Command, HostEvent, Origin, Question, Turn
from keeplore_hooks.hosts import jsonl, prompt_text, transcript_log, zstd
from keeplore_hooks.hosts.base import Ask, Cursor, Reading, Recorded, command_ask, origin_of
from keeplore_hooks.hosts.codex import codex_calls as calls
from keeplore_hooks.hosts.codex import codex_lines as lines
from keeplore_hooks.hosts.codex.codex_turns import Lines, is_subagent
from keeplore_hooks.hosts.jsonl import Json, mapping, text
from keeplore_hooks.hosts.patches import files_in
from keeplore_hooks.hosts.payload import Heard
from keeplore_hooks.hosts.pending_prompts import PROMPT_LIMIT, Announced, Missing
from keeplore_hooks.hosts.turn_assembly import squashed

HOST = "codex"
SUFFIX, PACKED = transcript_log.SUFFIX, ".jsonl.zst"
CONTEXT_BYTES = 7_500  # UTF-8; Codex shows a path in place of what has more than about 2,500 tokens
_EVENTS = (
    "SessionStart",
    "UserPromptSubmit",
    "PostToolUse",
    "PreCompact",
    "PostCompact",
    "Stop",
    "SubagentStop",
    "Interrupt",
    "SessionEnd",
)
_ENDS = ("Stop", "Interrupt", "SessionEnd")
_ANSWERING = ("SessionStart", "UserPromptSubmit", "PreToolUse")
_PATCHES = ("apply_patch", "Edit", "Write")  # names under which a patch is announced
_SOURCES = {
    "startup": "startup",
    "resume": "resume",
    "fork": "fork",
    "clear": "clear",
    "compact": "compact",
}
_PLACES = ("sessions/*/*/*/rollout-*", "sessions/rollout-*", "archived_sessions/rollout-*")
_NAME = re.compile(r"rollout-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-(.+)")
_HEAD_LINES = 20  # in which a rollout says whose it is
_HEAD_BYTES = 4 << 20  # unpacked for them


@dataclass(frozen=True, slots=True)
class _Heard(Heard):
    """A payload with what the rollout has given so far."""

    log: transcript_log.Log | None  # None where there is no rollout to read

    @property
    def task(self) -> str:
        return text(self.payload, "turn_id")


class Codex:
    """The adapter of Codex CLI, its desktop app and its editor extension, 0.30 to 0.159."""

    name = HOST
    context_bytes = CONTEXT_BYTES
    variable = "CODEX_HOME"
    folder = "sessions"

    def origin(self, event: str, payload: bytes) -> Origin | None:  # noqa: ARG002 (other hosts need the event)
        return origin_of(HOST, payload)

    def read(self, event: str, payload: bytes, cursor: Cursor, at: str) -> Reading:
        origin, data = self.origin(event, payload), jsonl.payload(payload)
        if data is None or origin is None:
            return Reading(
                (), cursor, (f"the payload of {event} is no JSON object with a session_id",)
            )
        if event not in _EVENTS or (origin.agent and event != "SubagentStop"):
            return Reading((), cursor)
        main = replace(origin, agent="")
        log = transcript_log.read_for(
            main, cursor, Lines, at, at if _has_stopped(event, data) else ""
        )
        if isinstance(log, str):
            events, announced = _told(
                _Heard(event, data, main, at, None), transcript_log.announced_in(cursor)
            )
            return transcript_log.without_log(cursor, announced, events, log)
        if log.is_subagent:
            return Reading((), cursor)
        events, announced = _told(_Heard(event, data, main, at, log), log.announced(cursor))
        return log.reading(announced, events)

    def read_transcript(self, path: Path, cursor: Cursor) -> Reading:
        try:
            found = _head(path)
        except OSError as e:
            return Reading((), cursor, (f"the transcript cannot be read: {e}",))
        if found is None:
            return Reading((), cursor)
        return transcript_log.read_recorded(
            path, Origin(HOST, found.session, transcript=str(path)), cursor, Lines
        )

    def recorded(self, home: Path, config_dir: str = "") -> Iterator[Recorded]:
        base = Path(config_dir) if config_dir else home / ".codex"
        for path in sorted(found for place in _PLACES for found in base.glob(place)):
            is_packed = path.name.endswith(PACKED)
            # one that is written to again is unpacked first, and the packed file may stay beside it
            if not path.name.endswith((SUFFIX, PACKED)) or (
                is_packed and path.with_suffix("").exists()
            ):
                continue
            try:
                session = _head(path)
            except OSError:
                session = (
                    _unread(path) if is_packed else None
                )  # it went away, or is no regular file
            if session and session.size:
                yield session

    def ask(self, event: str, payload: bytes) -> Ask | None:
        origin, data = self.origin(event, payload), jsonl.payload(payload)
        if data is None or origin is None or origin.agent:
            return None
        if event == "SessionStart":
            return Ask("brief", source=_SOURCES.get(text(data, "source"), "startup"))
        if event == "PreToolUse":
            patch = (
                text(mapping(data, "tool_input"), "command")
                if text(data, "tool_name") in _PATCHES
                else ""
            )
            return Ask("edit", "\n".join(files)) if (files := files_in(patch)) else None
        prompt = lines.typed_in(text(data, "prompt")) if event == "UserPromptSubmit" else ""
        if not prompt:
            return None
        if command := lines.command_in(prompt):
            return command_ask(*command)
        return Ask("prompt", text=prompt)

    def reply(self, event: str, context: str) -> bytes:
        if not context.strip() or event not in _ANSWERING:
            return b""
        output = {
            "hookEventName": event,
            "additionalContext": prompt_text.within(context, CONTEXT_BYTES),
        }
        return json.dumps({"hookSpecificOutput": output}).encode("ascii")


def _head(path: Path) -> Recorded | None:
    """The session that a rollout is of; None for a subagent's. Raises OSError."""
    size = path.stat().st_size
    with zstd.open_head(path, _HEAD_BYTES) as file:
        heads = [
            line.data for line in islice(jsonl.read_lines(file, 0, jsonl.Problems()), _HEAD_LINES)
        ]
    for head in heads:
        meta = mapping(head, "payload") if text(head, "type") == "session_meta" else head
        if session := text(meta, "id"):
            if is_subagent(meta):
                return None
            started_at = jsonl.time(text(meta, "timestamp")) or jsonl.time(text(head, "timestamp"))
            return Recorded(path, session, text(meta, "cwd"), started_at, size)
    return Recorded(path, _session_of(path), "", "", size)


def _unread(path: Path) -> Recorded | None:
    """A packed rollout that cannot be unpacked is listed all the same, so that reading it names
    what is missing.
    """
    try:
        return Recorded(path, _session_of(path), "", "", path.stat().st_size)
    except OSError:
        return None


def _session_of(path: Path) -> str:
    """The session that a rollout's name tells."""
    stem = path.name.removesuffix(".zst").removesuffix(SUFFIX)
    match = _NAME.fullmatch(stem)
    return match[1] if match else stem


def _has_stopped(event: str, data: Json) -> bool:
    """Does the assistant say nothing more for now? After a compaction it goes on in the same
    turn.
    """
    return event in _ENDS or (event == "SessionStart" and text(data, "source") != "compact")


def _told(heard: _Heard, announced: Announced) -> tuple[list[HostEvent], Announced]:
    """The events that the payload adds to those of the rollout."""
    event, data = heard.event, heard.payload
    if event == "UserPromptSubmit":
        return _prompt_told(heard, announced)
    if event == "Stop":
        return _last_words(heard, announced)
    if event == "SessionStart":
        return [heard.session("started", text(data, "source"))], announced
    if event == "SessionEnd":
        return [heard.session("ended", text(data, "reason"))], announced
    if event == "PreCompact":
        return [heard.compaction("before")], announced
    if event == "PostCompact" and heard.log is None:
        return [heard.compaction("after")], announced
    if event == "PostToolUse":
        return list(_answers(heard)), announced
    return [], announced


def _prompt_told(heard: _Heard, announced: Announced) -> tuple[list[HostEvent], Announced]:
    prompt = lines.typed_in(text(heard.payload, "prompt"))[:PROMPT_LIMIT]
    if not prompt or announced.has(heard.task, prompt, heard.at):
        return [], announced
    events: list[HostEvent] = []
    last = heard.log.read.last if heard.log else None
    if (
        heard.log
        and last
        and not last.is_complete
        and heard.log.tasks.get(last.id, heard.task) != heard.task
    ):
        events.append(
            replace(last, is_complete=True)
        )  # the person speaks, so the assistant has stopped
    missing = announced.again(heard.task, prompt, heard.at) or Missing(
        heard.id("prompt", heard.task, prompt), heard.task, prompt, heard.at
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
    """The words with which the assistant stopped, where the rollout does not have them yet."""
    words, _ = lines.spoken_in(text(heard.payload, "last_assistant_message").strip())
    missing = announced.missing
    if not words:
        return [], announced
    if missing and missing.task == heard.task:
        turn = Turn(
            missing.id,
            heard.origin,
            missing.at,
            missing.text,
            (words,),
            heard.at,
            is_provisional=True,
        )
        return [turn], announced
    if heard.log is None:
        missing = Missing(heard.id("prompt", heard.task, words), heard.task, "", heard.at)
        turn = Turn(missing.id, heard.origin, heard.at, "", (words,), heard.at, is_provisional=True)
        return [turn], replace(announced, missing=missing)
    last = heard.log.read.last
    if last is None or (heard.task and heard.log.tasks.get(last.id) != heard.task):
        return [], announced  # the rollout went on after this payload, or will tell it
    if squashed(words) in squashed(last.assistant):
        return [], announced
    return [
        replace(last, replies=(*last.replies, words), ended_at=heard.at, is_complete=True)
    ], announced


def _answers(heard: _Heard) -> Iterator[Question]:
    """The answers to the agent's questions, under the ids that they have in the rollout."""
    data = heard.payload
    if text(data, "tool_name") != calls.ASK:
        return
    given = {event.id for event in heard.log.read.events} if heard.log else set()
    asked = calls.asking(
        text(data, "tool_use_id"), mapping(data, "tool_input"), heard.origin, heard.at
    )
    response = data.get("tool_response")
    told = response if isinstance(response, str) else json.dumps(response)
    for question, answer in zip(asked.questions, calls.answers_in(asked, told), strict=True):
        if question.id not in given:
            yield replace(question, answer=answer)
