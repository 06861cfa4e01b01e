"""What merging left to a person: two versions of one memory that changed the same lines, until
somebody decides.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from keeplore.index import Index, MemoryRow, load_or_none
from keeplore.memory import Memory
from keeplore.memory.merge.memory_merge import TRIGGER
from keeplore.store import Store
from keeplore.text.dates import now
from keeplore.workspace.loading import chain_of
from keeplore.workspace.workspace import Workspace

SETTLED = "settled"
# what says which version it is and how it came about, and is never taken over from another one
OF_VERSION = (
    "schema",
    "id",
    "kind",
    "status",
    "created_at",
    "updated_at",
    "version",
    "supersedes",
    "related",
    "trust",
    "trigger",
    "source",
)


class DisputeDecision(StrEnum):
    """Which version a person takes."""

    FIRST = "first"
    OTHER = "other"
    BOTH = "both"
    JOINED = "joined"


@dataclass(frozen=True, slots=True)
class DisputeSide:
    row: MemoryRow
    memory: Memory


@dataclass(frozen=True, slots=True)
class Dispute:
    """``first`` kept the place, as its newest version is now; ``other`` is the version that lost
    lines.
    """

    first: DisputeSide
    other: DisputeSide


def disputes(index: Index, store: Store) -> tuple[Dispute, ...]:
    """The disputes of a workspace that nobody has decided, the newest first, by the index as it is.

    A version that was archived, replaced or forgotten is decided, and so is one whose counterpart
    is gone. Raises IndexUnavailable.
    """
    contradicting = {id_ for id_, _ in index.linked("contradicts")}
    if not contradicting:
        return ()
    rows = index.memories(sorted(contradicting))
    versions = {id_: chain.members for chain in index.chains() for id_ in chain.members}
    forgotten = store.tombstones.ids()
    decided = store.recorded_ids(SETTLED) | forgotten
    found = []
    for id_, row in rows.items():
        own_versions = versions.get(id_, (id_,))
        if not _is_current(row) or not decided.isdisjoint(own_versions):
            continue
        other = _load_side(store, row)
        first = _other_version(index, store, other.memory, forgotten) if other else None
        if other and first and first.row.id not in own_versions:
            found.append(Dispute(first, other))
    found.sort(key=lambda one: (one.other.row.updated_at, one.other.row.id))
    return tuple(reversed(found))


def disputed_with(
    index: Index, store: Store, chain: Collection[str]
) -> Iterator[MemoryRow]:
    """The other side of each open dispute that a memory of these versions is in."""
    for dispute in disputes(index, store):
        if dispute.first.row.id in chain:
            yield dispute.other.row
        elif dispute.other.row.id in chain:
            yield dispute.first.row


def settle_dispute(
    workspace: Workspace,
    dispute: Dispute,
    decision: str,
    change: Mapping[str, Any] | None = None,
) -> None:
    """Do what a person decided, and write it down for all machines; nothing is committed.

    ``first`` forgets the other version, ``other`` makes it the newest version of the first,
    ``both`` leaves them, ``joined`` makes a version of ``change`` (``body`` and fields). Raises
    NotFound, StoreError where the first is still being written, or OSError; the dispute then stays
    open.
    """
    first, other = dispute.first, dispute.other
    if decision == DisputeDecision.OTHER:
        _take_other(workspace, dispute)
    elif decision == DisputeDecision.JOINED:
        workspace.notes.revise(first.row.id, **(change or {}))
    at = now()
    # the record comes last: killed before it, what was decided is done or is asked again
    if decision != DisputeDecision.BOTH:
        chain = chain_of(workspace.index, other.row.id)
        workspace.store.forget_all(chain.members, workspace.machine, at)
    event = {
        "at": at,
        "event": SETTLED,
        "id": other.row.id,
        "of": first.row.id,
        "as": decision,
    }
    workspace.store.record(workspace.machine, event)
    workspace.index.refresh()


def _take_other(workspace: Workspace, dispute: Dispute) -> None:
    other = dispute.other
    taken = {
        key: value for key, value in other.memory.meta.items() if key not in OF_VERSION
    }
    source = {**other.memory.source, "from": other.row.id}  # whose words they are
    workspace.notes.revise(
        dispute.first.row.id, body=other.memory.body, source=source, **taken
    )


def _is_current(row: MemoryRow) -> bool:
    return not (row.is_archived or row.superseded_by)


def _other_version(
    index: Index, store: Store, other: Memory, gone: Collection[str]
) -> DisputeSide | None:
    """What stands in the place that this version lost, None where it is no such version, or that
    one is gone.
    """
    # merging adds its own link behind those that the version had
    targets = [
        id_ for relationship, id_ in other.links if relationship == "contradicts"
    ]
    if other.meta.get("trigger") != TRIGGER or not targets:
        return None
    row = index.memories([targets[-1]]).get(targets[-1])
    if row and row.superseded_by:
        row = index.memories([row.superseded_by]).get(row.superseded_by)
    return _load_side(store, row) if row and row.id not in gone else None


def _load_side(store: Store, row: MemoryRow) -> DisputeSide | None:
    memory = load_or_none(store, row.path)
    return DisputeSide(row, memory) if memory and memory.id == row.id else None
