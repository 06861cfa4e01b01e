"""``keeplore machines``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from keeplore.cli.output import attributes_of, emit_json, note, say, table
from keeplore.cli.parameters import json_option, pass_workspace
from keeplore.errors import NotFound
from keeplore.text.dates import day_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from keeplore.workspace.machine_trust import MachineRecord
    from keeplore.workspace.workspace import Workspace


@click.group(
    short_help="Say whose machines write here, and which of them are believed.",
    invoke_without_command=True,
)
@json_option
@click.pass_context
def machines_command(context: click.Context, /, *, as_json: bool) -> None:
    """List the machines that write to this directory's workspace, and whether they are believed.

    A machine whose commits bear an e-mail address of yours is yours. What another one wrote is
    found and shown, with a label, and is told to no agent unasked before you accept it.

    \b
    keeplore machines
    keeplore machines accept studio-1a2b
    keeplore machines refuse studio-1a2b
    """
    if context.invoked_subcommand is None:
        context.invoke(list_, as_json=as_json)


@machines_command.command(name="list")
@json_option
@pass_workspace
def list_(workspace: Workspace, *, as_json: bool) -> None:
    """List the machines that write to this directory's workspace."""
    # heavy: git and the index are needed here, not for --help
    from keeplore.workspace.machine_trust import MachineState

    counts = _memories_by_machine(workspace)
    machines = workspace.machine_trust.machines(counts)
    if as_json:
        emit_json([_as_json(machine, counts) for machine in machines])
        return
    rows = [_cells(machine, counts) for machine in machines]
    table(("machine", "whose", "last seen", "memories", ""), rows, wide=("whose",))
    if any(machine.state == MachineState.UNKNOWN for machine in machines):
        note(
            "`keeplore machines accept ID` believes one, `keeplore machines refuse ID` says that "
            "you do not want to"
        )


@machines_command.command()
@click.argument("ids", metavar="ID...", nargs=-1, required=True)
@pass_workspace
def accept(workspace: Workspace, ids: tuple[str, ...]) -> None:
    """Believe what the machines ID wrote, as if it were yours. It holds on this machine alone."""
    _check(workspace, ids)
    workspace.machine_trust.accept(ids)
    say(f"Believed from now on: {', '.join(ids)}")


@machines_command.command(short_help="Never believe the machines ID.")
@click.argument("ids", metavar="ID...", nargs=-1, required=True)
@pass_workspace
def refuse(workspace: Workspace, ids: tuple[str, ...]) -> None:
    """Never believe the machines ID, whatever e-mail address their commits bear. It holds on this
    machine alone.
    """
    _check(workspace, ids)
    if workspace.machine in ids:
        raise NotFound(
            f"{workspace.machine} is this machine",
            "Name another one; `keeplore machines` lists them",
        )
    workspace.machine_trust.refuse(ids)
    say(f"Not believed from now on: {', '.join(ids)}")


def _check(workspace: Workspace, ids: Iterable[str]) -> None:
    known = {
        machine.id
        for machine in workspace.machine_trust.machines(_memories_by_machine(workspace))
    }
    for id_ in ids:
        if id_ not in known:
            raise NotFound(
                f"no machine {id_!r} has written here",
                f"Known are {', '.join(sorted(known))}",
            )


def _memories_by_machine(workspace: Workspace) -> Mapping[str, int]:
    from keeplore.workspace.machine_trust import memories_by_machine  # heavy, as above

    return memories_by_machine(workspace.store)


def _cells(machine: MachineRecord, counts: Mapping[str, int]) -> tuple[object, ...]:
    email, seen = machine.email or "-", day_of(machine.at) or "-"
    return machine.id, email, seen, counts.get(machine.id, 0), machine.state


def _as_json(machine: MachineRecord, counts: Mapping[str, int]) -> dict[str, Any]:
    facts = attributes_of(machine, "id", "email", "state")
    return {**facts, "last_seen": machine.at, "memories": counts.get(machine.id, 0)}
