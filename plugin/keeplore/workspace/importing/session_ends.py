"""When a session counts as over: its host said so, it fell silent, or the next one began."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from datetime import UTC, datetime

from keeplore.workspace.recording.cursors import SessionProgress
from keeplore_hooks.installed import source_named

SETTLE_S = 20  # after a session's end its record may still grow for a moment
# a session without an end that was silent for so long is taken as ended
ABANDONED_S = 12 * 3600
QUIET_S = 20 * 60  # the same where the host tells no end


class SessionEnds:
    """Tells when each of these sessions is over, seen from ``moment``."""

    def __init__(self, sessions: Iterable[SessionProgress], moment: datetime) -> None:
        self._moment = moment
        # host and directory → when the newest session there began
        self._newest: dict[tuple[str, str], str] = {}
        for progress in sessions:
            place = _host_and_directory(progress)
            self._newest[place] = max(self._newest.get(place, ""), progress.began_at)

    def due_in_s(self, progress: SessionProgress) -> float:
        """In how many seconds the session counts as over with its record whole: 0.0 where it does
        now, infinite where its host will report the end and was heard of recently.
        """
        try:
            silent_s = self._silent_s(progress)
        except ValueError:
            return 0.0
        if progress.ended_at:
            # one that ended in the future ended before the clock was set back
            return max(SETTLE_S - abs(silent_s), 0.0)
        if tells_end(progress.origin.host):
            return 0.0 if silent_s > ABANDONED_S else math.inf
        has_successor = self._newest[_host_and_directory(progress)] > progress.heard_at
        return max((SETTLE_S if has_successor else QUIET_S) - silent_s, 0.0)

    def _silent_s(self, progress: SessionProgress) -> float:
        """Since it ended, or since the host was heard of or wrote its record: while the assistant
        works, that may be all. Raises ValueError.
        """
        since = progress.ended_at or progress.heard_at
        silent_s = (self._moment - datetime.fromisoformat(since)).total_seconds()
        if progress.ended_at or tells_end(progress.origin.host):
            return silent_s
        written_s = (self._moment - _written_at(progress)).total_seconds()
        return min(silent_s, written_s) if written_s >= 0 else silent_s


def tells_end(host: str) -> bool:
    """Whether the host tells when a session ends; one that nobody knows counts as such."""
    try:
        return source_named(host).tells_end
    except KeyError:
        return True


def is_recorded(transcript: str) -> bool:
    """Is there a record? That of one session in a database is named by a path which goes on behind
    the database.
    """
    places = (transcript, os.path.dirname(transcript))  # noqa: PTH120 (it never raises)
    return any(map(os.path.isfile, places))


def _host_and_directory(progress: SessionProgress) -> tuple[str, str]:
    return progress.origin.host, progress.origin.cwd


def _written_at(progress: SessionProgress) -> datetime:
    """When the host wrote its record last, long ago where there is none."""
    try:
        seconds = os.stat(progress.origin.transcript).st_mtime  # noqa: PTH116 (it may be "")
    except (OSError, ValueError):
        seconds = 0.0
    return datetime.fromtimestamp(seconds, UTC)
