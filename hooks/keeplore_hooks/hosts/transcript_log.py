"""Reading a host's record that is a log of JSON lines: bytes → lines → events, and where to
go on.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from keeplore_hooks.events import HostEvent, Origin, Turn
from keeplore_hooks.hosts import jsonl, zstd
from keeplore_hooks.hosts.base import Cursor, Reading
from keeplore_hooks.hosts.jsonl import Json, Line, Problems, mapping
from keeplore_hooks.hosts.pending_prompts import Announced
from keeplore_hooks.hosts.turn_assembly import Assembler, Carry, Read

SUFFIX = ".jsonl"
END_OF_TIME = "9999"


@dataclass(frozen=True, slots=True)
class Source:
    """A record, and what is known of it from outside."""

    path: Path
    origin: Origin
    now: str  # stands in for the time of a record that has none


class Lines(Protocol):
    """Takes the lines of one host's log and tells an assembler what they mean."""

    is_known: bool  # at least one line was of a form that is read here
    is_subagent: bool
    is_over: bool  # the host said that the turn which is going on has ended
    tasks: dict[str, str]  # turn → the host's id of what it does about it, of the turns just read

    def take(self, line: Line, *, is_new: bool) -> None:
        """Take one line; ``is_new`` is False for one that an earlier reading has taken too."""

    def state(self) -> Json:
        """What must be known about the lines before the place where the next reading starts."""


Reader = Callable[[Assembler, Problems, Json], Lines]  # the last is the state of the reading before


@dataclass(frozen=True, slots=True)
class Log:
    """What a log gave; ``state`` goes into the cursor."""

    read: Read
    state: Json
    tasks: Mapping[str, str]
    is_subagent: bool

    def turns(self) -> tuple[Turn, ...]:
        """The turns just read in their last form, the turn at the end of the log among them."""
        turns = (turn for turn in (*self.read.events, self.read.last) if isinstance(turn, Turn))
        return tuple({turn.id: turn for turn in turns}.values())

    def announced(self, cursor: Cursor) -> Announced:
        """What is known of announced prompts behind this reading."""
        return announced_in(cursor).with_turns(
            (self.tasks.get(turn.id, ""), turn) for turn in self.turns()
        )

    def reading(self, announced: Announced, told: Iterable[HostEvent] = ()) -> Reading:
        after = self.read.cursor(state=self.state, announced=announced.to_data())
        return Reading((*self.read.events, *told), after, self.read.problems)


def read(source: Source, cursor: Cursor, reader: Reader, stopped_at: str = "") -> Log:
    """The events behind the cursor; the last turn is complete when its last word came by
    ``stopped_at``.

    Raises OSError.
    """
    carry, state, offset, problems = (
        carry_of(cursor),
        pending(cursor).get("state"),
        cursor.offset,
        Problems(),
    )
    with zstd.open_record(source.path) as file:
        if not 0 <= offset <= carry.known or jsonl.fingerprint(file, offset) != cursor.fingerprint:
            carry, state, offset = Carry(), None, 0
        assembler = Assembler(source.origin, carry, source.now)
        assembler.resume = offset
        lines = reader(assembler, problems, state if isinstance(state, dict) else {})
        known = carry.known
        for line in jsonl.read_lines(file, offset, problems, report_from=known):
            lines.take(line, is_new=line.start >= carry.known)
            known = max(known, line.end)
        if not lines.is_known and not offset and known > carry.known:
            host = source.origin.host
            problems.add(
                f"no line is of a form that is known here; a newer {host} may have written "
                f"{source.path.name}"
            )
        assembler.finish(END_OF_TIME if lines.is_over else stopped_at)
        fingerprint = jsonl.fingerprint(file, assembler.resume)
    given = Read(
        tuple(assembler.events),
        assembler.resume,
        fingerprint,
        assembler.carry(known, ""),
        assembler.last(),
        problems.all(),
    )
    return Log(given, lines.state(), lines.tasks, lines.is_subagent)


def read_for(
    origin: Origin, cursor: Cursor, reader: Reader, now: str, stopped_at: str
) -> Log | str:
    """The log of the session that a payload is about; in its place a problem, or ``""`` where there
    is no log.
    """
    if not origin.transcript:
        return ""
    path = jsonl.record_path(origin.transcript, SUFFIX)
    if path is None:
        return f"the transcript's path is not that of a {SUFFIX} file"
    try:
        return read(
            Source(path, replace(origin, transcript=str(path)), now), cursor, reader, stopped_at
        )
    except FileNotFoundError:
        return ""  # not written yet, or switched off
    except OSError as e:
        return f"the transcript cannot be read: {e}"


def read_recorded(path: Path, origin: Origin, cursor: Cursor, reader: Reader) -> Reading:
    """The events of a recorded session; its last turn is taken for complete."""
    try:
        now = datetime.fromtimestamp(path.stat().st_mtime, UTC).isoformat()[:19] + "Z"
        log = read(Source(path, origin, now), cursor, reader, END_OF_TIME)
    except (OSError, ValueError, OverflowError) as e:
        return Reading((), cursor, (f"the transcript cannot be read: {e}",))
    return Reading((), cursor) if log.is_subagent else log.reading(log.announced(cursor))


def without_log(
    cursor: Cursor, announced: Announced, told: Iterable[HostEvent], problem: str, **more: object
) -> Reading:
    """What a payload alone gives; ``more`` is kept in the cursor."""
    kept = {**pending(cursor), "announced": announced.to_data(), **more}
    return Reading(
        tuple(told), replace(cursor, pending=json.dumps(kept)), (problem,) if problem else ()
    )


def announced_in(cursor: Cursor) -> Announced:
    return Announced.from_data(mapping(pending(cursor), "announced"))


def carry_of(cursor: Cursor) -> Carry:
    """What a cursor holds about the record; nothing where it is damaged."""
    try:
        return Carry.from_data(json.loads(cursor.pending)["carry"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return Carry()


def pending(cursor: Cursor) -> Json:
    """What an adapter keeps in a cursor."""
    return jsonl.load(cursor.pending.encode("utf-8", "surrogatepass")) or {}
