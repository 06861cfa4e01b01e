"""The versions of a memory, each with what is different in it from the one before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from keeplore.workspace.note_writer import NoteVersion
from keeplore.workspace.reading.version_diff import (
    FieldChange,
    TextPiece,
    fields_changed,
    text_changed,
)
from keeplore.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class HistoryStep:
    """A version, and what is different in it from the one that it was made from."""

    version: NoteVersion
    trust: str
    fields: Sequence[FieldChange] = ()
    pieces: Sequence[TextPiece] = ()


def history_steps(workspace: Workspace, memory_id: str) -> list[HistoryStep]:
    """The oldest first. Raises NotFound."""
    versions = workspace.notes.history(memory_id)
    known = {version.row.id: version for version in versions}
    steps = []
    for before, version in zip([None, *versions], versions, strict=False):
        new, trust = version.memory, workspace.machine_trust.trust_of(version.memory)
        if before is None:
            steps.append(HistoryStep(version, trust))
        else:  # the one that it supersedes where that is here
            old = known.get(new.supersedes, before).memory
            changes = (fields_changed(old, new), text_changed(old, new))
            steps.append(HistoryStep(version, trust, *changes))
    return steps
