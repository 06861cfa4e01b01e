"""A machine whose commands need not import everything first (see ``ready``); all else on it is
started as a host or a person would.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import hasty_worker
from demo.machine import Machine
from ready import Started, keeplore_in

from keeplore.worker.server.protocol import ask

WORKER = Path(hasty_worker.__file__)


class QuickMachine(Machine):
    def keeplore(
        self, *arguments: str, cwd: Path | None = None, check: bool = True
    ) -> subprocess.CompletedProcess[bytes]:
        done = keeplore_in(self.environment, cwd or self.home, *arguments, stdin="")
        if check and done.returncode:
            raise RuntimeError(
                f"{arguments} gave {done.returncode}: {done.stderr[-2000:]}"
            )
        return subprocess.CompletedProcess(
            arguments, done.returncode, done.stdout.encode(), done.stderr.encode()
        )

    def status(self) -> dict[str, Any]:
        """As a command shows it, asked without one."""
        return ask(self.state, "status", timeout_s=30) or {}

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """A worker that listens and, at the end, leaves in peace."""
        worker = self.begin(WORKER)
        try:
            self.wait_until((self.state / "worker.addr").exists, "the worker listens")
            yield
        finally:
            os.kill(worker.pid, signal.SIGTERM)
            assert worker.wait() == 0
        assert "Traceback" not in (self.state / "worker.log").read_text()

    def script(self, place: Path, *arguments: str) -> int:
        """Run a program of Python, which reads nothing; its exit status."""
        return self.begin(place, *arguments).wait()

    def begin(self, place: Path, *arguments: str) -> Started:
        """Start one, and leave it running."""
        nothing = os.open(os.devnull, os.O_RDWR)
        streams = (nothing, nothing, 2)
        try:
            return Started(
                arguments, streams, self.home, self.environment, script=place
            )
        finally:
            os.close(nothing)
