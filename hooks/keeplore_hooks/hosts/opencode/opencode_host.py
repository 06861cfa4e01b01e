"""OpenCode: payloads of Keeplore's plugin for it and the program's own records → events; the
context it asks for.

OpenCode runs plugins inside its own process, so there is no payload of its own: the plugin sends
what ``docs/hosts/opencode.md`` describes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from keeplore_hooks.events import Compaction, HostEvent, Origin, Session
from keeplore_hooks.hosts import jsonl, prompt_text
from keeplore_hooks.hosts.base import PLUGIN, Ask, Cursor, Reading, Recorded, command_ask
from keeplore_hooks.hosts.jsonl import Json, Problems, mapping, mappings, text
from keeplore_hooks.hosts.opencode import opencode_store as store
from keeplore_hooks.hosts.opencode.opencode_messages import (
    Messages,
    created_at,
    message_id,
    moment,
    prompt_in,
)
from keeplore_hooks.hosts.transcript_log import END_OF_TIME, carry_of, pending
from keeplore_hooks.hosts.turn_assembly import GIVEN_LIMIT, Assembler, Carry, digest, pending_of

HOST = "opencode"
CONTEXT_BYTES = 10_000  # the host states no limit; what the others take will do
_EVENTS = (
    "session.created",
    "chat.message",
    "command.execute.before",
    "experimental.session.compacting",
    "session.compacted",
    "session.idle",
    "session.error",
    "session.deleted",
)
# a client keeps letters and digits of a name alone, and the spool's names are made of dots
_NAMED = {event.replace(".", ""): event for event in _EVENTS}
_STOPS = ("session.idle", "session.error", "session.deleted")
_ANSWERING = ("session.created", "chat.message", "command.execute.before", "session.compacted")
_COMMAND_LIMIT = 200  # commands of one session whose names are remembered
_COMMAND_LENGTH = 4000  # characters of one


@dataclass(frozen=True, slots=True)
class _Commands:
    """Commands that payloads told of: records hold only the text that stands behind them."""

    known: Mapping[str, tuple[str, str]]  # message → name and arguments
    waiting: tuple[
        tuple[float, str, str], ...
    ] = ()  # time (ms), name, arguments: the message comes later

    @staticmethod
    def from_data(data: Json) -> _Commands:
        known = {
            key: (str(told[0]), str(told[1]))
            for key, told in mapping(data, "known").items()
            if _is_list(told, 2)
        }
        waiting = data.get("waiting")
        told = [one for one in waiting if _is_list(one, 3)] if isinstance(waiting, list) else []
        return _Commands(
            known,
            tuple(
                (jsonl.number({"at": at}, "at"), str(name), str(args)) for at, name, args in told
            ),
        )

    def with_messages(self, messages: list[Json]) -> _Commands:
        """With the message of each command that waits: the first of the person's after it."""
        known, waiting = dict(self.known), []
        for at, name, args in self.waiting:
            made = (
                message_id(one) for one in messages if created_at(one) >= at and _is_of_user(one)
            )
            key = next((key for key in made if key and key not in known), "")
            if key:
                known[key] = (name, args)
            else:
                waiting.append((at, name, args))
        return _Commands(
            dict(list(known.items())[-_COMMAND_LIMIT:]), tuple(waiting[-_COMMAND_LIMIT:])
        )

    def to_data(self) -> Json:
        return {"known": dict(self.known), "waiting": list(self.waiting)}


