"""Cursor: payloads of its host events and its transcripts → events; the context it asks for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from keeplore_hooks.events import (
    HostEvent,
    Origin,
    Question,
    Session,
    SessionPhase,
    Turn,
    Work,
)
from keeplore_hooks.hosts.base import Cursor, Reading, Recorded, StartReason
from keeplore_hooks.hosts.cursor import cursor_lines as lines
from keeplore_hooks.hosts.cursor import cursor_transcript as transcript
from keeplore_hooks.hosts.cursor.cursor_payload_log import (
    HOST,
    CursorTurn,
    PayloadLog,
    PromptCounts,
    counts_in,
    joined_work,
)
from keeplore_hooks.hosts.cursor.cursor_transcript import CursorTurnReader
from keeplore_hooks.hosts.cursor_state import stored_state
from keeplore_hooks.hosts.host_adapter import HostAdapter
from keeplore_hooks.hosts.jsonl import (
    Json,
    clean,
    first_text,
    mapping,
    payload_object,
    sequence,
    text,
    time_of_file,
)
from keeplore_hooks.hosts.payload import HostPayload, PayloadKind
from keeplore_hooks.hosts.record_reading import END_OF_TIME
from keeplore_hooks.hosts.turn_assembly import (
    Record,
    RecordReading,
    pending_of,
    resume_state_of,
)
from keeplore_hooks.hosts.work_log import WorkLog

_KINDS = {
    "sessionStart": PayloadKind.SESSION_STARTED,
    "beforeSubmitPrompt": PayloadKind.PROMPT,
    "afterAgentResponse": PayloadKind.REPLY,
    "afterFileEdit": PayloadKind.TOOL_USED,
    "afterShellExecution": PayloadKind.TOOL_USED,
    "postToolUse": PayloadKind.TOOL_USED,
    "preCompact": PayloadKind.COMPACTING,
    "stop": PayloadKind.STOPPED,
    "subagentStop": PayloadKind.SUBAGENT_STOPPED,
    "sessionEnd": PayloadKind.SESSION_ENDED,
}


@dataclass(slots=True)
class CursorState:
    """What a cursor holds, and what the transcript has given so far."""

    log: PayloadLog
    counts_before: PromptCounts  # of the prompts before the place where reading goes on
    counts: PromptCounts  # of all prompts of the transcript
    last_id: str  # of the transcript's last turn
    read: RecordReading | None = None  # None where there is no transcript to read

    @staticmethod
    def from_cursor(cursor: Cursor) -> CursorState:
        data = stored_state(cursor)
        return CursorState(
            PayloadLog.from_data(mapping(data, "ledger")),
            counts_in(data, "before"),
            counts_in(data, "all"),
            text(data, "last"),
        )

    def take(self, read: RecordReading, reader: CursorTurnReader) -> None:
        self.read = read
        self.counts_before, self.counts = reader.counts_before, reader.counts
        self.last_id = read.last.id if read.last else ""

    @property
    def last(self) -> Turn | None:
        """The last turn of the transcript."""
        return self.read.last if self.read else None

    def missing(self) -> list[CursorTurn]:
        """The turns that the transcript does not have."""
        return self.log.missing(self.counts)

    def cursor(self, before: Cursor) -> Cursor:
        kept: dict[str, Any] = {
            "ledger": self.log.to_data(),
            "before": self.counts_before,
            "all": self.counts,
            "last": self.last_id,
        }
        if self.read:
            return self.read.cursor(**kept)
        return replace(before, pending=pending_of(resume_state_of(before), **kept))

    def rest(self, origin: Origin, at: str = "") -> list[HostEvent]:
        """The turns that only payloads told of, as complete."""
        over = [turn for turn in self.missing() if not turn.is_over]
        for turn in over:
            turn.is_over = True
            turn.ended_at = turn.ended_at or at
        return [turn.turn(origin) for turn in over]


class CursorHost(HostAdapter):
    """The adapter of Cursor 1.7 to 2026.10, the editor and its agent on the command line."""

    name = HOST
    variable = "CURSOR_CONFIG_DIR"
    folder = "projects"
    session_key = "conversation_id"
    kinds = _KINDS
    shows_messages = False
    answering = ("sessionStart", "beforeSubmitPrompt")
    starts = (StartReason.STARTUP,)

    def origin(self, event: str, payload: bytes) -> Origin | None:
        data = payload_object(payload)
        session = first_text(data, "conversation_id", "session_id")
        if not session:
            return None
        roots = sequence(data, "workspace_roots")
        cwd = text({"root": roots[0]}, "root") if roots else ""
        is_about_agent = event.startswith("subagent")
        agent = (
            "" if is_about_agent else first_text(data, "subagent_id", "subagent_type")
        )
        return Origin(
            HOST,
            session,
            cwd or text(data, "cwd"),
            transcript=text(data, "transcript_path"),
            agent=agent,
        )

    def read_payload(self, payload: HostPayload, cursor: Cursor) -> Reading:
        if payload.origin.agent:
            return Reading((), cursor)
        state = CursorState.from_cursor(cursor)
        is_work = payload.kind is PayloadKind.TOOL_USED
        name = None if is_work else payload.data.get("transcript_path")
        record = Record(
            Path(),
            payload.origin,
            payload.at,
            payload.stopped_at,
            payload.origin.cwd,
        )
        reading, problems = self.read_named(
            name,
            (transcript.LOG, transcript.OLD),
            lambda path: transcript.read(replace(record, path=path), cursor, state.log),
        )
        if reading is None:
            return Reading(
                tuple(_events_of(payload, state)), state.cursor(cursor), problems
            )
        read, reader = reading
        state.take(read, reader)
        events = (*read.events, *_events_of(payload, state))
        return Reading(events, state.cursor(cursor), read.problems)

    def read_record(self, path: Path, cursor: Cursor) -> Reading:
        state, now = CursorState.from_cursor(cursor), time_of_file(path)
        cwd = transcript.directory_of(path) or resume_state_of(cursor).cwd
        origin = Origin(
            HOST,
            path.stem,
            cwd,
            "",
            str(path),
        )
        record = Record(
            path,
            origin,
            now,
            END_OF_TIME,
            cwd,
        )
        read, reader = transcript.read(record, cursor, state.log)
        state.take(read, reader)
        events = (*read.events, *state.rest(origin))
        return Reading(events, state.cursor(cursor), read.problems)

    def recorded(self, home: Path, config_dir: str = "") -> Iterator[Recorded]:
        return transcript.recorded(Path(config_dir) if config_dir else home / ".cursor")

    def may_ask(self, event: str, payload: bytes) -> bool:
        """Whether a payload may be answered with context: an agent in the background is told
        nothing at its start, since nobody waits for it here.
        """
        data = payload_object(payload) or {}
        return not data.get("is_background_agent") and super().may_ask(event, payload)

    def prompt_in(self, data: Json) -> str:
        return lines.prompt_from(text(data, "prompt"))

    def answer(self, event: str, context: str) -> Json:
        output = {"additional_context": clean(context)}
        return (
            {
                "continue": True,
                **output,
            }
            if event == "beforeSubmitPrompt"
            else output
        )


def _events_of(payload: HostPayload, state: CursorState) -> list[HostEvent]:
    """The events that the payload adds to those of the transcript."""
    origin, at = payload.origin, payload.at
    match payload.kind:
        case PayloadKind.PROMPT:
            return _prompt_events(payload, state)
        case PayloadKind.REPLY:
            return _reply_events(payload, state)
        case PayloadKind.TOOL_USED:
            return _work_events(payload, state)
        case PayloadKind.STOPPED:
            return state.rest(origin, at)
        case PayloadKind.SESSION_STARTED:
            # what the transcript has already, a late worker will hear announced
            state.log.has_joined = True
            phase, reason = SessionPhase.STARTED, StartReason.STARTUP
            return [
                Session(
                    payload.id(phase),
                    origin,
                    at,
                    phase,
                    reason,
                )
            ]
        case PayloadKind.SESSION_ENDED:
            return [*state.rest(origin, at), *payload.lifecycle_events()]
        case _:
            return payload.lifecycle_events()


def _prompt_events(payload: HostPayload, state: CursorState) -> list[HostEvent]:
    """A prompt that the transcript lacks comes as a turn that is going on."""
    prompt, generation = (
        lines.prompt_from(payload.text("prompt")),
        payload.text("generation_id"),
    )
    if not prompt or state.log.has_prompt(generation):
        return []
    origin, last = payload.origin, state.last
    events = state.rest(origin)  # the person speaks, so the agent has stopped
    state.log.join(state.counts, last, prompt)
    turn = state.log.announce(
        origin.session,
        prompt,
        generation,
        payload.at,
        last,
    )
    if last and last.id != turn.id and not last.is_complete:
        events.insert(0, replace(last, is_complete=True))
    if turn in state.missing():
        events.append(replace(turn.turn(origin), is_complete=False))
    return events


def _reply_events(payload: HostPayload, state: CursorState) -> list[HostEvent]:
    """The agent's words, where the transcript does not have them."""
    words, last = payload.text("text").strip(), state.last
    known_turn = _turn_of(payload, state)
    if not words or known_turn is None:
        return []
    known_turn.say(words, payload.at)
    if known_turn in state.missing():
        return [known_turn.turn(payload.origin)]
    if last is None or last.id != known_turn.id:
        return []
    turn = known_turn.completed(last)
    return [turn] if turn.replies != last.replies else []


