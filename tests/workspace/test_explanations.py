"""What is said of a memory and a question, wherever the memory is: found, in a workspace that is
inherited or is not, forgotten, or gone.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from sample_note import note

from keeplore.config.places import Places
from keeplore.errors import NotFound
from keeplore.recall.request import RecallRequest
from keeplore.recall.score_explanation import ScoreExplanation
from keeplore.workspace.identity import Project, save_project
from keeplore.workspace.lifecycle.setup import initialise
from keeplore.workspace.reading.explain import explain
from keeplore.workspace.registry import Registry
from keeplore.workspace.workspace import Workspace

QUESTION = "which port does the gateway listen on"
SAYS = "The gateway listens on port 8{}.\n"
OLD, SHARED, TOY = note("Old"), note("Shared"), note("Toy")


@pytest.fixture
def api(places: Places, workspace: Workspace, registry: Registry, home: Path) -> Path:
    """A directory of a project in a second workspace, which inherits the first one."""
    initialise(places, home / "team", "work")
    (home / "team" / "keeplore.yaml").write_text("schema: 1\ninherits: [memory]\n")
    folder = home / "code" / "api"
    folder.mkdir(parents=True)
    own = registry.named("work").store
    save_project(own, Project("api", path="~/code/api"))
    own.save(replace(OLD, body=SAYS.format(1)))
    own.save(note("New", SAYS.format(2), supersedes=OLD.id, version=2, trust="user"))
    workspace.store.save(note("Shared", SAYS.format(3), trust="user"))
    workspace.store.save(note("Toy", SAYS.format(4), scope="project", project="toy"))
    return folder


@pytest.fixture
def told(registry: Registry, api: Path) -> Callable[..., ScoreExplanation]:
    def told(reference: str, cwd: Path = api) -> ScoreExplanation:
        return explain(
            registry, reference, RecallRequest(QUESTION, cwd, text_only=True)
        )

    return told


def test_where_a_memory_is_tells_how_it_is_looked_for(
    told: Callable[..., ScoreExplanation], api: Path
) -> None:
    new, home = note("New").id, Path("/")
    replaced = f"{new} replaced it and stands for it: found in place 1"
    inherited = "found in place 1, among those of the workspace memory"
    not_asked = "not looked for: it is in {}, which {} does not inherit"
    toy = not_asked.format("a project of the workspace memory", "work")
    work = not_asked.format("the workspace work", "memory")
    for reference, cwd, expected in (
        (OLD.id, api, (new, 1, replaced, "inherited by this project")),
        (new[:12], api, (new, 1, "found in place 1", "inherited by this project")),
        # as seen from the workspace that is inherited
        (SHARED.id, api, (SHARED.id, 1, inherited, "of this project")),
        (SHARED.id, home, (SHARED.id, 1, "found in place 1", "of this project")),
        (TOY.id, api, (TOY.id, 0, toy, "of another project or agent")),
        (OLD.id, home, (new, 0, work, "of this project")),
    ):
        found = told(reference, cwd)
        (place,) = (part.because for part in found.parts if part.name == "place")
        assert (found.memory_id, found.place, found.verdict, place) == expected
        assert found.is_found is (found.place > 0)


def test_what_use_gave_tells_of_that_use(
    told: Callable[..., ScoreExplanation], registry: Registry
) -> None:
    new = note("New").id
    folder = registry.named("work").root / "feedback"
    folder.mkdir()

    def told_of_use(used: int, **idle: int) -> str:
        counts = {"used": used, "last": "2026-03-01", "idle": idle}
        counted = {"schema": 1, "memories": {new: counts}}
        (folder / "studio.json").write_text(json.dumps(counted))
        parts = {part.name: part.because for part in told(new).parts}
        assert parts["place"] == "inherited by this project"
        return parts["feedback"]

    days = {"2026-01-05": 2, "2026-01-06": 1}
    use = "of use in {}, last on 2026-03-01; "
    assert told_of_use(1) == use.format("1 session") + "weight 1.10"
    assert (
        told_of_use(4, **days)
        == f"{use.format('4 sessions')}told in 3 without; weight 1.40"
    )
    assert told_of_use(0, **days) == "weight 1.00"


def test_what_is_forgotten_is_said_to_be_and_what_is_gone_is_not_there(
    told: Callable[..., ScoreExplanation], workspace: Workspace
) -> None:
    workspace.store.commit()
    workspace.index.refresh()
    workspace.store.forget(SHARED.id, "laptop", "2026-02-10T09:00:00Z")
    forgotten = "not found: it was forgotten{}; `keeplore restore --list` shows what can be brought back"
    for reference in (SHARED.id, SHARED.id[4:12]):
        assert told(reference) == ScoreExplanation(
            SHARED.id,
            "",
            is_found=False,
            place=0,
            verdict=forgotten.format(" on 2026-02-10"),
        )
    tombstone = workspace.store.tombstones.get(SHARED.id)
    assert tombstone is not None
    workspace.store.tombstones.write(replace(tombstone, at=""))
    assert told(SHARED.id).verdict == forgotten.format("")
    path = workspace.store.find(TOY.id) or ""
    (workspace.root / path).unlink()
    with pytest.raises(NotFound) as gone:
        told(TOY.id)
    assert gone.value.message == f"the file of {TOY.id} was deleted: {path}"
    with pytest.raises(NotFound) as unknown:
        told("99999999")
    assert unknown.value.message == "there is no memory '99999999'"