class OpenCode:
    """The adapter of OpenCode 0.6 to 2.0."""

    name = HOST
    context_bytes = CONTEXT_BYTES
    variable = "XDG_DATA_HOME"
    folder = store.STORAGE

    def origin(self, event: str, payload: bytes) -> Origin | None:  # noqa: ARG002 (other hosts need the event)
        data = jsonl.payload(payload)
        session = text(data, "sessionID")
        if data is None or not session:
            return None
        agent = session if text(data, "parentID") else ""
        path, _ = _located(data, session)
        return Origin(
            HOST, session, text(data, "directory"), transcript=str(path or ""), agent=agent
        )

    def read(self, event: str, payload: bytes, cursor: Cursor, at: str) -> Reading:
        origin, data, event = (
            self.origin(event, payload),
            jsonl.payload(payload),
            _NAMED.get(event, event),
        )
        if data is None or origin is None:
            return Reading(
                (), cursor, (f"the payload of {event} is no JSON object with a sessionID",)
            )
        if event not in _EVENTS or origin.agent:
            return Reading((), cursor)
        problems, stored = Problems(), store.Stored({}, [])
        path, problem = _located(data, origin.session)
        if problem:
            problems.add(problem)
        if path:
            try:
                stored = store.read(path, problems)
            except OSError as e:
                problems.add(f"the record cannot be read: {e}")
        if text(stored.session, "parentID"):
            return Reading((), cursor)
        told = _told(event, data, origin, at)
        # turns must not move between directories when the plugin and the record name different ones
        origin = replace(origin, cwd=text(stored.session, "directory") or origin.cwd)
        stored = replace(stored, messages=_joined(stored.messages, mappings(data, "messages")))
        commands = _Commands.from_data(mapping(pending(cursor), "commands"))
        if event == "command.execute.before" and (command := _command(data))[1]:
            commands = replace(commands, waiting=(*commands.waiting, command))
        reading = _events(
            origin, stored, cursor, commands, at, at if event in _STOPS else "", problems
        )
        return replace(reading, events=(*reading.events, *told))

    def read_transcript(self, path: Path, cursor: Cursor) -> Reading:
        problems = Problems()
        try:
            fingerprint = store.stamp(path)
            if fingerprint == cursor.fingerprint:
                return Reading((), cursor)
            stored = store.read(path, problems)
        except OSError as e:
            return Reading((), cursor, (f"the record cannot be read: {e}",))
        if text(stored.session, "parentID"):
            return Reading((), cursor)
        session = text(stored.session, "id") or path.stem
        origin = Origin(HOST, session, text(stored.session, "directory"), transcript=str(path))
        commands = _Commands.from_data(mapping(pending(cursor), "commands"))
        now = moment(mapping(stored.session, "time").get("updated"))
        reading = _events(origin, stored, cursor, commands, now, END_OF_TIME, problems)
        return replace(reading, cursor=replace(reading.cursor, fingerprint=fingerprint))

    def recorded(self, home: Path, config_dir: str = "") -> Iterator[Recorded]:
        base = Path(config_dir) if config_dir else home / ".local" / "share"
        return store.recorded(base / HOST if (base / HOST).is_dir() else base)

    def ask(self, event: str, payload: bytes) -> Ask | None:
        data, event = jsonl.payload(payload) or {}, _NAMED.get(event, event)
        if not text(data, "sessionID") or text(data, "parentID"):
            return None
        if event in ("session.created", "session.compacted"):
            return Ask("brief", source="startup" if event == "session.created" else "compact")
        if event == "command.execute.before":
            _, name, args = _command(data)
            return command_ask(name, args)
        messages = mappings(data, "messages") if event == "chat.message" else []
        prompt = prompt_in(messages[-1]) if messages else ""
        return (
            Ask("prompt", text=prompt) if prompt and not prompt_text.slash_command(prompt) else None
        )

    def reply(self, event: str, context: str) -> bytes:
        if not context.strip() or _NAMED.get(event, event) not in _ANSWERING:
            return b""
        return json.dumps({"context": jsonl.clean(context)}).encode("ascii")


def _located(data: Json, session: str) -> tuple[Path | None, str]:
    """The record of the session that a payload is about; in its place a problem, or neither where
    there is none.
    """
    name = text(data, "data")
    if not name:
        return None, ""
    try:
        base = Path(name)
        return (
            (store.locate(base, session), "")
            if base.is_absolute()
            else (None, "the data directory is not absolute")
        )
    except (OSError, ValueError) as e:
        return None, f"the record cannot be read: {e}"


def _events(
    origin: Origin,
    stored: store.Stored,
    cursor: Cursor,
    commands: _Commands,
    now: str,
    stopped_at: str,
    problems: Problems,
) -> Reading:
    """What the messages give beyond what was given before; all of them are looked at each time."""
    carry = carry_of(cursor)
    commands = commands.with_messages(stored.messages)
    assembler = Assembler(origin, Carry(began=carry.began, given=carry.given), now)
    created = jsonl.number(mapping(stored.session, "time"), "created")
    messages = Messages(assembler, problems, commands.known, created)
    for number, message in enumerate(stored.messages):
        messages.take(message, number)
    if stored.messages and not messages.is_known:
        problems.add(
            "no message is of a form that is known here; a newer OpenCode may have written them"
        )
    assembler.finish(stopped_at)
    kept = assembler.carry(len(stored.messages), origin.cwd)
    given = {**carry.given, **kept.given}  # a payload may hold only the newest messages
    kept = replace(kept, given=dict(list(given.items())[-GIVEN_LIMIT:]))
    after = Cursor(0, "", pending_of(kept, commands=commands.to_data()))
    return Reading(tuple(assembler.events), after, problems.all())


def _joined(stored: list[Json], told: list[Json]) -> list[Json]:
    """The messages of the record, and those of a payload that it lacks: it was read later than the
    payload was made.
    """
    known = {message_id(message) for message in stored}
    more = [message for message in told if message_id(message) and message_id(message) not in known]
    return sorted([*stored, *more], key=created_at) if more else stored


def _told(event: str, data: Json, origin: Origin, at: str) -> list[HostEvent]:
    """The events that the payload itself tells."""
    key = digest(origin.session, event, at)
    if event == "session.created":
        return [Session(key, origin, at, "started", "startup")]
    if event == "session.deleted":
        return [Session(key, origin, at, "ended", "deleted")]
    if event == "experimental.session.compacting":
        return [Compaction(key, origin, at, "before", text(data, "trigger"))]
    return []


def _command(data: Json) -> tuple[float, str, str]:
    """When the command was typed (ms), its name and its arguments."""
    command = mapping(data, "command")
    name = text(command, "name").strip().removeprefix("/")[:_COMMAND_LENGTH]
    if name.startswith(f"{PLUGIN}/"):  # the folder that a command's file stands in
        name = name.replace("/", ":", 1)
    return jsonl.number(data, "time"), name, text(command, "arguments").strip()[:_COMMAND_LENGTH]


def _is_of_user(message: Json) -> bool:
    subtask = any(text(part, "type") == "subtask" for part in mappings(message, "parts"))
    return text(mapping(message, "info"), "role") == "user" and (
        subtask or bool(prompt_in(message))
    )


def _is_list(value: object, length: int) -> bool:
    return isinstance(value, list) and len(value) == length
