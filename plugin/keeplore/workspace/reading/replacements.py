"""What was said later in the place of what memories of a workspace say."""

from __future__ import annotations

import functools
from collections.abc import Callable

from keeplore.index import MemoryRow, load_or_none
from keeplore.memory.note import statement_of
from keeplore.recall.since.later_statements import ReplacementLookup
from keeplore.workspace.workspace import Workspace


def replacement_lookup(
    workspace: Workspace, counts: Callable[[MemoryRow], bool] | None = None
) -> ReplacementLookup:
    """What looks that up, among what ``counts``; without it, among what is believed here."""
    trust = workspace.machine_trust
    return ReplacementLookup(
        workspace.index,
        functools.partial(load_or_none, workspace.store),
        trust.trust_of,
        counts or (lambda later: trust.sources()(later).is_believed),
    )


def replaced_at(workspace: Workspace) -> Callable[[str], str]:
    """Tells of a memory (id) when something took the place of what it states, "" for never."""
    replacements = replacement_lookup(workspace)

    @functools.cache
    def moment(memory_id: str) -> str:
        row = workspace.index.memories([memory_id]).get(memory_id)
        memory = load_or_none(workspace.store, row.path) if row else None
        if row is None or memory is None:
            return ""
        later = replacements.of(row, None, statement_of(memory))
        return later.at if later else ""

    return moment
