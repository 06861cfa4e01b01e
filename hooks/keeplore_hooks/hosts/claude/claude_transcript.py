"""Reading a Claude Code transcript from a cursor: bytes → lines → events, and where to go on."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import BinaryIO

from keeplore_hooks.events import Command, HostEvent, Turn
from keeplore_hooks.hosts import jsonl
from keeplore_hooks.hosts.base import Cursor, Recorded, recorded_at
from keeplore_hooks.hosts.claude.claude_lines import HOST
from keeplore_hooks.hosts.claude.claude_open_turn import ClaudeResumeState
from keeplore_hooks.hosts.claude.claude_turns import ClaudeTurnAssembler
from keeplore_hooks.hosts.cursor_state import stored_state
from keeplore_hooks.hosts.jsonl import (
    Problems,
    open_regular,
    read_lines,
    text,
    utc_time,
)
from keeplore_hooks.hosts.turn_assembly import turns_in
from keeplore_hooks.typed_json import MALFORMED, decoded

SUFFIX = ".jsonl"
_HEAD_LINES = 200  # in which a session says where and when it began
_HEAD_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class ClaudeMissingPrompt:
    """A prompt that the transcript lacks."""

    id: str
    text: str
    at: str
    after: str = ""  # id of the last turn that the transcript had
    answers: tuple[str, ...] = ()  # that only payloads told of


@dataclass(frozen=True, slots=True)
class ClaudeState:
    """What a cursor holds beside the offset."""

    known: int = 0  # bytes that were read, whole lines
    is_open: bool = False  # the last turn was given as incomplete
    latest: str = ""  # newest time in the transcript
    carry: ClaudeResumeState = field(default_factory=ClaudeResumeState)
    prompt: ClaudeMissingPrompt | None = None
    counted: str = ""  # id of the newest turn that ``ahead`` takes account of
    # keys of prompts that the transcript had before a payload announced them
    ahead: tuple[str, ...] = ()
    announced: str = ""  # key of the prompt that a payload announced last
    aside: tuple[str, ...] = ()  # keys of the last words of other terminals' turns
    # commands with a short name of ours that are not ours: "user:remember"
    others: tuple[str, ...] = ()

    def to_json(self) -> str:
        return json.dumps(asdict(self), separators=(",", ":"))

    @staticmethod
    def from_cursor(cursor: Cursor) -> ClaudeState:
        """The state that a cursor holds; the first state where it is damaged."""
        try:
            return decoded(ClaudeState, stored_state(cursor))
        except MALFORMED:
            return ClaudeState()


@dataclass(frozen=True, slots=True)
class ClaudeReading:
    """What a transcript gave: ``last`` is the turn at its end, given as an event or not."""

    events: tuple[HostEvent, ...]
    offset: int
    fingerprint: str
    state: ClaudeState
    last: Turn | None
    # the host's id of the last turn's prompt, where the transcript has it
    prompt: str
    # turns of other terminals: those of ``events`` that have grown though they are not the last
    aside: tuple[Turn, ...]
    begun_earlier: tuple[str, ...]  # ids of those among them that were read before
    problems: tuple[str, ...]

    def cursor(self, state: ClaudeState) -> Cursor:
        return Cursor(self.offset, self.fingerprint, state.to_json())

    def turns(self) -> dict[str, Turn]:
        """The turns just read in their last form, the turn at the end of the transcript among
        them.
        """
        return turns_in((*self.events, self.last))


def with_owner(event: HostEvent, others: Iterable[str]) -> HostEvent:
    """The event, a command of somebody else's under its full name: a transcript has only its short
    name.
    """
    if not isinstance(event, Command):
        return event
    names = (other for other in others if other.rpartition(":")[2] == event.name)
    return replace(event, name=next(names, event.name))


@dataclass(slots=True)
class ClaudePass:
    """One way through the lines from ``offset`` on."""

    assembler: ClaudeTurnAssembler
    offset: int  # bytes
    known: int  # bytes that were read, whole lines
    problems: Problems = field(default_factory=Problems)
    # where the next reading starts, where the last line lacks its newline
    resume: tuple[int, ClaudeResumeState] | None = None

    @staticmethod
    def read(
        path: Path,
        file: BinaryIO,
        offset: int,
        state: ClaudeState,
    ) -> ClaudePass:
        known = state.known
        assembler = ClaudeTurnAssembler(
            str(path),
            state.carry,
            known,
            is_open=state.is_open,
        )
        run = ClaudePass(assembler, offset, known)
        for line in read_lines(
            file,
            offset,
            run.problems,
            report_from=known,
        ):
            # without its newline: it counts now, and again later
            if line.end == line.start:
                run.resume = assembler.resume_at()
            assembler.take(line)
            run.known = max(run.known, line.end)
        return run

    def add_problems(self, path: Path, *, is_news: bool) -> None:
        """Say what could not be read."""
        counts = self.assembler.counts
        if is_news and counts.other and not counts.known and not self.offset:
            what = "no line is of a form that is known here"
            self.problems.add_unknown(what, HOST, path.name)
        if counts.strange:
            what = f"{counts.strange} lines hold no message"
            self.problems.add_unknown(what, HOST, path.name)


def read(
    path: Path,
    cursor: Cursor,
    session: str,
    stopped_at: str = "",
) -> ClaudeReading:
    """The events behind the cursor; the last turn is complete when its last word came by
    ``stopped_at``.

    The text of tool calls and results is not kept, so memory grows with what was said alone. Raises
    OSError.
    """
    state, offset = ClaudeState.from_cursor(cursor), cursor.offset
    start = ClaudeResumeState(session=session)
    with open_regular(path) as file:
        is_grown = 0 <= offset <= state.known
        if not is_grown or jsonl.fingerprint(file, state.known) != cursor.fingerprint:
            state = ClaudeState(carry=start, prompt=state.prompt, others=state.others)
            offset = 0
        run = ClaudePass.read(
            path,
            file,
            offset,
            state,
        )
        if run.assembler.is_lost and offset:
            # another terminal goes on with a turn that lies further back
            run = ClaudePass.read(
                path,
                file,
                0,
                replace(state, carry=start),
            )
            run.offset = offset
        run.assembler.finish(stopped_at)
        run.add_problems(path, is_news=run.known > state.known)
        fingerprint = jsonl.fingerprint(file, run.known)
    return _reading(run, state, fingerprint)


def _reading(
    run: ClaudePass,
    state: ClaudeState,
    fingerprint: str,
) -> ClaudeReading:
    """What the pass gave, with the state from which the next one starts."""
    assembler = run.assembler
    last = assembler.open
    offset, carry = run.resume or assembler.resume_at()
    aside = [turn for turn in assembler.side.given.values() if turn is not last]
    begun_earlier = [turn.id for turn in aside if turn.prompt.start < state.known]
    after = replace(
        state,
        known=run.known,
        is_open=last is not None and not last.was_complete,
        latest=max(state.latest, assembler.line.latest),
        carry=carry,
    )
    return ClaudeReading(
        tuple(with_owner(event, state.others) for event in assembler.events),
        offset,
        fingerprint,
        after,
        last=last.turn(is_complete=last.was_complete) if last else None,
        prompt=last.prompt.host_id if last else "",
        aside=tuple(turn.turn(is_complete=True) for turn in aside),
        begun_earlier=tuple(begun_earlier),
        problems=run.problems.all(),
    )


def recorded(base: Path) -> Iterator[Recorded]:
    """The sessions under a configuration directory in the order of their paths, without those of
    subagents.
    """
    for folder in sorted(base.glob("projects/*")):
        yield from recorded_in(folder)


def recorded_in(folder: Path) -> Iterator[Recorded]:
    """The sessions of one project's folder."""
    paths = sorted(folder.glob(f"*{SUFFIX}"))
    own = (path for path in paths if not path.name.startswith("agent-"))
    return recorded_at(own, _recorded_session)


def _recorded_session(path: Path) -> Recorded | None:
    cwd = started_at = ""
    session = path.stem
    with open_regular(path) as file:
        size = file.seek(0, 2)
        for number, line in enumerate(read_lines(file, 0, Problems())):
            if line.data.get("isSidechain") and not cwd:
                return None  # a subagent's, under another name
            cwd = text(line.data, "cwd")
            started_at = started_at or utc_time(text(line.data, "timestamp"))
            session = text(line.data, "sessionId") or session
            if cwd or number >= _HEAD_LINES or line.end > _HEAD_BYTES:
                break
    return Recorded(
        path,
        session,
        cwd,
        started_at,
        size,
    )
