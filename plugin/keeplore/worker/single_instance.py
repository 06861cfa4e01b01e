"""The lock that one worker of a machine holds as long as it lives."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

FILE = "worker.lock"


LEAVE_S = 10.0
POLL_S = 0.05


@contextlib.contextmanager
def only_one(
    state: Path, is_leaving: Callable[[], bool] = lambda: False
) -> Iterator[IO[bytes] | None]:
    """Hold the lock, or give None where another process does, which is waited for a while if it is
    leaving.
    """
    until = time.monotonic() + LEAVE_S
    # the file is never unlinked: two workers would each lock a file of their own
    with (state / FILE).open("ab") as handle:
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if is_leaving() and time.monotonic() < until:
                    time.sleep(POLL_S)
                    continue
                yield None
                return
            break
        yield handle


def is_lost(state: Path, lock: IO[bytes]) -> bool:
    """Whether the lock that is held is no longer the one of the state directory, because somebody
    deleted that: the next worker would not see this one.
    """
    try:
        return not os.path.samestat(os.fstat(lock.fileno()), (state / FILE).stat())
    except OSError:
        return True
