"""``keeplore disconnect``."""

from __future__ import annotations

import sys

import click

from keeplore.cli.output import say
from keeplore.config.places import Places
from keeplore_hooks.hosts import HOSTS


@click.command(short_help="Take Keeplore's entries out of the agents' files again.")
@click.argument("hosts", metavar="[HOST]...", nargs=-1, type=click.Choice(sorted(HOSTS)))
@click.option("--dry-run", is_flag=True, help="Print every change as a unified diff, and stop.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask; needed where nobody can be asked.")
@click.pass_obj
def command(places: Places, hosts: tuple[str, ...], *, dry_run: bool, yes: bool) -> None:
    """Undo `keeplore connect` for each HOST, or for all that are connected.

    A file that nobody has changed since gets its bytes back, and goes if it was not there. Of one
    that was changed, only Keeplore's own entries are taken out; an entry that somebody edited is
    left, and named.

    \b
    keeplore disconnect --dry-run
    keeplore disconnect codex
    """
    # heavy: what is installed into hosts is read here, not for --help
    from keeplore.cli.connect_dialog import confirm, show, tell
    from keeplore.connect.apply import carry_out
    from keeplore.connect.connect_plan import disconnect
    from keeplore.connect.connection_record import Manifest
    from keeplore.connect.host_locations import PLACES

    manifest = Manifest.load(places.state)
    connected = {owner.host for owner in manifest.owners()}
    chosen = [host for host in PLACES if host in connected and (not hosts or host in hosts)]
    for host in dict.fromkeys(hosts):
        if host not in connected:
            say(f"{PLACES[host].label} is not connected by `keeplore connect`.")
    if not chosen:
        if not hosts:
            say("No agent is connected by `keeplore connect`.")
        return
    plan = disconnect(chosen, manifest)
    show(plan, is_whole=dry_run)
    has_left = tell(plan)
    if dry_run:
        sys.exit(1 if has_left else 0)
    confirm("Make these changes?", yes=yes)
    carry_out(plan, places.state)
    for host in chosen:
        say(f"{PLACES[host].label}: disconnected. A session that runs reports until it ends.")
    sys.exit(1 if has_left else 0)
