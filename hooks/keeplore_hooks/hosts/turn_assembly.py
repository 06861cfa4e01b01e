"""The turns of a host whose record is a list of messages, and what is remembered between two
readings of it.

The last turn of a record is read again each time, because it may grow. What an earlier reading has
given is known by a digest for each event, so nothing is given twice and whatever changed is given
again, whole.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import ClassVar

from keeplore_hooks.events import (
    Command,
    Compaction,
    CompactionPhase,
    EventKind,
    HostEvent,
    Origin,
    Question,
    Turn,
    to_json,
)
from keeplore_hooks.hosts.base import Cursor
from keeplore_hooks.hosts.cursor_state import stored_object, stored_state
from keeplore_hooks.hosts.jsonl import (
    Json,
    JsonLine,
    Problems,
    digest,
    short_digest,
    text,
    utc_time,
)
from keeplore_hooks.hosts.work_log import WorkLog

SEEN_LIMIT = 2000  # messages whose repetition is noticed
GIVEN_LIMIT = 20_000  # events of a record that is read from its start each time
ID_LENGTH = 100  # characters; a longer id of the host's is none
_COMPLETE = "!"  # ends the digest of a turn that was given as complete


@dataclass(frozen=True, slots=True)
class ResumeState:
    """What is known about the record where reading goes on."""

    known: int = 0  # bytes that were read, whole lines
    at: str = ""  # newest time of all
    before: str = ""  # newest time before that place
    began: str = ""  # time of the turn that begins there
    cwd: str = ""
    seen: tuple[str, ...] = ()  # keys of the messages before that place
    # event → digest, of what comes again from there on
    given: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Record:
    """A record, and what is known of it from outside."""

    path: Path
    origin: Origin
    now: str  # stands in for the time of a record that has none
    stopped_at: str = ""  # the last turn is complete when its last word came by then
    cwd: str = ""  # to be kept, where the record does not tell it


@dataclass(frozen=True, slots=True)
class RecordReading:
    """What a record gave: ``last`` is the turn at its end, given as an event or not."""

    events: tuple[HostEvent, ...]
    offset: int
    fingerprint: str
    resume_state: ResumeState
    last: Turn | None = None
    problems: tuple[str, ...] = ()

    def cursor(self, **more: object) -> Cursor:
        """The cursor behind this reading; ``more`` is the adapter's own part of it."""
        return Cursor(
            self.offset, self.fingerprint, pending_of(self.resume_state, **more)
        )

    def turns(self) -> dict[str, Turn]:
        """The turns just read in their last form, the turn at the end of the record among them."""
        return turns_in((*self.events, self.last))


@dataclass(slots=True)
class OpenTurn:
    """The turn that is going on."""

    id: str
    origin: Origin
    at: str
    user: str
    ended_at: str = ""
    is_over: bool = False  # the record says so
    log: WorkLog = field(default_factory=WorkLog)
    # by message or call, in order of appearance
    _replies: dict[str, str | Question] = field(default_factory=dict)

    def say(self, key: str, words: str, at: str) -> None:
        """Take the assistant's words; a message that is recorded again takes the place of its
        earlier form.
        """
        if words:
            self._replies[key] = words
            self.ended_at = max(self.ended_at, at)

    def ask(self, question: Question) -> None:
        self._replies[question.id] = question
        self.ended_at = max(self.ended_at, question.at)

    def turn(self, *, is_complete: bool) -> Turn:
        return Turn(
            self.id,
            self.origin,
            self.at,
            self.user,
            tuple(self._replies.values()),
            self.ended_at,
            self.log.work(),
            is_complete=is_complete,
        )


class GivenEvents:
    """Which events were given, by a digest of each."""

    def __init__(self, given: Mapping[str, str]) -> None:
        self._given = dict(given)
        # those behind the place where reading starts next
        self._window: dict[str, str] = {}

    def begin_window(self) -> None:
        self._window = {}

    def has(self, event: HostEvent) -> bool:
        return _key(event) in self._given

    def is_complete(self, turn_id: str) -> bool:
        """Was the turn given as complete?"""
        return self._given.get(f"{EventKind.TURN} {turn_id}", "").endswith(_COMPLETE)

    def add(self, event: HostEvent) -> bool:
        """Record an event as given in its present form; returns whether it had not been. Of an
        event that is recorded twice the first counts.
        """
        key = _key(event)
        if key in self._window:
            return False
        before, self._window[key] = self._given.get(key), short_digest(to_json(event))
        self._given[key] = self._window[key]
        return before != self._window[key]

    def add_if_grown(self, turn: Turn) -> bool:
        """Record a turn as given; returns whether it had not been in this form, or only as one that
        is going on.
        """
        key, digest = _key(turn), short_digest(to_json(replace(turn, is_complete=True)))
        before = self._given.get(key, "")
        is_same = before.removesuffix(_COMPLETE) == digest
        if is_same and (before.endswith(_COMPLETE) or not turn.is_complete):
            self._window[key] = before
            return False
        self._window[key] = self._given[key] = digest + (
            _COMPLETE if turn.is_complete else ""
        )
        return True

    def kept(self) -> dict[str, str]:
        return dict(list(self._window.items())[-GIVEN_LIMIT:])


