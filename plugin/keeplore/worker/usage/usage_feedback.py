"""What sessions were told and whether they made use of it, counted in the workspace that holds the
memory.

In a session a memory counts once: as of use where an answer after it has its words, else as told
for nothing, where it stood beside a prompt. A brief is told to everybody, and a rule in it is
followed without being repeated: it may be of use, and is never blamed.
"""

from __future__ import annotations

import json
import logging
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from keeplore.capture.message_filter import clean
from keeplore.errors import KeeploreError, StoreError, problem_message
from keeplore.memory import feedback_counters
from keeplore.memory.feedback_counters import UsageCounters
from keeplore.recall.render import reference
from keeplore.text.dates import in_utc, today
from keeplore.worker.usage.injection_log import Injection, InjectionKind
from keeplore.worker.usage.usage_terms import ENOUGH, is_used, term_weights
from keeplore.worker.usage.view_log import take_opened
from keeplore.workspace.activity import Counted
from keeplore.workspace.registry import Registry
from keeplore.workspace.workspace import Workspace
from keeplore_hooks import durable, typed_json
from keeplore_hooks.events import HostEvent, Origin, Session, Turn
from keeplore_hooks.hosts.jsonl import session_digest
from keeplore_hooks.hosts.prompt_text import own_command

LOG = logging.getLogger(__name__)
# the oldest are forgotten: what they were told counts for nothing more
MAX_SESSIONS = 200
MAX_LOADED = 20  # of them in memory, at a quarter of a megabyte
MAX_SAID = 4_000  # words of a session, the last ones
SAVE_S = 300.0  # for so long counts wait for more of them, and a crash may lose them
# a host may tell the time of a prompt that it took before it asked what goes with it
EARLIER = timedelta(minutes=1)
_QUOTATION = re.compile(r"“([^“”]*)”")


@dataclass(slots=True)
class _InjectedMemory:
    """A memory that a session was told."""

    at: str  # RFC 3339, UTC
    words: dict[str, float]  # see ``term_weights``
    is_prompted: bool  # it stood beside a prompt
    after: str = ""  # the turn that was answered last by then
    outcome: str = ""  # used | idle, "" while nothing is known


@dataclass(slots=True)
class _SessionUsage:
    turn: str = ""  # the one that was heard last
    is_answered: bool = False  # that one
    now: list[str] = field(default_factory=list)  # words of that turn
    # words of all turns before it, the last ones
    said: list[str] = field(default_factory=list)
    told: dict[str, _InjectedMemory] = field(default_factory=dict)  # by memory
    is_saved: bool = True

    def begin(self, turn: str) -> None:
        if turn != self.turn:
            self.said = [*dict.fromkeys((*self.said, *self.now))][-MAX_SAID:]
            self.turn, self.now = turn, []

    def note_told(
        self, memory: str, words: dict[str, float], injection: Injection
    ) -> None:
        """Take the words of a memory that the session is told now, unless it is known what became
        of it.
        """
        known = self.told.get(
            memory, _InjectedMemory(injection.at, {}, is_prompted=False)
        )
        if not known.outcome:
            is_prompted = known.is_prompted or injection.way is InjectionKind.PROMPT
            after = self.turn if self.is_answered else ""
            self.told[memory] = _InjectedMemory(
                injection.at, known.words | words, is_prompted, after
            )


@dataclass(frozen=True, slots=True)
class _UsageCount:
    memory: str
    day: str
    is_use: bool
    cwd: str  # "" where nothing is known of it


