"""``keeplore worker``."""

from __future__ import annotations

import json
import sys

import click

from keeplore.config.places import Places
from keeplore.worker.protocol import ask

ANSWER_S = 2.0


@click.group(short_help="Show or stop the background worker.")
def command() -> None:
    """The worker is started by the first host event, holds no port, and leaves when it has nothing to do."""


@command.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
@click.pass_obj
def status(places: Places, *, as_json: bool) -> None:
    """Say whether a worker runs and what it has to do. Exit status 4: none runs."""
    told = ask(places.state, "status", timeout_s=ANSWER_S)
    if told is None:
        click.echo("null" if as_json else "No worker runs. The next host event starts one.")
        sys.exit(4)
    if as_json:
        click.echo(json.dumps(told, indent=2))
        return
    spool = told["spool"]
    click.echo(f"worker {told['version']}, process {told['pid']}")
    click.echo(f"spool: {spool['new'] + spool['claimed']} waiting, {spool['dead']} unreadable")
    click.echo(f"workspaces: {', '.join(told['workspaces']) or 'none opened yet'}")
    click.echo(f"last sync: {told['last_sync'] or 'none yet'}")


@command.command()
@click.pass_obj
def stop(places: Places) -> None:
    """Let the worker finish its present step and leave; what is in the spool stays there."""
    if ask(places.state, "stop", timeout_s=ANSWER_S) is None:
        click.echo("No worker runs.")
    else:
        click.echo("The worker is leaving.")


@command.command()
@click.pass_obj
def run(places: Places) -> None:
    """Work in the foreground until idle or interrupted."""
    # heavy: everything the worker needs
    from keeplore.worker.worker import Worker

    if not Worker(places).run():
        click.echo("Another worker already runs: see `keeplore worker status`.", err=True)
        sys.exit(1)
