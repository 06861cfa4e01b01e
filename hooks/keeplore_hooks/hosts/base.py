"""What every host adapter offers, and the values that it gives: the bottom of this package."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from keeplore_hooks.events import HostEvent, Origin
from keeplore_hooks.hosts import jsonl

IMAGE = "[image]"  # the line that stands for a picture in a prompt
PLUGIN = "keeplore"  # before a command's name, where a host names the plugin that it is from
COMMANDS = ("remember", "recall", "forget", "memory")  # slash commands of Keeplore's own


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far a transcript was read; to be kept once the events of that reading are safe."""

    offset: int = (
        0  # bytes; start of the last turn that may still grow, never past an incomplete line
    )
    fingerprint: str = (
        ""  # of what was read: tells a file that shrank or was replaced, which is read from 0
    )
    pending: str = ""  # the adapter's own JSON


@dataclass(frozen=True, slots=True)
class Reading:
    """The events of one payload or transcript in order; ``problems`` name what was skipped and
    where.
    """

    events: tuple[HostEvent, ...]
    cursor: Cursor
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Recorded:
    """A session that is on disk already."""

    path: Path
    session: str
    cwd: str
    started_at: str  # RFC 3339, "" where the first lines have no time
    size: int  # bytes
    written_at: str = ""  # RFC 3339, "" where the time of the file tells it


@dataclass(frozen=True, slots=True)
class Ask:
    """The context that a host waits for."""

    kind: str  # brief | prompt | command | edit
    text: str = (
        ""  # the prompt, what was typed behind a command, or the files to be edited, a line each
    )
    source: str = ""  # startup | resume | fork | clear | compact; for a command one of COMMANDS


class Source(Protocol):
    """Sessions on disk: of a host program, or kept by another. No method raises on bad input."""

    name: str
    # of the environment, where it names another directory of the host's; "" where none does
    variable: str
    folder: str  # in that directory, where sessions lie

    def read_transcript(self, path: Path, cursor: Cursor) -> Reading:
        """The events of a recorded session; its last turn is taken for complete."""

    def recorded(self, home: Path, config_dir: str = "") -> Iterator[Recorded]:
        """The sessions on disk, without those of subagents."""


class Host(Source, Protocol):
    """One host program: its payloads, the shape of its replies, and its sessions on disk."""

    context_bytes: int  # UTF-8: what of a context a reply surely carries whole

    def origin(self, event: str, payload: bytes) -> Origin | None:
        """Where the payload comes from; None when it is not a payload of this host."""

    def read(self, event: str, payload: bytes, cursor: Cursor, at: str) -> Reading:
        """The events that the payload, and the transcript from ``cursor`` on, add; ``at`` is when
        the client got it.

        A turn that has grown comes again whole, with the same id. A prompt that the transcript does
        not have yet comes as a provisional turn; ``prompt_key`` tells which turn takes its place.
        """

    def ask(self, event: str, payload: bytes) -> Ask | None:
        """The context that the host waits for; None when it waits for nothing."""

    def reply(self, event: str, context: str) -> bytes:
        """The host's reply that carries ``context``, within the host's limits; empty when there is
        none.
        """


def origin_of(host: str, payload: bytes) -> Origin | None:
    """What a payload with the keys of Claude Code and Codex names; None for one without a
    session.
    """
    data = jsonl.payload(payload)
    session = jsonl.text(data, "session_id")
    if not session:
        return None
    return Origin(
        host,
        session,
        cwd=jsonl.text(data, "cwd"),
        transcript=jsonl.text(data, "transcript_path"),
        agent=jsonl.text(data, "agent_id"),
    )


def command_ask(name: str, args: str) -> Ask | None:
    """What a typed command asks for; None for one that is not Keeplore's."""
    own = name.removeprefix(f"{PLUGIN}:")
    return Ask("command", args, own) if own in COMMANDS else None


def prompt_key(text: str) -> str:
    """What two records of one prompt have in common: a provisional turn and the host's own have
    equal keys.
    """
    lines = (line for line in text.split("\n") if line.strip() != IMAGE)
    return " ".join(" ".join(lines).split())
