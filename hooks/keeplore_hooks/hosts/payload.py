"""A payload of a host event, and the events that need nothing but the payload."""

from __future__ import annotations

from dataclasses import dataclass

from keeplore_hooks.events import Compaction, Origin, Session
from keeplore_hooks.hosts.jsonl import Json, text
from keeplore_hooks.hosts.turn_assembly import digest


@dataclass(frozen=True, slots=True)
class Heard:
    """An adapter adds what the host's own record has given so far."""

    event: str
    payload: Json
    origin: Origin
    at: str  # when the client got it

    def id(self, kind: str, *parts: str) -> str:
        """The id of an event that no record names: the same whenever this payload is read."""
        return f"{kind}:{digest(self.origin.session, self.at, *parts)}"

    def session(self, phase: str, reason: str) -> Session:
        return Session(self.id(phase, reason), self.origin, self.at, phase, reason)

    def compaction(self, phase: str, summary: str = "") -> Compaction:
        return Compaction(
            self.id(phase), self.origin, self.at, phase, text(self.payload, "trigger"), summary
        )
