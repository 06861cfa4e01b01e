"""Which memories each session has already been given, so that none is shown twice."""

from __future__ import annotations

import json
import threading
from collections.abc import Collection
from pathlib import Path

from keeplore_hooks import durable
from keeplore_hooks.events import Origin

MAX_SESSIONS = 200  # the oldest are forgotten; showing a memory again is the lesser harm


class Shown:
    """Thread-safe; a file that cannot be read counts as empty. ``save`` writes it: nobody waits for a disk here."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._is_saved = True
        try:
            data = json.loads(path.read_bytes())
            self._ids = {str(key): [str(i) for i in ids] for key, ids in data.items()}
        except (OSError, ValueError, AttributeError, TypeError):
            self._ids = {}

    def in_session(self, origin: Origin) -> frozenset[str]:
        with self._lock:
            return frozenset(self._ids.get(_key(origin), ()))

    def add(self, origin: Origin, ids: Collection[str]) -> None:
        with self._lock:
            if not ids:
                return
            known = self._ids.pop(_key(origin), [])
            self._ids[_key(origin)] = list(dict.fromkeys([*known, *ids]))
            while len(self._ids) > MAX_SESSIONS:
                del self._ids[next(iter(self._ids))]
            self._is_saved = False

    def forget(self, origin: Origin) -> None:
        with self._lock:
            if self._ids.pop(_key(origin), None):
                self._is_saved = False

    def save(self) -> None:
        """Write what changed since the last time. Raises OSError."""
        with self._lock:
            if not self._is_saved:
                durable.write(self._path, json.dumps(self._ids).encode())
                self._is_saved = True


def _key(origin: Origin) -> str:
    return f"{origin.host}/{origin.session}"
