"""The lines of a Claude Code transcript in file order → host events."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from keeplore_hooks.events import Command, Compaction, HostEvent, Origin, Question, Turn, Work
from keeplore_hooks.hosts import claude_lines as lines
from keeplore_hooks.hosts import jsonl
from keeplore_hooks.hosts.jsonl import Json, Line, text

HOST = "claude-code"
SEEN_LIMIT = 2000  # prompts of one file whose repetition is noticed
_WRITERS = {"Edit": "file_path", "MultiEdit": "file_path", "Write": "file_path", "NotebookEdit": "notebook_path"}
_FILES, _COMMANDS, _COMMITS, _LINKS = 100, 50, 20, 10  # kept of one turn
_COMMAND_LENGTH, _ID_LENGTH = 200, 100  # characters
_WRITES_ATTACHMENTS = (2, 1, 92)  # from this version on queued prompts are attachments; before, only the queue has them


@dataclass(frozen=True, slots=True)
class Carry:
    """What must be known about the lines before a turn, when reading starts there."""

    queue: tuple[str, ...] = ()  # prompts typed ahead and still waiting, "" for what is no prompt
    seen: tuple[str, ...] = ()  # keys of the prompts so far
    at: str = ""  # time of the last line that had one
    is_old: bool = False  # written by a version whose queued prompts stand in the queue alone
    session: str = ""
    cwd: str = ""
    branch: str = ""


@dataclass(slots=True)
class _Words:
    message: str  # id
    blocks: list[str]


@dataclass(slots=True)
class _Tool:
    name: str
    target: str = ""  # file, or first line of the command
    asked: dict[int, Question] = field(default_factory=dict)  # by place among the replies
    is_commit: bool = False


@dataclass(slots=True)
class _Open:
    """A turn, or a command that becomes one as soon as the assistant answers it."""

    id: str
    origin: Origin
    at: str
    user: str
    start: int  # bytes
    carry: Carry
    is_queued: bool = False
    is_news: bool = True  # has something that was not given as an event yet
    was_complete: bool = False  # when it was given last
    ended_at: str = ""
    replies: list[_Words | Question] = field(default_factory=list)
    tools: dict[str, _Tool] = field(default_factory=dict)  # called, without a result so far
    files: dict[str, str] = field(default_factory=dict)  # by call
    commands: dict[str, str] = field(default_factory=dict)  # by call
    commits: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)

    def turn(self, *, is_complete: bool) -> Turn:
        work = Work(
            files=tuple(dict.fromkeys(self.files.values())),
            commands=tuple(dict.fromkeys(self.commands.values())),
            commits=tuple(self.commits),
            links=tuple(self.links),
        )
        replies = tuple(reply if isinstance(reply, Question) else "\n\n".join(reply.blocks) for reply in self.replies)
        return Turn(self.id, self.origin, self.at, self.user, replies, self.ended_at, work, is_complete=is_complete)


class Assembler:
    """Takes lines, keeps the turn that is going on, and lists events.

    Lines that start before ``known`` (bytes) were turned into events at an earlier time: they are needed to know
    the turn that they belong to, and give no event again.
    """

    def __init__(self, path: str, carry: Carry, known: int, *, is_open: bool) -> None:
        self.events: list[HostEvent] = []
        self.open: _Open | None = None
        self.latest = ""  # the newest time of all lines
        self._path = path
        self._carry = self._before = self._safe = carry
        self._known = known
        self._was_open = is_open
        self._is_new = False
        self._is_replay = False
        self._start = 0
        self._uuids: set[str] = set()
        self._command: _Open | None = None
        self._boundary: tuple[Compaction, int, Carry] | None = None
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
        take = self._takes.get(text(data, "type"))
        if take is None or data.get("isSidechain") or self._is_repeated(data):
            return
        self._start, self._is_new = line.start, line.start >= self._known
        self._before = self._carry
        self._note(data)
        take(data)
        if line.end > line.start:  # a line without its newline will be read again
            self._safe = self._carry

    def finish(self, stopped_at: str) -> None:
        """Give the turn that is going on; it is complete when the assistant was silent from ``stopped_at`` on."""
        self._is_new = True
        turn = self.open
        self._give(is_complete=turn is not None and max(turn.at, turn.ended_at) <= stopped_at)

    def resume_at(self, end: int) -> tuple[int, Carry]:
        """Where the next reading must start to get the same events."""
        if self.open:
            return self.open.start, self.open.carry
        starts = [(end, self._safe)]
        if self._command:
            starts.append((self._command.start, self._command.carry))
        if self._boundary:
            starts.append(self._boundary[1:])
        return min(starts, key=lambda start: start[0])

    def _note(self, data: Json) -> None:
        """What every line tells: time, version, session, directory."""
        carry = self._carry
        if at := jsonl.time(text(data, "timestamp")):
            carry = replace(carry, at=at)
            self.latest = max(self.latest, at)
        if version := re.match(r"(\d{1,6})\.(\d{1,6})\.(\d{1,6})", text(data, "version")):
            carry = replace(carry, is_old=tuple(map(int, version.groups())) < _WRITES_ATTACHMENTS)
        if "cwd" in data:
            carry = replace(carry, cwd=text(data, "cwd"), branch=text(data, "gitBranch"))
        if session := text(data, "sessionId"):
            carry = replace(carry, session=session)
        self._carry = carry

    @property
    def _origin(self) -> Origin:
        return Origin(HOST, self._carry.session, self._carry.cwd, self._carry.branch, self._path)

    def _is_repeated(self, data: Json) -> bool:
        uuid = text(data, "uuid")
        is_repeated = uuid in self._uuids
        if uuid:
            self._uuids.add(uuid)
        if is_repeated and self.open and uuid == self.open.id:
            self._is_replay = False
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
        self._hear(lines.said(data), self._id(data))

    def _attachment(self, data: Json) -> None:
        attachment = jsonl.mapping(data, "attachment")
        is_human = text(jsonl.mapping(attachment, "origin"), "kind") in ("", "human") and not attachment.get("isMeta")
        if text(attachment, "type") != "queued_command" or text(attachment, "commandMode") != "prompt" or not is_human:
            return
        said = lines.said_in(attachment.get("prompt"))
        if isinstance(said, lines.Prompt) and not lines.slash_command(said.text):
            self._hear(said, self._id(data), is_queued=True)

    def _queue(self, data: Json) -> None:
        operation, queue = text(data, "operation"), self._carry.queue
        words = text(data, "content")
        taken = words
        if operation == "enqueue":
            said = lines.said_in(words)
            queue = (*queue, said.text if isinstance(said, lines.Prompt) else "")
        elif operation == "popAll":
            queue = ()
        elif operation in ("dequeue", "remove") and queue:
            at = queue.index(words) if words in queue else 0
            taken, queue = queue[at], queue[:at] + queue[at + 1 :]
        self._carry = replace(self._carry, queue=queue)
        is_prompt = operation == "remove" and self._carry.is_old and taken and not lines.slash_command(taken)
        if is_prompt:
            key = f"{self._carry.session} {text(data, 'timestamp')} {taken}"
            self._hear(lines.Prompt(taken), f"queued:{_digest(key)}", is_queued=True)

    def _hear(self, said: lines.Said | None, uuid: str, *, is_queued: bool = False) -> None:
        if isinstance(said, lines.Ran):
            self._command = None
        elif said and _digest(uuid) in self._carry.seen:
            self._is_replay = True
        elif isinstance(said, lines.Prompt):
            if not self._is_same_prompt(said.text, is_queued=is_queued):
                self._give(is_complete=True)
                self._begin(self._new(uuid, said.text, is_queued=is_queued))
        elif isinstance(said, lines.Typed):
            self._is_replay = False
            self._give(is_complete=True)
            self._emit(Command(uuid, self._origin, self._carry.at, said.name, said.args))
            self._command = self._new(uuid, said.text)

    def _is_same_prompt(self, words: str, *, is_queued: bool) -> bool:
        """Does the line repeat the prompt before it? A queued prompt may stand in two kinds of line."""
        is_pair = self.open is not None and self.open.is_queued != is_queued and not self.open.replies
        return is_pair and self.open is not None and self.open.user == words

    def _new(self, uuid: str, words: str, *, is_queued: bool = False) -> _Open:
        known = _Open(uuid, self._origin, self._carry.at, words, self._start, self._before, is_queued)
        self._carry = replace(self._carry, seen=(*self._carry.seen, _digest(uuid))[-SEEN_LIMIT:])
        known.is_news, known.was_complete = self._is_new, not self._is_new and not self._was_open
        return known

    def _begin(self, turn: _Open) -> None:
        self._settle_boundary()
        self._is_replay, self._command = False, None
        self._uuids = {turn.id}
        self.open = turn

    # What the assistant says and does

    def _assistant(self, data: Json) -> None:
        message = jsonl.mapping(data, "message")
        if self._is_replay or data.get("isApiErrorMessage") or text(message, "model") == "<synthetic>":
            return
        content = message.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else jsonl.mappings(message, "content")
        for block in blocks:
            kind, words = text(block, "type"), text(block, "text").strip()
            if kind == "text" and words:
                self._say(self._speaker(data), text(message, "id") or text(data, "uuid"), words)
            elif kind == "tool_use":
                self._call(self._speaker(data), block)

    def _speaker(self, data: Json) -> _Open:
        """The turn that the assistant's words belong to."""
        if self._command:
            self._begin(self._command)
        elif self.open is None:  # the file starts in the middle, after a compaction for instance
            self._begin(self._new(self._id(data), ""))
        self._settle_boundary()
        turn = self.open
        if turn is None:
            raise AssertionError("no turn was begun")
        turn.ended_at = self._carry.at
        turn.is_news |= self._is_new
        return turn

    def _say(self, turn: _Open, message: str, words: str) -> None:
        last = turn.replies[-1] if turn.replies else None
        if not isinstance(last, _Words) or last.message != message:
            turn.replies.append(_Words(message, [words]))
        elif words.startswith(last.blocks[-1]):  # written a second time, longer
            last.blocks[-1] = words
        elif words not in last.blocks:
            last.blocks.append(words)

    def _call(self, turn: _Open, block: Json) -> None:
        name, given, call = text(block, "name"), jsonl.mapping(block, "input"), text(block, "id")
        tool = turn.tools[call] = _Tool(name)
        if name in _WRITERS:
            tool.target = text(given, _WRITERS[name])
            if tool.target and len(turn.files) < _FILES:
                turn.files[call] = tool.target
        elif name == "Bash":
            command = text(given, "command").strip()
            tool.is_commit = "commit" in command
            tool.target = command.partition("\n")[0][:_COMMAND_LENGTH]
            if tool.target and len(turn.commands) < _COMMANDS:
                turn.commands[call] = tool.target
        elif name == "AskUserQuestion":
            self._ask(turn, tool, list(lines.questions(block, turn.origin, self._carry.at)))
        elif name == "ExitPlanMode":
            if plan := text(given, "plan").strip():
                turn.replies.append(_Words("", [plan]))
            self._ask(turn, tool, [Question(f"{call}:0", turn.origin, self._carry.at, "Proceed with this plan?")])

    def _ask(self, turn: _Open, tool: _Tool, questions: list[Question]) -> None:
        for question in questions:
            tool.asked[len(turn.replies)] = question
            turn.replies.append(question)

    def _result(self, block: Json, structured: object) -> None:
        turn, call = self.open, text(block, "tool_use_id")
        tool = turn.tools.pop(call, None) if turn else None
        if turn is None or tool is None or self._is_replay:
            return
        turn.is_news |= self._is_new
        told, is_error = lines.result_text(block), bool(block.get("is_error"))
        objection = lines.objection(told) if is_error else None
        if objection is not None:
            turn.commands.pop(call, None)
        if is_error:
            turn.files.pop(call, None)
        if objection and not tool.asked:
            question = f"Allow {tool.name} {tool.target}".rstrip() + "?"
            self._ask(turn, tool, [Question(f"{call}:0", turn.origin, self._carry.at, question)])
        for place, question in tool.asked.items():
            if tool.name == "AskUserQuestion":
                answer = "" if is_error else lines.answer_to(question.question, structured, told)
            else:
                answer = (objection or "") if is_error else "Yes"
            answered = turn.replies[place] = replace(question, answer=answer)
            self._emit(answered)
        if tool.is_commit:
            found = [commit for commit in lines.commits(told) if commit not in turn.commits]
            turn.commits += found[: _COMMITS - len(turn.commits)]

    def _link(self, data: Json) -> None:
        turn, url = self.open, text(data, "prUrl")
        if turn and url and url not in turn.links and len(turn.links) < _LINKS:
            turn.links.append(url)
            turn.is_news |= self._is_new

    # What the host does

    def _system(self, data: Json) -> None:
        subtype = text(data, "subtype")
        if subtype == "local_command":
            self._hear(lines.said_in(text(data, "content")), self._id(data))
        elif subtype == "compact_boundary" and not self._is_replay:
            trigger = text(jsonl.mapping(data, "compactMetadata"), "trigger")
            compaction = Compaction(self._id(data), self._origin, self._carry.at, "after", trigger)
            self._boundary = (compaction, self._start, self._before)

    def _summary(self, data: Json) -> None:
        if self._is_replay:
            return
        compaction = Compaction(self._id(data), self._origin, self._carry.at, "after")
        if self._boundary:
            compaction, self._boundary = self._boundary[0], None
        summary = lines.spoken_text(data).strip()
        self._give(is_complete=False)
        self._emit(replace(compaction, summary=summary))

    def _settle_boundary(self) -> None:
        if self._boundary:
            compaction, self._boundary = self._boundary[0], None
            self._give(is_complete=False)
            self._emit(compaction)

    def _id(self, data: Json) -> str:
        uuid = text(data, "uuid")
        return uuid if 0 < len(uuid) <= _ID_LENGTH else f"line:{_digest(f'{self._carry.session} {self._start} {uuid}')}"

    def _emit(self, event: HostEvent) -> None:
        if self._is_new:
            self.events.append(event)

    def _give(self, *, is_complete: bool) -> None:
        turn = self.open
        if turn and self._is_new and (turn.is_news or (is_complete and not turn.was_complete)):
            self.events.append(turn.turn(is_complete=is_complete))
            turn.is_news, turn.was_complete = False, is_complete


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()[:12]
