"""What every host adapter offers, and the values that it gives: the bottom of this package."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from keeplore_hooks.events import HostEvent, Origin

IMAGE = "[image]"  # the line that stands for a picture in a prompt
DOCUMENT = "[document]"  # the same for another attachment
# before a command's name, where a host names the plugin that it is from
PLUGIN = "keeplore"


class OwnCommand(StrEnum):
    """Slash commands of Keeplore's own."""

    REMEMBER = "remember"
    RECALL = "recall"
    FORGET = "forget"
    MEMORY = "memory"


COMMANDS = tuple(OwnCommand)


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far a transcript was read; to be kept once the events of that reading are safe."""

    # bytes; start of the last turn that may still grow, never past an incomplete line
    offset: int = 0
    # of what was read: tells a file that shrank or was replaced, which is read from 0
    fingerprint: str = ""
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


class AskKind(StrEnum):
    """What a host waits for a context about."""

    BRIEF = "brief"
    PROMPT = "prompt"
    COMMAND = "command"
    EDIT = "edit"


class StartReason(StrEnum):
    """Why a session starts, or starts again."""

    STARTUP = "startup"
    RESUME = "resume"
    FORK = "fork"
    CLEAR = "clear"
    COMPACT = "compact"


@dataclass(frozen=True, slots=True)
class Ask:
    """The context that a host waits for."""

    kind: str  # one of AskKind
    # the prompt, what was typed behind a command, or the files to be edited, a line each
    text: str = ""
    source: str = ""  # of a brief one of StartReason; of a command one of OwnCommand


class SessionSource(Protocol):
    """Sessions on disk: of a host program, or kept by another. No method raises on bad input."""

    name: str
    # of the environment, where it names another directory of the host's; "" where none does
    variable: str
    folder: str  # in that directory, where sessions lie
    # whether the end of every session is reported; else it is over after some silence
    tells_end: bool

    def read_transcript(self, path: Path, cursor: Cursor) -> Reading:
        """The events of a recorded session; its last turn is taken for complete."""

    def recorded(self, home: Path, config_dir: str = "") -> Iterator[Recorded]:
        """The sessions on disk, without those of subagents."""


class Host(SessionSource, Protocol):
    """What Keeplore knows of a host program: its payloads, the shape of its replies, and its
    sessions on disk.
    """

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

    def notice(self, event: str, text: str) -> bytes:
        """The host's reply that shows ``text`` to the person, or else tells it the model."""


def command_ask(name: str, args: str) -> Ask | None:
    """What a typed command asks for; None for one that is not Keeplore's."""
    own = name.removeprefix(f"{PLUGIN}:")
    return Ask(AskKind.COMMAND, args, own) if own in COMMANDS else None


def prompt_key(text: str) -> str:
    """What two records of one prompt have in common: a provisional turn and the host's own have
    equal keys.
    """
    lines = (line for line in text.split("\n") if line.strip() != IMAGE)
    return " ".join(" ".join(lines).split())


def recorded_at(
    paths: Iterable[Path], head: Callable[[Path], Recorded | None]
) -> Iterator[Recorded]:
    """The sessions that ``head`` finds at these paths, without empty ones and what went away or is
    no regular file.
    """
    for path in paths:
        try:
            found = head(path)
        except OSError:
            continue
        if found and found.size:
            yield found
