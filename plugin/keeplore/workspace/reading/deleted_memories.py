"""What was forgotten and can be brought back, and which of it a person means."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from keeplore.errors import NotFound, StoreError
from keeplore.store import Tombstone
from keeplore.workspace.registry import Registry
from keeplore.workspace.workspace import Workspace

SHOWN = 5  # memories that a reference may mean
_BEGINNING = re.compile(r"(?:mem_)?[0-9a-f]{4}[0-9a-f-]*")


@dataclass(frozen=True, slots=True)
class DeletedMemory:
    """``title`` is "" where git here has no text of it; ``can_return`` says whether ``restore``
    works here.
    """

    stone: Tombstone
    title: str
    path: str
    can_return: bool


def deleted_memories(workspace: Workspace) -> Iterator[DeletedMemory]:
    """What was forgotten in a workspace, the last first."""
    stones = workspace.store.tombstones()
    for stone in sorted(stones, key=lambda stone: (stone.at, stone.id), reverse=True):
        try:
            title, can_return = workspace.store.forgotten(stone.id).title, True
        except StoreError:
            title, can_return = "", False
        yield DeletedMemory(stone, title, stone.path, can_return)


def find_forgotten(
    registry: Registry, reference: str, cwd: Path
) -> tuple[Workspace, str]:
    """The memory that an id, or four or more digits of one, stands for: forgotten, or its file
    deleted by hand.

    Raises NotFound.
    """
    beginning = reference.strip().lower()
    if _BEGINNING.fullmatch(beginning):
        for workspace in registry.nearest_first(cwd):
            if ids := _gone_ids(workspace, beginning):
                if len(ids) > 1:
                    meant = ", ".join(ids[:SHOWN])
                    raise NotFound(
                        f"{reference!r} may mean {meant}", "Give more digits"
                    )
                return workspace, ids[0]
    raise NotFound(
        f"{reference!r} is not forgotten", "`keeplore restore --list` shows what is"
    )


def _gone_ids(workspace: Workspace, beginning: str) -> list[str]:
    start = f"mem_{beginning.removeprefix('mem_')}"
    ids = sorted(id_ for id_ in workspace.store.stones.ids() if id_.startswith(start))
    return ids or [one.id for one in workspace.store.deleted(beginning)]
