"""Scripts that kill what they do at every step, in a process of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SUPPORT = Path(__file__).resolve().parent


def struck(script: Path, *arguments: object) -> list[str]:
    """What the script writes: a line for every copy that it has worked on."""
    done = subprocess.run(
        [sys.executable, script, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(SUPPORT)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()
