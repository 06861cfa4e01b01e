"""``keeplore clone URL DIR``."""

from __future__ import annotations

from pathlib import Path

import click

from keeplore.cli.progress import bar, fill_vectors
from keeplore.config.places import Places


@click.command(short_help="Restore a workspace on this machine from its git remote.")
@click.argument("url")
@click.argument("directory", required=False, type=click.Path(file_okay=False, path_type=Path))
@click.option("--name", help="What to call it on this machine; the directory's name if not given.")
@click.option("--projects", "names", multiple=True, metavar="NAME", help="Clone this project too; `all` for every one.")
@click.option(
    "--into",
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder for projects; this directory if not given.",
)
@click.pass_obj
def command(
    places: Places, url: str, directory: Path | None, name: str | None, names: tuple[str, ...], into: Path | None
) -> None:
    """Clone the workspace at URL into DIRECTORY and rebuild its index from the text.

    Text can be searched as soon as it is read; vectors follow, and may be interrupted with Ctrl-C: they are filled in
    later.

    \b
    keeplore clone git@github.com:me/memory.git ~/memory
    keeplore clone git@github.com:me/memory.git ~/memory --projects all --into ~/code
    """
    # heavy: git and the index are needed here, not for --help
    from keeplore.cli.commands.projects_ import clone_all
    from keeplore.workspace.identity import load_projects
    from keeplore.workspace.registry import Registry
    from keeplore.workspace.setup import clone_workspace

    made = clone_workspace(places, url, directory, name)
    click.echo(f"Cloned workspace {made.name!r} into {made.root}")
    with Registry(places) as registry:
        workspace = registry.named(made.name)
        with bar("Reading memories") as progress:
            workspace.index.refresh(progress)
        stamp = workspace.index.stamp()
        click.echo(f"{stamp.memories} memories can be searched now.")
        for path, problem in workspace.index.problems():
            click.echo(f"  skipped {path}: {problem}", err=True)
        if names:
            clone_all(workspace, () if "all" in names else names, into or Path.cwd())
        elif known := len(list(load_projects(workspace.store))):
            click.echo(f"`keeplore projects clone` clones its projects as well ({known}).")
        if not fill_vectors(workspace):
            return
    click.echo("`keeplore connect` lets the agents on this machine report to it, and ask it.")
    click.echo("`keeplore doctor` checks that everything works.")
    click.echo('Ask it something: `keeplore recall "what did we decide about …"`')
