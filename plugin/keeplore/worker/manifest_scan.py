"""What the projects are made of, looked at beside the worker's loop: a project may lie on a slow
disk.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from pathlib import Path

from keeplore.errors import KeeploreError
from keeplore.workspace.importing.project_manifests import ProjectManifests, is_known
from keeplore.workspace.registry import Registry

LOG = logging.getLogger(__name__)
ENDS_S = 2.0  # at the end


class ManifestScan:
    """``written`` is called from another thread when a file of a workspace has changed."""

    def __init__(self, registry: Registry, written: Callable[[], None]) -> None:
        self._registry = registry
        self._written = written
        self._manifests = ProjectManifests()
        self._lock = threading.Lock()
        self._waiting: dict[str, None] = {}  # directories
        self._done: set[str] = set()  # directories
        self._is_working = False
        self._thread: threading.Thread | None = None

    @property
    def is_behind(self) -> bool:
        return bool(self._waiting) or self._is_working

    def note(self, directory: str, *, is_due: bool) -> None:
        """Something happened there; ``is_due`` where a session began or ended, and it is looked at
        again.
        """
        if directory and (is_due or directory not in self._done):
            with self._lock:
                self._waiting[directory] = None

    def look(self) -> None:
        """Begin where a directory waits, unless that is done already."""
        with self._lock:
            if not self._waiting or self._is_working:
                return
            self._is_working = True
        self._thread = threading.Thread(target=self._work, name="keeplore-inventory", daemon=True)
        self._thread.start()

    def close(self) -> None:
        if self._thread is not None:
            self._thread.join(ENDS_S)

    def _work(self) -> None:
        while True:
            with self._lock:
                directory = next(iter(self._waiting), None)
                self._is_working = directory is not None
                if directory is None:
                    return
                del self._waiting[directory]
            try:
                if self._take(Path(directory)):
                    self._written()
            except (KeeploreError, OSError) as e:
                LOG.warning("what %s is made of: %s", directory, e)
            except Exception:  # nobody waits for this thread: what ends it would go unseen
                LOG.exception("what %s is made of", directory)

    def _take(self, directory: Path) -> bool:
        workspace = self._registry.for_directory(directory)
        if not is_known(workspace, directory):  # its entry comes with its first memory
            return False
        self._done.add(str(directory))
        return workspace.settings.capture.enabled and self._manifests.take(workspace, directory)
