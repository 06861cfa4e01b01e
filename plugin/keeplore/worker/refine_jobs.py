"""What the worker does with a language model, where one is set: jobs of the queue, in a thread
beside all else.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from keeplore.workspace.registry import Registry

LOG = logging.getLogger(__name__)
# between two looks at the queue when nobody says that there is something; another process may add
# to it
LOOK_S = 60.0
AFTER_ERROR_S = 60.0
# that a worker which leaves waits; a call that is cut short is made again when its lease is over
ENDS_S = 2.0


class RefineJobs:
    """Idle, and without a thread, while no workspace has a model. ``changed`` is called after
    memory was written.
    """

    def __init__(self, registry: Registry, changed: Callable[[], None]) -> None:
        self._registry = registry
        self._changed = changed
        self._wake = threading.Event()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self.is_busy = False

    def look(self) -> None:
        """There may be something to do."""
        if any(workspace.settings.llm.provider for workspace in self._registry.opened()):
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._run, name="keeplore-refine", daemon=True
                )
                self._thread.start()
            self._wake.set()

    def close(self) -> None:
        self._stopping.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join(ENDS_S)

    def _run(self) -> None:
        while not self._stopping.is_set():
            pause_s = AFTER_ERROR_S
            try:
                pause_s = self._work()
            except Exception:  # nobody waits for this thread: what ends it would go unseen
                LOG.exception("refining failed")
            finally:
                self.is_busy = False
            self._wake.wait(pause_s)
            self._wake.clear()

    def _work(self) -> float:
        """Take what is due. Returns after how many seconds to look again."""
        # here, because most have no model, and this costs a tenth of a second
        from keeplore.workspace.writing.refinery import Refinery

        refinery = Refinery(self._registry)
        while not self._stopping.is_set():
            due_s = refinery.next_due_s()
            if due_s is None or due_s > 0:
                return min(due_s or LOOK_S, LOOK_S)
            self.is_busy = True
            step = refinery.step()
            if step is None:  # another process was faster
                return 1.0
            if step.result is None:
                LOG.info("%s waits: %s", step.job.key, step.problem)
            elif step.result.outcomes:
                self._changed()
        return LOOK_S
