"""OpenCode: payloads of Keeplore's plugin for it and the program's own records → events; the
context it asks for.

OpenCode runs plugins inside its own process, so there is no payload of its own: the plugin sends
what ``docs/hosts/opencode.md`` describes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from keeplore_hooks.events import (
    Compaction,
    CompactionPhase,
    HostEvent,
    Origin,
    Session,
    SessionPhase,
)
from keeplore_hooks.hosts import jsonl
from keeplore_hooks.hosts.base import (
    PLUGIN,
    Ask,
    AskKind,
    Cursor,
    Reading,
    Recorded,
    StartReason,
    command_ask,
)
from keeplore_hooks.hosts.cursor_state import stored_state
from keeplore_hooks.hosts.host_adapter import HostAdapter
from keeplore_hooks.hosts.jsonl import (
    Json,
    Problems,
    clean,
    digest,
    mapping,
    mappings,
    payload_object,
    sequence,
    text,
    value_at,
)
from keeplore_hooks.hosts.opencode import opencode_store as store
from keeplore_hooks.hosts.opencode.opencode_messages import (
    OpenCodeTurnReader,
    agent_of,
    created_at,
    message_id,
    prompt_in,
    role_of,
    utc_moment,
)
from keeplore_hooks.hosts.payload import ENDINGS, HostPayload, PayloadKind
from keeplore_hooks.hosts.record_reading import END_OF_TIME
from keeplore_hooks.hosts.turn_assembly import GIVEN_LIMIT, Record, resume_state_of

HOST = "opencode"
_KINDS = {
    "session.created": PayloadKind.SESSION_STARTED,
    "chat.message": PayloadKind.PROMPT,
    "command.execute.before": PayloadKind.COMMAND,
    "experimental.session.compacting": PayloadKind.COMPACTING,
    "session.compacted": PayloadKind.COMPACTED,
    "session.idle": PayloadKind.STOPPED,
    "session.error": PayloadKind.INTERRUPTED,
    "session.deleted": PayloadKind.SESSION_ENDED,
}
# a client keeps letters and digits of a name alone, and the spool's names are made of dots
_ALIASES = {event.replace(".", ""): event for event in _KINDS}
_COMMAND_LIMIT = 200  # commands of one session whose names are remembered
_COMMAND_LENGTH = 4000  # characters of one


@dataclass(frozen=True, slots=True)
class WaitingCommand:
    """A command whose message comes later."""

    at: float  # ms
    name: str
    args: str


@dataclass(frozen=True, slots=True)
class OpenCodeCommands:
    """Commands that payloads told of: records hold only the text that stands behind them."""

    # message → name and arguments
    known: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    waiting: tuple[WaitingCommand, ...] = ()

    @staticmethod
    def from_cursor(cursor: Cursor) -> OpenCodeCommands:
        data = mapping(stored_state(cursor), "commands")
        known = {
            key: (str(item[0]), str(item[1]))
            for key, item in mapping(data, "known").items()
            if _is_list(item, 2)
        }
        items = [item for item in sequence(data, "waiting") if _is_list(item, 3)]
        waiting = (
            WaitingCommand(jsonl.number({"at": at}, "at"), str(name), str(args))
            for at, name, args in items
        )
        return OpenCodeCommands(known, tuple(waiting))

    def with_messages(self, messages: list[Json]) -> OpenCodeCommands:
        """The commands that wait, each with its message: the person's first one after it."""
        known, waiting = dict(self.known), []
        spoken = [message for message in messages if _is_of_person(message)]
        for command in self.waiting:
            made = (
                message_id(message)
                for message in spoken
                if created_at(message) >= command.at
            )
            key = next((key for key in made if key and key not in known), "")
            if key:
                known[key] = (command.name, command.args)
            else:
                waiting.append(command)
        latest = dict(list(known.items())[-_COMMAND_LIMIT:])
        return OpenCodeCommands(latest, tuple(waiting[-_COMMAND_LIMIT:]))

    def to_data(self) -> Json:
        waiting = [[command.at, command.name, command.args] for command in self.waiting]
        return {"known": dict(self.known), "waiting": waiting}


