"""Jobs of the queue that the worker takes beside its loop, one after the other, each kind in a
thread of its own.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path

LOG = logging.getLogger(__name__)
REST_S = 60.0  # after a step that failed, and while another process has the jobs


class JobRunner:
    """``step`` takes one job and returns None where none is due; ``due_s`` says in how many seconds
    one is, or None.

    ``done`` is called from the thread when no more is due. The queue's ``file`` tells whether there
    is anything new.
    """

    def __init__(
        self,
        name: str,
        file: Path,
        step: Callable[[], object | None],
        due_s: Callable[[], float | None],
        done: Callable[[], None],
    ) -> None:
        self._name = name
        self._file = file
        self._step = step
        self._due_s = due_s
        self._done = done
        self._seen: tuple[int, int] | None = None
        self._due_at = 0.0  # of the monotonic clock; 0.0 for never
        self._thread: threading.Thread | None = None

    @property
    def is_running(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    @property
    def due_at(self) -> float:
        """When to look again, 0.0 where nothing waits."""
        return 0.0 if self.is_running else self._due_at

    def look(self) -> None:
        """Begin where a job is due, unless that is done already."""
        moment = time.monotonic()
        if self.is_running or (
            self._seen == (stamp := _stamp(self._file)) and not 0.0 < self._due_at <= moment
        ):
            return
        self._seen = stamp
        due_s = self._due_s() if stamp else None
        self._due_at = 0.0 if due_s is None else moment + due_s
        if due_s is not None and due_s <= 0.0:
            self._due_at = moment + REST_S
            self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
            self._thread.start()

    def _work(self) -> None:
        try:
            while self._step() is not None:
                pass
        except Exception:  # nobody waits for this thread: what ends it would go unseen
            LOG.exception("%s failed", self._name)
        finally:
            self._seen = None  # what became of the last one may be due again
            self._done()


def _stamp(file: Path) -> tuple[int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
