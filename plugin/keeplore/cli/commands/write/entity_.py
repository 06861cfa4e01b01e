"""``keeplore entity``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from keeplore.cli.output import emit_json, note, plain, say, table
from keeplore.cli.parameters import (
    json_option,
    limit_option,
    pass_registry,
    pass_workspace,
)
from keeplore.cli.writing import settle

if TYPE_CHECKING:
    from keeplore.index.graph.entity_queries import Entity
    from keeplore.workspace.registry import Registry
    from keeplore.workspace.workspace import Workspace

# as keeplore.index.graph.graph_values has them, which --help is not to wait for
TYPES = ("person", "project", "system", "tool", "concept", "skill", "task", "unknown")
LIMIT = 50  # entities that are listed


@click.group(
    short_help="Say who and what there is, and by which names.",
    invoke_without_command=True,
)
@json_option
@click.pass_context
def entity_command(context: click.Context, /, *, as_json: bool) -> None:
    """List who and what the memories are about: people, projects, systems, tools, what they are
    called.

    Most are known by themselves: from the projects, their manifests, and what memories show. What
    you add is known from then on in every memory, under every name that you give it.

    \b
    keeplore entity
    keeplore entity add fastembed --type tool --alias "the embedder"
    keeplore entity add PostgreSQL --alias pg --project shop
    """
    if context.invoked_subcommand is None:
        context.invoke(list_, text="", limit=LIMIT, as_json=as_json)


@entity_command.command(
    name="list", short_help="List what is known, the most mentioned first."
)
@click.argument("text", default="")
@limit_option(LIMIT, "How many at most.", least=1)
@json_option
@pass_workspace
def list_(workspace: Workspace, text: str, limit: int, *, as_json: bool) -> None:
    """List the entities whose names hold TEXT, all if none is given, the most mentioned first."""
    workspace.index.refresh_for_reading()
    found = workspace.index.graph.entities(like=text, limit=limit)
    if as_json:
        emit_json([asdict(entity) for entity in found])
        return
    headings = ("entity", "what it is", "project", "mentions", "also called")
    table(headings, map(_cells, found), wide=("entity", "also called"))
    if not found and text:
        note(f"none has {text!r} in its name: `keeplore entity list` lists all")
    elif not found:
        note("none yet: `keeplore entity add NAME` names one, and memories show others")


def _cells(entity: Entity) -> tuple[object, ...]:
    aliases = ", ".join(entity.aliases)
    return entity.spelling, entity.type, entity.place or "-", entity.mentions, aliases


@entity_command.command(
    short_help="Say that there is NAME, or give it a type or aliases."
)
@click.argument("name")
@click.option("--type", "type_", type=click.Choice(TYPES), help="What it is.")
@click.option(
    "--alias",
    "aliases",
    multiple=True,
    help="Another name that it goes by; may be given several times.",
)
@click.option(
    "--project",
    default="",
    help="Only in this project; everywhere in the workspace if not given.",
)
@pass_registry
def add(
    registry: Registry,
    name: str,
    type_: str | None,
    aliases: tuple[str, ...],
    project: str,
) -> None:
    """Write down that there is NAME, or that one which is there has another type or more names.

    The file that it makes in `entities/` may be edited by hand.
    """
    # heavy, as the registry is
    from keeplore.workspace.writing import entity_writer

    workspace = _workspace(registry, project)
    entity, has_changed = entity_writer.add(
        workspace, name, type_ or "", aliases, project
    )
    also = f", also {', '.join(entity.aliases)}" if entity.aliases else ""
    described = f"{entity.name} ({entity.type}{also})"
    if not has_changed:
        say(f"{described} is there already")
        return
    settle(workspace, f"Name the entity {plain(entity.name)}")
    say(
        f"{described} is known {f'in {project}' if project else 'in the whole workspace'}"
    )


@entity_command.command()
@click.argument("name")
@click.option(
    "--alias",
    "aliases",
    multiple=True,
    help="Take this name away alone; may be given several times.",
)
@click.option("--project", default="", help="The one that was added for this project.")
@pass_registry
def remove(
    registry: Registry, name: str, aliases: tuple[str, ...], project: str
) -> None:
    """Take away what was added for NAME, or some of its aliases. Memories that mention it stay as
    they are.
    """
    # heavy, as the registry is
    from keeplore.workspace.writing import entity_writer

    workspace = _workspace(registry, project)
    removed = entity_writer.remove(workspace, name, aliases, project)
    settle(workspace, f"Take away names of the entity {plain(removed)}")
    if aliases:
        say(f"{removed} goes by {', '.join(aliases)} no more")
    else:
        say(f"{removed} is taken away")


def _workspace(registry: Registry, project: str) -> Workspace:
    here = Path.cwd()
    return (
        registry.for_project(project, here) if project else registry.for_directory(here)
    )
