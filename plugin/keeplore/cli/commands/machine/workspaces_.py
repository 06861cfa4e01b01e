"""``keeplore workspaces``."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import click

from keeplore.cli.output import attributes_of, emit_json, note, say, table
from keeplore.cli.parameters import json_option
from keeplore.config.places import Places

if TYPE_CHECKING:
    from keeplore.workspace.lifecycle.known_workspaces import RegisteredWorkspace

GONE = "no workspace is there any more"


@click.group(
    short_help="List, choose, rename and unregister this machine's workspaces.",
    invoke_without_command=True,
)
@json_option
@click.pass_context
def workspaces_command(context: click.Context, /, *, as_json: bool) -> None:
    """List the workspaces that this machine knows, the home workspace first.

    The home workspace keeps what is about you and what belongs to no other. `keeplore init` and
    `keeplore clone` register workspaces; no command here deletes one.

    \b
    keeplore workspaces
    keeplore workspaces home work
    keeplore workspaces rename memory private
    """
    if context.invoked_subcommand is None:
        context.invoke(list_, as_json=as_json)


@workspaces_command.command(name="list")
@json_option
@click.pass_obj
def list_(places: Places, *, as_json: bool) -> None:
    """List the workspaces that this machine knows."""
    # heavy: it knows the format of memories
    from keeplore.workspace.lifecycle.known_workspaces import registered_workspaces

    found = registered_workspaces(places)
    if as_json:
        emit_json([_as_json(entry) for entry in found])
        return
    rows = []
    for entry in found:
        states = ("home" if entry.is_home else "", "" if entry.is_there else GONE)
        rows.append((entry.name, entry.root, ", ".join(filter(None, states))))
    table(("name", "directory", ""), rows, wide=("directory",))
    if not found:
        note(
            "this machine knows no workspace yet: `keeplore init DIR` or `keeplore clone URL DIR`"
        )


def _as_json(known: RegisteredWorkspace) -> dict[str, Any]:
    facts = attributes_of(known, "name", "is_home", "is_there")
    return {**facts, "path": str(known.root)}


@workspaces_command.command(short_help="Make NAME the home workspace.")
@click.argument("name")
@click.pass_obj
def home(places: Places, name: str) -> None:
    """Make NAME the home workspace, which keeps what belongs to no other."""
    # heavy, as above
    from keeplore.workspace.lifecycle.known_workspaces import choose_home

    chosen = choose_home(places, name)
    say(f"{chosen.name} is this machine's home workspace now ({chosen.root})")


@workspaces_command.command()
@click.argument("name")
@click.pass_obj
def remove(places: Places, name: str) -> None:
    """Take NAME off this machine's list. Its directory stays as it is; its index is made again when
    it comes back.
    """
    from keeplore.worker.stop import without_worker  # heavy, as above
    from keeplore.workspace.lifecycle.known_workspaces import remove  # heavy, as above

    places.create()
    with without_worker(places.state):
        removed = remove(places, name)
    say(
        f"This machine does not know {removed.name} any more. Its files stay in {removed.root}"
    )
    if removed.is_there:
        say(f"`keeplore init {shlex.quote(str(removed.root))}` registers it again.")


@workspaces_command.command(
    short_help="Call the workspace OLD by the name NEW on this machine."
)
@click.argument("old")
@click.argument("new")
@click.pass_obj
def rename(places: Places, old: str, new: str) -> None:
    """Call the workspace OLD by the name NEW on this machine; its directory stays where it is."""
    from keeplore.worker.stop import without_worker  # heavy, as above
    from keeplore.workspace.lifecycle.known_workspaces import rename  # heavy, as above

    places.create()
    with without_worker(places.state):
        renamed = rename(places, old, new)
    say(f"{old} is called {renamed.name} now ({renamed.root})")
    note(
        f"a workspace that says `inherits: [{old}]` in its keeplore.yaml has to name it {new}"
    )
