"""What a worker knows of itself: whether its program was replaced on the disk, what went wrong
lately, its memory.
"""

from __future__ import annotations

import logging
import resource
import sys
from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import keeplore
from keeplore.config.places import stamp
from keeplore.text.dates import in_utc

KEPT = 5  # faults
FAULT_CHARS = 300
PAGE_KB = resource.getpagesize() // 1024


class ProgramFile:
    """The program on the disk, as it was when this was made."""

    def __init__(self) -> None:
        self._file = Path(keeplore.__file__)
        self._seen = stamp(self._file)

    @property
    def has_changed(self) -> bool:
        """True after an update, a downgrade or a removal: what is loaded later may not fit what is
        loaded already.
        """
        return stamp(self._file) != self._seen


class FaultLog(logging.Handler):
    """The latest warnings and errors of the log, while the context lasts; ``on_fault`` is called
    at each."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.on_fault: Callable[[], object] = lambda: None
        self._kept: deque[str] = deque(maxlen=KEPT)

    def __enter__(self) -> FaultLog:
        logging.getLogger("keeplore").addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        logging.getLogger("keeplore").removeHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        at = in_utc(datetime.fromtimestamp(record.created, UTC))
        message = " ".join(record.getMessage().split())
        why = (
            f": {record.exc_info[1]!r}"
            if record.exc_info and record.exc_info[1]
            else ""
        )
        self.on_fault()
        self._kept.append(f"{at} {message}{why}"[:FAULT_CHARS])

    def latest(self) -> list[str]:
        """The newest last."""
        return list(self._kept)


def memory_mb() -> int:
    """What of this process is in memory, in MB; where the system does not say, the most that ever
    was.
    """
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except (OSError, ValueError, IndexError):
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most // (1024 * 1024 if sys.platform == "darwin" else 1024)
    return pages * PAGE_KB // 1024
