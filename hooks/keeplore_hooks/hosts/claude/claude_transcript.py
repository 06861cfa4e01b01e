"""Reading a Claude Code transcript from a cursor: bytes → lines → events, and where to go on."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO

from keeplore_hooks.events import Command, HostEvent, Turn
from keeplore_hooks.hosts import jsonl
from keeplore_hooks.hosts.base import Cursor, Recorded
from keeplore_hooks.hosts.claude.claude_lines import HOST
from keeplore_hooks.hosts.claude.claude_open_turn import Carry
from keeplore_hooks.hosts.claude.claude_turns import Assembler

SUFFIX = ".jsonl"
_HEAD_LINES = 200  # in which a session says where and when it began
_HEAD_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class Missing:
    """A prompt that the transcript lacks."""

    id: str
    text: str
    at: str
    after: str = ""  # id of the last turn that the transcript had


@dataclass(frozen=True, slots=True)
class State:
    """What a cursor holds beside the offset."""

    known: int = 0  # bytes that were read, whole lines
    is_open: bool = False  # the last turn was given as incomplete
    latest: str = ""  # newest time in the transcript
    carry: Carry = field(default_factory=Carry)
    prompt: Missing | None = None
    counted: str = ""  # id of the newest turn that ``ahead`` takes account of
    ahead: tuple[
        str, ...
    ] = ()  # keys of prompts that the transcript had before a payload announced them
    announced: str = ""  # key of the prompt that a payload announced last
    aside: tuple[str, ...] = ()  # keys of the last words of other terminals' turns
    others: tuple[
        str, ...
    ] = ()  # commands with a short name of ours that are not ours: "user:remember"

    def to_json(self) -> str:
        return json.dumps(asdict(self), separators=(",", ":"))

    @staticmethod
    def from_json(pending: str) -> State:
        """The state that a cursor holds; the first state where the text is none."""
        try:
            data = json.loads(pending)
            carry = data["carry"]
            prompt = data["prompt"]
            return State(
                known=int(data["known"]),
                is_open=bool(data["is_open"]),
                latest=str(data["latest"]),
                carry=Carry(
                    queue=tuple(map(str, carry["queue"])),
                    seen=tuple(map(str, carry["seen"])),
                    at=str(carry["at"]),
                    is_old=bool(carry["is_old"]),
                    session=str(carry["session"]),
                    cwd=str(carry["cwd"]),
                    branch=str(carry["branch"]),
                ),
                prompt=Missing(**{key: str(prompt[key]) for key in ("id", "text", "at", "after")})
                if prompt
                else None,
                counted=str(data["counted"]),
                ahead=tuple(map(str, data["ahead"])),
                announced=str(data["announced"]),
                aside=tuple(map(str, data["aside"])),
                others=tuple(map(str, data["others"])),
            )
        except (ValueError, KeyError, TypeError, IndexError, RecursionError):
            return State()


@dataclass(frozen=True, slots=True)
class Read:
    """What a transcript gave: ``last`` is the turn at its end, given as an event or not."""

    events: tuple[HostEvent, ...]
    offset: int
    fingerprint: str
    state: State
    last: Turn | None = None
    prompt: str = ""  # the host's id of the last turn's prompt, where the transcript has it
    aside: tuple[Turn, ...] = ()  # those of ``events`` that have grown though they are not the last
    again: tuple[str, ...] = ()  # ids of those among them that began in an earlier reading
    problems: tuple[str, ...] = ()

    def cursor(self, state: State) -> Cursor:
        return Cursor(self.offset, self.fingerprint, state.to_json())


def told_apart(event: HostEvent, others: Iterable[str]) -> HostEvent:
    """A command that is somebody else's under the name that says whose; a transcript has its short
    name alone.
    """
    if not isinstance(event, Command):
        return event
    name = next((other for other in others if other.rpartition(":")[2] == event.name), event.name)
    return replace(event, name=name)


def transcript_path(name: Any) -> Path | None:
    """The file that a payload names; None when the name is not that of a transcript."""
    return jsonl.record_path(name, SUFFIX)


def read(path: Path, cursor: Cursor, session: str, stopped_at: str = "") -> Read:
    """The events behind the cursor; the last turn is complete when its last word came by
    ``stopped_at``.

    The text of tool calls and results is not kept, so memory grows with what was said alone. Raises
    OSError.
    """
    state = State.from_json(cursor.pending)
    problems = jsonl.Problems()
    with jsonl.open_regular(path) as file:
        offset = cursor.offset
        if (
            not 0 <= offset <= state.known
            or jsonl.fingerprint(file, state.known) != cursor.fingerprint
        ):
            offset, state = (
                0,
                State(carry=Carry(session=session), prompt=state.prompt, others=state.others),
            )
        passed = _pass(path, file, offset, state, problems)
        if (
            passed.assembler.is_lost and offset
        ):  # another terminal goes on with a turn that lies further back
            problems = jsonl.Problems()
            passed = _pass(path, file, 0, replace(state, carry=Carry(session=session)), problems)
        assembler = passed.assembler
        assembler.finish(stopped_at)
        if (
            assembler.other_types
            and not assembler.known_types
            and not offset
            and passed.known > state.known
        ):
            problems.add(
                f"no line is of a form that is known here; a newer {HOST} may have written "
                f"{path.name}"
            )
        if assembler.strange:
            problems.add(
                f"{assembler.strange} lines hold no message; a newer {HOST} may have written "
                f"{path.name}"
            )
        offset, carry = passed.resume or assembler.resume_at()
        fingerprint = jsonl.fingerprint(file, passed.known)
    turn = assembler.open
    grown = [aside for aside in assembler.aside.values() if aside is not turn]
    again = tuple(aside.id for aside in grown if aside.start < state.known)
    state = replace(
        state,
        known=passed.known,
        is_open=turn is not None and not turn.was_complete,
        latest=max(state.latest, assembler.latest),
        carry=carry,
    )
    return Read(
        tuple(told_apart(event, state.others) for event in assembler.events),
        offset,
        fingerprint,
        state,
        turn.turn(is_complete=turn.was_complete) if turn else None,
        turn.prompt if turn else "",
        tuple(aside.turn(is_complete=True) for aside in grown),
        again,
        problems.all(),
    )


@dataclass(frozen=True, slots=True)
class _Passed:
    """What became of the lines from a place on; ``resume`` is set where the last one lacks its
    newline.
    """

    assembler: Assembler
    known: int  # bytes
    resume: tuple[int, Carry] | None


def _pass(
    path: Path, file: BinaryIO, offset: int, state: State, problems: jsonl.Problems
) -> _Passed:
    assembler = Assembler(str(path), state.carry, state.known, is_open=state.is_open)
    known, resume = state.known, None
    for line in jsonl.read_lines(file, offset, problems, report_from=known):
        if line.end == line.start:  # without its newline: it counts now, and will be read again
            resume = assembler.resume_at()
        assembler.feed(line)
        known = max(known, line.end)
    return _Passed(assembler, known, resume)


def recorded(base: Path) -> Iterator[Recorded]:
    """The sessions under a configuration directory in the order of their paths, without those of
    subagents.
    """
    for folder in sorted(base.glob("projects/*")):
        yield from recorded_in(folder)


def recorded_in(folder: Path) -> Iterator[Recorded]:
    """The sessions of one project's folder."""
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        if path.name.startswith("agent-"):
            continue
        try:
            found = _recorded(path)
        except OSError:
            continue  # it went away, or is no regular file
        if found:
            yield found


def _recorded(path: Path) -> Recorded | None:
    cwd = started_at = ""
    session = path.stem
    with jsonl.open_regular(path) as file:
        size = file.seek(0, 2)
        for number, line in enumerate(jsonl.read_lines(file, 0, jsonl.Problems())):
            if line.data.get("isSidechain") and not cwd:
                return None  # a subagent's, under another name
            cwd = jsonl.text(line.data, "cwd")
            started_at = started_at or jsonl.time(jsonl.text(line.data, "timestamp"))
            session = jsonl.text(line.data, "sessionId") or session
            if cwd or number >= _HEAD_LINES or line.end > _HEAD_BYTES:
                break
    return Recorded(path, session, cwd, started_at, size) if size else None
