"""From a spool entry or a transcript to events in the right workspace, and the cursor after
them.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from keeplore.connect.payload_drift import PayloadDrift
from keeplore.errors import KeeploreError, TranscriptError
from keeplore.redact.field_redaction import FieldRedaction
from keeplore.text.dates import now
from keeplore.workspace.importing.session_ends import SessionEnds, is_recorded
from keeplore.workspace.recording.cursors import Cursors, SessionProgress
from keeplore.workspace.registry import Registry
from keeplore.workspace.workspace import Workspace
from keeplore_hooks.events import Compaction, HostEvent, Origin, Session, Turn
from keeplore_hooks.hosts import Ask, AskKind, Cursor, Host, Reading, SessionSource
from keeplore_hooks.hosts.jsonl import short_digest
from keeplore_hooks.installed import source_named
from keeplore_hooks.sender import sender
from keeplore_hooks.spool import SpoolEntry

T = TypeVar("T")
SWEPT = "swept"
PROBLEM_LENGTH = 500  # characters
# hosts whose records hardly tell times: a turn has the time at which it is read first
UNTIMED = ("cursor",)
MAX_LEFT_OUT = 10_000  # events of a session
MAX_AHEAD = 50  # sessions of which this process alone knows something
# a digest or an id
_MARK = re.compile(r"(?:[a-z]+ )?[0-9a-f-]{8,64}!?")


@dataclass(frozen=True, slots=True)
class IntakeResult:
    """What one entry or transcript led to."""

    turns: int = 0
    problems: tuple[str, ...] = ()
    has_begun: bool = False  # a session
    has_ended: bool = False
    directory: str = ""  # where it happened, as far as the host says


class Intake:
    """Reads events and hands them to workspaces; a cursor moves only when what was read is
    on disk.
    """

    def __init__(
        self, registry: Registry, heard: Callable[[HostEvent], None] = lambda _: None
    ) -> None:
        """``heard`` is told each event that a workspace has taken."""
        self._registry = registry
        self._heard = heard
        # until a session is over of which no end is told, where nothing is heard of it
        self.next_end_s = math.inf
        self._cursors = Cursors(registry.places.sessions)
        # of sessions that are left out: how far their records were read, which nobody writes down
        self._ahead: dict[tuple[str, str], Cursor] = {}
        # of sessions with a secret in the words that are kept: the cursor on disk, and the one with
        # all words, which the host's record is compared with
        self._unredacted: dict[tuple[str, str], tuple[Cursor, Cursor]] = {}
        self._drift = PayloadDrift(registry.places.state, os.environ)

    def take(self, entry: SpoolEntry) -> IntakeResult:
        """Take one spool entry. When this returns, what it led to is durable and it may be
        acknowledged.

        Raises ConfigError, IndexUnavailable, or OSError where the disk refuses: the entry then has
        to be kept; TranscriptError for an entry that can never be read.
        """
        payload = entry.read()
        host, event = _sender(entry, payload)
        if not payload.strip():
            return IntakeResult(problems=("the payload is empty",))
        origin = host.origin(event, payload)
        if origin is None:
            raise TranscriptError(f"this is no payload of {entry.host}")
        progress = self._with_all_words(self._cursors.get(origin))
        heard = _heard_of(progress, origin, entry.at)
        read = partial(host.read, event, payload, at=entry.at)
        if not self._may_capture(origin.cwd or progress.origin.cwd, entry.at):
            self._leave_out(heard, read)
            return IntakeResult()
        reading = read(progress.cursor)
        untimed = self._events_of_pause(progress, host, reading, entry.at)
        if untimed and is_prompt(host.ask(event, payload)):
            untimed = untimed[:-1]  # the last turn was typed just now
        left_out = self._hand_over(
            reading.events, _with_left_out(progress.left_out, untimed)
        )
        taken = self._take_reading(replace(heard, left_out=left_out), reading)
        # what is counted is no reason to keep an entry
        with contextlib.suppress(OSError):
            self._drift.count(host.name, event, payload)
        return taken

    def _take_reading(self, heard: SessionProgress, reading: Reading) -> IntakeResult:
        """Keep how far a session was read."""
        phases = [event for event in reading.events if isinstance(event, Session)]
        heard = _with_agent(heard, reading.events)
        after = replace(heard, cursor=reading.cursor, ended_at=_ended_at(heard, phases))
        self._save(_with_problems(after, reading.problems))
        seen = {event.phase for event in phases}
        return IntakeResult(
            _turns(reading.events),
            reading.problems,
            "started" in seen,
            "ended" in seen,
            heard.origin.cwd,
        )

    def take_transcript(
        self, host: SessionSource, path: Path, origin: Origin
    ) -> IntakeResult:
        """Take what a session on disk holds beyond its cursor; the session stays open for what may
        follow.
        """
        progress = self._with_all_words(self._cursors.get(origin))
        if not self._may_capture(origin.cwd or progress.origin.cwd):
            return IntakeResult()
        reading = _read_record(host, path, progress.cursor)
        events = _in_scope(reading.events, origin.scope)
        left_out = self._hand_over(events, progress.left_out)
        heard_at = max([progress.heard_at, *(event.at for event in reading.events)])
        # what is left out now may be read when it is not any more
        is_whole = left_out == progress.left_out
        if (is_whole and reading.cursor != progress.cursor) or not progress.heard_at:
            after = replace(
                progress,
                origin=origin,
                cursor=reading.cursor if is_whole else progress.cursor,
                heard_at=heard_at,
                ended_at=_ended_at(progress),
            )
            self._save(_with_problems(after, reading.problems))
        return IntakeResult(_turns(reading.events), reading.problems)

    def sweep(self, moment: datetime | None = None) -> tuple[tuple[Path, str], ...]:
        """Read the rest of sessions that ended or fell silent, and close their conversations.

        Returns the sessions for which that was not possible; they are tried again at the next call.
        """
        moment = moment or datetime.now(UTC)
        problems = []
        sessions = [*self._cursors.unfinished()]
        ends = SessionEnds(sessions, moment)
        self.next_end_s = math.inf
        for progress in sessions:
            left_s = ends.due_in_s(progress)
            if left_s > 0:
                self.next_end_s = min(self.next_end_s, left_s)
                continue
            if self._is_frozen(progress.origin):
                continue
            try:
                self._finish_session(self._with_all_words(progress))
            except (KeeploreError, OSError) as e:
                path = Path(progress.origin.transcript or progress.origin.session)
                problems.append((path, str(e)))
        return tuple(problems)

    def _finish_session(self, progress: SessionProgress) -> None:
        """Take what is left in the record of a session that is over, and close its conversation."""
        cursor: Cursor = progress.cursor
        cwd = progress.origin.cwd
        if is_recorded(progress.origin.transcript) and self._may_capture(cwd):
            source = _source(progress.origin.host)
            reading = _read_record(source, Path(progress.origin.transcript), cursor)
            events = _in_scope(reading.events, progress.origin.scope)
            self._hand_over(events, progress.left_out)
            cursor = reading.cursor
        for workspace in self._registry.opened():
            if workspace.settings.frozen:
                continue
            with workspace.recorder.capturing():
                workspace.recorder.capture.close(
                    workspace.sessions.get(progress.origin)
                )
        self._ahead.pop(progress.origin.session_key, None)
        self._save(replace(progress, cursor=cursor, ended_at=SWEPT))
        self._unredacted.pop(progress.origin.session_key, None)

    def _with_all_words(self, progress: SessionProgress) -> SessionProgress:
        """The progress with the cursor as this process left it, unless another process has read on
        since.
        """
        known = self._unredacted.get(progress.origin.session_key)
        if known and known[0] == progress.cursor:
            return replace(progress, cursor=known[1])
        return progress

    def _save(self, progress: SessionProgress) -> None:
        """Keep on disk how far a session was read, without the secrets that were said in it."""
        key, cursor = progress.origin.session_key, progress.cursor
        workspace = self._workspace_of(progress.origin.cwd)
        written = replace(cursor, pending=_without_secrets(cursor.pending, workspace))
        self._unredacted.pop(key, None)
        if written != cursor:
            self._unredacted[key] = (written, cursor)
            _shorten(self._unredacted)
        self._cursors.save(replace(progress, cursor=written))

    def _is_frozen(self, origin: Origin) -> bool:
        """Whether the session has a conversation that cannot be closed for now."""
        self._workspace_of(origin.cwd)
        return any(
            workspace.settings.frozen and workspace.sessions.get(origin).open_id
            for workspace in self._registry.opened()
        )

    def _may_capture(self, cwd: str, at: str = "") -> bool:
        return self._workspace_of(cwd).capture_policy.decide(cwd, at).may

    def _events_of_pause(
        self, progress: SessionProgress, host: Host, reading: Reading, at: str
    ) -> list[HostEvent]:
        """What may have been said in a pause since the session was heard of last, and has no time
        of its own.
        """
        policy = self._workspace_of(progress.origin.cwd).capture_policy
        if host.name not in UNTIMED or not policy.was_paused(progress.heard_at, at):
            return []
        return [event for event in reading.events if event.at == at]

    def _workspace_of(self, cwd: str) -> Workspace:
        return self._registry.for_directory(Path(cwd or Path.home()))

    def _leave_out(
        self, progress: SessionProgress, read: Callable[[Cursor], Reading]
    ) -> None:
        """Note which events may not be captured, and keep no word of them: the cursor stays where
        it is, and how far the record was read is known to this process alone.
        """
        key = progress.origin.session_key
        try:
            reading = read(self._ahead.get(key, progress.cursor))
        except Exception:  # noqa: BLE001 # the payload must not be set aside for it
            reading = Reading((), progress.cursor)
        self._ahead[key] = reading.cursor
        _shorten(self._ahead)
        left_out = _with_left_out(progress.left_out, reading.events)
        self._save(replace(progress, left_out=left_out, ended_at=_ended_at(progress)))

    def _hand_over(
        self, events: Iterable[HostEvent], left_out: tuple[str, ...]
    ) -> tuple[str, ...]:
        """Give the events to their workspaces, but for those that were left out or are to be now.
        Returns the digests of both.
        """
        for cwd, group in itertools.groupby(events, key=lambda event: event.origin.cwd):
            workspace, known = self._workspace_of(cwd), {*left_out}
            new = [event for event in group if short_digest(event.id) not in known]
            kept = [*filter(workspace.capture_policy.allows, new)]
            left_out = _with_left_out(
                left_out, (event for event in new if event not in kept)
            )
            if left_out:
                kept = [*map(_without_summary, kept)]
            for event in workspace.recorder.take(kept):
                self._heard(event)
        return left_out


def is_prompt(ask: Ask | None) -> bool:
    """Whether a host waits for the context of a prompt."""
    return ask is not None and ask.kind == AskKind.PROMPT


def _heard_of(progress: SessionProgress, origin: Origin, at: str) -> SessionProgress:
    """The progress of a session of which an event tells now where it is."""
    agent = origin.agent_name or progress.origin.agent_name
    return replace(
        progress,
        origin=replace(origin, agent_name=agent),
        heard_at=at,
        began_at=progress.began_at or at,
    )


def _with_left_out(
    left_out: tuple[str, ...], events: Iterable[HostEvent]
) -> tuple[str, ...]:
    new = (short_digest(event.id) for event in events)
    return tuple(dict.fromkeys((*left_out, *new)))[-MAX_LEFT_OUT:]


def _with_agent(
    progress: SessionProgress, events: Sequence[HostEvent]
) -> SessionProgress:
    """The events with the agent of the last turn: some hosts tell it in their record alone."""
    names = [event.origin.agent_name for event in events if isinstance(event, Turn)]
    if not names:
        return progress
    return replace(progress, origin=replace(progress.origin, agent_name=names[-1]))


def _without_summary(event: HostEvent) -> HostEvent:
    """The events without a host's summary, which also tells of what was left out of the session."""
    return replace(event, summary="") if isinstance(event, Compaction) else event


