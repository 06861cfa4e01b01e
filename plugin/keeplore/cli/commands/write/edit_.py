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
from keeplore.cli.parameters import pass_registry, reference
from keeplore.cli.writing import note_if_ignored, settle
from keeplore.memory.names import short_id

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
    found = _newest_version(registry, registry.find(reference, Path.cwd()))
    if any(chosen.values()):
        outcome = _with_options(registry, found, chosen)
    else:
        outcome = _in_editor(registry, found)
    if not outcome.is_new:
        say("Nothing changed.")
        return
    settle(found.workspace, message)
    _tell_change(outcome.memory, found.workspace.root / outcome.path)
    note_if_ignored(found.workspace.root / outcome.path)


def _newest_version(registry: Registry, found: FoundMemory) -> FoundMemory:
    # heavy, as the registry is
    from keeplore.workspace.writing.editing import newest_version

    head = newest_version(registry, found)
    if head is not found:
        note(f"{short_id(found.row.id)} is an old version; the newest one is changed")
    return head


def _with_options(
    registry: Registry, found: FoundMemory, chosen: Mapping[str, str | None]
) -> NoteOutcome:
    from keeplore.workspace.writing.editing import (  # heavy, as above
        moved_fields,
        retitled_body,
    )

    fields = {key: chosen[key] for key in ("title", "category") if chosen[key]}
    place = [chosen[name] for name in PLACE]
    check_place(*place)
    fields |= moved_fields(registry, found, Path.cwd(), *place)
    body = retitled_body(found.memory, chosen["title"] or "")
    return found.workspace.notes.revise(found.row.id, body=body, **fields)


def _in_editor(registry: Registry, found: FoundMemory) -> NoteOutcome:
    """The new version. Raises StoreError where another came while the editor was open."""
    # heavy, as the registry is
    from keeplore.workspace.note_writer import NoteOutcome
    from keeplore.workspace.writing.editing import check_unchanged

    notes, id_ = found.workspace.notes, found.row.id
    others = [
        version.memory
        for version in notes.history(id_)
        if version.is_leaf and not version.is_head
    ]
    with in_editor(registry.places.state, found.memory, others) as edited:
        check_unchanged(registry, found)
        if edited is None:
            return NoteOutcome(found.memory, found.row.path, is_new=False)
        return notes.revise(id_, **changes(found.memory, edited))


def _tell_change(memory: Memory, path: Path) -> None:
    say(f"Changed: {memory.title}", bold=True)
    say(f"  {near(path)}", fg="cyan")
    say(
        f"  {memory.id}, version {memory.version}; `keeplore history {short_id(memory.id)}` shows "
        f"what it was"
    )