class SeenMessages:
    """Which messages were read, by their keys."""

    def __init__(self, seen: tuple[str, ...]) -> None:
        self._seen = set(seen)  # before the turn that is going on
        self._before = dict.fromkeys(seen)  # before the place where reading starts next
        self._since: list[str] = []  # behind it

    def has(self, key: str) -> bool:
        """Was the message read before the turn that is going on?"""
        return short_digest(key) in self._seen

    def add(self, key: str) -> None:
        self._since.append(short_digest(key))

    def begin_turn(self) -> None:
        self._seen.update(self._since)

    def begin_window(self) -> None:
        self._before.update(dict.fromkeys(self._since))
        self._since = []

    def kept(self) -> tuple[str, ...]:
        return tuple(self._before)[-SEEN_LIMIT:]


class TurnAssembler:
    """Takes what messages mean, keeps the turn that is going on, and lists events."""

    def __init__(
        self,
        record: Record,
        cursor: Cursor,
        completed: Callable[[Turn], Turn] = lambda turn: turn,
        *,
        is_whole: bool = False,
    ) -> None:
        state = resume_state_of(cursor)
        if is_whole:
            state = ResumeState(began=state.began, given=state.given)
        self.origin = record.origin
        self.events: list[HostEvent] = []
        self.open: OpenTurn | None = None
        self.latest = state.before  # the newest time so far
        # bytes; where the next reading starts
        self.resume = 0 if is_whole else cursor.offset
        self.is_whole = is_whole  # the record is read from its start each time
        self._cwd = record.cwd
        self._before = state.before
        self._now = state.began or record.now
        self._completed = completed  # adds what is known of a turn from elsewhere
        self._given = GivenEvents(state.given)
        self._seen = SeenMessages(state.seen)

    def time(self, at: str) -> str:
        """The time of a message, or the nearest known where it has none."""
        return at or self.latest or self._now

    def is_repeated(self, key: str) -> bool:
        """Was the message read before the turn that is going on?"""
        return self._seen.has(key)

    def mark_read(self, key: str, at: str) -> None:
        """Remember that a message was read, and its time."""
        self.advance_time(at)
        self._seen.add(key)

    def advance_time(self, at: str) -> None:
        self.latest = max(self.latest, at)

    def begin(
        self,
        turn_id: str,
        prompt: str,
        at: str,
        start: int | None,
        command: tuple[str, str] | None = None,
    ) -> OpenTurn:
        """Begin a turn, and give the command that its prompt calls.

        ``start`` (bytes) is where its first line begins, None where reading has to start anew.
        """
        turn = OpenTurn(turn_id, self.origin, self.time(at), prompt)
        self.end()
        self._seen.begin_turn()
        if start is not None and not self.is_whole:
            self._seen.begin_window()
            self._given.begin_window()
            self.resume, self._before = start, self.latest
        self.open = turn
        if command:
            self.emit(Command(turn.id, turn.origin, turn.at, *command))
        return turn

    def end(self) -> None:
        """End the turn that is going on."""
        if self.open:
            self._give_turn(self._completed(self.open.turn(is_complete=True)))

    def finish(self, stopped_at: str) -> None:
        """Give the turn that is going on; it is complete when nothing was said since
        ``stopped_at``.
        """
        if self.open:
            turn = self._completed(self.open.turn(is_complete=self.open.is_over))
            is_silent = max(turn.at, turn.ended_at) <= stopped_at
            self._give_turn(replace(turn, is_complete=turn.is_complete or is_silent))

    def emit(self, event: HostEvent) -> None:
        if self._given.add(event):
            self.events.append(event)

    def answer(self, turn: OpenTurn, question: Question) -> None:
        """Take a question with its answer."""
        turn.ask(question)
        self.emit(question)

    def key(self, *parts: str) -> str:
        """An id for what the record has no id of; the same whenever these parts are read."""
        return f"{self.origin.host}:{digest(self.origin.session, *parts)}"

    def compact(self, event_id: str, at: str, summary: str, trigger: str = "") -> None:
        """Give what was said so far, so that it can be kept before anything is shortened, and then
        the compaction.
        """
        phase, moment = CompactionPhase.AFTER, self.time(at)
        event = Compaction(event_id, self.origin, moment, phase, trigger, summary)
        # read again, the turn has its later form already
        if not self._given.has(event):
            self.finish("")
        self.emit(event)

    def last(self) -> Turn | None:
        """The turn that is going on in the form in which it was given."""
        if self.open is None:
            return None
        is_complete = self._given.is_complete(self.open.id)
        return self._completed(self.open.turn(is_complete=is_complete))

    def reading(
        self, known: int, fingerprint: str, problems: tuple[str, ...] = ()
    ) -> RecordReading:
        """What the record gave, of which ``known`` bytes were read."""
        began = self.open.at if self.open else ""
        resume_state = ResumeState(
            known,
            self.latest,
            self._before,
            began,
            self._cwd,
            self._seen.kept(),
            self._given.kept(),
        )
        return RecordReading(
            tuple(self.events),
            self.resume,
            fingerprint,
            resume_state,
            self.last(),
            problems,
        )

    def _give_turn(self, turn: Turn) -> None:
        if self._given.add_if_grown(turn):
            self.events.append(turn)


