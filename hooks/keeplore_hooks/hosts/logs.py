"""Reading a host's record that is a log of JSON lines: bytes → lines → events, and where to go on."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from keeplore_hooks.events import Origin
from keeplore_hooks.hosts import jsonl
from keeplore_hooks.hosts.assembly import Assembler, Carry, Read
from keeplore_hooks.hosts.base import Cursor
from keeplore_hooks.hosts.jsonl import Json, Line, Problems

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
    is_subagent: bool


def read(source: Source, cursor: Cursor, reader: Reader, stopped_at: str = "") -> Log:
    """The events behind the cursor; the last turn is complete when its last word came by ``stopped_at``.

    Raises OSError.
    """
    carry, state, offset, problems = carry_of(cursor), pending(cursor).get("state"), cursor.offset, Problems()
    with jsonl.open_regular(source.path) as file:
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
            problems.add(f"no line is of a form that is known here; a newer {host} may have written {source.path.name}")
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
    return Log(given, lines.state(), lines.is_subagent)


def carry_of(cursor: Cursor) -> Carry:
    """What a cursor holds about the record; nothing where it is damaged."""
    try:
        return Carry.from_data(json.loads(cursor.pending)["carry"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return Carry()


def pending(cursor: Cursor) -> Json:
    """What an adapter keeps in a cursor."""
    return jsonl.load(cursor.pending.encode("utf-8", "surrogatepass")) or {}
