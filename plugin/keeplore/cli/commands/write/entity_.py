"""``keeplore entity``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from keeplore.cli.after_write import settle
from keeplore.cli.output import emit_json, note, plain, say, table
from keeplore.config.places import Places

if TYPE_CHECKING:
    from keeplore.workspace.registry import Registry
    from keeplore.workspace.workspace import Workspace

# as keeplore.index.graph.graph_values has them, which --help is not to wait for
TYPES = ("person", "project", "system", "tool", "concept", "skill", "task", "unknown")
LIMIT = 50  # entities that are listed


@click.group(
    short_help="Say who and what there is, and by which names.", invoke_without_command=True
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
@click.pass_context
def command(context: click.Context, *, as_json: bool) -> None:
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
        _list(context.obj, "", LIMIT, as_json=as_json)


@command.command(name="list")
@click.argument("text", default="")
@click.option(
    "-n",
    "--limit",
    default=LIMIT,
    show_default=True,
    type=click.IntRange(1),
    help="How many at most.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
@click.pass_obj
def list_(places: Places, text: str, limit: int, *, as_json: bool) -> None:
    """List the entities whose names hold TEXT, all if none is given, the most mentioned first."""
    _list(places, text, limit, as_json=as_json)


@command.command()
@click.argument("name")
@click.option("--type", "type_", type=click.Choice(TYPES), help="What it is.")
@click.option(
    "--alias",
    "aliases",
    multiple=True,
    help="Another name that it goes by; may be given several times.",
)
@click.option(
    "--project", default="", help="Only in this project; everywhere in the workspace if not given."
)
@click.pass_obj
def add(
    places: Places, name: str, type_: str | None, aliases: tuple[str, ...], project: str
) -> None:
    """Write down that there is NAME, or that one which is there has another type or more names.

    The file that it makes in `entities/` may be edited by hand.
    """
    # heavy: git and the index are needed here, not for --help
    from keeplore.workspace.registry import Registry
    from keeplore.workspace.writing import entity_writer

    with Registry(places) as registry:
        workspace = _workspace(registry, project)
        entity, has_changed = entity_writer.add(workspace, name, type_ or "", aliases, project)
        told = f"{plain(entity.name)} ({plain(entity.type)}{_also(entity.aliases)})"
        if not has_changed:
            say(f"{told} is there already")
            return
        settle(places, workspace, f"Name the entity {plain(entity.name)}")
    say(f"{told} is known {f'in {plain(project)}' if project else 'in the whole workspace'}")


@command.command()
@click.argument("name")
@click.option(
    "--alias",
    "aliases",
    multiple=True,
    help="Take this name away alone; may be given several times.",
)
@click.option("--project", default="", help="The one that was added for this project.")
@click.pass_obj
def remove(places: Places, name: str, aliases: tuple[str, ...], project: str) -> None:
    """Take away what was added for NAME, or some of its aliases. Memories that mention it stay as
    they are.
    """
    # heavy, as above
    from keeplore.workspace.registry import Registry
    from keeplore.workspace.writing import entity_writer

    with Registry(places) as registry:
        workspace = _workspace(registry, project)
        removed = entity_writer.remove(workspace, name, aliases, project)
        settle(places, workspace, f"Take away names of the entity {plain(removed)}")
    say(
        f"{plain(removed)} goes by {plain(', '.join(aliases))} no more"
        if aliases
        else f"{plain(removed)} is taken away"
    )


def _workspace(registry: Registry, project: str) -> Workspace:
    return (
        registry.for_project(project, Path.cwd()) if project else registry.for_directory(Path.cwd())
    )


def _list(places: Places, text: str, limit: int, *, as_json: bool) -> None:
    # heavy, as above
    from keeplore.workspace.registry import Registry

    with Registry(places) as registry:
        workspace = registry.for_directory(Path.cwd())
        workspace.index.refresh()
        found = workspace.index.graph.entities(like=text, limit=limit)
    if as_json:
        emit_json([asdict(entity) for entity in found])
        return
    rows = [
        (one.spelling, one.type, one.place or "-", one.mentions, ", ".join(one.aliases))
        for one in found
    ]
    table(
        ("entity", "what it is", "project", "mentions", "also called"),
        rows,
        wide=("entity", "also called"),
    )
    if not found and text:
        note(f"none has {plain(text)!r} in its name: `keeplore entity list` lists all")
    elif not found:
        note("none yet: `keeplore entity add NAME` names one, and memories show others")


def _also(aliases: tuple[str, ...]) -> str:
    return f", also {plain(', '.join(aliases))}" if aliases else ""
