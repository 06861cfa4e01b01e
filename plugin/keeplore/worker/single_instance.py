"""The lock that one worker of a machine holds as long as it lives."""

from __future__ import annotations

import contextlib
import fcntl
from collections.abc import Iterator
from pathlib import Path
from typing import IO

FILE = "worker.lock"


@contextlib.contextmanager
def only_one(state: Path) -> Iterator[IO[bytes] | None]:
    """Hold the lock, or give None where another process does."""
    # the file is never unlinked: two workers would each lock a file of their own
    with (state / FILE).open("ab") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield None
            return
        yield handle
