"""Hosts whose record is a log of JSON lines that tells all but the newest prompt: a payload is read
together with the log that it names.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, ClassVar

from keeplore_hooks.events import HostEvent, Origin, Question, Turn
from keeplore_hooks.hosts.base import Cursor, Reading, Recorded
from keeplore_hooks.hosts.cursor_state import stored_object, stored_state
from keeplore_hooks.hosts.host_adapter import HostAdapter
from keeplore_hooks.hosts.jsonl import Json, open_regular, time_of_file
from keeplore_hooks.hosts.payload import HostPayload, PayloadKind
from keeplore_hooks.hosts.pending_prompts import (
    PROMPT_LIMIT,
    MissingPrompt,
    PendingPrompts,
)
from keeplore_hooks.hosts.record_reading import END_OF_TIME, read_log
from keeplore_hooks.hosts.turn_assembly import Record, RecordReading, TurnReader

SUFFIX = ".jsonl"


@dataclass(frozen=True, slots=True)
class LogReading:
    """What a log gave, with the reader that knows its tasks and state."""

    read: RecordReading
    reader: TurnReader

    def prompts(self, cursor: Cursor) -> PendingPrompts:
        """What is known of announced prompts behind this reading."""
        turns = self.read.turns().values()
        tasks = self.reader.tasks
        known = stored_object(stored_state(cursor), "announced", PendingPrompts)
        return known.with_turns((tasks.get(turn.id, ""), turn) for turn in turns)

    def reading(self, prompts: PendingPrompts, events: list[HostEvent]) -> Reading:
        """The reading with what a payload adds."""
        after = self.read.cursor(state=self.reader.state(), announced=prompts.to_data())
        return Reading((*self.read.events, *events), after, self.read.problems)


@dataclass(slots=True)
class LogPayload:
    """A payload with what the log has given so far, and the prompts that are announced."""

    payload: HostPayload
    log: LogReading | None  # None where there is no log to read
    prompts: PendingPrompts
    is_of_person: bool = True  # the session is known as one of a person

    @property
    def last(self) -> Turn | None:
        """The turn at the end of the log."""
        return self.log.read.last if self.log else None

    def task_of_last(self, default: str = "") -> str:
        """The host's id of what it did about the last turn's prompt."""
        return (
            self.log.reader.tasks.get(self.last.id, default)
            if self.log and self.last
            else ""
        )


class LogHost(HostAdapter):
    """A host with such a record. Where ``has_tasks``, payloads and log name what the host does
    about a prompt.
    """

    reader: ClassVar[type[TurnReader]]
    has_commands = True
    has_tasks: ClassVar[bool] = False

    def read_payload(self, payload: HostPayload, cursor: Cursor) -> Reading:
        log, problems = self.read_named(
            payload.origin.transcript,
            (SUFFIX,),
            lambda path: self._read_for(payload, path, cursor),
        )
        if log and log.reader.is_subagent:
            return Reading((), cursor)
        if log:
            received = LogPayload(payload, log, log.prompts(cursor))
            events = self.events_of(received)
            return log.reading(received.prompts, events)
        received = self.without_log(payload, cursor)
        events = self.events_of(received)
        kept = (
            stored_state(cursor)
            | {"announced": received.prompts.to_data()}
            | self.extra_state(received)
        )
        return Reading(
            tuple(events), replace(cursor, pending=json.dumps(kept)), problems
        )

    def without_log(self, payload: HostPayload, cursor: Cursor) -> LogPayload:
        return LogPayload(
            payload,
            None,
            stored_object(stored_state(cursor), "announced", PendingPrompts),
        )

    def extra_state(self, received: LogPayload) -> Json:  # noqa: ARG002 (some need it)
        """What the cursor keeps beside the prompts where there is no log."""
        return {}

    def events_of(self, received: LogPayload) -> list[HostEvent]:
        """The events that the payload adds to those of the log."""
        match received.payload.kind:
            case PayloadKind.PROMPT:
                return self.prompt_events(received)
            case PayloadKind.STOPPED:
                return self.last_words(received)
            case PayloadKind.TOOL_USED:
                return list(self.answers(received))
            case _:
                return received.payload.lifecycle_events()

    @abstractmethod
    def last_words(self, received: LogPayload) -> list[HostEvent]:
        """The turn with which the assistant stopped, where the log does not have it yet."""

    @abstractmethod
    def answers(self, received: LogPayload) -> Iterator[Question]:
        """The answers to the agent's questions, under the ids that they have in the log."""

    def read_record(self, path: Path, cursor: Cursor) -> Reading:
        head = self.head(path)
        if head is None:
            return Reading((), cursor)
        log = self._read_log(
            Record(
                path,
                Origin(self.name, head.session, transcript=str(path)),
                time_of_file(path),
                END_OF_TIME,
            ),
            cursor,
        )
        if log.reader.is_subagent:
            return Reading((), cursor)
        return log.reading(log.prompts(cursor), [])

    @abstractmethod
    def head(self, path: Path) -> Recorded | None:
        """The session that a log is of; None for a subagent's. Raises OSError."""

    def open_log(self, path: Path) -> BinaryIO:
        return open_regular(path)

    def _read_for(
        self,
        payload: HostPayload,
        path: Path,
        cursor: Cursor,
    ) -> LogReading:
        return self._read_log(
            Record(
                path,
                replace(payload.origin, transcript=str(path)),
                payload.at,
                payload.stopped_at,
            ),
            cursor,
        )

    def _read_log(self, record: Record, cursor: Cursor) -> LogReading:
        with self.open_log(record.path) as file:
            return LogReading(
                *read_log(
                    file,
                    record,
                    cursor,
                    self.reader,
                )
            )

    def prompt_events(self, received: LogPayload) -> list[HostEvent]:
        """A prompt that the log lacks comes as a provisional turn."""
        payload, prompts = received.payload, received.prompts
        task = self.task_of(payload)
        prompt = self.prompt_in(payload.data)[:PROMPT_LIMIT]
        if (
            not prompt
            or not received.is_of_person
            or prompts.has(task, prompt, payload.at)
        ):
            return []
        events: list[HostEvent] = []
        if (
            received.last
            and not received.last.is_complete
            and received.task_of_last(task) != task
        ):
            # the person speaks, so the assistant has stopped
            events.append(replace(received.last, is_complete=True))
        missing = prompts.again(task, prompt, payload.at)
        if missing is None:
            missing = self.missing(payload, prompt, prompt)
            command = None if received.log else self.command_in(prompt)
            if command:
                events.append(payload.command(*command, prompt))
        received.prompts = replace(prompts, missing=missing)
        return [*events, payload.provisional_turn(missing.id, missing.at, prompt)]

    def missing(
        self,
        payload: HostPayload,
        prompt: str,
        key: str,
    ) -> MissingPrompt:
        """A prompt that the log lacks, with an id that is made of ``key``."""
        task = self.task_of(payload)
        return MissingPrompt(
            payload.id("prompt", *([task] if self.has_tasks else []), key),
            task,
            prompt,
            payload.at,
        )

    def task_of(self, payload: HostPayload) -> str:
        return payload.text("turn_id") if self.has_tasks else ""
