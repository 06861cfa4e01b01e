"""Cursor: payloads of its host events and its transcripts → events; the context it asks for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from keeplore_hooks.events import HostEvent, Origin, Session, Turn
from keeplore_hooks.hosts import jsonl, prompt_text
from keeplore_hooks.hosts.base import Ask, Cursor, Reading, Recorded
from keeplore_hooks.hosts.cursor import cursor_lines as lines
from keeplore_hooks.hosts.cursor import cursor_transcript as transcript
from keeplore_hooks.hosts.cursor.cursor_payload_log import Entry, Ledger
from keeplore_hooks.hosts.cursor.cursor_transcript import HOST, Counts, Told
from keeplore_hooks.hosts.jsonl import Json, text
from keeplore_hooks.hosts.payload import Heard
from keeplore_hooks.hosts.turn_assembly import Carry, pending_of
from keeplore_hooks.hosts.work_log import WorkLog

CONTEXT_BYTES = 10_000  # the host states no limit; what the others take will do
_WORK = ("afterFileEdit", "afterShellExecution", "postToolUse")
_STOPS = ("sessionStart", "stop", "sessionEnd")
_EVENTS = (
    *_WORK,
    *_STOPS,
    "beforeSubmitPrompt",
    "afterAgentResponse",
    "preCompact",
    "subagentStop",
)
_END_OF_TIME = "9999"


@dataclass(slots=True)
class _State:
    """What a cursor holds."""

    carry: Carry
    ledger: Ledger
    before: Counts  # prompts before the place where reading goes on
    all: Counts  # all prompts of the transcript
    last: str  # id of its last turn

    @staticmethod
    def from_json(pending: str) -> _State:
        """The state that a cursor holds; the first state where the text is none."""
        try:
            data = json.loads(pending)
            before, all_ = (
                {str(key): int(count) for key, count in data[name].items()}
                for name in ("before", "all")
            )
            ledger = Ledger.from_data(data["ledger"])
            return _State(Carry.from_data(data["carry"]), ledger, before, all_, str(data["last"]))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return _State(Carry(), Ledger(), {}, {}, "")

    def own(self) -> dict[str, Any]:
        return {
            "ledger": self.ledger.to_data(),
            "before": self.before,
            "all": self.all,
            "last": self.last,
        }

    def known(self) -> transcript.Known:
        return transcript.Known(
            self.before, self.ledger.at, self.ledger.alias, self.ledger.completed
        )


@dataclass(frozen=True, slots=True)
class _Heard(Heard):
    """A payload with what the transcript has given so far."""

    told: Told | None  # None where there is no transcript to read

    @property
    def last(self) -> Turn | None:
        return self.told.read.last if self.told else None


class CursorHost:
    """The adapter of Cursor 1.7 to 2026.10, the editor and its agent on the command line."""

    name = HOST
    context_bytes = CONTEXT_BYTES
    variable = "CURSOR_CONFIG_DIR"
    folder = "projects"

    def origin(self, event: str, payload: bytes) -> Origin | None:
        data = jsonl.payload(payload)
        session = text(data, "conversation_id") or text(data, "session_id")
        if data is None or not session:
            return None
        roots = data.get("workspace_roots")
        first = roots[0] if isinstance(roots, list) and roots else ""
        cwd = text({"root": first}, "root") or text(data, "cwd")
        agent = (
            ""
            if event.startswith("subagent")
            else text(data, "subagent_id") or text(data, "subagent_type")
        )
        return Origin(HOST, session, cwd=cwd, transcript=text(data, "transcript_path"), agent=agent)

    def read(self, event: str, payload: bytes, cursor: Cursor, at: str) -> Reading:
        origin, data = self.origin(event, payload), jsonl.payload(payload)
        if data is None or origin is None:
            return Reading(
                (), cursor, (f"the payload of {event} is no JSON object with a conversation_id",)
            )
        if event not in _EVENTS or origin.agent:
            return Reading((), cursor)
        state = _State.from_json(cursor.pending)
        told, problems = (
            (None, ()) if event in _WORK else _read(data, origin, cursor, state, event, at)
        )
        if told:
            state.before, state.all = told.before, told.all
            state.last = told.read.last.id if told.read.last else ""
        events = _told(_Heard(event, data, origin, at, told), state)
        if told:
            return Reading((*told.read.events, *events), told.read.cursor(**state.own()), problems)
        return Reading(
            tuple(events), replace(cursor, pending=pending_of(state.carry, **state.own())), problems
        )

    def read_transcript(self, path: Path, cursor: Cursor) -> Reading:
        state = _State.from_json(cursor.pending)
        try:
            now = datetime.fromtimestamp(path.stat().st_mtime, UTC).isoformat()[:19] + "Z"
            origin = Origin(
                HOST, path.stem, transcript.directory_of(path) or state.carry.cwd, "", str(path)
            )
            told = transcript.read(
                path, origin, cursor, state.carry, state.known(), now, _END_OF_TIME
            )
        except (OSError, ValueError) as e:
            return Reading((), cursor, (f"the transcript cannot be read: {e}",))
        state.before, state.all = told.before, told.all
        state.last = told.read.last.id if told.read.last else ""
        rest = _rest(state, origin)
        return Reading(
            (*told.read.events, *rest), told.read.cursor(**state.own()), told.read.problems
        )

    def recorded(self, home: Path, config_dir: str = "") -> Iterator[Recorded]:
        return transcript.recorded(Path(config_dir) if config_dir else home / ".cursor")

    def ask(self, event: str, payload: bytes) -> Ask | None:
        origin, data = self.origin(event, payload), jsonl.payload(payload)
        if origin is None or origin.agent:
            return None
        if event == "sessionStart":
            return Ask("brief", source="startup")
        prompt = lines.prompt_from(text(data, "prompt")) if event == "beforeSubmitPrompt" else ""
        return (
            Ask("prompt", text=prompt) if prompt and not prompt_text.slash_command(prompt) else None
        )

    def reply(self, event: str, context: str) -> bytes:
        if not context.strip() or event not in ("sessionStart", "beforeSubmitPrompt"):
            return b""
        output: dict[str, object] = {"additional_context": jsonl.clean(context)}
        return json.dumps(
            {"continue": True, **output} if event == "beforeSubmitPrompt" else output
        ).encode("ascii")


def _read(
    data: Json, origin: Origin, cursor: Cursor, state: _State, event: str, now: str
) -> tuple[Told | None, tuple[str, ...]]:
    name = data.get("transcript_path")
    if not name:
        return None, ()
    path = jsonl.record_path(name, transcript.LOG, transcript.OLD)
    if path is None:
        return None, ("the transcript's path is not that of a .jsonl or .txt file",)
    stopped_at = now if event in _STOPS else ""
    try:
        told = transcript.read(path, origin, cursor, state.carry, state.known(), now, stopped_at)
    except FileNotFoundError:
        return None, ()  # not written yet, or switched off
    except OSError as e:
        return None, (f"the transcript cannot be read: {e}",)
    return told, told.read.problems


def _told(heard: _Heard, state: _State) -> list[HostEvent]:
    """The events that the payload adds to those of the transcript."""
    event, data = heard.event, heard.payload
    if event == "beforeSubmitPrompt":
        return _prompt_told(heard, state)
    if event == "afterAgentResponse":
        return _words_told(heard, state)
    if event in _WORK:
        return _work_told(heard, state)
    if event == "stop":
        return _rest(state, heard.origin, heard.at)
    if event == "sessionStart":
        state.ledger.has_joined = (
            True  # what the transcript has already, a late worker will hear announced
        )
        return [Session(heard.id("started"), heard.origin, heard.at, "started", "startup")]
    if event == "sessionEnd":
        rest = _rest(state, heard.origin, heard.at)
        return [*rest, heard.session("ended", text(data, "reason"))]
    if event == "preCompact":
        return [heard.compaction("before")]
    return []


def _prompt_told(heard: _Heard, state: _State) -> list[HostEvent]:
    prompt, generation = (
        lines.prompt_from(text(heard.payload, "prompt")),
        text(heard.payload, "generation_id"),
    )
    if not prompt or state.ledger.has_heard(generation):
        return []
    rest = _rest(state, heard.origin)  # the person speaks, so the agent has stopped
    state.ledger.join(state.all, heard.last, prompt)
    entry = state.ledger.announce(heard.origin.session, prompt, generation, heard.at, heard.last)
    if heard.last and heard.last.id != entry.id and not heard.last.is_complete:
        rest.insert(0, replace(heard.last, is_complete=True))
    if entry not in state.ledger.missing(state.all):
        return rest
    return [*rest, replace(entry.turn(heard.origin), is_complete=False)]


def _words_told(heard: _Heard, state: _State) -> list[HostEvent]:
    words = text(heard.payload, "text").strip()
    entry = _entry(heard, state)
    if not words or entry is None:
        return []
    state.ledger.hear(entry, words, heard.at)
    if entry in state.ledger.missing(state.all):
        return [entry.turn(heard.origin)]
    last = heard.last
    turn = entry.completed(last) if last and last.id == entry.id else None
    return [turn] if turn and turn.replies != (last.replies if last else ()) else []


def _work_told(heard: _Heard, state: _State) -> list[HostEvent]:
    """Tool calls become references; the answers to the agent's questions become events at once."""
    data, log, event = heard.payload, WorkLog(), heard.event
    name, given = text(data, "tool_name"), jsonl.mapping(data, "tool_input")
    output = data.get("tool_output")
    if event == "afterFileEdit":
        log.write("", text(data, "file_path"))
    elif event == "afterShellExecution":
        lines.take_call(
            log, "", lines.SHELL[0], {"command": data.get("command")}, text(data, "output")
        )
    else:
        lines.take_call(log, "", name, given, output if isinstance(output, str) else "")
    answers = (
        list(lines.answered(given, output, heard.origin, heard.at)) if name == lines.ASK else []
    )
    if entry := _entry(heard, state):
        entry.add(log.work())
        entry.answers |= {question.id: question.answer for question in answers if question.answer}
    return [*answers]


def _entry(heard: _Heard, state: _State) -> Entry | None:
    """The turn that a payload is about: the one announced with it, else the last of the
    transcript.
    """
    entry = state.ledger.of_generation(text(heard.payload, "generation_id"))
    last = heard.last
    if entry is None and heard.told is None and state.last:
        entry = Entry(state.last, "", "", number=-1)
    elif entry is None and last:
        entry = Entry(last.id, last.user, last.at, number=-1)
    elif entry is None and text(heard.payload, "text"):  # nobody told of the prompt
        entry = state.ledger.announce(
            heard.origin.session, "", text(heard.payload, "generation_id"), heard.at
        )
    if entry and entry not in state.ledger.entries:
        state.ledger.entries.append(entry)
    return entry


def _rest(state: _State, origin: Origin, at: str = "") -> list[HostEvent]:
    """The turns that only payloads told of, as complete."""
    over = [entry for entry in state.ledger.missing(state.all) if not entry.is_over]
    for entry in over:
        entry.is_over = True
        entry.ended_at = entry.ended_at or at
    return [entry.turn(origin) for entry in over]