class UsageFeedback:
    """Counts which of the memories that sessions were told of were used. Thread-safe.

    ``observe`` never raises; ``save`` writes, and nobody waits for it.
    """

    def __init__(
        self,
        registry: Registry,
        take_injections: Callable[[], Iterable[Injection]],
        count: Callable[[Counted], object],
    ) -> None:
        """``take_injections`` gives what sessions were told since it was called last; ``count``
        hears of each use of a memory by a session.
        """
        self._count = count
        self._registry = registry
        self._take_injections = take_injections
        self._directory = registry.places.state / "uses"
        self._lock = threading.Lock()
        self._sessions: dict[str, _SessionUsage] = {}
        self._counts: list[_UsageCount] = []
        self._due_at = 0.0  # of the monotonic clock; 0.0 for never

    def observe(self, event: HostEvent) -> None:
        """Look whether what a session just said makes use of what it was told."""
        try:
            with self._lock:
                self._note_told()
                if isinstance(event, Session) and event.phase == "ended":
                    self._due_at = time.monotonic() if self._counts else 0.0
                elif (
                    isinstance(event, Turn)
                    and not event.origin.agent
                    and self._counts_for(event.origin)
                ):
                    self._judge_turn(event)
        except Exception:
            # no event is lost for it
            LOG.exception("what was of use could not be counted")

    def save(self, *, is_last: bool = False) -> bool:
        """Write what is due, or all where it is the last time. Returns whether a workspace changed.
        Raises OSError.

        What was counted is noted before it is added: a crash in between loses it, and nothing
        counts twice.
        """
        with self._lock:
            self._note_told()
            self._counts += [
                _UsageCount(id_, day, is_use=True, cwd="")
                for id_, day in take_opened(self._registry.places.state)
            ]
            if self._counts and not self._due_at:
                self._due_at = time.monotonic() + SAVE_S
            if not self._due_at or (time.monotonic() < self._due_at and not is_last):
                return False
            self._save_sessions()
            counts, self._counts, self._due_at = self._counts, [], 0.0
        return self._add(counts)

    def _note_told(self) -> None:
        for given in self._take_injections():
            if not self._counts_for(given.origin):
                continue
            session = self._session(given.origin)
            session.is_saved = False
            lines = given.text.splitlines()
            for id_ in given.ids:
                quoted = [_quotations(line) for line in lines if reference(id_) in line]
                session.note_told(id_, term_weights(" ".join(quoted)), given)

    def _judge_turn(self, turn: Turn) -> None:
        """Note which memories a turn made use of, of those that its session was given before."""
        session = self._session(turn.origin)
        session.begin(turn.id)
        asked, answer = term_weights(clean(turn.user)), term_weights(turn.assistant)
        before = set(session.said).union(asked)
        # what a command of ours was answered with is passed on, which is no use of it
        if not own_command(turn.user):
            fresh = answer.keys() - before
            for id_, injected in session.told.items():
                is_after = turn.id != injected.after and _is_after(turn, injected.at)
                if injected.outcome != "used" and is_after:
                    self._judge(id_, injected, before, fresh, turn)
        session.now = [*dict.fromkeys((*session.now, *asked, *answer))]
        session.is_answered = bool(turn.assistant.strip())
        session.is_saved = not session.told

    def _judge(
        self,
        id_: str,
        injected: _InjectedMemory,
        before: set[str],
        fresh: set[str],
        turn: Turn,
    ) -> None:
        """Count a memory as used where the answer has words of it that nobody had said, else as
        idle.
        """
        words = {
            key: value for key, value in injected.words.items() if key not in before
        }
        # an answer could not have shown the use of a memory that has nothing to tell beside what
        # was said
        if is_used(words, fresh):
            injected.outcome = "used"
            self._count(Counted.USED)
        elif (
            injected.is_prompted
            and not injected.outcome
            and turn.is_complete
            and fresh
            and sum(words.values()) >= ENOUGH
        ):
            injected.outcome = "idle"
        else:
            return
        self._counts.append(
            _UsageCount(
                id_, today(), is_use=injected.outcome == "used", cwd=turn.origin.cwd
            )
        )

    def _counts_for(self, origin: Origin) -> bool:
        with suppress(KeeploreError):
            return self._registry.for_directory(origin.directory).settings.counts_use
        return False

    def _session(self, origin: Origin) -> _SessionUsage:
        key = session_digest(*origin.session_key)
        session = (
            self._sessions.pop(key, None)
            or typed_json.load(self._directory / f"{key}.json", _SessionUsage)
            or _SessionUsage()
        )
        self._sessions[key] = session  # behind all others
        while len(self._sessions) > MAX_LOADED:
            oldest = next(iter(self._sessions))
            self._save_session(oldest)
            del self._sessions[oldest]
        return session

    def _save_session(self, key: str) -> None:
        session = self._sessions[key]
        if not session.is_saved:
            durable.make_private(self._directory)
            durable.write(
                self._directory / f"{key}.json",
                json.dumps({**asdict(session), "is_saved": True}).encode(),
            )
            session.is_saved = True

    def _save_sessions(self) -> None:
        """Write every session that has changed, and remove the files of the oldest."""
        for key in self._sessions:
            self._save_session(key)
        files = sorted(
            self._directory.glob("*.json"), key=lambda file: file.stat().st_mtime_ns
        )
        for file in files[:-MAX_SESSIONS]:
            file.unlink(missing_ok=True)

    def _add(self, counts: list[_UsageCount]) -> bool:
        """Add counts to this machine's files; what fails waits for the next time."""
        by_workspace: dict[Workspace, list[_UsageCount]] = {}
        for count in counts:
            if holder := next(self._workspaces_with(count), None):
                by_workspace.setdefault(holder, []).append(count)
        has_changed = False
        for workspace, own in by_workspace.items():
            try:
                _write(workspace, own)
                has_changed = True
            except (KeeploreError, OSError) as e:
                LOG.warning("%s: %s", workspace.name, problem_message(e))
                with self._lock:
                    self._counts += own
        return has_changed

    def _workspaces_with(self, count: _UsageCount) -> Iterator[Workspace]:
        """The workspace that has the memory, the directory's first; none where it does not
        count.
        """
        names = list(self._registry.machine.workspaces)
        with suppress(KeeploreError):
            own = self._registry.for_directory(Path(count.cwd)) if count.cwd else None
            names = [own.name, *names] if own else names
        for name in names:
            with suppress(KeeploreError):
                workspace = self._registry.named(name)
                if workspace.settings.counts_use and workspace.index.path_of(
                    count.memory
                ):
                    yield workspace


