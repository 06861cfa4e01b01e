"""Projects and machines: who wrote what, whether it is captured, and how the remote stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from keeplore.index.timeline import WriterRow
from keeplore.web.page_context import PageContext
from keeplore.workspace.capture_policy import place_of
from keeplore.workspace.identity import Project, load_projects
from keeplore.workspace.reading.remote_state import remote_state
from keeplore.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class ProjectView:
    name: str
    recognised: str
    memories: int
    last: str
    writers: tuple[WriterRow, ...]
    is_captured: bool
    reason: str  # why not, "" where it is


def place_values(context: PageContext) -> dict[str, Any]:
    """What the template of the page about this workspace is given. Raises IndexUnavailable,
    ConfigError.
    """
    workspace = context.workspace
    timeline = workspace.index.timeline
    written, counts = timeline.writers(), timeline.facets()["machine"]
    machines = workspace.machine_trust.machines(counts)
    return {
        "projects": _projects(workspace, written),
        "machines": [(machine, counts.get(machine.id, 0)) for machine in machines],
        "remote": remote_state(workspace),
        "this_machine": workspace.machine,
    }


def _projects(workspace: Workspace, written: Sequence[WriterRow]) -> list[ProjectView]:
    """The projects with an entry and those that only memories name, the last used first."""
    entries = {project.name: project for project in load_projects(workspace.store)}
    names = dict.fromkeys((*(row.project for row in written), *entries))
    return [
        _project(workspace, entries.get(name) or Project(name), written)
        for name in names
        if name
    ]


def _project(
    workspace: Workspace, entry: Project, written: Sequence[WriterRow]
) -> ProjectView:
    own = tuple(row for row in written if row.project == entry.name)
    decision = workspace.capture_policy.decide_place(place_of(entry))
    known = ", ".join(entry.remotes) or entry.path or entry.root_commit[:8]
    return ProjectView(
        entry.name,
        known,
        sum(row.memories for row in own),
        max((row.last for row in own), default=""),
        own,
        decision.may,
        decision.reason,
    )
