"""Reading a host's record from a cursor: bytes → messages → events, and where to go on.

A record is a log of JSON lines that grows, or one text that is rewritten and read as a whole.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from keeplore_hooks.events import Origin, Turn
from keeplore_hooks.hosts import jsonl
from keeplore_hooks.hosts.base import Cursor
from keeplore_hooks.hosts.cursor_state import pending, stored
from keeplore_hooks.hosts.jsonl import Json, Problems
from keeplore_hooks.hosts.turn_assembly import (
    RecordReading,
    ResumeState,
    TurnAssembler,
    TurnReader,
)

END_OF_TIME = "9999"

# the last is what the cursor holds, nothing where the record is read from its start
StartReader = Callable[[TurnAssembler, Problems, Json], TurnReader]


@dataclass(frozen=True, slots=True)
class Record:
    """A record, and what is known of it from outside."""

    path: Path
    origin: Origin
    now: str  # stands in for the time of a record that has none
    stopped_at: str = ""  # the last turn is complete when its last word came by then
    cwd: str = ""  # to be kept, where the record does not tell it


def read_log(
    file: BinaryIO,
    record: Record,
    cursor: Cursor,
    start_reader: StartReader,
    completed: Callable[[Turn], Turn] = lambda turn: turn,
) -> tuple[RecordReading, TurnReader]:
    """The events of a log behind the cursor. Raises OSError."""
    state, offset, problems = pending(cursor), cursor.offset, Problems()
    resume_state = resume_state_of(cursor)
    is_grown = 0 <= offset <= resume_state.known
    if not is_grown or jsonl.fingerprint(file, offset) != cursor.fingerprint:
        resume_state, state, offset = ResumeState(), {}, 0
    assembler = TurnAssembler(record.origin, resume_state, record.now, completed)
    assembler.resume = offset
    reader = start_reader(assembler, problems, state)
    known = resume_state.known
    for line in jsonl.read_lines(file, offset, problems, report_from=known):
        reader.take(line, is_new=line.start >= resume_state.known)
        known = max(known, line.end)
    is_news = known > resume_state.known
    if is_news and not reader.is_known and not offset:
        what = "no line is of a form that is known here"
        problems.add_unknown(what, record.origin.host, record.path.name)
    elif is_news:
        reader.finish()
    assembler.finish(END_OF_TIME if reader.is_over else record.stopped_at)
    fingerprint = jsonl.fingerprint(file, assembler.resume)
    listed = problems.all() if is_news else ()
    return assembler.reading(known, fingerprint, listed, record.cwd), reader


def whole_assembler(
    record: Record, cursor: Cursor, completed: Callable[[Turn], Turn] = lambda turn: turn
) -> TurnAssembler:
    """What takes the messages of a record that is read from its start each time."""
    resume_state = resume_state_of(cursor).of_whole()
    return TurnAssembler(record.origin, resume_state, record.now, completed, is_whole=True)


def resume_state_of(cursor: Cursor) -> ResumeState:
    """What a cursor holds about the record; nothing where it is damaged."""
    return stored(pending(cursor), "carry", ResumeState)
