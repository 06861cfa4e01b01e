"""Gemini CLI: payloads of its host events and its records → events; the context it asks for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from keeplore_hooks.events import HostEvent, Origin, Question, Turn
from keeplore_hooks.hosts import prompt_text
from keeplore_hooks.hosts.base import Cursor, Reading, Recorded, StartReason, prompt_key
from keeplore_hooks.hosts.cursor_state import stored_object, stored_state
from keeplore_hooks.hosts.gemini import gemini_lines as lines
from keeplore_hooks.hosts.gemini import gemini_transcript as transcript
from keeplore_hooks.hosts.gemini.gemini_messages import HOST, GeminiLastWords
from keeplore_hooks.hosts.host_adapter import HostAdapter
from keeplore_hooks.hosts.jsonl import Json, text, time_of_file
from keeplore_hooks.hosts.payload import HostPayload, PayloadKind, with_answer
from keeplore_hooks.hosts.pending_prompts import PROMPT_LIMIT
from keeplore_hooks.hosts.record_reading import END_OF_TIME
from keeplore_hooks.hosts.turn_assembly import Record, RecordReading, resume_state_of

_SAID_NOTHING = "[no response text]"  # in place of a reply without words
_KINDS = {
    "SessionStart": PayloadKind.SESSION_STARTED,
    "BeforeAgent": PayloadKind.PROMPT,
    "AfterAgent": PayloadKind.STOPPED,
    "AfterTool": PayloadKind.TOOL_USED,
    "PreCompress": PayloadKind.COMPACTING,
    "SessionEnd": PayloadKind.SESSION_ENDED,
}


@dataclass(frozen=True, slots=True)
class GeminiPrompt:
    """A prompt that only a payload told of, because there is no record or the recording has
    stopped.
    """

    id: str = ""
    text: str = ""
    at: str = ""
    answers: tuple[str, ...] = ()

    def to_data(self) -> Json | None:
        return asdict(self) if self.id else None


@dataclass(slots=True)
class GeminiPayload:
    """A payload with what the record has given so far, the prompt that the record lacks, and the
    last words of a turn.
    """

    payload: HostPayload
    read: RecordReading | None  # None where there is no record to read
    missing: GeminiPrompt
    last_words: GeminiLastWords

    @property
    def prompt(self) -> str:
        return lines.prompt_from(self.payload.text("prompt"))[:PROMPT_LIMIT]

    def announce(self, prompt: str, key: str) -> GeminiPrompt:
        """Take a prompt for the one that the record lacks."""
        turn_id = self.payload.id("prompt", key)
        self.missing = GeminiPrompt(turn_id, prompt, self.payload.at)
        return self.missing


class GeminiCli(HostAdapter):
    """The adapter of Gemini CLI 0.20 to 0.61."""

    name = HOST
    variable = "GEMINI_CLI_HOME"
    folder = "tmp"
    record = "record"
    kinds = _KINDS
    # what SessionStart answers is put before the prompt, and parsed with it: a command behind it is
    # none any more, and files that it names with @ are read into the request
    answering = ("BeforeAgent",)
    starts = (StartReason.STARTUP, StartReason.RESUME, StartReason.CLEAR)
    has_commands = True

    def origin(self, event: str, payload: bytes) -> Origin | None:
        """The origin with the record in which a resumed session goes on: the payload names a new
        one.
        """
        origin = super().origin(event, payload)
        if origin is None or event != "SessionStart":
            return origin
        return replace(
            origin,
            transcript=transcript.latest_record(origin.transcript, origin.session),
        )

    def read_payload(self, payload: HostPayload, cursor: Cursor) -> Reading:
        suffixes = (transcript.LOG, transcript.WHOLE)
        name = payload.data.get("transcript_path")
        if payload.kind is PayloadKind.SESSION_STARTED:
            name = payload.origin.transcript or name
        read, problems = self.read_named(
            name,
            suffixes,
            lambda path: _read_for(payload, path, cursor),
        )
        received = GeminiPayload(
            payload, read, _missing_in(cursor), _last_words_in(cursor)
        )
        events = _events_of(received)
        kept = {
            "prompt": received.missing.to_data(),
            "last": asdict(received.last_words),
        }
        if read is None:
            after = replace(
                cursor,
                pending=json.dumps(
                    {
                        **stored_state(cursor),
                        **kept,
                    }
                ),
            )
            return Reading(tuple(events), after, problems)
        return Reading((*read.events, *events), read.cursor(**kept), read.problems)

    def read_record(self, path: Path, cursor: Cursor) -> Reading:
        session, now = transcript.session_of(path), time_of_file(path)
        cwd = transcript.directory_of(path) or resume_state_of(cursor).cwd
        read = _read_record(
            path,
            session,
            cwd,
            cursor,
            now,
            END_OF_TIME,
        )
        kept = {
            "prompt": _missing_in(cursor).to_data(),
            "last": asdict(_last_words_in(cursor)),
        }
        return Reading(read.events, read.cursor(**kept), read.problems)

    def recorded(self, home: Path, config_dir: str = "") -> Iterator[Recorded]:
        # the variable names a home, a person may name either
        base = Path(config_dir) if config_dir else home
        own = base / ".gemini"
        return transcript.recorded(own if own.is_dir() or not config_dir else base)

    def prompt_in(self, data: Json) -> str:
        return lines.prompt_from(text(data, "prompt"))


def _read_for(
    payload: HostPayload,
    path: Path,
    cursor: Cursor,
) -> RecordReading:
    cwd = transcript.directory_of(path) or payload.origin.cwd
    # the person speaks, so the model has stopped
    is_over = payload.kind is PayloadKind.PROMPT
    stopped_at = payload.at if is_over else payload.stopped_at
    return _read_record(
        path,
        payload.origin.session,
        cwd,
        cursor,
        payload.at,
        stopped_at,
    )


def _read_record(
    path: Path,
    session: str,
    cwd: str,
    cursor: Cursor,
    now: str,
    stopped_at: str,
) -> RecordReading:
    origin = Origin(
        HOST,
        session,
        cwd,
        "",
        str(path),
    )
    return transcript.read(
        Record(
            path,
            origin,
            now,
            stopped_at,
            cwd,
        ),
        cursor,
    )


def _missing_in(cursor: Cursor) -> GeminiPrompt:
    """The prompt that only a payload told of, as a cursor holds it; an empty one for none."""
    return stored_object(stored_state(cursor), "prompt", GeminiPrompt)


def _last_words_in(cursor: Cursor) -> GeminiLastWords:
    return stored_object(stored_state(cursor), "last", GeminiLastWords)


def _events_of(received: GeminiPayload) -> list[HostEvent]:
    """The events that the payload adds to those of the record."""
    match received.payload.kind:
        case PayloadKind.PROMPT:
            return _prompt_events(received)
        case PayloadKind.STOPPED:
            return _last_words(received)
        case PayloadKind.TOOL_USED:
            return list(_answers(received))
        case _:
            return received.payload.lifecycle_events()


def _prompt_events(received: GeminiPayload) -> list[HostEvent]:
    """The prompt as a provisional turn where there is no record yet: a record gets it a moment
    later, under its own id.
    """
    words, prompt = received.prompt, received.missing
    if not words or received.read is not None:
        received.missing = GeminiPrompt()
        return []
    # two plugins announce one prompt
    is_again = prompt.text == words and not prompt.answers
    if not prompt.id or not is_again:
        prompt = received.announce(words, words)
    return [received.payload.provisional_turn(prompt.id, prompt.at, words)]


def _last_words(received: GeminiPayload) -> list[HostEvent]:
    """The words with which the model stopped, where the record does not have them."""
    payload, read, prompt = received.payload, received.read, received.missing
    last = read.last if read else None
    words = payload.text("prompt_response").strip()
    if words in ("", _SAID_NOTHING) or (read and read.resume_state.at > payload.at):
        return []
    if last and prompt_text.is_said(words, last):
        return []
    if last and _is_about(last, received.prompt):
        received.last_words = GeminiLastWords(last.id, words)
        turn = received.last_words.added_to(last)
        return [replace(turn, ended_at=payload.at, is_complete=True)]
    if not prompt.id or prompt.text != received.prompt:
        prompt = received.announce(received.prompt, words)
    answers = with_answer(prompt.answers, words)
    received.missing = replace(prompt, answers=answers)
    return [payload.provisional_turn(prompt.id, prompt.at, prompt.text, answers)]


def _is_about(turn: Turn, prompt: str) -> bool:
    """Is it the turn of this prompt? That of a command stands in the record in other words."""
    is_command = prompt_text.slash_command(turn.user) is not None
    return is_command or prompt_key(turn.user) == prompt_key(prompt)


def _answers(received: GeminiPayload) -> Iterator[Question]:
    """The answers to the agent's questions, where no record will tell them."""
    payload, data = received.payload, received.payload.data
    if payload.text("tool_name") == "ask_user" and received.read is None:
        given, output = data.get("tool_input"), data.get("tool_response")
        yield from lines.answers_to(
            given,
            output,
            payload.origin,
            payload.at,
        )
