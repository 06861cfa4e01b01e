"""What the exports of all services share: each conversation is a session, whose turns have the
times and ids of the service.
"""

from __future__ import annotations

import hashlib
import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from keeplore_hooks.events import Origin, Turn
from keeplore_hooks.hosts.base import Cursor, Reading, Recorded
from keeplore_hooks.hosts.exports.export_file import ConversationSpan, conversations_in
from keeplore_hooks.hosts.host_adapter import RecordAdapter
from keeplore_hooks.hosts.jsonl import Json, digest, time_of_file

_PLAIN_ID = re.compile(r"[\w-]{1,100}", re.ASCII)
_Stamp = tuple[str, int, int]


@dataclass(frozen=True, slots=True)
class ChatMessage:
    id: str
    at: str  # RFC 3339, UTC
    is_person: bool
    text: str


@dataclass(frozen=True, slots=True)
class ChatHead:
    """What a conversation says of itself."""

    id: str
    began: str
    changed: str


@dataclass(frozen=True, slots=True)
class ChatReading:
    """The messages of a conversation in their order."""

    messages: tuple[ChatMessage, ...]
    problems: tuple[str, ...] = ()


class ChatExport(RecordAdapter):
    """A conversation's record is named ``<export>/<its id>``; the export last read is kept."""

    variable: ClassVar[str] = ""
    folder: ClassVar[str] = ""  # there is no place where exports usually lie
    tells_end: ClassVar[bool] = False
    record: ClassVar[str] = "export"

    def __init__(self) -> None:
        self._stamp: _Stamp = ("", 0, 0)
        self._spans: dict[str, ConversationSpan] = {}
        self._flaw = ""  # why the rest of it cannot be read

    @abstractmethod
    def head_of(self, conversation: Json) -> ChatHead:
        """What a conversation says of itself. Raises ValueError for what is no conversation of this
        service.
        """

    @abstractmethod
    def read_conversation(self, conversation: Json, began: str) -> ChatReading:
        """The messages that the person and the assistant see; ``began`` stands for a time that is
        missing.
        """

    def recorded(
        self,
        home: Path,  # noqa: ARG002 (as all sources)
        config_dir: str = "",
    ) -> Iterator[Recorded]:
        """The conversations of the export that is named; one that cannot be read has a record that
        says why.
        """
        export = Path(config_dir)
        if not config_dir or not export.exists():
            return
        try:
            spans = self._conversations(export)
        except OSError as e:
            spans, self._flaw = {}, str(e)
        if self._flaw:
            yield Recorded(export, f"unread-{digest(str(export))}", "", "", 1)
        written = time_of_file(export)
        for name, span in spans.items():
            head = self._head_or_none(span) or ChatHead(name, "", written)
            size = span.end - span.start
            yield Recorded(
                export / name, head.id, "", head.began, size, head.changed or written
            )

    def read_record(self, path: Path, cursor: Cursor) -> Reading:
        if path.exists():  # the whole export: it could not be read
            self._conversations(path)
            raise ValueError(self._flaw)
        span = self._conversations(path.parent).get(path.name)
        if span is None:
            raise ValueError(f"the conversation {path.name} is no more in it")
        fingerprint = hashlib.sha256(span.raw).hexdigest()[:16]
        if fingerprint == cursor.fingerprint:
            return Reading((), cursor)
        conversation = span.load()
        head = self.head_of(conversation)
        origin = Origin(self.name, head.id, transcript=str(path), scope="user")
        began = head.began or time_of_file(path.parent)
        read = self.read_conversation(conversation, began)
        turns = tuple(_turns(read.messages, origin))
        return Reading(turns, Cursor(len(turns), fingerprint), read.problems)

    def _head_or_none(self, span: ConversationSpan) -> ChatHead | None:
        try:
            return self.head_of(span.load())
        except ValueError:  # reading it says why
            return None

    def _conversations(self, export: Path) -> dict[str, ConversationSpan]:
        """Name of its record → where it lies. Raises OSError."""
        facts = export.stat()
        stamp = (str(export), facts.st_mtime_ns, facts.st_size)
        if stamp != self._stamp:
            self._spans, self._flaw = {}, ""
            try:
                for number, span in enumerate(conversations_in(export), 1):
                    self._spans[self._name_of(span, number)] = span
            except ValueError as e:
                self._flaw = str(e)
            self._stamp = stamp
        return self._spans

    def _name_of(self, span: ConversationSpan, number: int) -> str:
        head = self._head_or_none(span)
        is_new = head is not None and head.id not in self._spans
        return head.id if head and is_new else f"number-{number}"


def plain_id(value: str) -> str:
    """An id as it may stand in a path."""
    return value if _PLAIN_ID.fullmatch(value) else digest(value)


def _turns(messages: Iterable[ChatMessage], origin: Origin) -> Iterator[Turn]:
    """Each message of the person with what was answered; answers before the first are left out."""
    asked: ChatMessage | None = None
    answers: list[ChatMessage] = []
    for message in messages:
        if not message.is_person:
            answers.append(message)
            continue
        if asked:
            yield _turn(asked, answers, origin)
        asked, answers = message, []
    if asked:
        yield _turn(asked, answers, origin)


def _turn(asked: ChatMessage, answers: list[ChatMessage], origin: Origin) -> Turn:
    replies = tuple(answer.text for answer in answers)
    ended_at = max([asked.at, *(answer.at for answer in answers)])
    return Turn(asked.id, origin, asked.at, asked.text, replies, ended_at)
