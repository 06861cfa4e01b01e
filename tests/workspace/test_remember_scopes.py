"""Where memory goes that a person writes by hand, and which memories a directory sees."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from keeplore.config.places import Places
from keeplore.errors import NotFound, StoreError
from keeplore.index import MemoryFilter
from keeplore.memory.note import NoteDraft, session_note_id
from keeplore.workspace.identity import Project, save_project
from keeplore.workspace.lifecycle.setup import initialise
from keeplore.workspace.reading.listing import listing
from keeplore.workspace.registry import Registry
from keeplore.workspace.writing.remember import (
    NoteRequest,
    note_draft,
    remember,
    replace,
    target_of,
)
from keeplore_hooks.events import Origin

NOBODY = Origin("", "")
AGENT = Origin("claude-code", "s-1")


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[Registry]:
    """A home workspace, one of work, and the project ``shop`` that the latter knows."""
    places = Places(tmp_path / "state", tmp_path / "cache")
    initialise(places, tmp_path / "memory")
    initialise(places, tmp_path / "work")
    with Registry(places) as registry:
        save_project(
            registry.named("work").store, Project("shop", path=str(tmp_path / "shop"))
        )
        (tmp_path / "shop").mkdir()
        yield registry


@pytest.fixture
def write(registry: Registry, tmp_path: Path) -> Callable[..., str]:
    def write(
        text: str, cwd: Path = tmp_path, *, scope: str = "", project: str = ""
    ) -> str:
        target = target_of(registry, cwd, scope=scope, project=project)
        outcome = remember(target, note_draft(target, NoteRequest(text, NOBODY)), cwd)
        return f"{target.workspace.name}/{outcome.path}"

    return write


def titles(registry: Registry, cwd: Path, **chosen: object) -> list[str]:
    return sorted(
        item.row.title
        for item in listing(registry, cwd, MemoryFilter(), **chosen).items
    )  # type: ignore[arg-type]


def test_what_is_about_the_person_goes_home(
    write: Callable[..., str], tmp_path: Path
) -> None:
    assert write("I read English", tmp_path / "shop", scope="user").startswith(
        "memory/user/memory/facts/"
    )
    assert write("We ship on Fridays", tmp_path / "shop", scope="workspace").startswith(
        "work/memory/decisions/"
    )
    assert write("Prices are in cents", tmp_path / "shop").startswith(
        "work/projects/shop/memory/decisions/"
    )


def test_a_project_can_be_named_from_anywhere_and_a_wrong_name_is_put_right(
    write: Callable[..., str],
) -> None:
    assert write("Prices are in cents", project="shop").startswith(
        "work/projects/shop/"
    )
    with pytest.raises(NotFound, match="Did you mean shop"):
        write("Prices are in cents", project="shp")


def test_a_project_is_known_once_something_is_remembered_in_it(
    registry: Registry, write: Callable[..., str], tmp_path: Path
) -> None:
    (tmp_path / "new").mkdir()
    target_of(registry, tmp_path / "new")
    assert not (tmp_path / "memory/projects/new").exists()
    assert write("x y z", tmp_path / "new").startswith("memory/projects/new/")
    assert (tmp_path / "memory/projects/new/project.json").is_file()


def test_the_scope_project_needs_a_project(write: Callable[..., str]) -> None:
    with pytest.raises(StoreError, match="no project"):
        write("x y z", Path.home(), scope="project")


def test_the_words_of_a_session_are_one_note_with_the_command_that_was_typed(
    registry: Registry, tmp_path: Path
) -> None:
    target = target_of(registry, tmp_path / "shop")
    draft = note_draft(target, NoteRequest("Prices are in cents\n", AGENT))
    assert draft.id == session_note_id("claude-code", "s-1", "Prices are in cents")
    assert (draft.trust, dict(draft.source)) == (
        "assistant",
        {"host": "claude-code", "session": "s-1"},
    )
    elsewhere = target_of(registry, tmp_path / "shop", scope="workspace")
    assert note_draft(elsewhere, NoteRequest("Prices are in cents", AGENT)).id == ""


def test_replacing_keeps_the_place_and_what_is_not_said_anew(
    registry: Registry, tmp_path: Path
) -> None:
    workspace = registry.named("work")
    old = workspace.notes.write(
        NoteDraft(
            "Port 5433", category="infrastructure", project="shop", permanent=True
        )
    )
    target = target_of(registry, tmp_path)
    new = replace(
        registry.find(old.memory.id, tmp_path),
        note_draft(target, NoteRequest("Port 5434", NOBODY)),
    )
    assert (new.memory.title, new.memory.body) == ("Port 5434", "# Port 5434\n")
    assert (new.memory.category, new.memory.project, new.memory.is_permanent) == (
        "infrastructure",
        "shop",
        True,
    )
    assert new.memory.supersedes == old.memory.id
    with pytest.raises(StoreError, match="nothing to remember"):
        replace(
            registry.find(old.memory.id, tmp_path),
            note_draft(target, NoteRequest("  ", NOBODY)),
        )


def test_a_directory_sees_its_project_and_what_it_inherits(
    registry: Registry, write: Callable[..., str], tmp_path: Path
) -> None:
    shop = tmp_path / "shop"
    write("of the shop", shop)
    write("of work", shop, scope="workspace")
    write("of me", shop, scope="user")
    write("of home", tmp_path, scope="workspace")
    assert titles(registry, shop) == ["of me", "of the shop", "of work"]
    assert titles(registry, shop, scope="user") == ["of me"]
    # it belongs to no project, so everything is seen
    everything = ["of me", "of the shop", "of work"]
    assert titles(registry, tmp_path / "work") == everything
    assert titles(registry, shop, all_projects=True) == everything
    assert titles(registry, tmp_path, project="shop") == ["of the shop"]


def test_a_listing_says_how_many_there_are(
    registry: Registry, write: Callable[..., str], tmp_path: Path
) -> None:
    assert listing(registry, tmp_path, MemoryFilter()).is_empty
    for number in range(4):
        write(f"fact {number}", tmp_path, scope="workspace")
    some = listing(registry, tmp_path, MemoryFilter(), limit=3)
    assert (len(some.items), some.total, some.is_empty) == (3, 4, False)
    none = listing(registry, tmp_path, MemoryFilter(category="security"))
    assert (none.total, none.is_empty) == (0, False)
