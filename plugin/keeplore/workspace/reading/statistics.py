"""What memory holds, counted, and what it takes on the disk."""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from keeplore.index import MemoryFilter, MemoryRow
from keeplore.store.repository_state import directories
from keeplore.text.dates import day_of
from keeplore.workspace.reading.listing import waiting_rows
from keeplore.workspace.workspace import Workspace

TOP = 10  # projects
MONTHS = 12  # of growth


@dataclass(frozen=True, slots=True)
class Statistics:
    """``memories`` are heads that are not archived; the counts by scope and the like are of these.
    Sizes in bytes.
    """

    workspace: str
    memories: int
    permanent: int
    archived: int
    superseded: int
    forgotten: int
    waiting: int  # for another person's machine to be accepted
    open: int
    chains: int
    forks: int
    by_scope: dict[str, int]
    by_kind: dict[str, int]
    by_category: dict[str, int]
    by_trust: dict[str, int]
    by_project: dict[str, int]  # the largest
    by_month: dict[str, int]  # when they were made, the last months, oldest first
    oldest: str  # when it was made: RFC 3339, UTC
    newest: str
    uses: int  # how often sessions made use of a memory
    used: int  # memories of which they did
    passages: int
    vectors: int
    model: str
    switch: str  # how far the vectors of a new model are, "" while none is chosen
    kept_vectors: dict[str, int]  # model → bytes
    bytes_text: int
    bytes_git: int
    bytes_index: int


def statistics(workspace: Workspace) -> Statistics:
    """Count everything; the index is brought up to date first. Raises IndexUnavailable or
    RepositoryError.
    """
    index, store = workspace.index, workspace.store
    index.refresh_for_reading()
    rows = index.listed(MemoryFilter(archived="with", superseded=True))
    heads = [row for row in rows if not row.superseded_by and not row.is_archived]
    chains, stamp = index.chains(), index.state()
    uses, used = index.graph.count_uses()
    return Statistics(
        workspace=workspace.name,
        memories=len(heads),
        archived=sum(row.is_archived for row in rows),
        superseded=sum(bool(row.superseded_by) for row in rows),
        forgotten=len(store.tombstones.ids()),
        waiting=len(waiting_rows(workspace, MemoryFilter())),
        chains=len(chains),
        forks=sum(len(chain.leaves) > 1 for chain in chains),
        **_head_counts(heads),
        uses=uses,
        used=used,
        passages=stamp.passages,
        vectors=stamp.vectors,
        model=workspace.settings.embedding.model,
        switch=str(stamp.switch or ""),
        kept_vectors={model.name: model.bytes for model in index.kept_vectors()},
        bytes_text=sum(file.size for file in store.scan()),
        bytes_git=size_of(directories(workspace.store.top).common),
        bytes_index=index.size_bytes(),
    )


def _head_counts(heads: Sequence[MemoryRow]) -> dict[str, Any]:
    """What is counted of the memories that are current."""
    made_at = [*filter(None, (row.created_at for row in heads))]
    return {
        "permanent": sum(row.permanent for row in heads),
        "open": sum(row.is_open for row in heads),
        "by_scope": _most_frequent(row.scope for row in heads),
        "by_kind": _most_frequent(row.kind for row in heads),
        "by_category": _most_frequent(row.category or "none" for row in heads),
        "by_trust": _most_frequent(row.trust for row in heads),
        "by_project": _most_frequent(filter(None, (row.project for row in heads)), TOP),
        "by_month": _months(heads),
        "oldest": min(made_at, default=""),
        "newest": max(made_at, default=""),
    }


def size_of(folder: Path) -> int:
    """Bytes of all files below a folder; what vanishes meanwhile counts nothing."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                # many thousand files
                total += os.lstat(os.path.join(place, name)).st_size  # noqa: PTH118
    return total


def _most_frequent(values: Iterable[str], limit: int | None = None) -> dict[str, int]:
    """The most frequent first, equals in the order of the alphabet."""
    counted = sorted(Counter(values).items(), key=lambda item: (-item[1], item[0]))
    return dict(counted[:limit])


def _months(rows: Iterable[MemoryRow]) -> dict[str, int]:
    counted = Counter(day_of(row.created_at)[:7] for row in rows if row.created_at)
    return dict(sorted(counted.items())[-MONTHS:])
