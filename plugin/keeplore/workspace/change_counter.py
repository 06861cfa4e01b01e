"""How much of a workspace has changed in this process, counted by a plugin of it."""

from __future__ import annotations

from keeplore_hooks.events import Compaction, Origin
from keeplore_hooks.specs import hookimpl_last


class ChangeCounter:
    """How many files were written, so that index and commit need to look only after a change.

    Also which sessions their hosts were about to shorten.
    """

    def __init__(self) -> None:
        self.count = 0
        self._shortened: set[tuple[str, str]] = set()

    @hookimpl_last
    def keeplore_memory_written(self) -> None:
        self.count += 1

    @hookimpl_last
    def keeplore_compaction(self, compaction: Compaction) -> None:
        if compaction.phase == "before":
            self.shorten(compaction.origin)

    def shorten(self, origin: Origin) -> None:
        self._shortened.add((origin.host, origin.session))

    def was_shortened(self, origin: Origin) -> bool:
        """Whether the session's context was shortened since this was asked last."""
        key = (origin.host, origin.session)
        was = key in self._shortened
        self._shortened.discard(key)
        return was
