"""Starting a worker from a program that goes on without it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def start(state: Path) -> subprocess.Popen[bytes] | None:
    """A worker that outlives this process; where another one runs already, it leaves again. None
    where none starts.
    """
    nowhere = subprocess.DEVNULL
    try:
        return subprocess.Popen(
            (sys.executable, "-m", "keeplore.worker"),
            cwd=state,
            stdin=nowhere,
            stdout=nowhere,
            stderr=nowhere,
            start_new_session=True,
        )
    except OSError:
        return None
