"""SpecStory: histories of other programs' sessions → events. It is a source to import from; it
reports nothing.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from keeplore_hooks.events import Command, Compaction, Origin
from keeplore_hooks.hosts import jsonl, prompt_text
from keeplore_hooks.hosts.base import IMAGE, Cursor, Reading, Recorded
from keeplore_hooks.hosts.claude import claude_lines
from keeplore_hooks.hosts.jsonl import Problems
from keeplore_hooks.hosts.specstory import specstory_tools as tools
from keeplore_hooks.hosts.specstory.specstory_lines import (
    KNOWN_VERSION,
    Head,
    Message,
    head_of,
    messages_in,
)
from keeplore_hooks.hosts.transcript_log import END_OF_TIME, carry_of
from keeplore_hooks.hosts.turn_assembly import Assembler, Carry, OpenTurn, digest, pending_of

HOST = "specstory"
FOLDER = ".specstory"
_HISTORY = "history"
_SIZE_LIMIT = 64 << 20  # bytes of one history
_HEAD = 4096  # bytes
_PICTURE = re.compile(r"^\[Image(?: #?\d{1,6})?\][ \t]*$", re.MULTILINE)
_PLACE_OF_PICTURE = re.compile(
    r"^\[Image: source: [^\n]{0,1000}\][ \t]*$", re.MULTILINE
)  # a message of the host's own


class SpecStory:
    """Reads the histories that SpecStory 2025 to 2026 writes into projects."""

    name = HOST
    variable = ""
    folder = FOLDER

    def read_transcript(self, path: Path, cursor: Cursor) -> Reading:
        try:
            with jsonl.open_regular(path) as file:
                raw = file.read(_SIZE_LIMIT + 1)
            now = datetime.fromtimestamp(path.stat().st_mtime, UTC).isoformat()[:19] + "Z"
        except (OSError, ValueError, OverflowError) as e:
            return Reading((), cursor, (f"the history cannot be read: {e}",))
        fingerprint = hashlib.sha256(raw).hexdigest()[:16]
        if fingerprint == cursor.fingerprint:
            return Reading((), cursor)
        problems = Problems()
        if len(raw) > _SIZE_LIMIT:
            problems.add(
                f"the history is longer than {_SIZE_LIMIT} bytes; what is behind them was left out"
            )
        carry = carry_of(cursor)
        text = jsonl.clean(raw[:_SIZE_LIMIT].decode("utf-8", "replace"))
        head = head_of(text)
        origin = Origin(HOST, _session(path, head), _directory(path), transcript=str(path))
        assembler = Assembler(
            origin, Carry(began=carry.began or head.began, given=carry.given), now
        )
        session = _Session(assembler)
        for number, message in enumerate(messages_in(text) if head.is_history else ()):
            session.take(message, number)
        problems.listed += _problems(head, session)
        assembler.finish(END_OF_TIME)
        after = Cursor(0, fingerprint, pending_of(assembler.carry(len(raw), origin.cwd)))
        return Reading(tuple(assembler.events), after, problems.all())

    def recorded(self, home: Path, config_dir: str = "") -> Iterator[Recorded]:
        """The histories of the project in ``config_dir``, or in that folder itself."""
        base = Path(config_dir) if config_dir else home
        folder = base / FOLDER / _HISTORY if (base / FOLDER).is_dir() else base
        largest: dict[str, Recorded] = {}  # a session under two names is the longer one
        for path in sorted(folder.glob("*.md")):
            try:
                found = _recorded(path)
            except OSError:
                continue  # it went away, or is no regular file
            if found and (found.session not in largest or found.size > largest[found.session].size):
                largest[found.session] = found
        yield from largest.values()


class _Session:
    """Takes messages and tells an assembler what they mean."""

    def __init__(self, assembler: Assembler) -> None:
        self._assembler = assembler
        self._command: tuple[OpenTurn, str] | None = (
            None  # a command that nobody has answered yet, and its time
        )
        self._ids: set[str] = set()
        self.has_messages = False

    def take(self, message: Message, number: int) -> None:
        self.has_messages = True
        if message.is_sidechain:
            return
        if message.role == "user":
            self._user(message)
        else:
            self._agent(message, number)
        self._assembler.note(str(number), message.at)

    def _user(self, message: Message) -> None:
        words = _PICTURE.sub(IMAGE, _PLACE_OF_PICTURE.sub("", message.text)).strip()
        at = self._assembler.time(message.at)
        if claude_lines.without_injected(words).startswith(claude_lines.SUMMARY):
            key = self._id(message, at)
            self._assembler.compact(
                Compaction(key, self._assembler.origin, at, "after", summary=words)
            )
            return
        said = claude_lines.said_in(words)
        turn = self._assembler.open
        if isinstance(said, claude_lines.Typed):
            key = self._id(message, at)
            self._assembler.end()
            self._assembler.emit(Command(key, self._assembler.origin, at, said.name, said.args))
            self._command = OpenTurn(key, self._assembler.origin, at, said.text), at
        elif isinstance(said, claude_lines.Ran):
            self._command = None
        elif not isinstance(said, claude_lines.Prompt) or prompt_text.is_element(said.text):
            if turn and words.startswith("[Request interrupted"):
                turn.is_over = True
        elif self._command and self._command[1] == at:
            return  # the text that stands behind the command
        elif called := prompt_text.slash_command(said.text):
            key = self._id(message, at)
            self._begin(OpenTurn(key, self._assembler.origin, at, said.text))
            self._assembler.emit(Command(key, self._assembler.origin, at, *called))
        elif not (turn and turn.user == said.text and turn.at == at and not turn.ended_at):
            self._begin(OpenTurn(self._id(message, at), self._assembler.origin, at, said.text))

    def _agent(self, message: Message, number: int) -> None:
        words, at = claude_lines.without_reasoning(message.text), self._assembler.time(message.at)
        if not words and not message.tools:
            return
        if self._command:
            self._begin(self._command[0])
        turn = self._assembler.open
        if turn is None:  # the history starts in the middle
            turn = self._begin(OpenTurn(self._id(message, at), self._assembler.origin, at, ""))
        turn.say(str(number), words, at)
        for place, tool in enumerate(message.tools):
            key = f"{number} {place}"
            tools.note(tool, key, turn.log, self._assembler.origin.cwd)
            call = f"specstory:{digest(self._assembler.origin.session, key, *tool.lines[:4])}"
            if question := tools.question(tool, call, self._assembler.origin, at):
                turn.ask(question)
                self._assembler.emit(question)

    def _begin(self, turn: OpenTurn) -> OpenTurn:
        self._command = None
        return self._assembler.begin(turn, None)

    def _id(self, message: Message, at: str) -> str:
        """The agent's own id where the history has it; else one that is the same whenever the
        history is read.
        """
        times = 0
        while True:
            key = message.id or digest(self._assembler.origin.session, at, message.text, str(times))
            if f"specstory:{key}" not in self._ids or message.id:
                break
            times += 1
        self._ids.add(f"specstory:{key}")
        return f"specstory:{key}"


def _problems(head: Head, session: _Session) -> list[str]:
    if not head.is_history:
        return ["it does not say that SpecStory made it"]
    if head.version > KNOWN_VERSION:
        return [
            (
                f"it is of the format {head.version}, and {KNOWN_VERSION} is known here: look whether "
                f"turns are missing"
            )
        ]
    return [] if session.has_messages else ["no message is of a form that is known here"]


def _recorded(path: Path) -> Recorded | None:
    with jsonl.open_regular(path) as file:
        head = head_of(file.read(_HEAD).decode("utf-8", "replace"))
        size = file.seek(0, 2)
    return (
        Recorded(path, _session(path, head), _directory(path), head.began, size)
        if head.is_history
        else None
    )


def _session(path: Path, head: Head) -> str:
    return head.session or f"history-{digest(path.name)}"


def _directory(path: Path) -> str:
    """The project that the history is about: the directory that holds its folder."""
    parents = path.parent, path.parent.parent
    return (
        str(parents[1].parent) if (parents[0].name, parents[1].name) == (_HISTORY, FOLDER) else ""
    )
