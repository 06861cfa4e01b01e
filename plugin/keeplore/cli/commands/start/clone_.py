"""``keeplore clone URL DIR``."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from keeplore.cli.parameters import directory_argument, pass_registry
from keeplore.cli.progress import bar, fill_vectors
from keeplore.config.places import Places
from keeplore.text.counts import counted

if TYPE_CHECKING:
    from keeplore.workspace.registry import Registry
    from keeplore.workspace.workspace import Workspace


@click.command(short_help="Restore a workspace on this machine from its git remote.")
@click.argument("url")
@directory_argument
@click.option(
    "--name", help="What to call it on this machine; the directory's name if not given."
)
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
    "--connect",
    "is_connecting",
    is_flag=True,
    help="Connect the agents on this machine too.",
)
@click.pass_context
def clone_command(
    context: click.Context, /, url: str, directory: Path | None, **chosen: Any
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
    from keeplore.cli.commands.machine.doctor_ import show_findings
    from keeplore.cli.connect_dialog import surroundings
    from keeplore.cli.doctor import DoctorOptions, examine
    from keeplore.workspace.lifecycle.setup import clone_workspace

    places: Places = context.obj
    made = clone_workspace(places, url, directory, chosen["name"])
    click.echo(f"Cloned workspace {made.name!r} into {made.root}")
    if not _read_clone(name=made.name, projects=chosen["names"], into=chosen["into"]):
        return
    if chosen["is_connecting"]:
        _connect(context)
    else:
        click.echo(
            "`keeplore connect` lets the agents on this machine report to it, and ask it."
        )
    show_findings(examine(places, DoctorOptions(surroundings(places))), is_brief=True)
    click.echo('Ask it something: `keeplore recall "what did we decide about …"`')


@pass_registry
def _read_clone(
    registry: Registry, *, name: str, projects: tuple[str, ...], into: Path | None
) -> bool:
    """Read the clone, and clone the projects that were named; False where vectors were
    interrupted.
    """
    # heavy, as above
    from keeplore.cli.commands.machine.projects_ import clone_all
    from keeplore.workspace.identity import load_projects
    from keeplore.workspace.lifecycle.projects import address

    workspace = registry.named(name)
    workspace.sync_log.note_success()
    _read_memories(workspace)
    if projects:
        clone_all(workspace, () if "all" in projects else projects, into or Path.cwd())
    elif count := sum(bool(address(one, "")) for one in load_projects(workspace.store)):
        click.echo(
            f"`keeplore projects clone --all` clones its projects as well ({count})."
        )
    return fill_vectors(workspace)


def _read_memories(workspace: Workspace) -> None:
    with bar("Reading memories") as progress:
        workspace.index.refresh(progress)
    held = counted(workspace.index.state().memories, "memory", "memories")
    click.echo(f"{held} can be searched now.")
    for path, problem in workspace.index.problems():
        click.echo(f"  skipped {path}: {problem}", err=True)


def _connect(context: click.Context) -> None:
    from keeplore.cli.commands.start.connect_ import connect_command  # heavy, as above

    # what could not be connected was told, and the clone is there
    with contextlib.suppress(SystemExit):
        is_sure = not sys.stdin.isatty()
        context.invoke(
            connect_command, hosts=(), notes_in=None, dry_run=False, yes=is_sure
        )
