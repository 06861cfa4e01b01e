"""Codex CLI: payloads of its host events and its rollouts → events; the context it asks for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from keeplore_hooks.events import CompactionPhase, HostEvent, Question
from keeplore_hooks.hosts import prompt_text, zstd
from keeplore_hooks.hosts.base import Ask, AskKind, Cursor, Reading, Recorded
from keeplore_hooks.hosts.codex import codex_calls as calls
from keeplore_hooks.hosts.codex import codex_lines as lines
from keeplore_hooks.hosts.codex.codex_turns import (
    HOST,
    CodexTurnReader,
    is_subagent,
    type_and_payload,
)
from keeplore_hooks.hosts.jsonl import Json, mapping, read_heads, text, utc_time
from keeplore_hooks.hosts.log_host import SUFFIX, LogHost, LogPayload
from keeplore_hooks.hosts.patches import files_in
from keeplore_hooks.hosts.payload import (
    SHARED_KINDS,
    HostPayload,
    PayloadKind,
    with_answer,
)

PACKED = ".jsonl.zst"
# UTF-8; Codex shows a path in place of what has more than about 2,500 tokens
CONTEXT_BYTES = 7_500
_PATCHES = ("apply_patch", "Edit", "Write")  # names under which a patch is announced
_PLACES = (
    "sessions/*/*/*/rollout-*",
    "sessions/rollout-*",
    "archived_sessions/rollout-*",
)
_NAME = re.compile(r"rollout-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-(.+)")
_HEAD_BYTES = 4 << 20  # unpacked for them
_KINDS = SHARED_KINDS | {
    "PostCompact": PayloadKind.COMPACTED,
    "Interrupt": PayloadKind.INTERRUPTED,
}


class Codex(LogHost):
    """The adapter of Codex CLI, its desktop app and its editor extension, 0.30 to 0.159."""

    name = HOST
    context_bytes = CONTEXT_BYTES
    variable = "CODEX_HOME"
    folder = "sessions"
    tells_end = False  # who leaves its TUI ends no session: a daemon stays
    kinds = _KINDS
    answering = ("SessionStart", "UserPromptSubmit", "PreToolUse")
    reader = CodexTurnReader
    has_tasks = True

    def read_payload(self, payload: HostPayload, cursor: Cursor) -> Reading:
        is_of_subagent = (
            payload.origin.agent and payload.kind is not PayloadKind.SUBAGENT_STOPPED
        )
        if is_of_subagent:
            return Reading((), cursor)
        main = replace(payload, origin=replace(payload.origin, agent=""))
        return super().read_payload(main, cursor)

    def events_of(self, received: LogPayload) -> list[HostEvent]:
        if received.payload.kind is PayloadKind.COMPACTED and received.log is None:
            return [received.payload.compaction(CompactionPhase.AFTER)]
        return super().events_of(received)

    def last_words(self, received: LogPayload) -> list[HostEvent]:
        """A turn with the last words in a payload, where the log does not hold them yet."""
        payload, missing, last = (
            received.payload,
            received.prompts.missing,
            received.last,
        )
        task = self.task_of(payload)
        words, _ = lines.spoken_in(payload.text("last_assistant_message").strip())
        if not words:
            return []
        known = missing if missing and missing.task == task else None
        if known or received.log is None:
            asked = known or self.missing(payload, "", words)
            asked = replace(asked, answers=with_answer(asked.answers, words))
            received.prompts = replace(received.prompts, missing=asked)
            return [
                payload.provisional_turn(asked.id, asked.at, asked.text, asked.answers)
            ]
        if last is None or (task and received.task_of_last() != task):
            return []  # the rollout went on after this payload, or will tell it
        if prompt_text.is_said(words, last):
            return []
        return [payload.ended_turn(last, words)]

    def answers(self, received: LogPayload) -> Iterator[Question]:
        payload = received.payload
        if payload.text("tool_name") != calls.ASK:
            return
        given = (
            {event.id for event in received.log.read.events} if received.log else set()
        )
        call, data = payload.text("tool_use_id"), mapping(payload.data, "tool_input")
        asked = calls.question_call(call, data, payload.origin, payload.at)
        response = payload.data.get("tool_response")
        output = response if isinstance(response, str) else json.dumps(response)
        for question in asked.answered(output):
            if question.id not in given:
                yield question

    def head(self, path: Path) -> Recorded | None:
        size = path.stat().st_size
        with zstd.open_head(path, _HEAD_BYTES) as file:
            heads = read_heads(file)
        for head in heads:
            kind, meta = type_and_payload(head)
            session = text(meta, "id")
            if kind != "session_meta" or not session:
                continue
            if is_subagent(meta):
                return None
            started_at = _time_in(meta) or _time_in(head)
            return Recorded(
                path,
                session,
                text(meta, "cwd"),
                started_at,
                size,
            )
        return _record_by_name(path, size)

    def open_log(self, path: Path) -> BinaryIO:
        return zstd.open_record(path)

    def recorded(self, home: Path, config_dir: str = "") -> Iterator[Recorded]:
        base = Path(config_dir) if config_dir else home / ".codex"
        paths = [path for place in _PLACES for path in base.glob(place)]
        for path in sorted(paths):
            is_packed = path.name.endswith(PACKED)
            # one that is written to again is unpacked first, and the packed file may stay beside it
            is_outdated = is_packed and path.with_suffix("").exists()
            if not path.name.endswith((SUFFIX, PACKED)) or is_outdated:
                continue
            try:
                session = self.head(path)
            except OSError:  # it went away, or is no regular file
                session = _unreadable_record(path) if is_packed else None
            if session and session.size:
                yield session

    def ask_about(self, kind: PayloadKind, data: Json) -> Ask | None:
        is_patch = (
            kind is PayloadKind.BEFORE_TOOL and text(data, "tool_name") in _PATCHES
        )
        files = files_in(text(data, "tool_input", "command")) if is_patch else ()
        return Ask(AskKind.EDIT, "\n".join(files)) if files else None

    def prompt_in(self, data: Json) -> str:
        return lines.typed_prompt(text(data, "prompt"))

    def command_in(self, prompt: str) -> tuple[str, str] | None:
        return lines.command_in(prompt)

    def fitted(self, context: str) -> str:
        return prompt_text.cut_to_bytes(context, CONTEXT_BYTES)


def _unreadable_record(path: Path) -> Recorded | None:
    """A packed rollout that cannot be unpacked is listed all the same, so that reading it names
    what is missing.
    """
    try:
        return _record_by_name(path, path.stat().st_size)
    except OSError:
        return None


def _record_by_name(path: Path, size: int) -> Recorded:
    """A session of which only the rollout's name tells."""
    stem = path.name.removesuffix(".zst").removesuffix(SUFFIX)
    match = _NAME.fullmatch(stem)
    return Recorded(path, match[1] if match else stem, "", "", size)


def _time_in(head: Json) -> str:
    return utc_time(text(head, "timestamp"))
