"""``keeplore worker``."""

from __future__ import annotations

import sys
from typing import Any

import click

from keeplore import __version__
from keeplore.cli.disk_errors import HELD, held_events
from keeplore.cli.output import block, emit_json, note, say
from keeplore.cli.parameters import json_option
from keeplore.config.installation import in_vain
from keeplore.config.places import Places
from keeplore.errors import StoreError
from keeplore.text.counts import counted
from keeplore.text.dates import minute_of
from keeplore.worker.server.protocol import ask
from keeplore_hooks.spool import Spool

ANSWER_S = 2.0
MAX_TAIL = 2_000_000  # bytes of a log
DONE_S = 1.0  # without work, then a worker in the foreground is done


@click.group(short_help="Show or stop the background worker.")
def worker_command() -> None:
    """The worker is started by the first host event, holds no port, and leaves when it has nothing
    to do.
    """


@worker_command.command()
@json_option
@click.pass_obj
def status(places: Places, *, as_json: bool) -> None:
    """Say whether a worker runs and what it has to do. Exit status 4: none runs."""
    status = ask(places.state, "status", timeout_s=ANSWER_S)
    if as_json:
        emit_json(status)
    elif status is None:
        _tell_of_none(places)
    else:
        _tell_status(status)
    if status is None:
        sys.exit(4)


def _tell_status(status: dict[str, Any]) -> None:
    """Print a worker's answer; a worker of another version may lack fields or have more."""
    _tell_process(status)
    _tell_spool(status.get("spool", {}))
    say(f"workspaces: {', '.join(status.get('workspaces', ())) or 'none opened yet'}")
    if why := status.get("unwatched"):
        say(f"changes of files: looked for every few seconds, since {why}")
    at, _, what = (status.get("last_sync") or "none yet").partition(" ")
    say(f"last sync: {minute_of(at)} {what}")
    for reason, count in status.get("held", {}).items():
        say(held_events(reason, count))
    for fault in status.get("faults", ()):
        say(f"went wrong: {fault}")
    if status.get("version", "?") != __version__:
        say(
            f"It is of another version than this program, {__version__}; it leaves when it has "
            f"nothing to do."
        )


def _tell_process(status: dict[str, Any]) -> None:
    version, uptime = status.get("version", "?"), _span(status.get("uptime_s", 0))
    say(f"worker {version}, process {status.get('pid', '?')}, for {uptime}")
    model = "loaded" if status.get("is_model_loaded") else "not loaded"
    say(f"memory: {status.get('memory_mb', '?')} MB, embedding model {model}")


def _tell_spool(spool: dict[str, int]) -> None:
    waiting = spool.get("new", 0) + spool.get("claimed", 0)
    say(f"spool: {waiting} waiting, {spool.get('dead', 0)} unreadable")


def _tell_of_none(places: Places) -> None:
    waiting = Spool(places.spool).counts()["new"]
    wait = f" {waiting} wait; `keeplore worker run` reads them now." if waiting else ""
    say(f"No worker runs. The next host event starts one.{wait}")
    if vain := in_vain(places.state):
        say(vain)


def _span(seconds: int) -> str:
    minutes = seconds // 60
    if minutes < 2:
        return f"{seconds} seconds"
    return f"{minutes} minutes" if minutes < 120 else f"{minutes // 60} hours"


@worker_command.command()
@click.option(
    "-n",
    "--lines",
    default=50,
    show_default=True,
    type=click.IntRange(1, 10_000),
    help="How many lines.",
)
@click.pass_obj
def logs(places: Places, lines: int) -> None:
    """Print the end of the worker's log, which it keeps below 4 MB."""
    log = places.state / "worker.log"
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - MAX_TAIL))
            found = file.read(MAX_TAIL).decode("utf-8", "replace").splitlines()
    except FileNotFoundError:
        note("no worker has written a log yet")
        return
    for line in found[-lines:]:
        click.echo(block(line))


@worker_command.command(short_help="Let the worker finish its present step and leave.")
@click.pass_obj
def stop(places: Places) -> None:
    """Let the worker finish its present step and leave; what is in the spool stays there."""
    answer = ask(places.state, "stop", timeout_s=ANSWER_S)
    say("No worker runs." if answer is None else "The worker is leaving.")


@worker_command.command(
    short_help="Work in the foreground until nothing is left to do."
)
@click.pass_obj
def run(places: Places) -> None:
    """Work in the foreground until there is nothing left to do, or until interrupted.

    Exit status 1: another worker runs, or events cannot be written.
    """
    # heavy: everything the worker needs
    from keeplore.worker.loop import Worker

    spool = Spool(places.spool)
    before = spool.counts()
    waiting = before["new"] + before["claimed"]
    say(f"{counted(waiting, 'host event waits', 'host events wait')}.")
    worker = Worker(places, idle_exit_s=DONE_S)
    if not worker.run():
        say("Another worker already runs: see `keeplore worker status`.", err=True)
        sys.exit(1)
    after = spool.counts()
    unread = after["dead"] - before["dead"]
    say(f"Done; {after['new'] + after['claimed']} wait, {unread} could not be read.")
    if held := worker.held():
        held_text = "; ".join(
            held_events(reason, count) for reason, count in held.items()
        )
        raise StoreError(held_text, HELD)
