"""Briefs that wait for a prompt: of hosts that take none at the moment when it is due, and of
sessions that started while no worker answered.
"""

from __future__ import annotations

import threading

from keeplore.recall.unasked.workspace_view import InjectionHistory
from keeplore.workspace.change_counter import ChangeCounter
from keeplore_hooks.events import Origin
from keeplore_hooks.hosts.base import StartReason

# they parse what they are given at a session's start as if it had been typed, or throw it away
BRIEFED_BY_PROMPT = ("gemini-cli",)
# hosts that report a compaction beforehand and do not ask afterwards: the next prompt brings what
# was decided before
ASK_NO_MORE = ("copilot", "cursor", "gemini-cli")
SHORTENED = "shortened"  # the source of a brief after a compaction
_MOST = 100  # sessions; the oldest are forgotten, and briefed as if they began


class OwedBriefs:
    """Thread-safe: which session is owed a brief, and why."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._starts: dict[tuple[str, str], str] = {}  # session → why it started

    def note_start(self, origin: Origin, source: str) -> None:
        """Take that a session has started which is to be briefed with its first prompt."""
        with self._lock:
            self._starts.pop(origin.session_key, None)
            self._starts[origin.session_key] = source
            while len(self._starts) > _MOST:
                del self._starts[next(iter(self._starts))]

    def has(self, origin: Origin) -> bool:
        """Whether a start of the session is known with which it was told nothing."""
        with self._lock:
            return origin.session_key in self._starts

    def drop(self, origin: Origin) -> None:
        """Take that the session was briefed after all."""
        with self._lock:
            self._starts.pop(origin.session_key, None)

    def take(
        self, origin: Origin, changes: ChangeCounter, known: InjectionHistory
    ) -> str:
        """The reason for a brief that is due with this prompt, "" where none is; it is given to one
        caller only.
        """
        with self._lock:
            source = self._starts.pop(origin.session_key, "")
        if origin.host in ASK_NO_MORE and changes.was_shortened(origin):
            return SHORTENED
        if not source and origin.host in BRIEFED_BY_PROMPT and not known.since:
            return StartReason.STARTUP  # it was never told anything
        return source

    def give_back(self, origin: Origin, source: str, changes: ChangeCounter) -> None:
        """Owe the brief again, since there was no time for it: the next prompt brings it."""
        if source == SHORTENED:
            changes.shorten(origin)
        else:
            self.note_start(origin, source)
