"""One writer at a time where looking and writing must not be apart: among threads, and among
processes.
"""

from __future__ import annotations

import fcntl
import os
import threading
from pathlib import Path
from types import TracebackType

from keeplore.store.git.repository_state import directories
from keeplore.store.git_locks import WRITER


class Exclusive:
    """A context manager that one thread of one process holds at a time; who holds it may enter
    again.

    Entering raises RepositoryError where there is no repository, or OSError.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._mutex = threading.RLock()
        self._depth = 0
        self._handle = -1

    def __enter__(self) -> None:
        self._mutex.acquire()
        try:
            if self._depth == 0:
                self._handle = os.open(
                    directories(self._root).own / WRITER,
                    os.O_RDWR | os.O_CREAT | os.O_CLOEXEC,
                    0o600,
                )
                fcntl.flock(self._handle, fcntl.LOCK_EX)
            self._depth += 1
        except BaseException:
            self._mutex.release()
            raise

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._depth -= 1
        if self._depth == 0:
            os.close(self._handle)
        self._mutex.release()
