"""SpecStory: histories of other programs' sessions → events. It is a source to import from; it
reports nothing.
"""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Iterator
from pathlib import Path

from keeplore_hooks.events import Command, Origin
from keeplore_hooks.hosts import prompt_text
from keeplore_hooks.hosts.base import IMAGE, Cursor, Reading, Recorded, recorded_at
from keeplore_hooks.hosts.claude import claude_lines
from keeplore_hooks.hosts.host_adapter import RecordAdapter
from keeplore_hooks.hosts.jsonl import clean, digest, open_regular, time_of_file
from keeplore_hooks.hosts.record_reading import END_OF_TIME
from keeplore_hooks.hosts.specstory import specstory_tools as tools
from keeplore_hooks.hosts.specstory.specstory_lines import (
    KNOWN_VERSION,
    HistoryHead,
    HistoryMessage,
    head_of,
    messages_in,
)
from keeplore_hooks.hosts.turn_assembly import Record, TurnAssembler

HOST = "specstory"
FOLDER = ".specstory"
_HISTORY = "history"
_SIZE_LIMIT = 64 << 20  # bytes of one history
_HEAD = 4096  # bytes
_PICTURE = re.compile(r"^\[Image(?: #?\d{1,6})?\][ \t]*$", re.MULTILINE)
# a message of the host's own
_PLACE_OF_PICTURE = re.compile(
    r"^\[Image: source: [^\n]{0,1000}\][ \t]*$", re.MULTILINE
)


class SpecStory(RecordAdapter):
    """Reads the histories that SpecStory 2025 to 2026 writes into projects."""

    name = HOST
    variable = ""
    folder = FOLDER
    record = "history"

    def read_record(self, path: Path, cursor: Cursor) -> Reading:
        with open_regular(path) as file:
            raw = file.read(_SIZE_LIMIT + 1)
        now = time_of_file(path)
        fingerprint = hashlib.sha256(raw).hexdigest()[:16]
        if fingerprint == cursor.fingerprint:
            return Reading((), cursor)
        text = clean(raw[:_SIZE_LIMIT].decode("utf-8", "replace"))
        head = head_of(text)
        origin = Origin(
            HOST, _session(path, head), _directory(path), transcript=str(path)
        )
        record = Record(path, origin, head.began or now, cwd=origin.cwd)
        reader = HistoryTurnReader(record, cursor)
        for number, message in enumerate(messages_in(text) if head.is_history else ()):
            reader.take(message, number)
        reader.finish(END_OF_TIME)
        read = reader.reading(len(raw), fingerprint)
        problems = _problems(len(raw), head, reader)
        return Reading(read.events, read.cursor(), tuple(problems))

    def recorded(self, home: Path, config_dir: str = "") -> Iterator[Recorded]:
        """The histories of the project in ``config_dir``, or in that folder itself."""
        base = Path(config_dir) if config_dir else home
        folder = base / FOLDER / _HISTORY if (base / FOLDER).is_dir() else base
        largest: dict[str, Recorded] = {}  # a session under two names is the longer one
        for found in recorded_at(sorted(folder.glob("*.md")), _recorded_session):
            if found.size > largest.setdefault(found.session, found).size:
                largest[found.session] = found
        yield from largest.values()