def _shorten(known: dict[tuple[str, str], T]) -> None:
    """Forget the sessions that have been known for longest."""
    while len(known) > MAX_AHEAD:
        del known[next(iter(known))]


def _without_secrets(pending: str, workspace: Workspace) -> str:
    """What an adapter keeps between two readings, without the secrets that were said."""
    try:
        data = json.loads(pending or "{}")
        clean = _clean("", data, workspace.plugins.fields())
    except (ValueError, AttributeError, RecursionError):
        return ""
    return pending if clean == data else json.dumps(clean)


def _clean(name: str, kept: Any, fields: FieldRedaction) -> Any:
    """A value of JSON without its secrets."""
    if isinstance(kept, dict):
        return {
            _clean("", key, fields): _clean(key, value, fields)
            for key, value in kept.items()
        }
    if isinstance(kept, list):
        return [_clean(name, value, fields) for value in kept]
    # adapters keep thousands of marks, and looking at each takes long
    if not isinstance(kept, str) or _MARK.fullmatch(kept):
        return kept
    return next(iter(fields.content({name: kept}).values()))


def _ended_at(progress: SessionProgress, phases: Sequence[Session] = ()) -> str:
    """When the session ended, "" while it is open; one that was swept and has grown since is swept
    again.
    """
    if phases:
        return phases[-1].at if phases[-1].phase == "ended" else ""
    return progress.ended_at if progress.ended_at != SWEPT else ""


