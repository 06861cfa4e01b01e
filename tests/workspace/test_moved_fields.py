"""Which fields say whose memory it is from now on."""

from __future__ import annotations

from pathlib import Path

import pytest
from sample_note import note

from keeplore.errors import StoreError
from keeplore.workspace.identity import Project, save_project
from keeplore.workspace.registry import Registry
from keeplore.workspace.workspace import Workspace
from keeplore.workspace.writing.editing import moved_fields

LORE = {"scope": "project", "project": "ledgerly", "agent": None}
FARM = {**LORE, "project": "farm"}
NOBODYS = {"project": None, "agent": None}


def test_a_memory_moves_within_its_workspace(
    registry: Registry, workspace: Workspace, project: Path, home: Path
) -> None:
    save_project(workspace.store, Project("ledgerly", path="~/code/ledgerly"))
    wide, own = note("Wide"), note("Own", scope="project", project="farm")
    for memory in (wide, own):
        workspace.store.save(memory)
    workspace.index.refresh()
    found = [registry.find(memory.id, home) for memory in (wide, own)]

    def fields(at: Path, **said: str) -> list[dict[str, str | None]]:
        return [moved_fields(registry, one, at, **said) for one in found]

    assert fields(home) == [{}, {}]
    assert fields(home, scope="user") == [{"scope": "user", **NOBODYS}] * 2
    assert fields(home, scope="workspace") == [{"scope": "workspace", **NOBODYS}] * 2
    assert fields(home, project="farm", scope="user") == [FARM] * 2
    assert fields(project, scope="project") == [LORE, FARM]
    assert fields(project, agent="Reviewer") == [
        {**LORE, "scope": "agent", "agent": "reviewer"},
        {**FARM, "scope": "agent", "agent": "reviewer"},
    ]
    assert (
        fields(home, project="farm", agent="a b")
        == [{**FARM, "scope": "agent", "agent": "a-b"}] * 2
    )
    for said, message in (
        ({"scope": "project"}, "this directory belongs to no project. Name one with --project"),
        ({"agent": "Reviewer"}, "this directory belongs to no project. Name one with --project"),
        ({"project": "farm", "agent": "?"}, "'?' is no name of an agent. Give one with letters"),
    ):  # fmt: skip
        with pytest.raises(StoreError) as refused:
            moved_fields(registry, found[0], home, **said)
        assert str(refused.value) == message
