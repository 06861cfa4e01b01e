"""Reading a Cursor transcript from a cursor: lines without ids, mostly without times; before 2026 a
text.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from keeplore_hooks.hosts import jsonl, prompt_text
from keeplore_hooks.hosts.base import Cursor, Recorded, recorded_at
from keeplore_hooks.hosts.cursor import cursor_lines as lines
from keeplore_hooks.hosts.cursor.cursor_payload_log import (
    COUNTED,
    HOST,
    PayloadLog,
    counts_in,
    key_of,
    turn_id_of,
)
from keeplore_hooks.hosts.cursor_state import stored_state
from keeplore_hooks.hosts.jsonl import (
    Json,
    JsonLine,
    Problems,
    blocks_in,
    clean,
    load,
    mapping,
    open_regular,
    read_heads,
    text,
)
from keeplore_hooks.hosts.record_reading import read_log
from keeplore_hooks.hosts.turn_assembly import (
    OpenTurn,
    Record,
    RecordReading,
    TurnReader,
    resume_state_of,
)

LOG, OLD = ".jsonl", ".txt"
_FOLDER = "agent-transcripts"
_SMALL = 1 << 20  # bytes; of a file that tells which directory a project is
# directories that are looked into for the one that a project is named after
_LISTED = 500
_RUN = re.compile(r"[^a-zA-Z0-9]+")


def read(
    record: Record, cursor: Cursor, log: PayloadLog
) -> tuple[RecordReading, CursorTurnReader]:
    """The events behind the cursor, and the reader that counted prompts. Raises OSError."""
    with open_regular(record.path) as file:
        if record.path.suffix == OLD:
            return _read_text(file, record, cursor, log)
        start = functools.partial(CursorTurnReader, log=log)
        return read_log(file, record, cursor, start)


def _read_text(
    file: BinaryIO, record: Record, cursor: Cursor, log: PayloadLog
) -> tuple[RecordReading, CursorTurnReader]:
    raw, problems = file.read(jsonl.LINE_LIMIT), Problems()
    fingerprint = hashlib.sha256(raw).hexdigest()[:16]
    reader = CursorTurnReader(record, cursor, problems, log, is_whole=True)
    words = clean(raw.decode("utf-8", "replace"))
    for number, message in enumerate(lines.records_in_text(words)):
        reader.take(JsonLine(message, number, number))
    if not reader.is_known:
        problems.add_unknown("nobody speaks in it", HOST)
    reader.finish(record.stopped_at)
    listed = problems.all() if fingerprint != cursor.fingerprint else ()
    return reader.reading(len(raw), fingerprint, listed), reader


def recorded(base: Path) -> Iterator[Recorded]:
    """The sessions under a configuration directory in the order of their paths, without those of
    subagents.
    """
    folders = base.glob(f"projects/*/{_FOLDER}")
    paths = [
        path for folder in folders for path in (*folder.glob("*"), *folder.glob("*/*"))
    ]
    # the text form is the poorer one
    paths.sort(key=lambda path: (path.suffix == OLD, str(path)))
    taken: set[str] = set()
    for found in recorded_at(paths, _recorded_session):
        if found.session not in taken:
            taken.add(found.session)
            yield found


def _recorded_session(path: Path) -> Recorded | None:
    """The session that a file holds; None for one of another kind. Raises OSError."""
    is_own = path.parent.name in (_FOLDER, path.stem)
    if path.suffix not in (LOG, OLD) or not is_own:
        return None
    with open_regular(path) as file:
        heads = read_heads(file)
    times = (lines.prompt_in(head).at for head in heads if text(head, "role") == "user")
    started_at = next(filter(None, times), "")
    size = path.stat().st_size
    return Recorded(path, path.stem, directory_of(path), started_at, size)


def directory_of(path: Path) -> str:
    """The directory that a transcript is about, ``""`` where nothing tells it or several might be
    meant.

    Its project's folder says so where the person was asked to trust it; else its name is the path
    with every run of other characters than letters and digits as a dash, which is looked for on
    this machine.
    """
    folders = (parent.parent for parent in path.parents if parent.name == _FOLDER)
    folder = next(folders, None)
    if folder is None:
        return ""
    with (
        contextlib.suppress(OSError),
        open_regular(folder / ".workspace-trusted") as file,
    ):
        if directory := text(load(file.read(_SMALL)), "workspacePath"):
            return directory
    search = _DirectorySearch()
    search.look_in(Path(folder.anchor), _slug(folder.name))
    return search.found[0] if len(search.found) == 1 else ""


class CursorTurnReader(TurnReader):
    """Takes the lines of a transcript; payloads told when its prompts were typed."""

    def __init__(
        self,
        record: Record,
        cursor: Cursor,
        problems: Problems,
        log: PayloadLog,
        *,
        is_whole: bool = False,
    ) -> None:
        super().__init__(record, cursor, problems, log.completed, is_whole=is_whole)
        self._log = log
        self._read_at = record.now
        # start of the turn that is read again with the time that it got when it was new
        has_begun = bool(resume_state_of(cursor).began)
        self._known_start = cursor.offset if has_begun else None
        # how often each prompt was typed: up to where reading goes on, and up to the last line
        self.counts_before = (
            {} if is_whole else counts_in(stored_state(cursor), "before")
        )
        self.counts = dict(self.counts_before)

    def take(self, line: JsonLine) -> None:
        record, turn = line.data, self.open
        if text(record, "type") == "turn_ended":
            if turn:
                turn.is_over = True
        elif text(record, "role") == "user":
            self._on_user(record, line.start)
        elif text(record, "role") == "assistant":
            self._on_assistant(record, line.start)
        else:
            return
        self.is_known = True

    def _on_user(self, record: Json, start: int) -> None:
        """Begin the turn of a prompt; payloads may know its id and when it was typed."""
        prompt = lines.prompt_in(record)
        if not prompt.text:
            return
        key = key_of(prompt.text)
        own_id = turn_id_of(self.origin.session, key, self.counts.get(key, 0))
        is_again = self.is_whole or start == self._known_start
        turn_id = self._log.id_of(
            own_id, prompt.text, None if is_again else self.counts
        )
        read_at = self._now if is_again else self._read_at
        at = prompt.at or self._log.at(turn_id) or read_at
        if not self.is_whole:
            self.counts_before = dict(list(self.counts.items())[-COUNTED:])
        self.counts[key] = self.counts.get(key, 0) + 1
        self.begin(
            turn_id, prompt.text, at, start, prompt_text.slash_command(prompt.text)
        )
        self.mark_read(own_id, at)

    def _on_assistant(self, record: Json, start: int) -> None:
        turn = self.open or self._begin_in_the_middle()
        for number, block in enumerate(blocks_in(mapping(record, "message"))):
            call = f"{start}.{number}"
            turn.say(call, lines.words_in(block), "")
            if block.get("type") == "tool_use":
                _take_call(turn, call, text(block, "name"), mapping(block, "input"))

    def _begin_in_the_middle(self) -> OpenTurn:
        """The turn whose prompt the transcript does not have."""
        turn = self.begin(turn_id_of(self.origin.session, "", 0), "", "", None)
        self.mark_read(turn.id, turn.at)
        return turn


def _take_call(turn: OpenTurn, call: str, name: str, arguments: Json) -> None:
    lines.take_call(turn.log, call, name, arguments)
    if name == lines.ASK:
        for question in lines.questions(arguments, turn.origin, turn.at):
            turn.ask(question)


def _slug(name: str) -> str:
    return _RUN.sub("-", name).strip("-")


@dataclass(slots=True)
class _DirectorySearch:
    """Looks for the directories whose path is written as a slug, until two are found."""

    found: list[str] = field(default_factory=list)
    count: int = 0  # directories that were looked into

    def look_in(self, directory: Path, rest: str) -> None:
        self.count += 1
        if self.count > _LISTED or len(self.found) > 1:
            return
        try:
            with os.scandir(directory) as entries:
                names = sorted(entry.name for entry in entries if entry.is_dir())
        except OSError:
            return
        for name in names:
            slug = _slug(name)
            if slug and slug == rest:
                self.found.append(str(directory / name))
            elif slug and rest.startswith(f"{slug}-"):
                self.look_in(directory / name, rest[len(slug) + 1 :])
