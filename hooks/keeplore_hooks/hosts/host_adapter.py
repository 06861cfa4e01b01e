"""What the adapters of all hosts share: a payload is read, asked about and answered in steps, of
which each host fills in its own.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import ClassVar, TypeVar

from keeplore_hooks.events import Origin
from keeplore_hooks.hosts.base import (
    Ask,
    AskKind,
    Cursor,
    Reading,
    StartReason,
    command_ask,
)
from keeplore_hooks.hosts.jsonl import Json, clean, payload_object, record_path, text
from keeplore_hooks.hosts.payload import ASKED_ONLY, HostPayload, PayloadKind
from keeplore_hooks.hosts.prompt_text import slash_command

_Record = TypeVar("_Record")


class RecordAdapter(ABC):
    """A source of recorded sessions; what cannot be read becomes a problem."""

    name: ClassVar[str]
    variable: ClassVar[str]
    folder: ClassVar[str]
    tells_end: ClassVar[bool] = True
    record: ClassVar[str] = "transcript"  # what its records are called in problems

    def read_transcript(self, path: Path, cursor: Cursor) -> Reading:
        try:
            return self.read_record(path, cursor)
        except (OSError, ValueError, OverflowError) as e:
            return Reading((), cursor, (f"the {self.record} cannot be read: {e}",))

    @abstractmethod
    def read_record(self, path: Path, cursor: Cursor) -> Reading:
        """Like ``read_transcript``, but raises OSError or ValueError."""

    def read_named(
        self, name: object, suffixes: tuple[str, ...], read: Callable[[Path], _Record]
    ) -> tuple[_Record | None, tuple[str, ...]]:
        """What ``read`` makes of the record that a payload names, or the problem with it; neither
        where there is no record.
        """
        if not name:
            return None, ()
        path = record_path(name, *suffixes)
        if path is None:
            endings = " or ".join(suffixes)
            return None, (f"the {self.record}'s path is not that of a {endings} file",)
        try:
            return read(path), ()
        except FileNotFoundError:
            return None, ()  # not written yet, or switched off
        except OSError as e:
            return None, (f"the {self.record} cannot be read: {e}",)


class HostAdapter(RecordAdapter):
    """A host program that reports events."""

    # of a host that states no limit, as the others take
    context_bytes: ClassVar[int] = 10_000
    session_key: ClassVar[str] = "session_id"  # as problems call it
    # by the host's name; other events are not read
    kinds: ClassVar[Mapping[str, PayloadKind]]
    aliases: ClassVar[Mapping[str, str]] = {}  # other names for them
    answering: ClassVar[Collection[str]]  # events that take a context
    starts: ClassVar[Collection[str]] = tuple(StartReason)  # that the host tells apart
    has_commands: ClassVar[bool] = False  # commands come as prompts
    shows_messages: ClassVar[bool] = True  # of ours to the person
    # agents that come with the host: who runs one runs the host itself
    builtin_agents: ClassVar[Collection[str]] = ()

    def origin(self, event: str, payload: bytes) -> Origin | None:  # noqa: ARG002 (some need it)
        data = payload_object(payload)
        session = text(data, "session_id")
        if not session:
            return None
        transcript, agent = text(data, "transcript_path"), text(data, "agent_id")
        return Origin(
            self.name,
            session,
            text(data, "cwd"),
            transcript=transcript,
            agent=agent,
            agent_name="" if agent else self.own_agent(text(data, "agent_type")),
        )

    def own_agent(self, name: str) -> str:
        """The name of an agent that the person chose, "" for the host's own."""
        return "" if name in self.builtin_agents else name

    def read(self, event: str, payload: bytes, cursor: Cursor, at: str) -> Reading:
        event = self.aliases.get(event, event)
        origin, data = self.origin(event, payload), payload_object(payload)
        if data is None or origin is None:
            problem = (
                f"the payload of {event} is no JSON object with a {self.session_key}"
            )
            return Reading((), cursor, (problem,))
        kind = self.kinds.get(event)
        if kind in (None, *ASKED_ONLY):
            return Reading((), cursor)
        return self.read_payload(HostPayload(kind, event, data, origin, at), cursor)

    @abstractmethod
    def read_payload(self, payload: HostPayload, cursor: Cursor) -> Reading:
        """Like ``read``, for a payload of a known kind."""

    def ask(self, event: str, payload: bytes) -> Ask | None:
        event = self.aliases.get(event, event)
        data, kind = payload_object(payload), self.kinds.get(event)
        if data is None or kind is None or not self.may_ask(event, payload):
            return None
        if kind is PayloadKind.SUBAGENT_STARTED:
            return Ask(AskKind.BRIEF, source=StartReason.STARTUP)
        if kind is PayloadKind.SESSION_STARTED:
            source = text(data, "source")
            return Ask(
                AskKind.BRIEF,
                source=source if source in self.starts else StartReason.STARTUP,
            )
        if kind is PayloadKind.PROMPT:
            return self._prompt_ask(self.prompt_in(data))
        return self.ask_about(kind, data)

    def may_ask(self, event: str, payload: bytes) -> bool:
        """Whether a payload may be answered with context: subagents get none."""
        origin = self.origin(event, payload)
        return origin is not None and not origin.agent

    def ask_about(self, kind: PayloadKind, data: Json) -> Ask | None:  # noqa: ARG002 (some need it)
        """What the host waits for beside a brief and a prompt's context."""
        return None

    @abstractmethod
    def prompt_in(self, data: Json) -> str:
        """What the person typed, of a prompt's payload."""

    def command_in(self, prompt: str) -> tuple[str, str] | None:
        """Name and arguments of the command that a prompt calls."""
        return slash_command(prompt)

    def _prompt_ask(self, prompt: str) -> Ask | None:
        """What a prompt waits for: a command of Keeplore's its answer, others what matters."""
        if not prompt:
            return None
        if command := self.command_in(prompt):
            return command_ask(*command) if self.has_commands else None
        return Ask(AskKind.PROMPT, text=prompt)

    def reply(self, event: str, context: str) -> bytes:
        event = self.aliases.get(event, event)
        if not context.strip() or event not in self.answering:
            return b""
        return json.dumps(self.answer(event, context)).encode("ascii")

    def notice(self, event: str, text: str) -> bytes:
        """Most hosts take a message for the person; the others give it to the model."""
        if self.shows_messages:
            return json.dumps({"systemMessage": clean(text)}).encode("ascii")
        return self.reply(event, text)

    def answer(self, event: str, context: str) -> Json:
        """The reply as the host takes it; most take the form of Claude Code."""
        output = {"hookEventName": event, "additionalContext": self.fitted(context)}
        return {"hookSpecificOutput": output}

    def fitted(self, context: str) -> str:
        """A context within the host's limit."""
        return clean(context)
