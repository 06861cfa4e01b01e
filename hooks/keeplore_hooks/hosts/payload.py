"""A payload of a host event: what it tells, and the events that need nothing but the payload."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from keeplore_hooks.events import (
    Command,
    Compaction,
    CompactionPhase,
    HostEvent,
    Origin,
    Session,
    SessionPhase,
    Turn,
)
from keeplore_hooks.hosts.base import StartReason
from keeplore_hooks.hosts.jsonl import Json, digest, text


class PayloadKind(StrEnum):
    """What the payloads of all hosts tell, whatever the host calls them."""

    SESSION_STARTED = "session started"
    PROMPT = "prompt"
    COMMAND = "command"
    BEFORE_TOOL = "before tool"
    TOOL_USED = "tool used"
    REPLY = "reply"
    COMPACTING = "compacting"
    COMPACTED = "compacted"
    STOPPED = "stopped"
    INTERRUPTED = "interrupted"
    SUBAGENT_STARTED = "subagent started"
    SUBAGENT_STOPPED = "subagent stopped"
    PROGRESS = "progress"  # the transcript may have grown, and that is all
    SESSION_ENDED = "session ended"


# the assistant says nothing more for now
ENDINGS = (PayloadKind.STOPPED, PayloadKind.INTERRUPTED, PayloadKind.SESSION_ENDED)


# what tells nothing that is to be kept
ASKED_ONLY = (PayloadKind.BEFORE_TOOL, PayloadKind.SUBAGENT_STARTED)
# as Claude Code names events, and others after it
SHARED_KINDS = {
    "SessionStart": PayloadKind.SESSION_STARTED,
    "UserPromptSubmit": PayloadKind.PROMPT,
    "PreToolUse": PayloadKind.BEFORE_TOOL,
    "PostToolUse": PayloadKind.TOOL_USED,
    "PreCompact": PayloadKind.COMPACTING,
    "Stop": PayloadKind.STOPPED,
    "SubagentStop": PayloadKind.SUBAGENT_STOPPED,
    "SessionEnd": PayloadKind.SESSION_ENDED,
}


@dataclass(frozen=True, slots=True)
class HostPayload:
    """A payload that tells what its kind says; an adapter adds what the host's own record gave."""

    kind: PayloadKind
    event: str  # as the host calls it
    data: Json
    origin: Origin
    at: str  # when the client got it

    def text(self, *path: str) -> str:
        return text(self.data, *path)

    @property
    def stopped_at(self) -> str:
        """When the assistant fell silent, ``""`` while it may speak: after a compaction it goes on
        in the same turn.
        """
        has_stopped = self.kind in ENDINGS
        if self.kind is PayloadKind.SESSION_STARTED:
            has_stopped = self.text("source") != StartReason.COMPACT
        return self.at if has_stopped else ""

    def id(self, kind: str, *parts: str) -> str:
        """The id of an event that no record names: the same whenever this payload is read."""
        return f"{kind}:{digest(self.origin.session, self.at, *parts)}"

    def session(self, phase: SessionPhase, reason: str) -> Session:
        return Session(
            self.id(phase, reason),
            self.origin,
            self.at,
            phase,
            reason,
        )

    def compaction(self, phase: CompactionPhase, summary: str = "") -> Compaction:
        return Compaction(
            self.id(phase),
            self.origin,
            self.at,
            phase,
            self.text("trigger"),
            summary,
        )

    def command(
        self,
        name: str,
        args: str,
        typed: str,
    ) -> Command:
        """A command that no record will tell; ``typed`` is the prompt that called it."""
        return Command(
            self.id("command", typed),
            self.origin,
            self.at,
            name,
            args,
        )

    def provisional_turn(
        self,
        turn_id: str,
        at: str,
        prompt: str,
        answers: tuple[str, ...] = (),
    ) -> Turn:
        """A turn that no record has yet: complete with the assistant's answers, still open without
        them.
        """
        return Turn(
            turn_id,
            self.origin,
            at,
            prompt,
            answers,
            self.at if answers else "",
            is_complete=bool(answers),
            is_provisional=True,
        )

    def ended_turn(self, turn: Turn, words: str) -> Turn:
        """A turn of the record, over with the assistant's last words, which it lacks."""
        replies = (*turn.replies, words)
        return replace(turn, replies=replies, ended_at=self.at, is_complete=True)

    def lifecycle_events(self) -> list[HostEvent]:
        """The start or end of the session, or the compaction that begins; none for the rest."""
        match self.kind:
            case PayloadKind.SESSION_STARTED:
                return [self.session(SessionPhase.STARTED, self.text("source"))]
            case PayloadKind.SESSION_ENDED:
                return [self.session(SessionPhase.ENDED, self.text("reason"))]
            case PayloadKind.COMPACTING:
                return [self.compaction(CompactionPhase.BEFORE)]
            case _:
                return []


def with_answer(answers: tuple[str, ...], words: str) -> tuple[str, ...]:
    """The answers to one prompt with one more: a host may go on without a prompt between, and may
    tell of one stop twice.
    """
    return answers if words in answers else (*answers, words)