class HistoryTurnReader(TurnAssembler):
    """Knows what the messages of a history mean."""

    def __init__(self, record: Record, cursor: Cursor) -> None:
        super().__init__(record, cursor, is_whole=True)
        self._command: Command | None = None  # one that nobody has answered yet
        self._ids: set[str] = set()
        self.has_messages = False

    def take(self, message: HistoryMessage, number: int) -> None:
        self.has_messages = True
        if message.is_sidechain:
            return
        at = self.time(message.at)
        if message.role == "user":
            self._on_user(message, at)
        else:
            self._on_agent(message, at, number)
        self.mark_read(str(number), message.at)

    def _on_user(self, message: HistoryMessage, at: str) -> None:
        words = _PICTURE.sub(IMAGE, _PLACE_OF_PICTURE.sub("", message.text)).strip()
        if claude_lines.without_injected(words).startswith(claude_lines.SUMMARY):
            self.compact(self._turn_id(message, at), at, words)
            return
        said = claude_lines.input_in(words)
        if isinstance(said, claude_lines.TypedCommand):
            self._take_command(message, at, said)
        elif isinstance(said, claude_lines.CommandOutput):
            self._command = None
        elif said is None or prompt_text.is_element(said.text):
            self._take_host_words(words)
        else:
            self._take_prompt(message, at, said.text)

    def _take_command(
        self, message: HistoryMessage, at: str, command: claude_lines.TypedCommand
    ) -> None:
        key = self._turn_id(message, at)
        self.end()
        self._command = Command(key, self.origin, at, command.name, command.args)
        self.emit(self._command)

    def _take_host_words(self, words: str) -> None:
        """Take words of the host's own in the person's place."""
        if self.open and words.startswith("[Request interrupted"):
            self.open.is_over = True

    def _take_prompt(self, message: HistoryMessage, at: str, words: str) -> None:
        turn, command = self.open, prompt_text.slash_command(words)
        if self._command and self._command.at == at:
            return  # the text that stands behind the command
        is_again = turn and turn.user == words and turn.at == at and not turn.ended_at
        if command or not is_again:
            self._command = None
            self.begin(self._turn_id(message, at), words, at, None, command)

    def _on_agent(self, message: HistoryMessage, at: str, number: int) -> None:
        """Take a message of the agent; a command that waits for an answer begins its turn."""
        words = claude_lines.without_reasoning(message.text)
        if not words and not message.tools:
            return
        if command := self._command:
            self._command = None
            prompt = claude_lines.TypedCommand(command.name, command.args).text
            self.begin(command.id, prompt, command.at, None)
        # without a turn the history starts in the middle
        turn = self.open or self.begin(self._turn_id(message, at), "", at, None)
        turn.say(str(number), words, at)
        for place, tool in enumerate(message.tools):
            key = f"{number} {place}"
            tools.log_tool(tool, key, turn.log, self.origin.cwd)
            call = self.key(key, *tool.lines[:4])
            for question in tools.questions(tool, call, self.origin, at):
                self.answer(turn, question)

    def _turn_id(self, message: HistoryMessage, at: str) -> str:
        """The agent's own id where the history has it; else one that is the same whenever the
        history is read.
        """
        keys = (self.key(at, message.text, str(count)) for count in itertools.count())
        key = f"{HOST}:{message.id}"
        if not message.id:
            key = next(key for key in keys if key not in self._ids)
        self._ids.add(key)
        return key


def _problems(size: int, head: HistoryHead, reader: HistoryTurnReader) -> Iterator[str]:
    """What is wrong with a history of so many bytes."""
    if size > _SIZE_LIMIT:
        yield f"the history is longer than {_SIZE_LIMIT} bytes; what is behind them was left out"
    if not head.is_history:
        yield "it does not say that SpecStory made it"
    elif head.version > KNOWN_VERSION:
        yield (
            f"it is of the format {head.version}, and {KNOWN_VERSION} is known here: look whether "
            f"turns are missing"
        )
    elif not reader.has_messages:
        yield "no message is of a form that is known here"


def _recorded_session(path: Path) -> Recorded | None:
    with open_regular(path) as file:
        head = head_of(file.read(_HEAD).decode("utf-8", "replace"))
        size = file.seek(0, 2)
    if not head.is_history:
        return None
    return Recorded(path, _session(path, head), _directory(path), head.began, size)


def _session(path: Path, head: HistoryHead) -> str:
    return head.session or f"history-{digest(path.name)}"


def _directory(path: Path) -> str:
    """The project that the history is about: the directory that holds its folder."""
    history, folder = path.parent, path.parent.parent
    is_in_project = (history.name, folder.name) == (_HISTORY, FOLDER)
    return str(folder.parent) if is_in_project else ""
