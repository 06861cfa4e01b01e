"""The turns of a host whose record is a list of messages, and what is remembered between two
readings of it.

The last turn of a record is read again each time, because it may grow. What an earlier reading has
given is known by a digest for each event, so nothing is given twice and whatever changed is given
again, whole.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace

from keeplore_hooks.events import Compaction, HostEvent, Origin, Question, Turn, to_json
from keeplore_hooks.hosts.base import Cursor
from keeplore_hooks.hosts.work_log import WorkLog

SEEN_LIMIT = 2000  # messages whose repetition is noticed
GIVEN_LIMIT = 20_000  # events of a record that is read from its start each time
_COMPLETE = "!"  # ends the digest of a turn that was given as complete


@dataclass(frozen=True, slots=True)
class Carry:
    """What is known about the record where reading goes on."""

    known: int = 0  # bytes that were read, whole lines
    at: str = ""  # newest time of all
    before: str = ""  # newest time before that place
    began: str = ""  # time of the turn that begins there
    cwd: str = ""
    seen: tuple[str, ...] = ()  # keys of the messages before that place
    given: Mapping[str, str] = field(
        default_factory=dict
    )  # event → digest, of what comes again from there on

    @staticmethod
    def from_data(data: object) -> Carry:
        """Raises ValueError, KeyError or TypeError where the data are of another shape."""
        if not isinstance(data, dict):
            raise TypeError("no object")
        return Carry(
            known=int(data["known"]),
            at=str(data["at"]),
            before=str(data["before"]),
            began=str(data["began"]),
            cwd=str(data["cwd"]),
            seen=tuple(map(str, data["seen"])),
            given={str(key): str(value) for key, value in dict(data["given"]).items()},
        )


@dataclass(frozen=True, slots=True)
class Read:
    """What a record gave: ``last`` is the turn at its end, given as an event or not."""

    events: tuple[HostEvent, ...]
    offset: int
    fingerprint: str
    carry: Carry
    last: Turn | None = None
    problems: tuple[str, ...] = ()

    def cursor(self, **more: object) -> Cursor:
        """The cursor behind this reading; ``more`` is the adapter's own part of it."""
        return Cursor(self.offset, self.fingerprint, pending_of(self.carry, **more))


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
    _replies: dict[str, str | Question] = field(
        default_factory=dict
    )  # by message or call, in order of appearance

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
        replies = tuple(self._replies.values())
        return Turn(
            self.id,
            self.origin,
            self.at,
            self.user,
            replies,
            self.ended_at,
            self.log.work(),
            is_complete=is_complete,
        )


class Assembler:
    """Takes what messages mean, keeps the turn that is going on, and lists events."""

    def __init__(
        self,
        origin: Origin,
        carry: Carry,
        now: str,
        completed: Callable[[Turn], Turn] = lambda turn: turn,
    ) -> None:
        self.origin = origin
        self.events: list[HostEvent] = []
        self.open: OpenTurn | None = None
        self.latest = carry.before  # the newest time so far
        self.resume = 0  # bytes; where the next reading starts
        self._before = carry.before
        self._now = carry.began or now
        self._completed = completed  # adds what is known of a turn from elsewhere
        self._given = dict(carry.given)
        self._window: dict[str, str] = {}
        self._seen = set(carry.seen)  # keys of the messages before the turn that is going on
        self._carried = dict.fromkeys(carry.seen)  # those before ``resume``
        self._since: list[str] = []  # those behind it

    def time(self, at: str) -> str:
        """The time of a message, or the nearest known where it has none."""
        return at or self.latest or self._now

    def is_repeated(self, key: str) -> bool:
        """Was the message read before the turn that is going on?"""
        return short(key) in self._seen

    def note(self, key: str, at: str) -> None:
        self.latest = max(self.latest, at)
        self._since.append(short(key))

    def begin(self, turn: OpenTurn, start: int | None) -> OpenTurn:
        """Begin a turn; ``start`` (bytes) is where its first line begins, None where reading has to
        start anew.
        """
        self.end()
        self._seen.update(self._since)
        if start is not None:
            self._carried.update(dict.fromkeys(self._since))
            self.resume, self._before, self._window, self._since = start, self.latest, {}, []
        self.open = turn
        return turn

    def end(self) -> None:
        """The turn that is going on is over."""
        if self.open:
            self._give(self._completed(self.open.turn(is_complete=True)))

    def finish(self, stopped_at: str) -> None:
        """Give the turn that is going on; it is complete when nothing was said since
        ``stopped_at``.
        """
        if self.open:
            turn = self._completed(self.open.turn(is_complete=self.open.is_over))
            self._give(
                replace(
                    turn, is_complete=turn.is_complete or max(turn.at, turn.ended_at) <= stopped_at
                )
            )

    def emit(self, event: HostEvent) -> None:
        key = f"{event.kind} {event.id}"
        if key in self._window:  # recorded twice: the first counts
            return
        self._window[key] = short(to_json(event))
        if self._given.get(key) != self._window[key]:
            self.events.append(event)
            self._given[key] = self._window[key]

    def compact(self, event: Compaction) -> None:
        """Give what was said so far, so that it can be kept before anything is shortened, and then
        the compaction.
        """
        if (
            f"{event.kind} {event.id}" not in self._given
        ):  # read again, the turn has its later form already
            self.finish("")
        self.emit(event)

    def last(self) -> Turn | None:
        """The turn that is going on in the form in which it was given."""
        if self.open is None:
            return None
        given = self._given.get(f"turn {self.open.id}", "")
        return self._completed(self.open.turn(is_complete=given.endswith(_COMPLETE)))

    def carry(self, known: int, cwd: str) -> Carry:
        seen = tuple(self._carried)[-SEEN_LIMIT:]
        given = dict(list(self._window.items())[-GIVEN_LIMIT:])
        return Carry(
            known, self.latest, self._before, self.open.at if self.open else "", cwd, seen, given
        )

    def _give(self, turn: Turn) -> None:
        key, digest = f"turn {turn.id}", short(to_json(replace(turn, is_complete=True)))
        before = self._given.get(key, "")
        is_same = before.removesuffix(_COMPLETE) == digest
        if is_same and (before.endswith(_COMPLETE) or not turn.is_complete):
            self._window[key] = before
            return
        self._window[key] = self._given[key] = digest + (_COMPLETE if turn.is_complete else "")
        self.events.append(turn)


def pending_of(carry: Carry, **more: object) -> str:
    """What a cursor keeps beside the offset, as JSON."""
    return json.dumps({"carry": asdict(carry), **more}, separators=(",", ":"))


def digest(*parts: str) -> str:
    """A key of these texts that is the same whenever it is made."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def squashed(words: str) -> str:
    """Words without any white space: two records of one text may break it in other places."""
    return "".join(words.split())


def short(text: str) -> str:
    """A key of one text, for the lists of them that cursors hold."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
