"""Jobs of the queue, which the worker takes in threads of their own: sources to ingest, and what a
language model is asked.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from pathlib import Path

from keeplore.worker.tasks.base import NEVER, in_thread
from keeplore.workspace.registry import Registry
from keeplore.workspace.writing.ingest_jobs import IngestQueue

LOG = logging.getLogger(__name__)
PAUSE_S = 60.0  # after a step that failed, and while another process has the jobs
# between two looks at the queue when nobody says that there is something; another process may add
# to it
LOOK_S = 60.0
# that a worker which leaves waits; a call that is cut short is made again
REFINE_ENDS_S = 2.0


class IngestTask:
    """``done`` is called from the thread when no more is due."""

    name = "ingesting"

    def __init__(self, registry: Registry, done: Callable[[], None]) -> None:
        self._jobs = IngestQueue(registry)
        self._file = registry.places.jobs  # tells whether there is anything new
        self._done = done
        self._seen: tuple[int, int] | None = None
        self._due_at = NEVER
        self._thread: threading.Thread | None = None

    @property
    def is_running(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def run(self, now: float) -> float:
        """Begin where a job is due, unless that is done already."""
        if self.is_running:
            return NEVER
        stamp = _stamp(self._file)
        if stamp != self._seen or now >= self._due_at:
            self._seen = stamp
            due_s = self._jobs.due_s() if stamp else None
            self._due_at = NEVER if due_s is None else now + due_s
            if due_s is not None and due_s <= 0.0:
                self._due_at = now + PAUSE_S
                self._thread = in_thread("ingest", self._work)
                return NEVER
        return self._due_at

    def _work(self) -> None:
        try:
            while self._jobs.step() is not None:
                pass
        except Exception:  # nobody waits for this thread: what ends it would go unseen
            LOG.exception("ingesting failed")
        finally:
            self._seen = None  # what became of the last one may be due again
            self._done()


def _stamp(file: Path) -> tuple[int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


class RefineTask:
    """Idle, and without a thread, while no workspace has a model. ``changed`` is called after
    memory was written.
    """

    name = "refining"

    def __init__(self, registry: Registry, changed: Callable[[], None]) -> None:
        self._registry = registry
        self._changed = changed
        self._wake = threading.Event()
        self._is_closing = threading.Event()
        self._thread: threading.Thread | None = None
        self.is_running = False

    def run(self, _now: float) -> float:
        """There may be something to do: the thread looks."""
        if any(
            workspace.settings.llm.provider for workspace in self._registry.opened()
        ):
            if self._thread is None:
                self._thread = in_thread("refine", self._work)
            self._wake.set()
        return NEVER

    def close(self) -> None:
        self._is_closing.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join(REFINE_ENDS_S)

    def _work(self) -> None:
        while not self._is_closing.is_set():
            pause_s = PAUSE_S
            try:
                pause_s = self._take_due()
            except Exception:
                # nobody waits for this thread: what ends it would go unseen
                LOG.exception("refining failed")
            finally:
                self.is_running = False
            self._wake.wait(pause_s)
            self._wake.clear()

    def _take_due(self) -> float:
        """Take what is due. Returns after how many seconds to look again."""
        # here, because most have no model, and this costs a tenth of a second
        from keeplore.workspace.writing.refinery import Refinery

        refinery = Refinery(self._registry)
        while not self._is_closing.is_set():
            due_s = refinery.next_due_s()
            if due_s is None or due_s > 0:
                return min(due_s or LOOK_S, LOOK_S)
            self.is_running = True
            step = refinery.step()
            if step is None:  # another process was faster
                return 1.0
            if step.result is None:
                LOG.info("%s waits: %s", step.job.key, step.problem)
            elif step.result.outcomes:
                self._changed()
        return LOOK_S
