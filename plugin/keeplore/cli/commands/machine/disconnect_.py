"""``keeplore disconnect``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path

import click

from keeplore.cli.output import note, say
from keeplore.cli.parameters import dry_run_option, yes_option
from keeplore.config.places import Places
from keeplore_hooks.installed import HOSTS


@click.command(short_help="Take Keeplore's entries out of the agents' files again.")
@click.argument(
    "hosts", metavar="[HOST]...", nargs=-1, type=click.Choice(sorted(HOSTS))
)
@dry_run_option
@yes_option
@click.pass_obj
def disconnect_command(
    places: Places, hosts: tuple[str, ...], *, dry_run: bool, yes: bool
) -> None:
    """Undo `keeplore connect` for each HOST, or for all that are connected.

    A file that nobody has changed since gets its bytes back, and goes if it was not there. Of one
    that was changed, only Keeplore's own entries are taken out; an entry that somebody edited is
    left, and named.

    \b
    keeplore disconnect --dry-run
    keeplore disconnect codex
    """
    # heavy: what is installed into hosts is read here, not for --help
    from keeplore.cli.connect_dialog import show_and_apply
    from keeplore.connect.connect_plan import disconnect
    from keeplore.connect.connection_record import ConnectionRecord
    from keeplore.connect.host_locations import LOCATIONS, left_behind

    record = ConnectionRecord.load(places.state)
    chosen = _chosen_hosts(hosts, {owner.host for owner in record.owners()})
    if not chosen:
        return
    plan = disconnect(chosen, record)
    is_whole = show_and_apply(plan, places, dry_run=dry_run, yes=yes)
    for host in chosen:
        say(
            f"{LOCATIONS[host].label}: disconnected. A session that runs reports until it ends."
        )
        for owner in record.owners(host):
            if left := left_behind(host, Path(owner.directory)):
                note(left)
    sys.exit(0 if is_whole else 1)


def _chosen_hosts(named: Sequence[str], connected: AbstractSet[str]) -> list[str]:
    """The connected hosts among the named, all for none; those that are not connected are told."""
    from keeplore.connect.host_locations import LOCATIONS  # heavy, as above

    # with those that no plugin knows any more
    every = (*LOCATIONS, *sorted(connected - LOCATIONS.keys()))
    chosen = [host for host in every if host in connected and host in (named or every)]
    for host in dict.fromkeys(named):
        if host not in connected:
            say(f"{LOCATIONS[host].label} is not connected by `keeplore connect`.")
    if not named and not chosen:
        say("No agent is connected by `keeplore connect`.")
    return chosen
