"""When a conversation is put into the queue to be refined; by whom and how it is done, ``refining``
says.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

from keeplore.config.settings import RefineMode
from keeplore.errors import KeeploreError
from keeplore.jobs.queue import JobQueue
from keeplore.llm.open_model import is_accepted
from keeplore.memory.model import without_empty
from keeplore.text.dates import is_recent
from keeplore.workspace.recording.recorded_workspace import RecordedWorkspace
from keeplore_hooks.events import Compaction
from keeplore_hooks.specs import hookimpl_last

LOG = logging.getLogger(__name__)
# of jobs: what a host is about to lose sight of goes first
FIRST, REST = KINDS = ("refine-compaction", "refine")
# a conversation that is imported later is backlog, which costs money only when it is asked for
RECENT = timedelta(days=7)


class RefineCause(StrEnum):
    """Why a conversation is queued."""

    COMPACTION = "compaction"
    CLOSED = "closed"
    ASKED = "asked"


class RefineTrigger:
    """The plugin that queues what is said in this workspace: as it closes, and as a host shortens
    its context.
    """

    def __init__(self, workspace: RecordedWorkspace) -> None:
        self._workspace = workspace

    @hookimpl_last
    def keeplore_conversation_closing(self, meta: Mapping[str, Any]) -> None:
        if is_recent(str(meta.get("updated_at", "")), RECENT):
            self._queue(
                str(meta.get("id", "")),
                RefineCause.CLOSED,
                at=str(meta.get("created_at", "")),
            )

    @hookimpl_last
    def keeplore_compaction(self, compaction: Compaction) -> None:
        state = self._workspace.sessions.get(compaction.origin)
        if state.open_id and is_recent(compaction.at, RECENT):
            self._queue(state.open_id, RefineCause.COMPACTION)

    def _queue(self, memory_id: str, cause: str, **options: str) -> None:
        workspace = self._workspace
        if workspace.settings.refine_mode == RefineMode.FROZEN or not is_on(workspace):
            return
        try:
            queue = JobQueue(workspace.places.jobs)
            enqueue(queue, workspace.name, memory_id, cause, **options)
        except (KeeploreError, OSError) as e:
            # what was said is kept all the same, and `keeplore refine` finds it
            LOG.warning(
                "%s: %s is not queued to be refined: %s", workspace.name, memory_id, e
            )


def is_on(workspace: RecordedWorkspace) -> bool:
    """Whether a model is set, and the person of this machine has accepted it."""
    llm = workspace.settings.llm
    return bool(llm.provider) and is_accepted(workspace.places, workspace.root, llm)


def enqueue(
    queue: JobQueue, workspace: str, memory_id: str, cause: str, **options: Any
) -> bool:
    """Queue a conversation to be refined, in the place of an older job for it unless that, or this
    one, is for a compaction. Returns whether it was queued.

    The option ``at`` is when the conversation began: earlier ones are refined first, so that what
    was said last becomes the newest note, in whatever order an import reads them.
    """
    payload = {"workspace": workspace, "why": cause}
    payload |= without_empty(options)
    is_compaction = cause == RefineCause.COMPACTION
    return queue.add(
        FIRST if is_compaction else REST,
        memory_id,
        payload,
        datetime.now(UTC),
        replace=not is_compaction,
    )
