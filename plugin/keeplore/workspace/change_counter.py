"""How much of a workspace has changed in this process, counted by a plugin of it."""

from __future__ import annotations

from keeplore_hooks.events import Compaction, CompactionPhase, Origin
from keeplore_hooks.specs import hookimpl_last

# they report a compaction beforehand also where nothing comes of it; their record tells a real one
TOLD_AFTERWARDS = ("gemini-cli",)


class ChangeCounter:
    """How many files were written, so that index and commit need to look only after a change.

    Also which sessions their hosts shortened, or were about to.
    """

    def __init__(self) -> None:
        self.count = 0
        self._shortened: set[tuple[str, str]] = set()
        self._announced: set[tuple[str, str]] = set()

    @hookimpl_last
    def keeplore_memory_written(self) -> None:
        self.count += 1

    @hookimpl_last
    def keeplore_compaction(self, compaction: Compaction) -> None:
        is_before = compaction.phase == CompactionPhase.BEFORE
        if is_before != (compaction.origin.host in TOLD_AFTERWARDS):
            self.shorten(compaction.origin)
        elif is_before:
            self._announced.add(compaction.origin.session_key)

    def shorten(self, origin: Origin) -> None:
        self._shortened.add(origin.session_key)

    def was_announced(self, origin: Origin) -> bool:
        """Whether the host spoke of a compaction, since this was asked last, that its record may
        tell of by now.
        """
        return _take_session(self._announced, origin)

    def was_shortened(self, origin: Origin) -> bool:
        """Whether the session's context was shortened since this was asked last."""
        return _take_session(self._shortened, origin)


def _take_session(sessions: set[tuple[str, str]], origin: Origin) -> bool:
    is_there = origin.session_key in sessions
    sessions.discard(origin.session_key)
    return is_there
