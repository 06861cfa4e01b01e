"""What needs the embedding model: the vectors of new text, and the model itself in memory."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from keeplore.worker.tasks.base import AT_ONCE, NEVER, for_each, in_thread
from keeplore.workspace.registry import Registry
from keeplore.workspace.workspace import Workspace

VECTORS_A_STEP = 8  # so that a new event waits for one small batch at most
SERVER_ENDS_S, WARM_ENDS_S = 2.0, 20.0  # at the end
WARM_AGAIN_S = 60.0  # a model that cannot be loaded is tried again after so long


class VectorTask:
    """Makes vectors and ties the graph, a small batch at once; a server is waited for in a thread
    of its own.

    ``may_run`` says whether nothing goes before; ``wake`` is called from such a thread.
    """

    name = "making vectors"

    def __init__(
        self, registry: Registry, may_run: Callable[[], bool], wake: Callable[[], None]
    ) -> None:
        self._registry = registry
        self._may_run = may_run
        self._wake = wake
        self._is_due = True
        self._known: list[Workspace] = []
        self._threads: dict[Workspace, threading.Thread] = {}
        self._is_closing = threading.Event()

    @property
    def is_behind(self) -> bool:
        return self._is_due or any(
            thread.is_alive() for thread in self._threads.values()
        )

    def request(self) -> None:
        """Text was looked at: some may have no vectors yet, also where a command has indexed it."""
        self._is_due = True

    def run(self, _now: float) -> float:
        workspaces = self._registry.searched()
        if workspaces != self._known:  # one may have another embedding model now
            self._known, self._is_due = workspaces, True
        if self._is_due and self._may_run():
            self._is_due = any(for_each(workspaces, self._embed))
        return AT_ONCE if self._is_due else NEVER

    def close(self) -> None:
        self._is_closing.set()
        for thread in self._threads.values():
            thread.join(SERVER_ENDS_S)

    def _embed(self, workspace: Workspace) -> int:
        """Make some of the workspace's missing links and vectors, those of a server in a thread.
        Returns how much is left to be made here.
        """
        unlinked = workspace.index.graph.link(1)
        if not (workspace.embedder.is_remote or workspace.index.is_remote):
            return workspace.index.embed_pending(VECTORS_A_STEP) or unlinked
        self._threads = {
            of: thread for of, thread in self._threads.items() if thread.is_alive()
        }
        if workspace not in self._threads:
            self._threads[workspace] = in_thread("vectors", self._ask_server, workspace)
        return unlinked

    def _ask_server(self, workspace: Workspace) -> None:
        while any(for_each([workspace], self._has_more)):
            pass
        self._wake()

    def _has_more(self, workspace: Workspace) -> bool:
        batch = max(workspace.embedder.batch, VECTORS_A_STEP)
        left = workspace.index.embed_pending(batch)
        return left > 0 and workspace in self._known and not self._is_closing.is_set()


class ModelTask:
    """Loads the models beside everything else, unless they are there or on their way.

    ``is_rested`` says that nobody has asked anything yet, so that none is needed; ``wake`` is
    called from another thread once they are there.
    """

    name = "loading the model"

    def __init__(
        self,
        registry: Registry,
        is_rested: Callable[[], bool],
        wake: Callable[[], None],
    ) -> None:
        self._registry = registry
        self._is_rested = is_rested
        self._wake = wake
        self._again_at = 0.0
        self._thread: threading.Thread | None = None

    @property
    def is_loaded(self) -> bool:
        return any(
            workspace.models.are_loaded for workspace in self._registry.searched()
        )

    def run(self, now: float) -> float:
        if self._is_rested() or now < self._again_at:
            return NEVER
        cold = [
            workspace
            for workspace in self._registry.searched()
            if not workspace.is_warm
        ]
        if cold:
            self._again_at = time.monotonic() + WARM_AGAIN_S
            self._thread = in_thread("warm", self._load, cold)
        return NEVER

    def _load(self, cold: list[Workspace]) -> None:
        for_each(cold, Workspace.warm_up)
        self._wake()

    def close(self) -> None:
        """Wait for a model that is being loaded: its libraries abort a process that ends
        meanwhile.
        """
        if self._thread is not None:
            self._thread.join(WARM_ENDS_S)
