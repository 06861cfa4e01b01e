"""``keeplore edit REF``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from keeplore.cli.after_write import settle
from keeplore.cli.editor import changes, in_editor
from keeplore.cli.output import near, note, plain, say
from keeplore.cli.references import reference, short
from keeplore.config.places import Places
from keeplore.errors import StoreError
from keeplore.memory import CATEGORIES, SCOPES, Memory

if TYPE_CHECKING:
    from keeplore.workspace.note_writer import NoteOutcome
    from keeplore.workspace.registry import FoundMemory, Registry


@click.command(short_help="Change a memory in your editor; it becomes a new version.")
@reference()
@click.option(
    "--title", help="Give it this title; where the title is all it says, that is what it says then."
)
@click.option(
    "--category",
    metavar="CATEGORY",
    type=click.Choice(CATEGORIES),
    help=f"Make it one of this category: {', '.join(CATEGORIES)}.",
)
@click.option("--scope", type=click.Choice(SCOPES), help="Let others inherit it.")
@click.option("--project", metavar="NAME", help="Move it to this project.")
@click.option("-m", "--message", default="", help="What the commit says.")
@click.pass_obj
def command(places: Places, /, *, reference: str, message: str, **chosen: str | None) -> None:
    """Open the memory REF in $VISUAL or $EDITOR. What you save becomes its new version; the old
    ones stay.

    With --title, --category, --scope or --project these are changed and no editor is opened. Where
    two machines changed it at the same time, the other version stands at the end of the text, and
    what you save joins the two.

    \b
    keeplore edit 1f0c9a2e
    keeplore edit 1f0c9a2e --category gotchas
    keeplore edit 1f0c9a2e --scope workspace -m "All projects need it"
    """
    # heavy: git and the index are needed here, not for --help
    from keeplore.workspace.registry import Registry

    cwd = Path.cwd()
    with Registry(places) as registry:
        found = _head(registry, registry.find(reference, cwd))
        if any(chosen.values()):
            fields = {key: chosen[key] for key in ("title", "category") if chosen[key]}
            fields |= _moved(registry, found, cwd, chosen["scope"], chosen["project"])
            outcome = found.workspace.notes.revise(
                found.row.id, body=_retitled(found.memory, fields), **fields
            )
        else:
            outcome = _in_editor(places, registry, found)
        if not outcome.is_new:
            say("Nothing changed.")
            return
        settle(places, found.workspace, message)
    memory = outcome.memory
    say(f"Changed: {plain(memory.title)}", bold=True)
    say(f"  {near(found.workspace.root / outcome.path, cwd)}", fg="cyan")
    say(
        f"  {memory.id}, version {memory.version}; `keeplore history {short(memory.id)}` shows "
        f"what it was"
    )


def _head(registry: Registry, found: FoundMemory) -> FoundMemory:
    if found.memory.is_open:
        raise StoreError(
            f"{found.row.path} is still being written by its session", "Wait until it is closed"
        )
    if not found.row.superseded_by:
        return found
    note(f"{short(found.row.id)} is an old version; the newest one is changed")
    return registry.find(found.row.superseded_by, found.workspace.root)


def _retitled(memory: Memory, fields: dict[str, Any]) -> str | None:
    heading = f"# {memory.title}\n"
    if fields.get("title") and memory.body.startswith(heading):
        return f"# {fields['title']}\n{memory.body[len(heading) :]}"
    return None


def _moved(
    registry: Registry, found: FoundMemory, cwd: Path, scope: str | None, project: str | None
) -> dict[str, str | None]:
    """The fields that say whose memory it is. It cannot leave its workspace, where its versions
    are.
    """
    if project and scope not in (None, "project"):
        raise click.UsageError(f"--project and --scope {scope} exclude one another")
    if project or scope == "project":
        own = project or found.row.project or found.workspace.identities.of(cwd).project
        if not own:
            raise StoreError("this directory belongs to no project", "Name one with --project")
        _check_same(registry.for_project(own, found.workspace.root).name, found)
        return {"scope": "project", "project": own}
    if scope == "user" and registry.machine.home:
        _check_same(registry.machine.home, found)
    return {"scope": scope, "project": None} if scope else {}


def _check_same(name: str, found: FoundMemory) -> None:
    if name != found.workspace.name:
        remedy = (
            f"Write it there with `keeplore remember`, then `keeplore forget {short(found.row.id)}`"
        )
        raise StoreError(
            f"that is in the workspace {name}, and this memory in {found.workspace.name}", remedy
        )


def _in_editor(places: Places, registry: Registry, found: FoundMemory) -> NoteOutcome:
    from keeplore.workspace.note_writer import NoteOutcome  # heavy, as above

    versions = found.workspace.notes.history(found.row.id)
    others = [version.memory for version in versions if version.is_leaf and not version.is_head]
    with in_editor(places.state, found.memory, others) as edited:
        # a version that came meanwhile would be replaced unread
        if registry.find(found.row.id, found.workspace.root).row.superseded_by:
            raise StoreError(
                "it was changed meanwhile",
                f"`keeplore edit {short(found.row.id)}` shows the newest",
            )
        if edited is None:
            return NoteOutcome(found.memory, found.row.path, is_new=False)
        return found.workspace.notes.revise(found.row.id, **changes(found.memory, edited))
