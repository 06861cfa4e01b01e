"""What was forgotten and can be brought back, and which of it a person means."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from keeplore.errors import NotFound, StoreError
from keeplore.memory import Memory
from keeplore.store import Tombstone
from keeplore.workspace.registry import Registry
from keeplore.workspace.workspace import Workspace

SHOWN = 5  # memories that a reference may mean
_BEGINNING = re.compile(r"(?:mem_)?[0-9a-f]{4}[0-9a-f-]*")


@dataclass(frozen=True, slots=True)
class DeletedMemory:
    """``text`` is None where git here has none, and ``restore`` does not work then."""

    tombstone: Tombstone
    text: Memory | None

    @property
    def title(self) -> str:
        return self.text.title if self.text else ""

    @property
    def version(self) -> int:
        return self.text.version if self.text else 0

    @property
    def older(self) -> set[str]:
        """The versions in whose place it came."""
        links = self.text.links if self.text else ()
        return {id_ for relationship, id_ in links if relationship == "supersedes"}


def deleted_memories(workspace: Workspace) -> Iterator[DeletedMemory]:
    """What was forgotten in a workspace, the last first; of versions that went together the newest,
    with which the others come back.
    """
    tombstones = sorted(workspace.store.tombstones, key=_order, reverse=True)
    for _, together in groupby(
        tombstones, key=lambda tombstone: (tombstone.at, tombstone.machine)
    ):
        gone = [
            DeletedMemory(tombstone, _text(workspace, tombstone.id))
            for tombstone in together
        ]
        yield from _newest_versions(gone)


def _order(tombstone: Tombstone) -> tuple[str, str, str]:
    return tombstone.at, tombstone.machine, tombstone.id


def _text(workspace: Workspace, memory_id: str) -> Memory | None:
    try:
        return workspace.store.forgotten(memory_id)
    except StoreError:
        return None


def _newest_versions(gone: Iterable[DeletedMemory]) -> Iterator[DeletedMemory]:
    """The memories that none of the others replaced; one at least where they go round
    in a circle.
    """
    older: set[str] = set()
    for one in sorted(gone, key=lambda one: one.version, reverse=True):
        if one.tombstone.id not in older:
            yield one
        older |= one.older


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
    ids = sorted(
        id_ for id_ in workspace.store.tombstones.ids() if id_.startswith(start)
    )
    return ids or [one.id for one in workspace.store.deleted(beginning)]
