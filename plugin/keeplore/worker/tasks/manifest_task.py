"""What the projects are made of, looked at beside the worker's loop: a project may lie on a slow
disk.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from pathlib import Path

from keeplore.errors import KeeploreError
from keeplore.worker.tasks.base import NEVER, in_thread
from keeplore.workspace.importing.project_manifests import ProjectManifests, is_known
from keeplore.workspace.registry import Registry

LOG = logging.getLogger(__name__)
ENDS_S = 2.0  # at the end


class ManifestTask:
    """``written`` is called from another thread when a file of a workspace has changed."""

    name = "looking at manifests"

    def __init__(self, registry: Registry, on_written: Callable[[], None]) -> None:
        self._registry = registry
        self._on_written = on_written
        self._manifests = ProjectManifests()
        self._lock = threading.Lock()
        self._waiting: dict[str, None] = {}  # directories
        self._done: set[str] = set()  # directories
        self._is_running = False
        self._thread: threading.Thread | None = None

    @property
    def is_behind(self) -> bool:
        return bool(self._waiting) or self._is_running

    def note_place(self, directory: str, *, is_due: bool) -> None:
        """Note that something happened in a directory; ``is_due`` at the beginning and end of a
        session, when its manifests are read again.
        """
        if directory and (is_due or directory not in self._done):
            with self._lock:
                self._waiting[directory] = None

    def run(self, _now: float) -> float:
        """Begin where a directory waits, unless that is done already."""
        with self._lock:
            is_due = bool(self._waiting) and not self._is_running
            self._is_running = self._is_running or is_due
        if is_due:
            self._thread = in_thread("manifests", self._scan_waiting)
        return NEVER

    def close(self) -> None:
        if self._thread is not None:
            self._thread.join(ENDS_S)

    def _scan_waiting(self) -> None:
        while directory := self._next_directory():
            try:
                if self._scan(Path(directory)):
                    self._on_written()
            except (KeeploreError, OSError) as e:
                LOG.warning("what %s is made of: %s", directory, e)
            except Exception:
                # nobody waits for this thread: what ends it would go unseen
                LOG.exception("what %s is made of", directory)

    def _next_directory(self) -> str:
        """A directory that waits; "" where none does, and the thread ends."""
        with self._lock:
            directory = next(iter(self._waiting), "")
            self._is_running = bool(directory)
            self._waiting.pop(directory, None)
        return directory

    def _scan(self, directory: Path) -> bool:
        workspace = self._registry.for_directory(directory)
        if not is_known(workspace, directory):  # its entry comes with its first memory
            return False
        self._done.add(str(directory))
        return self._manifests.take(workspace, directory)
