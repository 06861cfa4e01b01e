"""Reading a host's record from a cursor: bytes → messages → events, and where to go on.

A record is a log of JSON lines that grows, or one text that is rewritten and read as a whole.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import BinaryIO, TypeVar

from keeplore_hooks.hosts import jsonl
from keeplore_hooks.hosts.base import Cursor
from keeplore_hooks.hosts.jsonl import Problems, read_lines
from keeplore_hooks.hosts.turn_assembly import (
    Record,
    RecordReading,
    TurnReader,
    resume_state_of,
)

END_OF_TIME = "9999"

_Reader = TypeVar("_Reader", bound=TurnReader)


def read_log(
    file: BinaryIO,
    record: Record,
    cursor: Cursor,
    start_reader: Callable[[Record, Cursor, Problems], _Reader],
) -> tuple[RecordReading, _Reader]:
    """The events of a log behind the cursor, or of all of it where it is not the log that was read.
    Raises OSError.
    """
    before, problems = resume_state_of(cursor).known, Problems()
    is_grown = 0 <= cursor.offset <= before
    if not is_grown or jsonl.fingerprint(file, cursor.offset) != cursor.fingerprint:
        before, cursor = 0, Cursor()
    reader = start_reader(record, cursor, problems)
    known = before
    for line in read_lines(
        file,
        cursor.offset,
        problems,
        report_from=before,
    ):
        reader.is_new = line.start >= before
        reader.take(line)
        known = max(known, line.end)
    is_news = known > before
    if is_news and not reader.is_known and not cursor.offset:
        problems.add_unknown(
            "no line is of a form that is known here",
            record.origin.host,
            record.path.name,
        )
    elif is_news:
        reader.report()
    reader.finish(END_OF_TIME if reader.is_over else record.stopped_at)
    fingerprint = jsonl.fingerprint(file, reader.resume)
    listed = problems.all() if is_news else ()
    return reader.reading(known, fingerprint, listed), reader
