"""Links beside ids, for whoever reads a workspace in Obsidian."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from keeplore.config.places import Places
from keeplore.memory import Memory, parse, serialise
from keeplore.memory.note import NoteDraft
from keeplore.memory.wikilinks import with_wikilinks
from keeplore.workspace import Registry
from keeplore.workspace.lifecycle.setup import initialise
from keeplore.workspace.workspace import Workspace
from keeplore_hooks.events import Origin, Session, Turn

A, B, C = (f"mem_{digit * 8}-0000-4000-8000-000000000000" for digit in "abc")


@pytest.fixture
def workspace(home: Path) -> Iterator[Workspace]:
    places = Places.from_environment(os.environ)
    initialise(places, home / "memory")
    settings = home / "memory" / "keeplore.yaml"
    text = settings.read_text()
    assert text.count("wikilinks: false") == 1
    settings.write_text(text.replace("wikilinks: false", "wikilinks: true"))
    with Registry(places) as registry:
        yield registry.named("memory")


def note(
    workspace: Workspace, text: str, *related: tuple[str, str]
) -> tuple[Memory, str]:
    """A note as its file has it, and the name of that file."""
    links = tuple({"id": id_, "relationship": kind} for kind, id_ in related)
    made = workspace.notes.write(NoteDraft(text, scope="workspace", related=links))
    path = workspace.root / made.path
    return parse(path.read_text()), path.stem


def test_a_note_links_the_files_of_what_it_names(workspace: Workspace) -> None:
    first, first_name = note(workspace, "We keep prices in cents.")
    assert "wikilinks" not in first.meta
    second, second_name = note(
        workspace,
        "Prices are integers of cents in the database.",
        ("refines", first.id),
        ("relates-to", A),
    )
    assert second.meta["wikilinks"] == [f"[[{first_name}]]"]
    changed = workspace.notes.revise(second.id, title="Integers")
    text = (workspace.root / changed.path).read_text()
    assert parse(text).meta["wikilinks"] == [f"[[{second_name}]]", f"[[{first_name}]]"]
    assert serialise(parse(text)) == text and parse(text).problems == ()
    assert f"wikilinks:\n- '[[{second_name}]]'\n" in text


def test_the_parts_of_a_session_link_one_another(workspace: Workspace) -> None:
    origin = Origin("claude-code", "s-1", str(workspace.root.parent))
    redis = "We drop Redis for the queue, because it lost jobs when it was restarted."
    invoices = (
        "Invoices are numbered by year and customer, since auditors sort them so."
    )
    for day, user, reply in (
        ("09", "Which queue do we take for the jobs?", redis),
        ("11", "Name each invoice by year, customer and number.", invoices),
    ):
        at = f"2026-02-{day}T14:00:00Z"
        workspace.emit(Turn(f"t-{day}", origin, at, user, (reply,), at))
    workspace.emit(Session("e", origin, "2026-02-11T15:00:00Z", "ended"))
    first, second = sorted(workspace.root.rglob("conversations/**/*.md"))
    assert parse(second.read_text()).meta["wikilinks"] == [f"[[{first.stem}]]"]


def test_what_would_end_a_link_makes_none_and_a_stale_one_goes() -> None:
    names = {A: "memory/facts/we [[do]].md", B: "memory/facts/2026-02-09-b-bbbbbbbb.md"}
    related = [{"id": one, "relationship": "refines"} for one in (A, B, C)]
    memory = Memory({"id": C, "related": related, "wikilinks": ["[[old]]"]}, "# C\n")
    linked = with_wikilinks(memory, names.get)
    assert linked.meta["wikilinks"] == ["[[2026-02-09-b-bbbbbbbb]]"]
    assert "wikilinks" not in with_wikilinks(memory, lambda _: None).meta
    plain = Memory({"id": C}, "# C\n")
    assert with_wikilinks(plain, names.get) is plain


def test_without_the_setting_nothing_is_linked_and_nothing_lost(
    workspace: Workspace, home: Path
) -> None:
    settings = home / "memory" / "keeplore.yaml"
    settings.write_text(
        settings.read_text().replace("wikilinks: true", "wikilinks: false")
    )
    with Registry(Places.from_environment(os.environ)) as registry:
        other = registry.named("memory")
        first, _ = note(other, "We keep prices in cents.")
        second, _ = note(other, "Prices are integers.", ("refines", first.id))
        assert "wikilinks" not in second.meta
        kept = second.with_meta(wikilinks=["[[by hand]]"])
        assert other.store.as_written(kept).meta["wikilinks"] == ["[[by hand]]"]
