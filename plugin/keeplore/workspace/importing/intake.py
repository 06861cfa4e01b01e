"""From a spool entry or a transcript to events in the right workspace, and the cursor after
them.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from keeplore.errors import KeeploreError, TranscriptError
from keeplore.workspace.recording.cursors import Cursors, SessionProgress
from keeplore.workspace.registry import Registry
from keeplore.workspace.workspace import Workspace
from keeplore_hooks.events import HostEvent, Origin, Session, Turn
from keeplore_hooks.hosts import Cursor, Host, SessionSource, source_named
from keeplore_hooks.hosts.sender import sender
from keeplore_hooks.spool import SpoolEntry

SETTLE_S = 20  # after a session's end its record may still grow for a moment
# a session without an end that was silent for so long is taken as ended
ABANDONED_S = 12 * 3600
SWEPT = "swept"
PROBLEM_LENGTH = 500  # characters


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
        self._cursors = Cursors(registry.places.sessions)

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
        progress = self._cursors.get(origin)
        reading = host.read(event, payload, progress.cursor, entry.at)
        self._hand_over(reading.events)
        phases = [event for event in reading.events if isinstance(event, Session)]
        after = SessionProgress(
            origin,
            reading.cursor,
            entry.at,
            _ended_at(progress, phases),
            progress.problem,
            progress.problem_at,
        )
        self._cursors.save(_with_problems(after, reading.problems))
        seen = {event.phase for event in phases}
        return IntakeResult(
            _turns(reading.events),
            reading.problems,
            "started" in seen,
            "ended" in seen,
            origin.cwd,
        )

    def take_transcript(
        self, host: SessionSource, path: Path, origin: Origin
    ) -> IntakeResult:
        """Take what a session on disk holds beyond its cursor; the session stays open for what may
        follow.
        """
        progress = self._cursors.get(origin)
        reading = host.read_transcript(path, progress.cursor)
        self._hand_over(reading.events)
        heard_at = max([progress.heard_at, *(event.at for event in reading.events)])
        if reading.cursor != progress.cursor or not progress.heard_at:
            after = replace(
                progress,
                origin=origin,
                cursor=reading.cursor,
                heard_at=heard_at,
                ended_at=_ended_at(progress),
            )
            self._cursors.save(_with_problems(after, reading.problems))
        return IntakeResult(_turns(reading.events), reading.problems)

    def sweep(self, moment: datetime | None = None) -> tuple[tuple[Path, str], ...]:
        """Read the rest of sessions that ended or fell silent, and close their conversations.

        Returns the sessions for which that was not possible; they are tried again at the next call.
        """
        moment = moment or datetime.now(UTC)
        problems = []
        for progress in self._cursors.unfinished():
            if _is_due(progress, moment):
                try:
                    self._finish(progress)
                except (KeeploreError, OSError) as e:
                    problems.append(
                        (
                            Path(progress.origin.transcript or progress.origin.session),
                            str(e),
                        )
                    )
        return tuple(problems)

    def _finish(self, progress: SessionProgress) -> None:
        cursor: Cursor = progress.cursor
        if is_recorded(progress.origin.transcript):
            reading = _source(progress.origin.host).read_transcript(
                Path(progress.origin.transcript), cursor
            )
            self._hand_over(reading.events)
            cursor = reading.cursor
        self._registry.for_directory(Path(progress.origin.cwd or Path.home()))
        for workspace in self._registry.opened():
            with workspace.recorder.capturing():
                workspace.recorder.capture.close(
                    workspace.sessions.get(progress.origin)
                )
        self._cursors.save(replace(progress, cursor=cursor, ended_at=SWEPT))

    def _hand_over(self, events: Iterable[HostEvent]) -> None:
        for cwd, group in itertools.groupby(events, key=lambda event: event.origin.cwd):
            workspace: Workspace = self._registry.for_directory(
                Path(cwd or Path.home())
            )
            if not workspace.settings.capture.enabled:
                continue
            with workspace.recorder.capturing():
                for event in group:
                    workspace.plugins.emit(event)
                    self._heard(event)


def _ended_at(progress: SessionProgress, phases: Sequence[Session] = ()) -> str:
    """When the session ended, "" while it is open; one that was swept and has grown since is swept
    again.
    """
    if phases:
        return phases[-1].at if phases[-1].phase == "ended" else ""
    return progress.ended_at if progress.ended_at != SWEPT else ""


def _is_due(progress: SessionProgress, moment: datetime) -> bool:
    since = progress.ended_at or progress.heard_at
    try:
        silent_s = (moment - datetime.fromisoformat(since)).total_seconds()
    except ValueError:
        return True
    # one that ended in the future ended before the clock was set back
    return abs(silent_s) > SETTLE_S if progress.ended_at else silent_s > ABANDONED_S


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


def is_recorded(transcript: str) -> bool:
    """Is there a record? That of one session in a database is named by a path which goes on behind
    the database.
    """
    places = (transcript, os.path.dirname(transcript))  # noqa: PTH120 (it never raises)
    return any(map(os.path.isfile, places))


def _with_problems(
    progress: SessionProgress, problems: tuple[str, ...]
) -> SessionProgress:
    """With the first thing that could not be read this time, for ``keeplore doctor``."""
    if not problems:
        return progress
    now = datetime.now(UTC).isoformat()[:19] + "Z"
    return replace(progress, problem=problems[0][:PROBLEM_LENGTH], problem_at=now)


def _turns(events: Iterable[HostEvent]) -> int:
    return sum(isinstance(event, Turn) for event in events)
