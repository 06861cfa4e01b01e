"""What each session has been given, so that nothing is given twice and a session that goes on hears
what is new.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from keeplore.client.brief_on_disk import STANDING_BRIEF
from keeplore.recall.render import ContextBlock
from keeplore.recall.unasked.dedup import words_in
from keeplore.recall.unasked.workspace_view import InjectionHistory
from keeplore.text.dates import now
from keeplore_hooks import durable, typed_json
from keeplore_hooks.events import Origin

FILE = "shown.json"
# the oldest are forgotten; showing a memory again is the lesser harm
MAX_SESSIONS = 200
# for so long a host may run the entries of several plugins about one message
TWICE_S = 5.0
MAX_WORDS = 2_000  # sentences of a session
MAX_ASKED = 50  # messages of which it is known that they were just asked about
MAX_STEPS = 20  # of a session, that may be taken back
MAX_GIVEN = 200  # blocks that nobody has looked at yet


class InjectionKind(StrEnum):
    """For whom something is told, and when."""

    BRIEF = "brief"  # for everybody
    PART = "part"  # the same, and not yet all of it
    LATE = "late"  # a brief that comes beside a prompt
    PROMPT = "prompt"  # for whoever prompted, or edits a file
    ASKED = "asked"  # for whoever asked for it


@dataclass(frozen=True, slots=True)
class Injection:
    """A block that a session was given, and the memories in it."""

    origin: Origin
    text: str
    ids: tuple[str, ...]
    way: InjectionKind
    at: str  # RFC 3339, UTC

    @property
    def is_at_start(self) -> bool:
        return self.way in (InjectionKind.BRIEF, InjectionKind.PART)


@dataclass(frozen=True, slots=True)
class _SessionLog:
    briefed_at: str = ""  # RFC 3339, UTC; "" before the first brief
    cwd: str = ""
    has_lost: bool = False  # its host has shortened or emptied its context
    ids: dict[str, str] = field(default_factory=dict)  # memory → when it was shown
    # memories that were shown otherwise than in a brief
    answers: list[str] = field(default_factory=list)
    # keys of the sentences, the last ones
    words: list[str] = field(default_factory=list)
    # of a host that stands it before each request: the brief of its start, with its memories and
    # when it was told, and what a compaction added
    brief: str = ""
    brief_ids: list[str] = field(default_factory=list)
    brief_at: str = ""
    again: str = ""

    def with_repeated(self, injection: Injection) -> _SessionLog:
        """The same with a block that is told before each request from now on, behind the brief that
        is told so, or as that brief.
        """
        if self.brief:
            return replace(self, again=injection.text)
        return replace(
            self,
            brief=injection.text,
            brief_ids=[*injection.ids],
            brief_at=injection.at,
        )

    def shortened(self) -> _SessionLog:
        """What is left of it where the context was shortened or emptied."""
        return _SessionLog(
            self.brief_at,
            self.cwd,
            has_lost=True,
            ids=dict.fromkeys(self.brief_ids, self.brief_at),
            words=sorted(words_in(self.brief)),
            brief=self.brief,
            brief_ids=self.brief_ids,
            brief_at=self.brief_at,
        )

    def with_shown(self, injection: Injection) -> _SessionLog:
        """The same with what the session is shown now."""
        words = dict.fromkeys((*self.words, *sorted(words_in(injection.text))))
        briefed_at, answers = self.briefed_at, self.answers
        if injection.way in (InjectionKind.BRIEF, InjectionKind.LATE):
            briefed_at = injection.at
        elif injection.way is not InjectionKind.PART:
            answers = [*dict.fromkeys((*answers, *injection.ids))]
        shown = replace(
            self,
            briefed_at=briefed_at,
            cwd=injection.origin.cwd,
            ids=self.ids | dict.fromkeys(injection.ids, injection.at),
            answers=answers,
            words=[*words][-MAX_WORDS:],
        )
        is_standing = injection.is_at_start and injection.origin.host in STANDING_BRIEF
        return shown.with_repeated(injection) if is_standing else shown


_Step = Callable[[_SessionLog], _SessionLog]


@dataclass(slots=True)
class _Steps:
    """What was noted of a session lately, each with the answer that it belongs to, None where it
    stays in any case; and the log before that.
    """

    before: _SessionLog
    taken: list[tuple[object, _Step]] = field(default_factory=list)

    def add(self, answer: object, step: _Step) -> None:
        self.taken.append((answer, step))
        while len(self.taken) > MAX_STEPS:
            self.before = self.taken.pop(0)[1](self.before)

    def without(self, answer: object) -> _Steps:
        kept = [(whose, step) for whose, step in self.taken if whose is not answer]
        return _Steps(self.before, kept)

    def result(self) -> _SessionLog:
        log = self.before
        for _, step in self.taken:
            log = step(log)
        return log


class InjectionLog:
    """Thread-safe; a file that cannot be read counts as empty. ``save`` writes it: nobody waits for
    a disk here.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._is_saved = True
        self._asked: dict[str, float] = {}  # a message → when it was asked about
        self._steps: dict[str, _Steps] = {}
        self._answer = threading.local()  # the one that this thread makes
        # each with the answer that it belongs to
        self._given: deque[tuple[object, Injection]] = deque(maxlen=MAX_GIVEN)
        self._sessions = typed_json.load(path, dict[str, _SessionLog]) or {}

    def note_asked(self, origin: Origin, message: str) -> bool:
        """Note that a message of the session is asked about; returns False where it was a moment
        ago: by another entry, or once more.
        """
        key = hashlib.sha256(
            f"{_key(origin)}\0{message}".encode("utf-8", "surrogatepass")
        ).hexdigest()
        with self._lock:
            moment = time.monotonic()
            before = self._asked.pop(key, None)
            self._asked[key] = moment
            _forget_oldest(self._asked, MAX_ASKED)
            return before is None or moment - before > TWICE_S

    def history_of(self, origin: Origin) -> InjectionHistory:
        """What the session was given; nothing for an unknown session, to which all is new."""
        with self._lock:
            known = self._sessions.get(_key(origin), _SessionLog())
            return InjectionHistory(
                known.briefed_at,
                dict(known.ids),
                frozenset(known.words),
                frozenset(known.answers),
            )

    def brief(self, origin: Origin) -> str:
        """The brief that stands before each request of the session, "" where none does: a session
        that goes on keeps it to the byte, and its host the cache of what stands behind it.
        """
        with self._lock:
            known = self._sessions.get(_key(origin), _SessionLog())
            return "\n".join(filter(None, (known.brief, known.again)))

    def has_lost(self, origin: Origin) -> bool:
        """Whether the host no longer has before it all that the session said."""
        with self._lock:
            return self._sessions.get(_key(origin), _SessionLog()).has_lost

    def mark_lost(self, origin: Origin) -> None:
        """Forget what was shown where the host has shortened or emptied the session's context."""
        self._note(origin, _SessionLog.shortened)

    def forget(self, origin: Origin) -> None:
        """Forget all that a session was shown: it begins anew."""
        self._note(origin, lambda _: _SessionLog())

    def inherit(self, origin: Origin) -> None:
        """Give a fork what its parent was given: by all that is known the last session in the same
        directory.
        """
        with self._lock:
            known = [
                s
                for key, s in self._sessions.items()
                if key.startswith(f"{origin.host}/") and s.cwd == origin.cwd
            ]
            is_new = _key(origin) not in self._sessions
        if is_new and known and origin.cwd:
            self._note(origin, lambda _: known[-1])

    def begin(self) -> None:
        """Begin an answer in this thread: what the thread notes from now on can be taken back."""
        self._answer.current = object()

    def take_back(self, origin: Origin) -> None:
        """Undo what the answer that this thread made noted of the session, since nobody heard it;
        what others noted of it before, meanwhile and after that stays.
        """
        with self._lock:
            steps = self._steps.get(_key(origin))
            if steps and (answer := self._current_answer()):
                self._steps[_key(origin)] = steps = steps.without(answer)
                self._replace(origin, steps.result())
                heard = [given for given in self._given if given[0] is not answer]
                self._given = deque(heard, MAX_GIVEN)

    @contextmanager
    def lasting(self) -> Iterator[None]:
        """What is noted within is no part of the answer that this thread makes."""
        answer, self._answer.current = self._current_answer(), None
        try:
            yield
        finally:
            self._answer.current = answer

    def add(self, origin: Origin, block: ContextBlock, kind: InjectionKind) -> None:
        """Note the block that the session is given now, and the ids of the memories in it."""
        given = Injection(origin, *block, kind, now())
        if not (given.ids or given.is_at_start or kind is InjectionKind.LATE):
            return
        with self._lock:
            self._given.append((self._current_answer(), given))
        self._note(origin, lambda log: log.with_shown(given))

    def taken(self) -> list[Injection]:
        """What sessions were given since the last time that this was asked."""
        with self._lock:
            given = [injection for _, injection in self._given]
            self._given.clear()
            return given

    def save(self) -> None:
        """Write what changed since the last time. Raises OSError."""
        with self._lock:
            if not self._is_saved:
                data = {key: asdict(session) for key, session in self._sessions.items()}
                durable.write(self._path, json.dumps(data).encode())
                self._is_saved = True

    def _current_answer(self) -> object:
        return getattr(self._answer, "current", None)

    def _note(self, origin: Origin, step: _Step) -> None:
        key = _key(origin)
        with self._lock:
            known = self._sessions.get(key, _SessionLog())
            steps = self._steps.pop(key, None) or _Steps(known)
            steps.add(self._current_answer(), step)
            self._steps[key] = steps
            _forget_oldest(self._steps, MAX_ASKED)
            self._replace(origin, step(known))

    def _replace(self, origin: Origin, log: _SessionLog) -> None:
        """Put a session's log behind all others; an empty one is none."""
        self._sessions.pop(_key(origin), None)
        if log != _SessionLog():
            self._sessions[_key(origin)] = log
            _forget_oldest(self._sessions, MAX_SESSIONS)
        self._is_saved = False


def _forget_oldest(kept: dict[str, Any], most: int) -> None:
    while len(kept) > most:
        del kept[next(iter(kept))]


def _key(origin: Origin) -> str:
    return f"{origin.host}/{origin.session}"
