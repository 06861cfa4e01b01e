"""``keeplore edit REF``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from keeplore.cli.memory_editor import changes, in_editor
from keeplore.cli.memory_options import (
    PLACE,
    agent_option,
    category_option,
    check_place,
    project_option,
    scope_option,
)
from keeplore.cli.output import near, note, say
from keeplore.cli.parameters import pass_registry, reference, short
from keeplore.cli.writing import settle
from keeplore.errors import StoreError
from keeplore.text.agent_scope import agent_name, key_of, stated

if TYPE_CHECKING:
    from keeplore.memory import Memory
    from keeplore.workspace.note_writer import NoteOutcome
    from keeplore.workspace.registry import FoundMemory, Registry


@click.command(short_help="Change a memory in your editor; it becomes a new version.")
@reference()
@click.option(
    "--title",
    help="Give it this title; where the title is all it says, that is what it says then.",
)
@category_option("Make it one of this category")
@scope_option("Let others inherit it.")
@project_option("Move it to this project.")
@agent_option("Keep it for this agent of the project alone.")
@click.option("-m", "--message", default="", help="What the commit says.")
@pass_registry
def edit_command(
    registry: Registry, /, *, reference: str, message: str, **chosen: str | None
) -> None:
    """Open the memory REF in $VISUAL or $EDITOR. What you save becomes its new version; the old
    ones stay.

    With --title, --category, --scope, --project or --agent these are changed and no editor is
    opened. Where two machines changed it at the same time, the other version stands at the end of
    the text, and what you save joins the two.

    \b
    keeplore edit 1f0c9a2e
    keeplore edit 1f0c9a2e --category gotchas
    keeplore edit 1f0c9a2e --scope workspace -m "All projects need it"
    """
    found = _head(registry, registry.find(reference, Path.cwd()))
    if any(chosen.values()):
        outcome = _with_options(registry, found, chosen)
    else:
        outcome = _in_editor(registry, found)
    if not outcome.is_new:
        say("Nothing changed.")
        return
    settle(found.workspace, message)
    _tell(outcome.memory, found.workspace.root / outcome.path)


def _head(registry: Registry, found: FoundMemory) -> FoundMemory:
    if found.memory.is_open:
        raise StoreError(
            f"{found.row.path} is still being written by its session",
            "Wait until it is closed",
        )
    if not found.row.superseded_by:
        return found
    note(f"{short(found.row.id)} is an old version; the newest one is changed")
    return registry.find(found.row.superseded_by, found.workspace.root)


def _with_options(
    registry: Registry, found: FoundMemory, chosen: Mapping[str, str | None]
) -> NoteOutcome:
    fields = {key: chosen[key] for key in ("title", "category") if chosen[key]}
    fields |= _moved(registry, found, *(chosen[name] for name in PLACE))
    body = _retitled(found.memory, chosen["title"] or "")
    return found.workspace.notes.revise(found.row.id, body=body, **fields)


def _retitled(memory: Memory, title: str) -> str | None:
    """The body with the new title as its heading, None where it has none to change."""
    heading = f"# {memory.title}\n"
    if title and memory.body.startswith(heading):
        return f"# {title}\n{memory.body[len(heading) :]}"
    return None


def _moved(
    registry: Registry,
    found: FoundMemory,
    scope: str | None,
    project: str | None,
    agent: str | None,
) -> dict[str, str | None]:
    """The fields that say whose memory it is. It cannot leave its workspace, where its versions
    are.
    """
    check_place(scope, project, agent)
    if project or agent or scope == "project":
        own = (
            project
            or found.row.project
            or found.workspace.identities.of(Path.cwd()).project
        )
        if not own:
            raise StoreError(
                "this directory belongs to no project", "Name one with --project"
            )
        _check_same(registry.for_project(own, found.workspace.root).name, found)
        return stated(_scope_for(agent), own)
    if scope == "user" and registry.machine.home:
        _check_same(registry.machine.home, found)
    return stated(scope, "") if scope else {}


def _scope_for(agent: str | None) -> str:
    """That of a project or of one of its agents."""
    name = agent_name(agent or "")
    if agent and not name:
        raise StoreError(f"{agent!r} is no name of an agent", "Give one with letters")
    return key_of(name) if name else "project"


def _check_same(name: str, found: FoundMemory) -> None:
    if name != found.workspace.name:
        remedy = (
            f"Write it there with `keeplore remember`, then `keeplore forget "
            f"{short(found.row.id)}`"
        )
        raise StoreError(
            f"that is in the workspace {name}, and this memory in {found.workspace.name}",
            remedy,
        )


def _in_editor(registry: Registry, found: FoundMemory) -> NoteOutcome:
    """The new version. Raises StoreError where another came while the editor was open."""
    # heavy, as the registry is
    from keeplore.workspace.note_writer import NoteOutcome

    notes, id_ = found.workspace.notes, found.row.id
    others = [
        one.memory for one in notes.history(id_) if one.is_leaf and not one.is_head
    ]
    with in_editor(registry.places.state, found.memory, others) as edited:
        # a version that came meanwhile would be replaced unread
        if registry.find(id_, found.workspace.root).row.superseded_by:
            raise StoreError(
                "it was changed meanwhile",
                f"`keeplore edit {short(id_)}` shows the newest",
            )
        if edited is None:
            return NoteOutcome(found.memory, found.row.path, is_new=False)
        return notes.revise(id_, **changes(found.memory, edited))


def _tell(memory: Memory, path: Path) -> None:
    say(f"Changed: {memory.title}", bold=True)
    say(f"  {near(path)}", fg="cyan")
    say(
        f"  {memory.id}, version {memory.version}; `keeplore history {short(memory.id)}` shows "
        f"what it was"
    )
