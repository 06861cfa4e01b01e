"""``keeplore clone URL DIR``."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

import click

from keeplore.cli.progress import bar, fill_vectors
from keeplore.config.places import Places


@click.command(short_help="Restore a workspace on this machine from its git remote.")
@click.argument("url")
@click.argument("directory", required=False, type=click.Path(file_okay=False, path_type=Path))
@click.option("--name", help="What to call it on this machine; the directory's name if not given.")
@click.option(
    "--projects",
    "names",
    multiple=True,
    metavar="NAME",
    help="Clone this project too; `all` for every one.",
)
@click.option(
    "--into",
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder for projects; this directory if not given.",
)
@click.option(
    "--connect", "is_connecting", is_flag=True, help="Connect the agents on this machine too."
)
@click.pass_context
def command(
    context: click.Context,
    url: str,
    directory: Path | None,
    name: str | None,
    names: tuple[str, ...],
    into: Path | None,
    *,
    is_connecting: bool,
) -> None:
    """Clone the workspace at URL into DIRECTORY and rebuild its index from the text.

    Text can be searched as soon as it is read; vectors follow, and may be interrupted with Ctrl-C:
    they are filled in later. In the end everything is looked at as by `keeplore doctor`, and what
    is not well is told.

    \b
    keeplore clone git@github.com:me/memory.git ~/memory
    keeplore clone git@github.com:me/memory.git ~/memory --projects all --into ~/code --connect
    """
    # heavy: git and the index are needed here, not for --help
    from keeplore.cli.commands.machine import doctor_
    from keeplore.cli.commands.machine.projects_ import clone_all
    from keeplore.cli.commands.start import connect_
    from keeplore.cli.connect_dialog import surroundings
    from keeplore.cli.doctor import Look, examine
    from keeplore.workspace.identity import load_projects
    from keeplore.workspace.lifecycle.setup import clone_workspace
    from keeplore.workspace.registry import Registry

    places: Places = context.obj
    made = clone_workspace(places, url, directory, name)
    click.echo(f"Cloned workspace {made.name!r} into {made.root}")
    with Registry(places) as registry:
        workspace = registry.named(made.name)
        workspace.sync_log.succeeded()
        with bar("Reading memories") as progress:
            workspace.index.refresh(progress)
        stamp = workspace.index.state()
        click.echo(f"{stamp.memories} memories can be searched now.")
        for path, problem in workspace.index.problems():
            click.echo(f"  skipped {path}: {problem}", err=True)
        if names:
            clone_all(workspace, () if "all" in names else names, into or Path.cwd())
        elif known := len(list(load_projects(workspace.store))):
            click.echo(f"`keeplore projects clone` clones its projects as well ({known}).")
        if not fill_vectors(workspace):
            return
    if is_connecting:
        with contextlib.suppress(
            SystemExit
        ):  # what could not be connected was told, and the clone is there
            context.invoke(
                connect_.command, hosts=(), notes_in=None, dry_run=False, yes=not sys.stdin.isatty()
            )
    else:
        click.echo("`keeplore connect` lets the agents on this machine report to it, and ask it.")
    doctor_.show(examine(places, Look(surroundings(places))), is_brief=True)
    click.echo('Ask it something: `keeplore recall "what did we decide about …"`')