def _sender(entry: SpoolEntry, payload: bytes) -> tuple[Host, str]:
    """The adapter that reads the payload, and its name of the event. Raises TranscriptError."""
    try:
        return sender(entry.host, entry.event, payload)
    except KeyError as e:
        raise TranscriptError(str(e.args[0])) from e


def _source(name: str) -> SessionSource:
    try:
        return source_named(name)
    except KeyError as e:
        raise TranscriptError(str(e.args[0])) from e


def _read_record(source: SessionSource, path: Path, cursor: Cursor) -> Reading:
    """What a record holds beyond its cursor; an adapter of others that fails costs this record."""
    try:
        return source.read_transcript(path, cursor)
    except Exception as e:  # noqa: BLE001  # anything may come out of somebody else's code
        return Reading((), cursor, (f"the adapter of {source.name} fails: {e!r}",))


def _in_scope(events: Sequence[HostEvent], scope: str) -> Iterable[HostEvent]:
    """The events of conversations that belong to no directory, where a person chose their scope."""
    if not scope:
        return events
    return [
        replace(event, origin=replace(event.origin, scope=scope)) for event in events
    ]


def _with_problems(
    progress: SessionProgress, problems: tuple[str, ...]
) -> SessionProgress:
    """The progress with the first problem of this reading, for ``keeplore doctor``."""
    if not problems:
        return progress
    return replace(progress, problem=problems[0][:PROBLEM_LENGTH], problem_at=now())


def _turns(events: Iterable[HostEvent]) -> int:
    return sum(isinstance(event, Turn) for event in events)
