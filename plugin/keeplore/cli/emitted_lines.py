"""What `keeplore emit` reads: one event a line, as JSON; ``schema`` is published from the same
models that check it.
"""

from __future__ import annotations

import abc
import hashlib
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    TypeAdapter,
    ValidationError,
)

from keeplore.text.dates import in_utc, now
from keeplore.text.input_flaws import described_flaws
from keeplore_hooks import events
from keeplore_hooks.events import HostEvent, Origin
from keeplore_hooks.hosts.base import StartReason

MAX_LINE = 1_500_000  # bytes; a worker takes requests of 2 MiB
SHOWN_FLAWS = 3
# ids and paths: no line ends or other control characters
Word = Annotated[
    str, StringConstraints(min_length=1, max_length=500, pattern=r"^[^\x00-\x1f\x7f]*$")
]
# what an event is known by: a turn may grow
_TELLING = {"event", "session", "at", "phase", "user", "name", "question"}
Text = Annotated[str, StringConstraints(min_length=1)]


class LineRefused(ValueError):
    """The line is no event; the message says which field, and why."""


@dataclass(frozen=True, slots=True)
class EmittingProgram:
    """Who emits, and where it works unless a line says otherwise."""

    host: str
    cwd: Path


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class AnsweredByPerson(_Part):
    """A question that the agent put; ``answer`` is empty where the person declined."""

    question: Text
    answer: str = ""
    options: list[str] = []
    header: str = ""


class WorkDone(_Part):
    """What the agent did, as references: files written, commands run, "<hash> <subject>"."""

    files: list[str] = []
    commands: list[str] = []
    commits: list[str] = []
    links: list[str] = []


class _EmittedEvent(_Part, abc.ABC):
    session: Word
    id: Word | None = None  # the same id is the same event, and a turn that has grown
    at: Annotated[AwareDatetime, Field(strict=False)] | None = None
    cwd: Word | None = None
    branch: Word | None = None
    # its memory is its own: for an agent of several that work on a project
    agent: Word | None = None

    def to_event(self, by: EmittingProgram) -> HostEvent:
        """The host event of the line."""
        at = in_utc(self.at) or now()
        return self.built(self.id or self._id(), _origin(self, by), at)

    @abc.abstractmethod
    def built(self, id_: str, origin: Origin, at: str) -> HostEvent: ...

    def _id(self) -> str:
        """An id that is the same whenever the same thing is told with its time; a new one where it
        has none.
        """
        if self.at is None:
            return str(uuid.uuid4())
        what = self.model_dump_json(include=_TELLING)
        return hashlib.sha256(what.encode()).hexdigest()[:32]


class SessionLine(_EmittedEvent):
    """A session starts or ends."""

    event: Literal["session"]
    phase: Literal["started", "ended"]
    reason: StartReason | Word | None = Field(None, union_mode="left_to_right")

    def built(self, id_: str, origin: Origin, at: str) -> HostEvent:
        return events.Session(id_, origin, at, self.phase, str(self.reason or ""))


class PromptLine(_EmittedEvent):
    """What the person typed, before it is answered; its turn takes its place."""

    event: Literal["prompt"]
    user: Text

    def built(self, id_: str, origin: Origin, at: str) -> HostEvent:
        # a turn of such an id only announces a prompt
        announced = f"prompt:{id_}"
        return events.Turn(
            announced, origin, at, self.user, is_complete=False, is_provisional=True
        )


class TurnLine(_EmittedEvent):
    """What the person said, and all that the agent answered; tool calls are left out."""

    event: Literal["turn"]
    user: str
    replies: list[Text | AnsweredByPerson] = []
    work: WorkDone = WorkDone()
    ended_at: Annotated[AwareDatetime, Field(strict=False)] | None = None
    is_complete: bool = True

    def built(self, id_: str, origin: Origin, at: str) -> HostEvent:
        replies = tuple(
            reply if isinstance(reply, str) else _question(reply, id_, origin, at)
            for reply in self.replies
        )
        if not self.user and not replies:
            raise LineRefused("user: nothing was said")
        work = events.Work(
            tuple(self.work.files),
            tuple(self.work.commands),
            tuple(self.work.commits),
            tuple(self.work.links),
        )
        ended_at = in_utc(self.ended_at) or at
        return events.Turn(
            id_,
            origin,
            at,
            self.user,
            replies,
            ended_at,
            work,
            is_complete=self.is_complete,
        )


class CommandLine(_EmittedEvent):
    """A slash command that the person typed; `recall`, `remember` and so on are Keeplore's."""

    event: Literal["command"]
    name: Word
    args: str = ""

    def built(self, id_: str, origin: Origin, at: str) -> HostEvent:
        return events.Command(id_, origin, at, self.name.removeprefix("/"), self.args)


class QuestionLine(_EmittedEvent, AnsweredByPerson):
    """A question of the agent and the answer, at once; it belongs into its turn as well."""

    event: Literal["question"]

    def built(self, id_: str, origin: Origin, at: str) -> HostEvent:
        return _question(self, id_, origin, at)


class CompactionLine(_EmittedEvent):
    """The agent is about to shorten its context, or has done so."""

    event: Literal["compaction"]
    phase: Literal["before", "after"]
    trigger: Word | None = None
    summary: str = ""

    def built(self, id_: str, origin: Origin, at: str) -> HostEvent:
        return events.Compaction(
            id_, origin, at, self.phase, self.trigger or "", self.summary
        )


_LINE: TypeAdapter[_EmittedEvent] = TypeAdapter(
    Annotated[
        SessionLine
        | PromptLine
        | TurnLine
        | CommandLine
        | QuestionLine
        | CompactionLine,
        Field(discriminator="event"),
    ]
)


def read_line(line: bytes, by: EmittingProgram) -> HostEvent:
    """The event of one line. Raises LineRefused."""
    try:
        return _LINE.validate_json(line).to_event(by)
    except ValidationError as e:
        # pydantic names the kind of event first
        raise LineRefused(described_flaws(e, "the line", SHOWN_FLAWS, below=1)) from e
    except OverflowError as e:  # a time that is none in UTC
        raise LineRefused(f"at: {e}") from e


def schema() -> dict[str, Any]:
    """The JSON Schema of a line."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A line for keeplore emit",
        **_LINE.json_schema(),
    }


def _origin(line: _EmittedEvent, by: EmittingProgram) -> Origin:
    cwd = by.cwd / line.cwd if line.cwd else by.cwd
    return Origin(
        by.host, line.session, str(cwd), line.branch or "", agent_name=line.agent or ""
    )


def _question(
    reply: AnsweredByPerson, id_: str, origin: Origin, at: str
) -> events.Question:
    return events.Question(
        id_,
        origin,
        at,
        reply.question,
        reply.answer,
        tuple(reply.options),
        reply.header,
    )
