"""Threads: a topic over its sessions, and what was decided in each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from keeplore.errors import NotFound
from keeplore.index import MemoryRow, load_or_none
from keeplore.memory import Conversation
from keeplore.web.page_context import PageContext
from keeplore.workspace.reading.threads import ConversationThread, threads

SHOWN = 200


@dataclass(frozen=True, slots=True)
class ThreadStep:
    row: MemoryRow
    decided: tuple[str, ...]
    open: tuple[str, ...]


def threads_values(context: PageContext) -> dict[str, Any]:
    """What the template of the list of threads is given. Raises IndexUnavailable."""
    return {"threads": threads(context.workspace.index)[:SHOWN]}


def thread_values(context: PageContext, reference: str) -> dict[str, Any]:
    """What the template of a thread's page is given. Raises NotFound, IndexUnavailable."""
    index = context.workspace.index
    wanted = {row.id for row in index.find(reference)}
    for thread in threads(index):
        if any(row.id in wanted for row in thread.rows):
            return {"thread": thread, "steps": _thread_steps(context, thread)}
    raise NotFound(
        "no other conversation goes on with this one", "Look at the timeline"
    )


def _thread_steps(context: PageContext, thread: ConversationThread) -> list[ThreadStep]:
    found = []
    for row in thread.rows:
        memory = load_or_none(context.workspace.store, row.path)
        talk = Conversation.from_markdown(memory.body if memory else "")
        decided = tuple(q.text for q in talk.decided)
        asked = tuple(q.text for q in talk.open_questions)
        found.append(ThreadStep(row, decided, asked))
    return found
