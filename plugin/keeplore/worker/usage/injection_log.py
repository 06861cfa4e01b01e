"""What each session has been given, so that nothing is given twice and a session that goes on hears
what is new.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections import deque
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from keeplore.client.brief_on_disk import STANDING_BRIEF
from keeplore.recall.brief import InjectionHistory
from keeplore.recall.dedup import words_in
from keeplore.recall.render import ContextBlock
from keeplore.text.dates import now
from keeplore_hooks import durable
from keeplore_hooks.events import Origin

FILE = "shown.json"
# the oldest are forgotten; showing a memory again is the lesser harm
MAX_SESSIONS = 200
# for so long a host may run the entries of several plugins about one message
TWICE_S = 5.0
MAX_WORDS = 2_000  # sentences of a session
MAX_ASKED = 50  # messages of which it is known that they were just asked about
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


@dataclass(slots=True)
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

    def copy(self) -> _SessionLog:
        """A copy of the present state, which later notes do not change."""
        return replace(
            self, ids=dict(self.ids), answers=[*self.answers], words=[*self.words]
        )

    def repeat_always(self, block: ContextBlock, at: str) -> None:
        """Tell a block before each request from now on, behind the brief that is told so, or as
        that brief.
        """
        if self.brief:
            self.again = block[0]
        else:
            self.brief, self.brief_ids, self.brief_at = block[0], [*block[1]], at

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

    def add_shown(self, block: ContextBlock, at: str, way: InjectionKind) -> None:
        """Add what the session is shown now."""
        text, ids = block
        self.ids |= dict.fromkeys(ids, at)
        if way in (InjectionKind.BRIEF, InjectionKind.LATE):
            self.briefed_at = at
        elif way is not InjectionKind.PART:
            self.answers = [*dict.fromkeys((*self.answers, *ids))]
        words = dict.fromkeys((*self.words, *sorted(words_in(text))))
        self.words = [*words][-MAX_WORDS:]


class InjectionLog:
    """Thread-safe; a file that cannot be read counts as empty. ``save`` writes it: nobody waits for
    a disk here.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._is_saved = True
        self._asked: dict[str, float] = {}  # a message → when it was asked about
        self._before: dict[str, _SessionLog] = {}  # as they were before the last answer
        self._given: deque[Injection] = deque(maxlen=MAX_GIVEN)
        try:
            self._sessions = {
                str(key): _session(value)
                for key, value in json.loads(path.read_bytes()).items()
            }
        except (OSError, ValueError, AttributeError, TypeError, KeyError):
            self._sessions = {}

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
        with self._lock:
            known = self._sessions.get(_key(origin), _SessionLog())
        self._replace(origin, known.shortened())

    def forget(self, origin: Origin) -> None:
        """Forget all that a session was shown: it begins anew."""
        self._replace(origin, _SessionLog())

    def inherit(self, origin: Origin) -> None:
        """Give a fork what its parent was given: by all that is known the last session in the same
        directory.
        """
        with self._lock:
            if _key(origin) in self._sessions:
                return
            known = [
                s
                for key, s in self._sessions.items()
                if key.startswith(f"{origin.host}/") and s.cwd == origin.cwd
            ]
            if known and origin.cwd:
                self._sessions[_key(origin)] = known[-1].copy()

    def begin(self, origin: Origin) -> None:
        """Begin an answer for the session: what it was given until now can be had back."""
        with self._lock:
            known = self._sessions.get(_key(origin), _SessionLog())
            self._before.pop(_key(origin), None)
            self._before[_key(origin)] = known.copy()
            _forget_oldest(self._before, MAX_ASKED)

    def take_back(self, origin: Origin) -> None:
        """Undo the answer that was made last for the session, which nobody heard; of several in the
        making each.
        """
        with self._lock:
            before = self._before.get(_key(origin))
        if before is not None:
            self._replace(origin, before.copy())

    def add(self, origin: Origin, block: ContextBlock, way: InjectionKind) -> None:
        """Note the block that the session is given now, and the ids of the memories in it."""
        text, ids = block
        is_at_start = way in (InjectionKind.BRIEF, InjectionKind.PART)
        with self._lock:
            if not (ids or is_at_start or way is InjectionKind.LATE):
                return
            session = self._sessions.pop(_key(origin), _SessionLog())
            at = now()
            self._given.append(Injection(origin, text, ids, way, at))
            session.cwd = origin.cwd
            session.add_shown(block, at, way)
            if is_at_start and origin.host in STANDING_BRIEF:
                session.repeat_always(block, at)
            self._sessions[_key(origin)] = session  # behind all others
            _forget_oldest(self._sessions, MAX_SESSIONS)
            self._is_saved = False

    def taken(self) -> list[Injection]:
        """What sessions were given since the last time that this was asked."""
        with self._lock:
            given = [*self._given]
            self._given.clear()
            return given

    def save(self) -> None:
        """Write what changed since the last time. Raises OSError."""
        with self._lock:
            if not self._is_saved:
                data = {key: asdict(session) for key, session in self._sessions.items()}
                durable.write(self._path, json.dumps(data).encode())
                self._is_saved = True

    def _replace(self, origin: Origin, session: _SessionLog) -> None:
        with self._lock:
            if self._sessions.pop(_key(origin), None) or session.has_lost:
                self._sessions[_key(origin)] = session
                self._is_saved = False


def _session(data: dict[str, Any]) -> _SessionLog:
    ids = {str(id_): str(at) for id_, at in data["ids"].items()}
    answers, words = (list(map(str, data[key])) for key in ("answers", "words"))
    return _SessionLog(
        str(data["briefed_at"]),
        str(data["cwd"]),
        bool(data["has_lost"]),
        ids,
        answers,
        words,
        str(data["brief"]),
        [*map(str, data["brief_ids"])],
        str(data["brief_at"]),
        str(data["again"]),
    )


def _forget_oldest(kept: dict[str, Any], most: int) -> None:
    while len(kept) > most:
        del kept[next(iter(kept))]


def _key(origin: Origin) -> str:
    return f"{origin.host}/{origin.session}"
