"""What was forgotten and can be brought back, and which of it a person means."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from keeplore.errors import ConfigError, NotFound, StoreError
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
    for stone in sorted(
        workspace.store.tombstones(), key=lambda stone: (stone.at, stone.id), reverse=True
    ):
        try:
            memory = workspace.store.forgotten(stone.id)
        except StoreError:
            yield DeletedMemory(stone, "", stone.path, can_return=False)
        else:
            yield DeletedMemory(stone, memory.title, stone.path, can_return=True)


def find_forgotten(registry: Registry, reference: str, cwd: Path) -> tuple[Workspace, str]:
    """The memory that an id, or four or more digits of one, stands for: forgotten, or its file
    deleted by hand.

    Raises NotFound.
    """
    beginning = reference.strip().lower()
    if _BEGINNING.fullmatch(beginning):
        start = f"mem_{beginning.removeprefix('mem_')}"
        for workspace in _workspaces(registry, cwd):
            ids = sorted(id_ for id_ in workspace.store.stones.ids() if id_.startswith(start))
            if len(ids) > 1:
                raise NotFound(
                    f"{reference!r} may mean {', '.join(ids[:SHOWN])}", "Give more digits"
                )
            if ids:
                return workspace, ids[0]
            by_hand = list(workspace.store.deleted(beginning))
            if len(by_hand) > 1:
                raise NotFound(
                    f"{reference!r} may mean {', '.join(one.id for one in by_hand)}",
                    "Give more digits",
                )
            if by_hand:
                return workspace, by_hand[0].id
    raise NotFound(f"{reference!r} is not forgotten", "`keeplore restore --list` shows what is")


def _workspaces(registry: Registry, cwd: Path) -> Iterator[Workspace]:
    own = registry.for_directory(cwd)
    for name in dict.fromkeys((own.name, *registry.machine.workspaces)):
        with contextlib.suppress(ConfigError):  # a workspace that is gone must not hide the others
            yield registry.named(name)