class OpenCode(HostAdapter):
    """The adapter of OpenCode 0.6 to 2.0."""

    name = HOST
    variable = "XDG_DATA_HOME"
    folder = store.STORAGE
    record = "record"
    tells_end = False
    session_key = "sessionID"
    kinds = _KINDS
    aliases = _ALIASES
    shows_messages = False
    answering = (
        "session.created",
        "chat.message",
        "command.execute.before",
        "session.compacted",
    )
    starts = (StartReason.STARTUP, StartReason.RESUME)

    def origin(self, event: str, payload: bytes) -> Origin | None:  # noqa: ARG002 (some need it)
        data = payload_object(payload)
        session = text(data, "sessionID")
        if data is None or not session:
            return None
        agent = session if text(data, "parentID") else ""
        path, _ = _record_or_problem(data, session)
        transcript = str(path or "")
        spoken = [
            message
            for message in mappings(data, "messages")
            if role_of(message) == "user"
        ]
        return Origin(
            HOST,
            session,
            text(data, "directory"),
            transcript=transcript,
            agent=agent,
            agent_name=agent_of(spoken[-1]) if spoken else "",
        )

    def read_payload(self, payload: HostPayload, cursor: Cursor) -> Reading:
        origin, data = payload.origin, payload.data
        if origin.agent:
            return Reading((), cursor)
        problems = Problems()
        stored = _stored_session(data, origin.session, problems)
        if text(stored.session, "parentID"):
            return Reading((), cursor)
        # turns must not move between directories when the plugin and the record name different ones
        cwd = text(stored.session, "directory") or origin.cwd
        messages = _joined_messages(stored.messages, mappings(data, "messages"))
        commands = OpenCodeCommands.from_cursor(cursor)
        command = _command(data)
        if payload.kind is PayloadKind.COMMAND and command.name:
            commands = replace(commands, waiting=(*commands.waiting, command))
        stopped_at = payload.at if payload.kind in ENDINGS else ""
        record = Record(Path(), replace(origin, cwd=cwd), payload.at, stopped_at, cwd)
        stored = replace(stored, messages=messages)
        reading = _read_messages(record, stored, cursor, commands, problems)
        return replace(reading, events=(*reading.events, *_events_of(payload)))

    def read_record(self, path: Path, cursor: Cursor) -> Reading:
        problems, fingerprint = Problems(), store.state_digest(path)
        if fingerprint == cursor.fingerprint:
            return Reading((), cursor)
        stored = store.read(path, problems)
        session = stored.session
        if text(session, "parentID"):
            return Reading((), cursor)
        cwd, now = (
            text(session, "directory"),
            utc_moment(value_at(session, ("time", "updated"))),
        )
        origin = Origin(
            HOST, text(session, "id") or path.stem, cwd, transcript=str(path)
        )
        record = Record(path, origin, now, END_OF_TIME, cwd)
        reading = _read_messages(
            record, stored, cursor, OpenCodeCommands.from_cursor(cursor), problems
        )
        return replace(reading, cursor=replace(reading.cursor, fingerprint=fingerprint))

    def recorded(self, home: Path, config_dir: str = "") -> Iterator[Recorded]:
        base = Path(config_dir) if config_dir else home / ".local" / "share"
        return store.recorded(base / HOST if (base / HOST).is_dir() else base)

    def may_ask(self, event: str, payload: bytes) -> bool:  # noqa: ARG002 (some need it)
        """Whether a payload may be answered with context; unlike for other hosts the record need
        not be looked for.
        """
        data = payload_object(payload)
        return bool(text(data, "sessionID")) and not text(data, "parentID")

    def ask_about(self, kind: PayloadKind, data: Json) -> Ask | None:
        if kind is PayloadKind.COMPACTED:
            return Ask(AskKind.BRIEF, source=StartReason.COMPACT)
        if kind is PayloadKind.COMMAND:
            command = _command(data)
            return command_ask(command.name, command.args)
        return None

    def prompt_in(self, data: Json) -> str:
        messages = mappings(data, "messages")
        return prompt_in(messages[-1]) if messages else ""

    def answer(self, event: str, context: str) -> Json:  # noqa: ARG002 (some need it)
        return {"context": clean(context)}