def _write(workspace: Workspace, counts: list[_UsageCount]) -> None:
    """Add counts to this machine's file, and take out what was forgotten."""
    path = feedback_counters.path_of(workspace.machine)
    tallies = _load_counters(workspace, path)
    for count in counts:
        tally = tallies.get(count.memory, UsageCounters())
        tallies[count.memory] = (
            tally.with_use(count.day) if count.is_use else tally.with_idle(count.day)
        )
    kept = {
        id_: tally
        for id_, tally in tallies.items()
        if not workspace.store.is_forgotten(id_)
    }
    workspace.store.write_text(path, feedback_counters.to_text(kept))
    workspace.plugins.changes.count += 1


def _load_counters(workspace: Workspace, path: str) -> dict[str, UsageCounters]:
    """What the file says; one that cannot be read is begun anew, and git has what it said."""
    try:
        return feedback_counters.parse(
            workspace.store.read_text(path, feedback_counters.MAX_FILE)
        )
    except StoreError:
        return {}
    except ValueError as e:
        LOG.warning("%s: %s is begun anew: %s", workspace.name, path, e)
        return {}


def _quotations(line: str) -> str:
    return " ".join(_QUOTATION.findall(line))


def _is_after(turn: Turn, at: str) -> bool:
    """Was a turn answered after a moment?"""
    try:
        earliest = in_utc(datetime.fromisoformat(at) - EARLIER)
    except (ValueError, OverflowError):
        return False
    return turn.at >= earliest and (not turn.ended_at or turn.ended_at >= at)
