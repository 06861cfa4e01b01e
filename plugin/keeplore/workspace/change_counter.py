"""The plugin by which a workspace notes what its other plugins are told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from keeplore_hooks.events import Compaction
from keeplore_hooks.specs import hookimpl_last

if TYPE_CHECKING:
    from keeplore.workspace.workspace import ChangeCounter


class Noting:
    def __init__(self, changes: ChangeCounter) -> None:
        self._changes = changes

    @hookimpl_last
    def keeplore_memory_written(self) -> None:
        self._changes.count += 1

    @hookimpl_last
    def keeplore_compaction(self, compaction: Compaction) -> None:
        if compaction.phase == "before":
            self._changes.shorten(compaction.origin)
