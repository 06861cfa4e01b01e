"""Host events: what a host reports, in one shape for every host.

Events are values: frozen, hashable where their parts are, and the same after a round trip through
JSON. Times are RFC 3339 in UTC with seconds (``2026-02-09T14:03:11Z``); text is unredacted until
the observer has seen it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar

SCHEMA = 1  # of the JSON form; raised when a reader of the older form would misread it


class EventFormatError(ValueError):
    """The JSON is not an event of a schema this version reads."""


class EventKind(StrEnum):
    TURN = "turn"
    COMMAND = "command"
    QUESTION = "question"
    COMPACTION = "compaction"
    SESSION = "session"


class CompactionPhase(StrEnum):
    BEFORE = "before"
    AFTER = "after"


class SessionPhase(StrEnum):
    STARTED = "started"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an event happened: host program, session, directory, branch."""

    host: str
    session: str
    cwd: str = ""
    branch: str = ""
    # path of the host's own record on this machine, "" where there is none
    transcript: str = ""
    agent: str = ""  # id of the subagent that spoke, "" for the main conversation
    # user | workspace where it happened in no directory; "" for workspace
    scope: str = ""
    # of the agent that the person runs here, as the host calls it, "" for the host's own
    agent_name: str = ""

    @property
    def session_key(self) -> tuple[str, str]:
        """What tells the session from all others of this machine."""
        return self.host, self.session

    @property
    def directory(self) -> Path:
        """Where it happened; the home directory where no host said so."""
        return Path(self.cwd or Path.home())


@dataclass(frozen=True, slots=True)
class Question:
    """A question the agent put to the person, and the answer (``""`` where it was declined)."""

    kind: ClassVar[str] = EventKind.QUESTION
    id: str
    origin: Origin
    at: str
    question: str
    answer: str = ""
    options: tuple[str, ...] = ()
    header: str = ""


@dataclass(frozen=True, slots=True)
class Work:
    """What the agent did during a turn, as references: the content of tool calls is not kept."""

    files: tuple[str, ...] = ()  # paths written or edited, as the host names them
    # shell commands, of each the first line that does something
    commands: tuple[str, ...] = ()
    # "<abbreviated hash> <subject>", without the hash where git kept quiet
    commits: tuple[str, ...] = ()
    links: tuple[str, ...] = ()  # pull requests
    # subagents that worked for it: "<kind>: <task> (<the host's id>)"
    agents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Turn:
    """A user message and everything the assistant said until the next one."""

    kind: ClassVar[str] = EventKind.TURN
    id: str  # the host's id of the user message: the same turn has the same id whenever it is read
    origin: Origin
    at: str
    user: str
    replies: tuple[str | Question, ...] = ()  # in the order in which they came
    ended_at: str = ""
    work: Work = field(default_factory=Work)
    is_complete: bool = True  # False while the assistant may still speak
    # True where only the prompt is known and its id is not the host's own
    is_provisional: bool = False

    @property
    def assistant(self) -> str:
        """The assistant's words, without the questions it put."""
        return "\n\n".join(reply for reply in self.replies if isinstance(reply, str))


@dataclass(frozen=True, slots=True)
class Command:
    """A slash command that the person typed."""

    kind: ClassVar[str] = EventKind.COMMAND
    id: str
    origin: Origin
    at: str
    name: str  # without the slash
    args: str = ""


@dataclass(frozen=True, slots=True)
class Compaction:
    """The host is about to shorten its context (``before``) or has done so (``after``)."""

    kind: ClassVar[str] = EventKind.COMPACTION
    id: str
    origin: Origin
    at: str
    phase: str  # one of CompactionPhase
    trigger: str = ""  # manual | auto
    summary: str = ""  # the host's own summary: a source, never the user's words


@dataclass(frozen=True, slots=True)
class Session:
    """A session began or ended."""

    kind: ClassVar[str] = EventKind.SESSION
    id: str
    origin: Origin
    at: str
    phase: str  # one of SessionPhase
    reason: str = ""  # startup | resume | clear | compact | fork, or why it ended


HostEvent = Turn | Command | Question | Compaction | Session
_KINDS: dict[str, type[HostEvent]] = {
    cls.kind: cls for cls in (Turn, Command, Question, Compaction, Session)
}


def to_json(event: HostEvent) -> str:
    """The event as a line of JSON; ``from_json`` gives back an equal event."""
    return json.dumps(
        {"schema": SCHEMA, "kind": event.kind, **_plain_json(event)}, ensure_ascii=False
    )


def from_json(text: str | bytes) -> HostEvent:
    """Read one event; unknown keys are ignored, so that a newer writer can be read.

    Raises EventFormatError for anything that is not an event of a known schema.
    """
    try:
        data = json.loads(text)
        if data["schema"] > SCHEMA:
            raise EventFormatError(
                f"event schema {data['schema']} is newer than {SCHEMA}; update keeplore"
            )
        event: HostEvent = _build(_KINDS[data["kind"]], data)
    except EventFormatError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as e:
        raise EventFormatError(f"not a host event: {e!r}") from e
    return event


def _plain_json(value: Any) -> Any:
    """A value as JSON can hold it; what is empty is left out."""
    if hasattr(value, "__dataclass_fields__"):
        plain = {f.name: _plain_json(getattr(value, f.name)) for f in fields(value)}
        return {
            name: item for name, item in plain.items() if item not in ("", (), [], None)
        }
    if isinstance(value, tuple):
        return [_plain_json(item) for item in value]
    return value


def _build(cls: type[Any], data: dict[str, Any]) -> Any:
    names = [f.name for f in fields(cls)]
    values = {name: _value(name, data[name]) for name in names if name in data}
    # "" is left out when written, and some fields without a default may be empty
    for name in ("user", "question", "at"):
        if name in names:
            values.setdefault(name, "")
    return cls(**values)


def _value(name: str, value: Any) -> Any:
    """The value of the field of that name."""
    if name == "origin":
        return _build(Origin, value)
    if name == "work":
        return _build(Work, value)
    if isinstance(value, list):
        return tuple(_reply_or_text(name, item) for item in value)
    return value if isinstance(value, bool) else _text(value)


def _reply_or_text(name: str, value: Any) -> Any:
    is_question = name == "replies" and isinstance(value, dict)
    return _build(Question, value) if is_question else _text(value)


def _text(value: Any) -> str:
    """The value, once it is known to be text. Raises TypeError for anything else."""
    if not isinstance(value, str):
        raise TypeError(f"expected text, got {type(value).__name__}")
    return value
