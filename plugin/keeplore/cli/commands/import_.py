"""``keeplore import HOST``."""

from __future__ import annotations

import os
import textwrap
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from keeplore.cli.progress import bar, fill_vectors
from keeplore.cli.when import When
from keeplore.config.places import Places
from keeplore.errors import KeeploreError
from keeplore_hooks.hosts import HOSTS, host_named

if TYPE_CHECKING:
    from keeplore.workspace.workspace import Workspace

SHOWN_PROBLEMS = 5


@click.command(short_help="Read the sessions that a host has already recorded.")
@click.argument("host", type=click.Choice(sorted(HOSTS)))
@click.option("--since", type=When(), help="Only sessions written to since then: 2026-01-31, 30d, 8w.")
@click.option(
    "--from",
    "folder",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Look here for the host's files.",
)
@click.pass_obj
def command(places: Places, host: str, since: datetime | None, folder: Path | None) -> None:
    """Turn the sessions of HOST on this machine into memory.

    Nothing leaves the machine and no model is asked. It may be interrupted and started again at any time: what was
    read is not read twice, and a second run changes nothing.

    \b
    keeplore import claude-code
    keeplore import claude-code --since 30d
    """
    # heavy: git, the index and the model are needed here, not for --help
    from keeplore.workspace.history import import_sessions, worth_reading
    from keeplore.workspace.registry import Registry

    adapter = host_named(host)
    if folder and folder.name == adapter.folder:  # the sessions lie there, and people name where they saw them
        folder = folder.resolve().parent
    config_dir = str(folder) if folder else os.environ.get(adapter.variable, "")
    with Registry(places) as registry:
        home = registry.for_directory(Path.home())  # says what to do where there is no workspace yet
        recorded = worth_reading(adapter.recorded(Path.home(), config_dir), since)
        if not recorded:
            if folder:
                raise KeeploreError(
                    f"no recorded sessions of {host} in {folder}", f"Name the folder that holds {adapter.folder}/"
                )
            click.echo(f"No recorded sessions of {host} found. If they lie elsewhere, name the folder with --from.")
            return
        with bar("Reading sessions") as progress:
            try:
                imported = import_sessions(registry, adapter, recorded, progress)
            except KeyboardInterrupt:
                click.echo("\nInterrupted. What was read is kept; run it again to go on.", err=True)
                raise
        click.echo(
            f"{len(recorded)} sessions looked at, {imported.sessions} with something new: {imported.turns} turns."
        )
        for path, problem in imported.problems[:SHOWN_PROBLEMS]:
            click.echo(f"  {path.name}: {problem}", err=True)
        if len(imported.problems) > SHOWN_PROBLEMS:
            click.echo(f"  … and {len(imported.problems) - SHOWN_PROBLEMS} more lines that could not be read", err=True)
        for workspace in registry.opened():
            fill_vectors(workspace)
        _show_known(home)


def _show_known(workspace: Workspace) -> None:
    # heavy, see above
    from keeplore.workspace.history import things_known

    known = things_known(workspace)
    if not known:
        return
    stamp = workspace.index.stamp()
    click.echo(f"\n{workspace.name} now holds {stamp.memories} memories. Among them:\n")
    for thing in known:
        click.secho(f"  {thing.title}", bold=True)
        click.secho(f"  {thing.date} · {thing.project or 'workspace'} · {thing.path}", dim=True)
        quote = textwrap.fill(f"“{thing.quote}”", 92, initial_indent="    ", subsequent_indent="    ")
        click.echo(f"{quote}\n")
    click.echo('Ask for more: `keeplore recall "what did we decide about …"`')
