"""Events that a program hands over as they are, in the form of ``keeplore_hooks.events``: for
agents without an adapter.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from keeplore_hooks.events import (
    Command,
    EventFormatError,
    HostEvent,
    Origin,
    Session,
    SessionPhase,
    Turn,
    from_json,
)
from keeplore_hooks.hosts.base import (
    Ask,
    AskKind,
    Cursor,
    Reading,
    Recorded,
    StartReason,
    command_ask,
)
from keeplore_hooks.hosts.jsonl import clean

EMITTED = (
    "emit"  # in the place of a host's name, in the spool and when the worker is asked
)


class Emitted:
    """The payload is one event; the host's name stands in its origin."""

    name = EMITTED
    variable = ""
    folder = ""
    tells_end = True
    context_bytes = 16_000

    def origin(self, event: str, payload: bytes) -> Origin | None:  # noqa: ARG002 (as all hosts)
        found = _event(payload)
        return found.origin if found else None

    def read(
        self,
        event: str,  # noqa: ARG002 (as all hosts)
        payload: bytes,
        cursor: Cursor,
        at: str,  # noqa: ARG002 (the event has its own)
    ) -> Reading:
        found = _event(payload)
        return Reading((found,) if found else (), cursor)

    def ask(self, event: str, payload: bytes) -> Ask | None:  # noqa: ARG002 (as all hosts)
        match _event(payload):
            case Session(phase=SessionPhase.STARTED, reason=reason):
                known = reason in tuple(StartReason)
                return Ask(
                    AskKind.BRIEF, source=reason if known else StartReason.STARTUP
                )
            case Turn(is_provisional=True, user=prompt):
                return Ask(AskKind.PROMPT, prompt)
            case Command(name=name, args=args):
                return command_ask(name, args)
        return None

    def reply(self, event: str, context: str) -> bytes:  # noqa: ARG002 (as all hosts)
        return json.dumps({"context": clean(context)}).encode("ascii")

    def notice(self, event: str, text: str) -> bytes:  # noqa: ARG002 (as all hosts)
        return json.dumps({"notice": clean(text)}).encode("ascii")

    def read_transcript(self, path: Path, cursor: Cursor) -> Reading:  # noqa: ARG002 (as all)
        """An empty reading: these events have no transcript."""
        return Reading((), cursor)

    def recorded(
        self,
        home: Path,  # noqa: ARG002 (as all hosts)
        config_dir: str = "",  # noqa: ARG002 (as all hosts)
    ) -> Iterator[Recorded]:
        """No sessions: these events have no record on disk."""
        return iter(())


def _event(payload: bytes) -> HostEvent | None:
    try:
        return from_json(payload)
    except EventFormatError:
        return None
