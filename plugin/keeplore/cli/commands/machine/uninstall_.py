"""``keeplore uninstall``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from keeplore.cli.output import note, plain, say
from keeplore.config.places import Places
from keeplore.errors import KeeploreError

if TYPE_CHECKING:
    from keeplore.connect.connect_plan import Plan as HostPlan
    from keeplore.workspace.lifecycle.uninstall import UninstallPlan

DONE_S = 1.0  # without work, then a worker in the foreground is done


@click.command(short_help="Remove what Keeplore keeps on this machine beside the workspaces.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask; needed where nobody can be asked.")
@click.option("--keep-state", is_flag=True, help="Keep the inbox and the list of workspaces.")
@click.option(
    "--discard-events", is_flag=True, help="Throw away host events that no workspace has yet."
)
@click.pass_obj
def command(places: Places, *, yes: bool, keep_state: bool, discard_events: bool) -> None:
    """Disconnect the agents, stop the worker and remove inbox, cache, and the checks of `keeplore
    lint --install`.

    The workspaces stay as they are: they are your git repositories. What is to go is shown first.
    Where host events wait that no workspace has yet, nothing is removed until they are read, or
    thrown away with --discard-events.

    \b
    keeplore uninstall
    pip uninstall keeplore
    """
    # heavy: git and the index are needed here, not for --help
    from keeplore.connect.connect_plan import disconnect
    from keeplore.connect.connection_record import Manifest
    from keeplore.connect.host_locations import PLACES
    from keeplore.worker.stop import without_worker
    from keeplore.workspace.lifecycle.uninstall import commit_all, plan, remove

    planned, entries = (
        plan(places, keeps_state=keep_state),
        disconnect(PLACES, Manifest.load(places.state)),
    )
    _show(planned, entries)
    if not (planned.state or planned.cache or planned.checks or entries.changes):
        say("There is nothing to remove.")
        return
    if planned.state and not discard_events:
        _take_events(places, planned, yes=yes)
    _confirm(yes=yes)
    places.create()
    _disconnect(places, entries)
    with without_worker(places.state):
        planned = plan(places, keeps_state=keep_state)
        if planned.state and not discard_events:  # one may have come while the person thought
            _refuse_events(planned)
        for problem in commit_all(places):
            note(f"not committed, and left as it is on disk: {problem}")
        remove(places, plan(places, keeps_state=keep_state))
    say(
        "Removed. A plugin that an agent's own marketplace installed has to go there, else it "
        "brings the inbox back:"
    )
    say("  claude plugin uninstall keeplore@keeplore")
    say("  pip uninstall keeplore")


def _disconnect(places: Places, entries: HostPlan) -> None:
    # heavy, as above
    from keeplore.cli.connect_dialog import tell
    from keeplore.connect.apply import carry_out

    tell(entries)
    if entries.base.files:
        carry_out(entries, places.state)
    if left := entries.after.files:
        raise KeeploreError(
            f"entries of Keeplore are still in {', '.join(sorted(left))}, so nothing else was "
            f"removed",
            "Mend what was said above and run `keeplore uninstall` again",
        )


def _show(planned: UninstallPlan, entries: HostPlan) -> None:
    changed = [change.path for change in entries.changes if change.after is not None]
    gone = [change.path for change in entries.changes if change.after is None]
    for heading, paths in (
        ("These go:", (*planned.state, *planned.cache, *planned.checks, *gone)),
        ("Keeplore's entries go from these:", changed),
        ("These stay, with all that is in them:", (*planned.workspaces, *planned.foreign)),
    ):
        if paths:
            say(heading, bold=True)
            for path in paths:
                say(f"  {plain(path)}")


def _take_events(places: Places, planned: UninstallPlan, *, yes: bool) -> None:
    """Offer to read what waits, and refuse where something is left."""
    if planned.events and not yes and sys.stdin.isatty():
        question = f"{planned.events} host events are not in a workspace yet. Read them now?"
        if click.confirm(question, default=True, err=True):
            from keeplore.worker.worker import Worker  # heavy, and needed here alone
            from keeplore.workspace.lifecycle.uninstall import plan  # heavy, as above

            Worker(places, idle_exit_s=DONE_S).run()
            planned = plan(places, keeps_state=False)
    _refuse_events(planned)


def _refuse_events(planned: UninstallPlan) -> None:
    if planned.events or planned.unreadable:
        unreadable = (
            f" ({planned.unreadable} of them could not be read)" if planned.unreadable else ""
        )
        raise KeeploreError(
            f"{planned.events + planned.unreadable} host events are in no workspace "
            f"yet{unreadable}",
            "`keeplore worker run` reads them, `keeplore doctor` says why one cannot be;"
            " --discard-events throws them away",
        )


def _confirm(*, yes: bool) -> None:
    if yes:
        return
    if not sys.stdin.isatty():
        raise KeeploreError(
            "nobody is here to be asked, so nothing was removed", "Add --yes to go on"
        )
    click.confirm("Remove them?", abort=True, err=True)
