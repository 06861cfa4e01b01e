"""Jobs of the queue, which the worker takes in threads of their own: sources to ingest, and what a
language model is asked.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from keeplore.config.places import stamp
from keeplore.worker.tasks.base import NEVER, in_thread
from keeplore.workspace.registry import Registry
from keeplore.workspace.writing.ingest_jobs import IngestQueue

LOG = logging.getLogger(__name__)
PAUSE_S = 60.0  # after a step that failed
ENDS_S = 2.0  # that a worker which leaves waits; what is cut short is done again


class QueueReader(Protocol):
    """Takes the jobs of one kind."""

    def next_due_s(self) -> float | None:
        """In how many seconds a job is due; None where no job waits."""

    def step(self) -> object | None:
        """Do the job whose turn it is; None where none is."""


class JobTask:
    """Idle, and without a thread, while no job of its kind is due. ``reader`` gives None where such
    jobs cannot be taken now; ``done`` is called from the thread once no more is due.
    """

    def __init__(
        self,
        name: str,
        file: Path,
        reader: Callable[[], QueueReader | None],
        on_done: Callable[[], None],
    ) -> None:
        self.name = name
        self.is_running = False
        self._file = file  # of the queue: it tells whether there is anything new
        self._reader = reader
        self._on_done = on_done
        self._seen: tuple[int, int] | None = None
        self._due_at = NEVER
        self._is_closing = threading.Event()
        self._thread: threading.Thread | None = None

    def run(self, now: float) -> float:
        """Begin where a job is due, unless that is done already."""
        state = stamp(self._file)
        if self.is_running or state is None:
            return NEVER
        if state == self._seen and now < self._due_at:
            return self._due_at
        reader = self._reader()
        if reader is None:
            return NEVER
        self._seen = state
        due_s = reader.next_due_s()
        if due_s is None or due_s > 0.0:
            self._due_at = NEVER if due_s is None else now + due_s
            return self._due_at
        self._due_at = now + PAUSE_S
        self.is_running = True
        self._thread = in_thread(self.name, self._take_jobs, reader)
        return NEVER

    def close(self) -> None:
        self._is_closing.set()
        if self._thread is not None:
            self._thread.join(ENDS_S)

    def _take_jobs(self, reader: QueueReader) -> None:
        try:
            while not self._is_closing.is_set() and reader.step() is not None:
                pass
            self._seen = None  # what became of the last one may be due again
        except Exception:  # nobody waits for this thread: what ends it would go unseen
            LOG.exception("%s failed", self.name)
        finally:
            self._on_done()
            self.is_running = False


def ingest_task(registry: Registry, on_done: Callable[[], None]) -> JobTask:
    return JobTask(
        "ingesting", registry.places.jobs, lambda: IngestQueue(registry), on_done
    )


def refine_task(registry: Registry, on_done: Callable[[], None]) -> JobTask:
    def reader() -> QueueReader | None:
        if not any(workspace.settings.llm.provider for workspace in registry.opened()):
            return None
        # here, because most have no model, and this costs a tenth of a second
        from keeplore.workspace.writing.refinery import Refinery

        return Refinery(registry)

    return JobTask("refining", registry.places.jobs, reader, on_done)
