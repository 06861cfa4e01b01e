"""``keeplore workspaces``."""

from __future__ import annotations

import click

from keeplore.cli.output import emit_json, note, plain, say, table
from keeplore.config.places import Places


@click.group(
    short_help="List, choose, rename and unregister this machine's workspaces.",
    invoke_without_command=True,
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
@click.pass_context
def command(context: click.Context, *, as_json: bool) -> None:
    """List the workspaces that this machine knows, the home workspace first.

    The home workspace keeps what is about you and what belongs to no other. `keeplore init` and
    `keeplore clone` register workspaces; no command here deletes one.

    \b
    keeplore workspaces
    keeplore workspaces home work
    keeplore workspaces rename memory private
    """
    if context.invoked_subcommand is None:
        _list(context.obj, as_json=as_json)


@command.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
@click.pass_obj
def list_(places: Places, *, as_json: bool) -> None:
    """List the workspaces that this machine knows."""
    _list(places, as_json=as_json)


@command.command()
@click.argument("name")
@click.pass_obj
def home(places: Places, name: str) -> None:
    """Make NAME the home workspace, which keeps what belongs to no other."""
    # heavy: it knows the format of memories
    from keeplore.workspace.lifecycle.known_workspaces import choose_home

    chosen = choose_home(places, name)
    say(f"{plain(chosen.name)} is this machine's home workspace now ({plain(chosen.root)})")


@command.command()
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
        f"This machine does not know {plain(removed.name)} any more. Its files stay in "
        f"{plain(removed.root)}"
    )
    if removed.is_there:
        say(f"`keeplore init '{plain(removed.root)}'` registers it again.")


@command.command()
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
    say(f"{plain(old)} is called {plain(renamed.name)} now ({plain(renamed.root)})")
    note(f"a workspace that says `inherits: [{old}]` in its keeplore.yaml has to name it {new}")


def _list(places: Places, *, as_json: bool) -> None:
    from keeplore.workspace.lifecycle.known_workspaces import registered  # heavy, as above

    found = registered(places)
    if as_json:
        emit_json(
            [
                {"name": w.name, "path": str(w.root), "is_home": w.is_home, "is_there": w.is_there}
                for w in found
            ]
        )
        return
    states = (
        ("home" if w.is_home else "", "" if w.is_there else "no workspace is there any more")
        for w in found
    )
    rows = [
        (w.name, w.root, ", ".join(filter(None, state)))
        for w, state in zip(found, states, strict=True)
    ]
    table(("name", "directory", ""), rows, wide=("directory",))
    if not found:
        note("this machine knows no workspace yet: `keeplore init DIR` or `keeplore clone URL DIR`")
