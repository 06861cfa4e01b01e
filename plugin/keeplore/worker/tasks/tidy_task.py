"""Tidying by itself: once a day, when nobody works, where the workspace's setting says so."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from keeplore.errors import KeeploreError
from keeplore.text.dates import today
from keeplore.worker.tasks.base import NEVER, in_thread
from keeplore.workspace.registry import Registry
from keeplore.workspace.workspace import Workspace
from keeplore_hooks import durable

LOG = logging.getLogger(__name__)
LOOK_S = 60.0  # until it is looked again whether nobody works
ENDS_S = 2.0  # at the end


class TidyTask:
    """``is_rested`` tells whether nobody works, ``written`` is called from another thread when a
    workspace has changed.
    """

    name = "tidying"

    def __init__(
        self,
        registry: Registry,
        is_rested: Callable[[], bool],
        on_written: Callable[[], None],
    ) -> None:
        self._registry = registry
        self._is_rested = is_rested
        self._on_written = on_written
        self._thread: threading.Thread | None = None

    @property
    def is_running(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def run(self, now: float) -> float:
        """Begin where a workspace was not tidied today."""
        waiting = [*filter(_is_due, self._registry.opened())]
        if not waiting:
            return NEVER
        if self._is_rested() and not self.is_running:
            self._thread = in_thread("tidy", self._tidy_all, waiting)
        return now + LOOK_S

    def close(self) -> None:
        if self._thread is not None:
            self._thread.join(ENDS_S)

    def _tidy_all(self, waiting: list[Workspace]) -> None:
        # here, because most workers never tidy
        from keeplore.workspace.tidying.tidy_plan import tidy

        for workspace in waiting:
            # one that fails is tried again tomorrow
            _note_done(workspace)
            try:
                if tidy(workspace):
                    self._on_written()
            except (KeeploreError, OSError) as e:
                LOG.warning("%s was not tidied: %s", workspace.name, e)
            except Exception:
                # nobody waits for this thread: what ends it would go unseen
                LOG.exception("%s was not tidied", workspace.name)


def _is_due(workspace: Workspace) -> bool:
    settings = workspace.settings
    if not settings.tidy.nightly or settings.frozen:
        return False
    note = workspace.places.state / "tidied" / workspace.name
    return not note.exists() or note.read_text() != today()


def _note_done(workspace: Workspace) -> None:
    folder = workspace.places.state / "tidied"
    folder.mkdir(mode=0o700, exist_ok=True)
    durable.write(folder / workspace.name, today().encode())
