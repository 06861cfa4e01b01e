"""What every tool works with: the workspaces, where the session is, and what the worker does for
it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from keeplore.config.places import Places
from keeplore.errors import Forgotten, NotFound, RepositoryError
from keeplore.mcp_server.project_roots import ProjectRoots
from keeplore.memory.names import remedy_for_unknown
from keeplore.recall.request import Answer, RecallRequest
from keeplore.workspace.reading.deleted_memories import find_forgotten
from keeplore.workspace.registry import FoundMemory, Registry
from keeplore.workspace.workspace import Workspace

IDS = "The tools `search` and `timeline` give ids"


@dataclass(frozen=True, slots=True)
class McpServices:
    """What is the same for all sessions.

    ``recall`` raises KeeploreError; ``changed`` is called where a memory came or went, ``is_told``
    says whether some session was given a memory lately, and ``note_opened`` that one was read.
    """

    registry: Registry
    recall: Callable[[RecallRequest], Answer]
    changed: Callable[[], None]
    is_told: Callable[[str], bool]
    note_opened: Callable[[str], None]

    @property
    def sessions(self) -> Path:
        """The directory with a file for each session that was heard of."""
        return self.registry.places.sessions


@dataclass(frozen=True, slots=True)
class McpContext:
    """What belongs to one session; safe for several threads.

    ``found`` are the memories that its questions were answered with.
    """

    services: McpServices
    place: ProjectRoots
    found: set[str]

    @property
    def registry(self) -> Registry:
        return self.services.registry

    @property
    def places(self) -> Places:
        return self.registry.places

    def find(self, reference: str, directory: str) -> FoundMemory:
        """The memory that an id, digits of one, or a path stands for. Raises NotFound or
        Forgotten.
        """
        cwd = self.place.asked(directory).directory
        try:
            return self.registry.find(reference, cwd)
        except NotFound as e:
            with contextlib.suppress(NotFound):
                _, gone = find_forgotten(self.registry, reference, cwd)
                raise Forgotten(
                    f"{gone} was forgotten", f"`keeplore restore {gone}` brings it back"
                ) from None
            if e.remedy == remedy_for_unknown(reference.strip()):
                raise NotFound(e.message, IDS) from None
            raise

    def recall(self, request: RecallRequest) -> Answer:
        """What is remembered. Raises KeeploreError."""
        answer = self.services.recall(request)
        self.found.update(hit.memory_id for hit in answer.hits)
        return answer

    def note_read(self, found: FoundMemory) -> None:
        """Count that an agent reads a memory: of use, where it was found here or told, and not
        merely walked over.
        """
        id_ = found.row.id
        if found.workspace.settings.recall.feedback and (
            id_ in self.found or self.services.is_told(id_)
        ):
            self.services.note_opened(id_)

    def settle(self, workspace: Workspace) -> str:
        """Commit what was written, and see to it that it is indexed and pushed; a sentence where
        git refuses.
        """
        problem = ""
        try:
            workspace.commit()
        except RepositoryError as e:
            problem = f"It is on disk and not committed yet: {e}"
        self.services.changed()
        return problem


# of the session whose request is being answered
CURRENT: ContextVar[McpContext] = ContextVar("CURRENT")
