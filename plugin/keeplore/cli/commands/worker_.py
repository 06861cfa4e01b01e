"""``keeplore worker``."""

from __future__ import annotations

import json
import sys

import click

from keeplore.config.places import Places
from keeplore.worker.protocol import ask
from keeplore_hooks.spool import Spool

ANSWER_S = 2.0
DONE_S = 1.0  # without work, then a worker in the foreground is done


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
        waiting = Spool(places.spool).counts()["new"]
        wait = f" {waiting} wait; `keeplore worker run` reads them now." if waiting else ""
        click.echo("null" if as_json else f"No worker runs. The next host event starts one.{wait}")
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
    """Work in the foreground until there is nothing left to do, or until interrupted."""
    # heavy: everything the worker needs
    from keeplore.worker.worker import Worker

    spool = Spool(places.spool)
    before = spool.counts()
    click.echo(f"{before['new'] + before['claimed']} host events wait.")
    if not Worker(places, idle_exit_s=DONE_S).run():
        click.echo("Another worker already runs: see `keeplore worker status`.", err=True)
        sys.exit(1)
    after = spool.counts()
    click.echo(f"Done; {after['new'] + after['claimed']} wait, {after['dead'] - before['dead']} could not be read.")
