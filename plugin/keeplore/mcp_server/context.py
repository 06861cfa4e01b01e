"""What every tool works with: the workspaces, where the host is, and the worker that has the
model.
"""

from __future__ import annotations

import contextlib
import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from keeplore.config.places import Places
from keeplore.errors import Forgotten, KeeploreError, NotFound, RepositoryError
from keeplore.mcp_server.project_roots import ProjectRoots
from keeplore.recall.request import RecallRequest
from keeplore.worker.server.protocol import ask
from keeplore.worker.start import start
from keeplore.worker.usage.view_log import is_told, note_opened
from keeplore.workspace.reading.deleted_memories import find_forgotten
from keeplore.workspace.registry import FoundMemory, Registry
from keeplore.workspace.workspace import Workspace

if TYPE_CHECKING:
    import subprocess

WORKER_S = 3.0  # a warm worker answers in a few hundredths; one that is busy is given this long
START_S = 5.0  # for a worker that has to be started, with its model
POLL_S = 0.1
AGAIN_S = 60.0  # before a worker that did not come is started once more
ANSWER_S = 1.0
NO_WORKER = (
    "searched by words alone: the worker, which has the model, did not answer; `keeplore "
    "doctor` says more"
)


class McpContext:
    """Safe for several threads. The model stays in the worker: this process may live as long as its
    host does.
    """

    def __init__(self, places: Places, place: ProjectRoots) -> None:
        self.places = places
        self.place = place
        self._registry: Registry | None = None
        self._lock = threading.Lock()
        self._started_at = float("-inf")
        self._worker: subprocess.Popen[bytes] | None = None
        # memories that this server has answered a question with
        self._found: set[str] = set()

    @property
    def registry(self) -> Registry:
        """Opened at the first use, so that a machine without a workspace has a server that
        says so.
        """
        with self._lock:
            if self._registry is None:
                self._registry = Registry(self.places)
            return self._registry

    def find(self, reference: str, directory: str) -> FoundMemory:
        """The memory that an id, digits of one, or a path stands for. Raises NotFound or
        Forgotten.
        """
        cwd = self.place.asked(directory).directory
        try:
            return self.registry.find(reference, cwd)
        except NotFound:
            with contextlib.suppress(NotFound):
                _, gone = find_forgotten(self.registry, reference, cwd)
                raise Forgotten(
                    f"{gone} was forgotten", f"`keeplore restore {gone}` brings it back"
                ) from None
            raise

    def recall(self, request: RecallRequest) -> dict[str, Any]:
        """The answer as JSON: the worker's, or without one what words alone find.

        Raises KeeploreError.
        """
        answer = self._ask_worker(request) or self._when_started(request)
        if answer is None:
            answer = self.registry.recall(replace(request, text_only=True)).to_json()
            answer["notes"] = [*answer["notes"], NO_WORKER]
        if "error" in answer:
            raise KeeploreError(answer["error"]["message"], answer["error"]["remedy"])
        self._found.update(hit["memory_id"] for hit in answer["hits"])
        return answer

    def _ask_worker(self, request: RecallRequest) -> Any | None:
        return ask(self.places.state, "recall", request.to_json(), timeout_s=WORKER_S)

    def note_read(self, found: FoundMemory) -> None:
        """An agent reads a memory: of use, where it was found here or told, and not merely walked
        over.
        """
        state, id_ = self.places.state, found.row.id
        if found.workspace.settings.recall.feedback and (
            id_ in self._found or is_told(state, id_)
        ):
            note_opened(state, id_)

    def settle(self, workspace: Workspace) -> str:
        """Commit what was written and tell a worker, which indexes and pushes it; a sentence where
        git refuses.
        """
        told = ""
        try:
            workspace.commit()
        except RepositoryError as e:
            told = f"It is on disk and not committed yet: {e}"
        ask(self.places.state, "changed", timeout_s=ANSWER_S)
        return told

    def close(self) -> None:
        with self._lock:
            if self._registry is not None:
                self._registry.close()
                self._registry = None

    def _when_started(self, request: RecallRequest) -> Any | None:
        """The answer of a worker that is started for it; None where none comes in time."""
        with self._lock:
            is_due = time.monotonic() - self._started_at > AGAIN_S
            if is_due:
                self._started_at = time.monotonic()
                self._worker = start(self.places.state)
        deadline = self._started_at + START_S
        while time.monotonic() < deadline:
            time.sleep(POLL_S)
            if answer := self._ask_worker(request):
                return answer
        return None