class TurnReader(TurnAssembler):
    """Knows what the lines of one host's record mean."""

    program: ClassVar[str] = ""  # as problems call it

    def __init__(
        self,
        record: Record,
        cursor: Cursor,
        problems: Problems,
        completed: Callable[[Turn], Turn] = lambda turn: turn,
        *,
        is_whole: bool = False,
    ) -> None:
        super().__init__(record, cursor, completed, is_whole=is_whole)
        self.is_known = False  # at least one line was of a form that is read here
        self.is_subagent = False
        self.is_over = False  # the host said that the turn which is going on has ended
        # turn → the host's id of what it does about it, of the turns just read
        self.tasks: dict[str, str] = {}
        self.is_new = True  # the line was not taken by an earlier reading
        self._problems = problems
        self._left_out: set[str] = set()

    def take(self, line: JsonLine) -> None:
        """Take one line."""

    def state(self) -> Json:
        """What must be known about the lines before the place where the next reading starts."""
        return {}

    def report(self) -> None:
        """Say what could not be read."""

    def leave_out(self, what: str) -> None:
        """Say once that what cannot be read is left out."""
        if what not in self._left_out:
            self._left_out.add(what)
            what = f"{what} are not known here and were left out"
            self._problems.add_unknown(what, self.program, "them")


class PlacedTurnReader(TurnReader):
    """Reads a log whose lines have a time each, and of which some tell where the session is."""

    def __init__(self, record: Record, cursor: Cursor, problems: Problems) -> None:
        super().__init__(record, cursor, problems)
        self._outer = record.origin
        self._is_replay = False  # what was read before a turn began stands here again
        self._start = 0  # bytes, of the line that is being read
        self._at = ""

    def _begin_line(self, line: JsonLine) -> None:
        self._start = line.start
        self._at = utc_time(text(line.data, "timestamp")) or self._at

    def _place_turns(self, cwd: str, branch: str, agent: str = "") -> None:
        """Note where the turns are from here on; ``""`` for where the payload says."""
        outer = self._outer
        self.origin = replace(
            outer,
            cwd=cwd or outer.cwd,
            branch=branch,
            agent_name=agent or outer.agent_name,
        )


def resume_state_of(cursor: Cursor) -> ResumeState:
    """What a cursor holds about the record; nothing where it is damaged."""
    return stored_object(stored_state(cursor), "carry", ResumeState)


def turns_in(events: Iterable[HostEvent | None]) -> dict[str, Turn]:
    """The turns among these events in their last form, by id."""
    return {event.id: event for event in events if isinstance(event, Turn)}


def pending_of(resume_state: ResumeState, **more: object) -> str:
    """The state that a cursor keeps beside the offset, as JSON."""
    return json.dumps({"carry": asdict(resume_state), **more}, separators=(",", ":"))


def _key(event: HostEvent) -> str:
    return f"{event.kind} {event.id}"