def _work_events(payload: HostPayload, state: CursorState) -> list[HostEvent]:
    """Tool calls become references; the answers to the agent's questions become events at once."""
    questions = list(_answers(payload))
    if turn := _turn_of(payload, state):
        turn.work = joined_work(turn.work, _payload_work(payload))
        turn.answers |= {
            question.id: question.answer for question in questions if question.answer
        }
    return [*questions]


def _answers(payload: HostPayload) -> Iterator[Question]:
    if payload.text("tool_name") == lines.ASK:
        given, output = (
            mapping(payload.data, "tool_input"),
            payload.data.get("tool_output"),
        )
        yield from lines.answered(
            given,
            output,
            payload.origin,
            payload.at,
        )


def _payload_work(payload: HostPayload) -> Work:
    """What the tool of a payload did."""
    log = WorkLog()
    if payload.event == "afterFileEdit":
        log.add_file("", payload.text("file_path"))
    elif payload.event == "afterShellExecution":
        log.add_command_with_output("", payload.text("command"), payload.text("output"))
    else:
        name, given = payload.text("tool_name"), mapping(payload.data, "tool_input")
        lines.take_call(
            log,
            "",
            name,
            given,
            payload.text("tool_output"),
        )
    return log.work()


def _turn_of(payload: HostPayload, state: CursorState) -> CursorTurn | None:
    """The turn that a payload is about: the one announced with it, else the last of the
    transcript.
    """
    log, last, generation = state.log, state.last, payload.text("generation_id")
    turn = log.of_generation(generation)
    if turn:
        return turn
    if state.read is None and state.last_id:
        turn = CursorTurn(
            state.last_id,
            "",
            "",
            number=-1,
        )
    elif last:
        turn = CursorTurn(
            last.id,
            last.user,
            last.at,
            number=-1,
        )
    elif payload.text("text"):  # nobody told of the prompt
        return log.announce(
            payload.origin.session,
            "",
            generation,
            payload.at,
        )
    if turn:
        log.turns.append(turn)
    return turn
