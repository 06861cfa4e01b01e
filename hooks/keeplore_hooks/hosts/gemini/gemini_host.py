"""Gemini CLI: payloads of its host events and its records → events; the context it asks for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from keeplore_hooks.events import HostEvent, Origin, Question, Turn
from keeplore_hooks.hosts import jsonl, prompt_text
from keeplore_hooks.hosts.base import Ask, Cursor, Reading, Recorded, prompt_key
from keeplore_hooks.hosts.gemini import gemini_lines as lines
from keeplore_hooks.hosts.gemini import gemini_transcript as transcript
from keeplore_hooks.hosts.gemini.gemini_messages import HOST
from keeplore_hooks.hosts.jsonl import Json, text
from keeplore_hooks.hosts.payload import Heard
from keeplore_hooks.hosts.pending_prompts import PROMPT_LIMIT
from keeplore_hooks.hosts.turn_assembly import Read, squashed

CONTEXT_BYTES = 10_000  # the host states no limit; what the others take will do
_EVENTS = ("SessionStart", "BeforeAgent", "AfterAgent", "AfterTool", "PreCompress", "SessionEnd")
_STOPS = ("SessionStart", "BeforeAgent", "AfterAgent", "SessionEnd")
_ANSWERING = ("SessionStart", "BeforeAgent")
_SOURCES = {"startup": "startup", "resume": "resume", "clear": "clear"}
_END_OF_TIME = "9999"


@dataclass(frozen=True, slots=True)
class _Prompt:
    """A prompt that only a payload told of, because there is no record or the recording has
    stopped.
    """

    id: str
    text: str
    at: str
    is_answered: bool = False


@dataclass(frozen=True, slots=True)
class _Heard(Heard):
    """A payload with what the record has given so far."""

    read: Read | None  # None where there is no record to read

    @property
    def prompt(self) -> str:
        return lines.prompt_from(text(self.payload, "prompt"))[:PROMPT_LIMIT]


class GeminiCli:
    """The adapter of Gemini CLI 0.20 to 0.61."""

    name = HOST
    context_bytes = CONTEXT_BYTES
    variable = "GEMINI_CLI_HOME"
    folder = "tmp"

    def origin(self, event: str, payload: bytes) -> Origin | None:  # noqa: ARG002 (other hosts need the event)
        data = jsonl.payload(payload)
        session = text(data, "session_id")
        if data is None or not session:
            return None
        return Origin(
            HOST, session, cwd=text(data, "cwd"), transcript=text(data, "transcript_path")
        )

    def read(self, event: str, payload: bytes, cursor: Cursor, at: str) -> Reading:
        origin, data = self.origin(event, payload), jsonl.payload(payload)
        if data is None or origin is None:
            return Reading(
                (), cursor, (f"the payload of {event} is no JSON object with a session_id",)
            )
        if event not in _EVENTS:
            return Reading((), cursor)
        read, problems = _read(data, origin, cursor, at, at if event in _STOPS else "")
        known = tuple(read.events) if read else ()
        events, prompt = _told(_Heard(event, data, origin, at, read), _prompt_of(cursor))
        kept = {"prompt": asdict(prompt) if prompt else None}
        if read is None:
            after = replace(cursor, pending=json.dumps({**_pending(cursor), **kept}))
        else:
            after = read.cursor(**kept)
        return Reading((*known, *events), after, problems)

    def read_transcript(self, path: Path, cursor: Cursor) -> Reading:
        try:
            now = datetime.fromtimestamp(path.stat().st_mtime, UTC).isoformat()[:19] + "Z"
            cwd = transcript.directory_of(path) or transcript.carry_of(cursor).cwd
            source = transcript.Source(path, transcript.session_of(path), cwd, now)
            read = transcript.read(source, cursor, _END_OF_TIME)
        except (OSError, ValueError) as e:
            return Reading((), cursor, (f"the record cannot be read: {e}",))
        prompt = _prompt_of(cursor)
        return Reading(
            read.events, read.cursor(prompt=asdict(prompt) if prompt else None), read.problems
        )

    def recorded(self, home: Path, config_dir: str = "") -> Iterator[Recorded]:
        base = (
            Path(config_dir) if config_dir else home
        )  # the variable names a home, a person may name either
        own = base / ".gemini"
        return transcript.recorded(own if own.is_dir() or not config_dir else base)

    def ask(self, event: str, payload: bytes) -> Ask | None:
        data = jsonl.payload(payload)
        if self.origin(event, payload) is None:
            return None
        if event == "SessionStart":
            return Ask("brief", source=_SOURCES.get(text(data, "source"), "startup"))
        prompt = lines.prompt_from(text(data, "prompt")) if event == "BeforeAgent" else ""
        return (
            Ask("prompt", text=prompt) if prompt and not prompt_text.slash_command(prompt) else None
        )

    def reply(self, event: str, context: str) -> bytes:
        if not context.strip() or event not in _ANSWERING:
            return b""
        output = {"hookEventName": event, "additionalContext": jsonl.clean(context)}
        return json.dumps({"hookSpecificOutput": output}).encode("ascii")


def _read(
    data: Json, origin: Origin, cursor: Cursor, now: str, stopped_at: str
) -> tuple[Read | None, tuple[str, ...]]:
    name = data.get("transcript_path")
    if not name:
        return None, ()
    path = jsonl.record_path(name, transcript.LOG, transcript.WHOLE)
    if path is None:
        return None, ("the record's path is not that of a .jsonl or .json file",)
    try:
        cwd = transcript.directory_of(path) or origin.cwd
        read = transcript.read(
            transcript.Source(path, origin.session, cwd, now), cursor, stopped_at
        )
    except FileNotFoundError:
        return None, ()  # not written yet, or switched off
    except OSError as e:
        return None, (f"the record cannot be read: {e}",)
    return read, read.problems


def _pending(cursor: Cursor) -> Json:
    return jsonl.load(cursor.pending.encode("utf-8", "surrogatepass")) or {}


def _prompt_of(cursor: Cursor) -> _Prompt | None:
    """The prompt that only a payload told of, as a cursor holds it."""
    data = jsonl.mapping(_pending(cursor), "prompt")
    if not text(data, "id"):
        return None
    return _Prompt(
        text(data, "id"), text(data, "text"), text(data, "at"), bool(data.get("is_answered"))
    )


def _told(heard: _Heard, prompt: _Prompt | None) -> tuple[list[HostEvent], _Prompt | None]:
    """The events that the payload adds to those of the record, and the prompt that the record
    lacks.
    """
    event, data = heard.event, heard.payload
    if event == "BeforeAgent":
        return _prompt_told(heard, prompt)
    if event == "AfterAgent":
        return _last_words(heard, prompt)
    if event == "SessionStart":
        return [heard.session("started", text(data, "source"))], prompt
    if event == "SessionEnd":
        return [heard.session("ended", text(data, "reason"))], prompt
    if event == "PreCompress":
        return [heard.compaction("before")], prompt
    return [*_answers(heard)], prompt


def _prompt_told(heard: _Heard, prompt: _Prompt | None) -> tuple[list[HostEvent], _Prompt | None]:
    """A record gets the prompt a moment later, under its own id; so the payload counts where there
    is none.
    """
    words = heard.prompt
    if not words or heard.read is not None:
        return [], None
    if (
        prompt is None or prompt.is_answered or prompt.text != words
    ):  # else two plugins announce one prompt
        prompt = _Prompt(heard.id("prompt", words), words, heard.at)
    return [
        Turn(prompt.id, heard.origin, prompt.at, words, is_complete=False, is_provisional=True)
    ], prompt


def _last_words(heard: _Heard, prompt: _Prompt | None) -> tuple[list[HostEvent], _Prompt | None]:
    """The words with which the model stopped, where the record does not have them."""
    words = text(heard.payload, "prompt_response").strip()
    read, last = heard.read, heard.read.last if heard.read else None
    if not words or (read and read.carry.at > heard.at):
        return [], prompt
    if last and squashed(words) in squashed(last.assistant):
        return [], prompt
    is_same = last and (
        prompt_key(last.user) == prompt_key(heard.prompt) or prompt_text.slash_command(last.user)
    )
    if last and is_same:
        questions = (reply for reply in last.replies if isinstance(reply, Question))
        said = () if squashed(last.assistant) in squashed(words) else last.replies
        return [
            replace(
                last, replies=(*(said or questions), words), ended_at=heard.at, is_complete=True
            )
        ], prompt
    if prompt is None or prompt.text != heard.prompt:
        prompt = _Prompt(heard.id("prompt", words), heard.prompt, heard.at)
    turn = Turn(
        prompt.id, heard.origin, prompt.at, prompt.text, (words,), heard.at, is_provisional=True
    )
    return [turn], replace(prompt, is_answered=True)


def _answers(heard: _Heard) -> Iterator[Question]:
    """The answers to the agent's questions, where no record will tell them."""
    if text(heard.payload, "tool_name") == "ask_user" and heard.read is None:
        data = heard.payload
        yield from lines.answers_to(
            data.get("tool_input"), data.get("tool_response"), heard.origin, heard.at
        )
