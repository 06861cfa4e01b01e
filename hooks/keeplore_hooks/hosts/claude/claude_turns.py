"""The lines of a Claude Code transcript in file order → host events."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from keeplore_hooks.events import Command, Compaction, HostEvent, Origin
from keeplore_hooks.hosts import jsonl
from keeplore_hooks.hosts.claude import claude_lines as lines
from keeplore_hooks.hosts.claude.claude_lines import HOST
from keeplore_hooks.hosts.claude.claude_open_turn import Carry, OpenTurn
from keeplore_hooks.hosts.jsonl import Json, Line, text
from keeplore_hooks.hosts.turn_assembly import short

_ASIDE = (
    "summary",
    "file-history-snapshot",
    "file-history-delta",
    "last-prompt",
    "permission-mode",
    "mode",
    "progress",
)
SEEN_LIMIT = 2000  # prompts of one file whose repetition is noticed
_ID_LENGTH = 100  # characters
_VERSION = re.compile(r"(\d{1,6})\.(\d{1,6})\.(\d{1,6})")
_WRITES_ATTACHMENTS = (
    2,
    1,
    92,
)  # from this version on queued prompts are attachments; before, only the queue has them


class Assembler:
    """Takes lines, keeps the turn that is going on, and lists events.

    Lines that start before ``known`` (bytes) were turned into events at an earlier time: they are
    needed to know the turn that they belong to, and give no event again.

    A line belongs to the turn of the line that it names as its parent, which is not the last turn
    where two terminals run one session.
    """

    def __init__(self, path: str, carry: Carry, known: int, *, is_open: bool) -> None:
        self.events: list[HostEvent] = []
        self.open: OpenTurn | None = None
        self.aside: dict[str, OpenTurn] = {}  # turns other than the last that have grown
        self.known_types = 0  # lines of a type that is known here
        self.other_types = 0
        self.strange = 0  # new lines of a person or the assistant that hold no message
        self.is_lost = (
            False  # what is new continues something before the place where reading started
        )
        self.latest = ""  # the newest time of all lines
        self._path = path
        self._first = self._carry = self._before = carry
        self._known = known
        self._was_open = is_open
        self._is_new = False
        self._is_replay = False
        self._start = 0
        self._turn: OpenTurn | None = None  # that the line belongs to
        self._owners: dict[
            str, OpenTurn | None
        ] = {}  # uuid of a line → its turn, None before the first
        self._uuids: set[str] = set()  # of the lines before any turn
        self._elsewhere: list[
            tuple[int, OpenTurn]
        ] = []  # start of a line (bytes) and its turn, which is not the last
        self._grown: dict[str, OpenTurn] = {}  # those of ``aside`` that have to be given
        self._has_parent = True
        self._seen = set(carry.seen)  # of the turns before it
        self._command: OpenTurn | None = None
        self._boundary: Compaction | None = None
        self._takes: dict[str, Callable[[Json], None]] = {
            "user": self._user,
            "assistant": self._assistant,
            "system": self._system,
            "attachment": self._attachment,
            "queue-operation": self._queue,
            "pr-link": self._link,
        }

    def feed(self, line: Line) -> None:
        data = line.data
        kind = text(data, "type")
        take = self._takes.get(kind)
        if take or kind in _ASIDE:
            self.known_types += 1
        elif data:
            self.other_types += 1
        if data.get("isSidechain"):
            return
        if kind in ("user", "assistant") and not jsonl.mapping(data, "message"):
            self.strange += line.start >= self._known
        self._turn = self._turn_of(data)
        if take is None or self._is_repeated(data):
            return
        self._start, self._is_new = line.start, line.start >= self._known
        self._before = self._carry
        self._note(data)
        take(data)

    def finish(self, stopped_at: str) -> None:
        """Give the turn that is going on; it is complete when the assistant was silent from
        ``stopped_at`` on.
        """
        self._is_new = True
        turn = self.open
        self._give(is_complete=turn is not None and max(turn.at, turn.ended_at) <= stopped_at)

    def resume_at(self) -> tuple[int, Carry]:
        """Where the next reading must start to get the same events: what comes before any turn is
        read again.
        """
        first = self.open
        for start, turn in reversed(self._elsewhere):
            if first and turn.start < first.start <= start:
                first = turn
        return (first.start, first.carry) if first else (0, self._first)

    def _note(self, data: Json) -> None:
        """What every line tells: time, version, session, directory."""
        carry = self._carry
        at = jsonl.time(text(data, "timestamp"))
        self.latest = max(self.latest, at)
        self._carry = Carry(
            carry.queue,
            carry.seen,
            at or carry.at,
            _is_old(text(data, "version"), carry.is_old),
            text(data, "sessionId") or carry.session,
            text(data, "cwd") if "cwd" in data else carry.cwd,
            text(data, "gitBranch") if "cwd" in data else carry.branch,
        )

    @property
    def _origin(self) -> Origin:
        return Origin(HOST, self._carry.session, self._carry.cwd, self._carry.branch, self._path)

    def _turn_of(self, data: Json) -> OpenTurn | None:
        """The turn that the line belongs to; the last one, or the command that waits, where nothing
        else is known.
        """
        parent, uuid = (
            text(data, "parentUuid") or text(data, "logicalParentUuid"),
            text(data, "uuid"),
        )
        turn = self._owners.get(parent)
        while turn and turn.goes_on:
            turn = turn.goes_on
        turn = turn or self._command or self.open
        self._has_parent = not parent or parent in self._owners
        if uuid and self._has_parent:
            self._owners.setdefault(uuid, turn)
        return turn

    def _is_repeated(self, data: Json) -> bool:
        """Was the line read before? Repeated history also hides what follows it, until its turn is
        the open one.
        """
        uuid = text(data, "uuid")
        if (
            short(uuid) in self._seen
        ):  # asked before all else: history may be repeated many times during one turn
            current = self._command or self.open
            self._is_replay = current is None or uuid != current.id
            return True
        known = self._turn.uuids if self._turn else self._uuids
        is_repeated = uuid in known
        if uuid:
            known.add(uuid)
        return is_repeated

    # What the person says

    def _user(self, data: Json) -> None:
        if lines.is_summary(data):
            self._summary(data)
            return
        blocks = jsonl.mappings(jsonl.mapping(data, "message"), "content")
        for block in blocks:
            if block.get("type") == "tool_result":
                self._result(block, data.get("toolUseResult"))
        self._hear(lines.said(data), self._id(data), prompt=text(data, "promptId"))

    def _attachment(self, data: Json) -> None:
        attachment = jsonl.mapping(data, "attachment")
        is_human = text(jsonl.mapping(attachment, "origin"), "kind") in (
            "",
            "human",
        ) and not attachment.get("isMeta")
        if (
            text(attachment, "type") != "queued_command"
            or text(attachment, "commandMode") != "prompt"
            or not is_human
        ):
            return
        said = lines.said_in(attachment.get("prompt"))
        if isinstance(said, lines.Prompt) and not lines.slash_command(said.text):
            self._hear(said, self._id(data), is_queued=True)

    def _queue(self, data: Json) -> None:
        operation, queue = text(data, "operation"), self._carry.queue
        taken = words = text(data, "content")
        if operation == "enqueue":
            said = lines.said_in(words)
            queue = (*queue, said.text if isinstance(said, lines.Prompt) else "")
        elif operation == "popAll":
            queue = ()
        elif operation in ("dequeue", "remove") and queue:
            at = queue.index(words) if words in queue else 0
            taken, queue = queue[at], queue[:at] + queue[at + 1 :]
        self._carry = replace(self._carry, queue=queue)
        if (
            operation == "remove"
            and self._carry.is_old
            and taken
            and not lines.slash_command(taken)
        ):
            key = f"{self._carry.session} {text(data, 'timestamp')} {taken}"
            before = self.open
            self._hear(lines.Prompt(taken), f"queued:{short(key)}", is_queued=True)
            if before and before is not self.open:  # no line names this one as its parent
                before.goes_on = self.open

    def _hear(
        self, said: lines.Said | None, uuid: str, *, prompt: str = "", is_queued: bool = False
    ) -> None:
        if isinstance(said, lines.Ran):
            if not self._is_replay and self._command:
                self._owners.update(dict.fromkeys(self._command.uuids, self.open))
                (self.open.uuids if self.open else self._uuids).update(self._command.uuids)
                self._command = None
        elif said and short(uuid) in self._seen:
            self._is_replay = self.open is None or uuid != self.open.id
        elif isinstance(said, lines.Prompt):
            if not self._is_same_prompt(said.text, is_queued=is_queued):
                self._give(is_complete=True)
                self._begin(self._new(uuid, said.text, is_queued=is_queued)).prompt = prompt
        elif isinstance(said, lines.Typed):
            self._is_replay = False
            self._give(is_complete=True)
            self._emit(Command(uuid, self._origin, self._carry.at, said.name, said.args))
            self._command = self._new(uuid, said.text)

    def _is_same_prompt(self, words: str, *, is_queued: bool) -> bool:
        """Does the line repeat the prompt before it? A queued prompt may stand in two kinds of
        line.
        """
        turn = self.open
        return (
            turn is not None
            and turn.user == words
            and turn.is_queued != is_queued
            and not turn.has_replies
        )

    def _new(self, uuid: str, words: str, *, is_queued: bool = False) -> OpenTurn:
        turn = OpenTurn(
            uuid, self._origin, self._carry.at, words, self._start, self._before, is_queued
        )
        self._carry = replace(self._carry, seen=(*self._carry.seen, short(uuid))[-SEEN_LIMIT:])
        self._seen.add(short(uuid))
        turn.uuids.add(uuid)
        self._owners[uuid] = turn
        turn.is_news, turn.was_complete = self._is_new, not self._is_new and not self._was_open
        return turn

    def _begin(self, turn: OpenTurn) -> OpenTurn:
        self._settle_boundary()
        self._is_replay, self._command = False, None
        self.open = turn
        return turn

    # What the assistant says and does

    def _assistant(self, data: Json) -> None:
        message = jsonl.mapping(data, "message")
        if (
            self._is_replay
            or data.get("isApiErrorMessage")
            or text(message, "model") == "<synthetic>"
        ):
            return
        content = message.get("content")
        blocks = (
            [{"type": "text", "text": content}]
            if isinstance(content, str)
            else jsonl.mappings(message, "content")
        )
        for block in blocks:
            kind, words = text(block, "type"), lines.without_reasoning(text(block, "text"))
            if kind == "text" and words:
                self._speaker(data).say(text(message, "id") or text(data, "uuid"), words)
            elif kind == "tool_use":
                self._speaker(data).call(block, self._carry.at)

    def _speaker(self, data: Json) -> OpenTurn:
        """The turn that the assistant's words belong to."""
        turn = self._turn
        if turn and turn is self._command:
            self._give(
                is_complete=True
            )  # what came to the turn before it after the command was typed
            self._begin(turn)
        elif turn is None:  # the file starts in the middle, after a compaction for instance
            turn = self._begin(self._new(self._id(data), ""))
        self._settle_boundary()
        turn.ended_at = self._carry.at
        self._grow(turn)
        return turn

    def _grow(self, turn: OpenTurn) -> None:
        """The line adds to the turn, which may be that of another terminal."""
        turn.is_news |= self._is_new
        self.is_lost |= self._is_new and not self._has_parent
        if turn is not self.open:
            self._elsewhere.append((self._start, turn))
            if self._is_new:
                self._grown[turn.id] = turn

    def _result(self, block: Json, structured: object) -> None:
        turn = self._turn
        if turn and not self._is_replay and turn.is_waiting_for(block):
            self._grow(turn)
            for question in turn.take_result(block, structured, self._carry.at):
                self._emit(question)

    def _link(self, data: Json) -> None:
        if self.open and not self._is_replay and self.open.link(text(data, "prUrl")):
            self.open.is_news |= self._is_new

    # What the host does

    def _system(self, data: Json) -> None:
        subtype = text(data, "subtype")
        if subtype == "local_command":
            self._hear(lines.said_in(text(data, "content")), self._id(data))
        elif subtype == "compact_boundary" and not self._is_replay:
            trigger = text(jsonl.mapping(data, "compactMetadata"), "trigger")
            self._boundary = Compaction(
                self._id(data), self._origin, self._carry.at, "after", trigger
            )

    def _summary(self, data: Json) -> None:
        if self._is_replay:
            return
        compaction = Compaction(self._id(data), self._origin, self._carry.at, "after")
        if self._boundary:
            compaction, self._boundary = self._boundary, None
        summary = lines.spoken_text(data).strip()
        self._give(is_complete=False)
        self._emit(replace(compaction, summary=summary))

    def _settle_boundary(self) -> None:
        if self._boundary:
            compaction, self._boundary = self._boundary, None
            self._give(is_complete=False)
            self._emit(compaction)

    def _id(self, data: Json) -> str:
        uuid = text(data, "uuid")
        return (
            uuid
            if 0 < len(uuid) <= _ID_LENGTH
            else f"line:{short(f'{self._carry.session} {self._start} {uuid}')}"
        )

    def _emit(self, event: HostEvent) -> None:
        if self._is_new:
            self.events.append(event)

    def _give(self, *, is_complete: bool) -> None:
        self.events += [turn.turn(is_complete=True) for turn in self._grown.values()]
        self.aside |= self._grown
        self._grown = {}
        turn = self.open
        if turn and self._is_new and (turn.is_news or (is_complete and not turn.was_complete)):
            self.events.append(turn.turn(is_complete=is_complete))
            turn.is_news, turn.was_complete = False, is_complete


def _is_old(version: str, before: bool) -> bool:  # noqa: FBT001 (the value that a line without a version inherits)
    match = _VERSION.match(version)
    return tuple(map(int, match.groups())) < _WRITES_ATTACHMENTS if match else before