def _record_or_problem(data: Json, session: str) -> tuple[Path | None, str]:
    """The record of the session that a payload is about; in its place a problem, or neither where
    there is none.
    """
    name = text(data, "data")
    if not name:
        return None, ""
    try:
        base = Path(name)
        if not base.is_absolute():
            return None, "the data directory is not absolute"
        return store.locate(base, session), ""
    except (OSError, ValueError) as e:
        return None, f"the record cannot be read: {e}"


def _stored_session(
    data: Json, session: str, problems: Problems
) -> store.StoredSession:
    """The session that a payload is about, an empty one where there is no record of it."""
    path, problem = _record_or_problem(data, session)
    if problem:
        problems.add(problem)
    try:
        if path:
            return store.read(path, problems)
    except OSError as e:
        problems.add(f"the record cannot be read: {e}")
    return store.StoredSession({}, [])


def _read_messages(
    record: Record,
    stored: store.StoredSession,
    cursor: Cursor,
    commands: OpenCodeCommands,
    problems: Problems,
) -> Reading:
    """What the messages give beyond what was given before; all of them are looked at each time."""
    commands = commands.with_messages(stored.messages)
    created = jsonl.number(stored.session, "time", "created")
    reader = OpenCodeTurnReader(record, cursor, problems, commands.known, created)
    for number, message in enumerate(stored.messages):
        reader.take_message(message, number)
    if stored.messages and not reader.is_known:
        problems.add_unknown(
            "no message is of a form that is known here", reader.program, "them"
        )
    reader.finish(record.stopped_at)
    read = reader.reading(len(stored.messages), "", problems.all())
    # a payload may hold only the newest messages
    given = {**resume_state_of(cursor).given, **read.resume_state.given}
    given = dict(list(given.items())[-GIVEN_LIMIT:])
    read = replace(read, resume_state=replace(read.resume_state, given=given))
    return Reading(read.events, read.cursor(commands=commands.to_data()), read.problems)


def _joined_messages(stored: list[Json], from_payload: list[Json]) -> list[Json]:
    """The messages of the record, and those of a payload that it lacks: it was read later than the
    payload was made.
    """
    known = {"", *map(message_id, stored)}
    more = [message for message in from_payload if message_id(message) not in known]
    return sorted([*stored, *more], key=created_at) if more else stored


def _events_of(payload: HostPayload) -> list[HostEvent]:
    """The events that the payload itself tells."""
    origin, at = payload.origin, payload.at
    key = digest(origin.session, payload.event, at)
    match payload.kind:
        case PayloadKind.SESSION_STARTED:
            return [
                Session(
                    key,
                    origin,
                    at,
                    SessionPhase.STARTED,
                    payload.text("source") or StartReason.STARTUP,
                )
            ]
        case PayloadKind.SESSION_ENDED:
            return [Session(key, origin, at, SessionPhase.ENDED, "deleted")]
        case PayloadKind.COMPACTING:
            return [
                Compaction(
                    key, origin, at, CompactionPhase.BEFORE, payload.text("trigger")
                )
            ]
        case _:
            return []


def _command(data: Json) -> WaitingCommand:
    """The command that was typed."""
    name = text(data, "command", "name").strip().removeprefix("/")[:_COMMAND_LENGTH]
    if name.startswith(f"{PLUGIN}/"):  # the folder that a command's file stands in
        name = name.replace("/", ":", 1)
    args = text(data, "command", "arguments").strip()[:_COMMAND_LENGTH]
    return WaitingCommand(jsonl.number(data, "time"), name, args)


def _is_of_person(message: Json) -> bool:
    is_subtask = any(
        text(part, "type") == "subtask" for part in mappings(message, "parts")
    )
    return role_of(message) == "user" and (is_subtask or bool(prompt_in(message)))


def _is_list(value: object, length: int) -> bool:
    return isinstance(value, list) and len(value) == length
