"""``keeplore uninstall``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from keeplore.cli.output import confirm, note, say
from keeplore.cli.parameters import yes_option
from keeplore.config.places import Places
from keeplore.errors import KeeploreError
from keeplore.text.counts import counted

if TYPE_CHECKING:
    from keeplore.connect.connect_plan import ConnectPlan
    from keeplore.workspace.lifecycle.uninstall import UninstallPlan

DONE_S = 1.0  # without work, then a worker in the foreground is done


@click.command(
    short_help="Remove what Keeplore keeps on this machine beside the workspaces."
)
@yes_option
@click.option(
    "--keep-state", is_flag=True, help="Keep the inbox and the list of workspaces."
)
@click.option(
    "--discard-events",
    is_flag=True,
    help="Throw away host events that no workspace has yet.",
)
@click.pass_obj
def uninstall_command(
    places: Places, *, yes: bool, keep_state: bool, discard_events: bool
) -> None:
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
    from keeplore.connect.connection_record import ConnectionRecord
    from keeplore.workspace.lifecycle.uninstall import plan

    planned = plan(places, keeps_state=keep_state)
    record = ConnectionRecord.load(places.state)
    entries = disconnect(dict.fromkeys(owner.host for owner in record.owners()), record)
    _show(planned, entries)
    if not (planned.state or planned.cache or planned.commit_hooks or entries.changes):
        say("There is nothing to remove.")
        return
    if planned.state and not discard_events:
        _leave_no_event(places, planned, may_ask=not yes)
    confirm(
        "Remove them?",
        yes=yes,
        refusal="nobody is here to be asked, so nothing was removed",
    )
    places.create()
    _disconnect(places, entries)
    _remove(places, keep_state=keep_state, discard_events=discard_events)
    _say_what_is_left()


def _show(planned: UninstallPlan, entries: ConnectPlan) -> None:
    changed = [change.path for change in entries.changes if change.after is not None]
    gone = [change.path for change in entries.changes if change.after is None]
    for heading, paths in (
        ("These go:", (*planned.state, *planned.cache, *planned.commit_hooks, *gone)),
        ("Keeplore's entries go from these:", changed),
        (
            "These stay, with all that is in them:",
            (*planned.workspaces, *planned.foreign),
        ),
        ("These stay, since they were typed and not saved:", planned.unsaved),
    ):
        if paths:
            say(heading, bold=True)
            for path in paths:
                say(f"  {path}")


def _leave_no_event(places: Places, planned: UninstallPlan, *, may_ask: bool) -> None:
    """Offer to read the events that wait. Raises KeeploreError where some are left."""
    from keeplore.workspace.lifecycle.uninstall import plan  # heavy, as above

    if may_ask and planned.events and sys.stdin.isatty():
        _offer_to_read(places, planned.events)
    _refuse_events(plan(places, keeps_state=False))


def _offer_to_read(places: Places, events: int) -> None:
    if click.confirm(
        f"{events} host events are not in a workspace yet. Read them now?",
        default=True,
        err=True,
    ):
        from keeplore.worker.loop import Worker  # heavy, and needed here alone

        Worker(places, idle_exit_s=DONE_S).run()


def _refuse_events(planned: UninstallPlan) -> None:
    count = planned.events + planned.unreadable
    if not count:
        return
    unreadable = (
        f" ({planned.unreadable} of them could not be read)"
        if planned.unreadable
        else ""
    )
    raise KeeploreError(
        f"{counted(count, 'host event is', 'host events are')} in no workspace yet{unreadable}",
        "`keeplore worker run` reads them, `keeplore doctor` says why one cannot be;"
        " --discard-events throws them away",
    )


def _disconnect(places: Places, entries: ConnectPlan) -> None:
    # heavy, as above
    from keeplore.cli.connect_dialog import show_problems
    from keeplore.connect.apply import apply

    show_problems(entries)
    if entries.before.files:
        apply(entries, places.state)
    if left := entries.after.files:
        raise KeeploreError(
            f"entries of Keeplore are still in {', '.join(sorted(left))}, so nothing else was "
            f"removed",
            "Mend what was said above and run `keeplore uninstall` again",
        )


def _remove(places: Places, *, keep_state: bool, discard_events: bool) -> None:
    # heavy, as above
    from keeplore.worker.stop import without_worker
    from keeplore.workspace.lifecycle.uninstall import commit_all, plan, remove

    with without_worker(places.state):
        planned = plan(places, keeps_state=keep_state)
        # one may have come while the person thought
        if planned.state and not discard_events:
            _refuse_events(planned)
        for problem in commit_all(places):
            note(f"not committed, and left as it is on disk: {problem}")
        remove(places, plan(places, keeps_state=keep_state))


def _say_what_is_left() -> None:
    say(
        "Removed. A plugin that an agent's own marketplace installed has to go there, else it "
        "brings the inbox back:"
    )
    say("  claude plugin uninstall keeplore@keeplore")
    say("  pip uninstall keeplore")
