"""Why a question that is put in a directory finds a memory, or does not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from keeplore.errors import NotFound
from keeplore.index import MemoryRow
from keeplore.recall.request import RecallRequest
from keeplore.recall.score_explanation import ScoreExplanation, ScorePart, explain_score
from keeplore.text.counts import counted
from keeplore.text.dates import day_of
from keeplore.workspace.reading.deleted_memories import find_forgotten
from keeplore.workspace.registry import FoundMemory, Registry
from keeplore.workspace.workspace import Workspace


def explain(
    registry: Registry, reference: str, request: RecallRequest
) -> ScoreExplanation:
    """``reference`` is what ``Registry.find`` takes, or ``restore``. Raises NotFound."""
    cwd = request.cwd
    try:
        found = registry.find(reference, cwd)
    except NotFound:
        if forgotten := _forgotten_explanation(registry, reference, cwd):
            return forgotten
        raise
    own = registry.for_directory(cwd)
    if found.workspace.name == own.name:
        return _explanation(found, request)
    # an inherited workspace is asked as seen from itself, as `Registry.recall` does
    explanation = _explanation(found, replace(request, cwd=found.workspace.root))
    place = f"the workspace {found.workspace.name}"
    given = _inherited_scopes(registry, cwd, found.workspace)
    if given is not None:
        head = _newest_row(found)
        if (head.scope, head.project) in given:
            return replace(
                explanation, verdict=f"{explanation.verdict}, among those of {place}"
            )
        place = f"a project of {place}"
    return replace(
        explanation,
        is_found=False,
        place=0,
        verdict=f"not looked for: it is in {place}, which {own.name} does not inherit",
    )


def _explanation(found: FoundMemory, request: RecallRequest) -> ScoreExplanation:
    """What the memory's own workspace tells of it."""
    workspace = found.workspace
    explanation = explain_score(
        workspace.recall,
        request,
        found.row,
        _newest_row(found),
        found.memory.body,
        workspace.weights,
    )
    return replace(explanation, parts=tuple(_with_use(workspace, explanation)))


def _newest_row(found: FoundMemory) -> MemoryRow:
    """The version that replaced the memory, or its own where none has."""
    newer = found.row.superseded_by
    return found.workspace.index.memories([newer]).get(newer, found.row)


def _with_use(
    workspace: Workspace, explanation: ScoreExplanation
) -> Iterator[ScorePart]:
    """The parts of the score; what use gave tells of that use."""
    for part in explanation.parts:
        is_use = part.name == "feedback" and part.odds
        yield (
            replace(part, because=_use_text(workspace, explanation, part))
            if is_use
            else part
        )


def _use_text(
    workspace: Workspace, explanation: ScoreExplanation, part: ScorePart
) -> str:
    use = workspace.index.graph.use_of(explanation.memory_id)
    sessions = counted(use.used, "session")
    of_use = f"of use in {sessions}, last on {use.last}" if use.used else ""
    idle = f"told in {sum(use.idle.values())} without" if use.idle else ""
    return "; ".join(filter(None, (of_use, idle, part.because)))


def _forgotten_explanation(
    registry: Registry, reference: str, cwd: Path
) -> ScoreExplanation | None:
    try:
        workspace, id_ = find_forgotten(registry, reference, cwd)
    except NotFound:
        return None
    tombstone = next(
        (tombstone for tombstone in workspace.store.tombstones if tombstone.id == id_),
        None,
    )
    if tombstone is None:  # its file was deleted by hand, and the error says so
        return None
    day = f" on {day_of(tombstone.at)}" if tombstone.at else ""
    return ScoreExplanation(
        id_,
        "",
        is_found=False,
        place=0,
        verdict=(
            f"not found: it was forgotten{day}; `keeplore restore --list` shows what can be "
            f"brought back"
        ),
    )


def _inherited_scopes(
    registry: Registry, cwd: Path, workspace: Workspace
) -> Sequence[tuple[str, str]] | None:
    """What of the workspace a directory inherits, None for nothing."""
    for view in registry.views(cwd):
        if view.index is workspace.index:
            return view.scopes
    return None
