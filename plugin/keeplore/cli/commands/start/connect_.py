"""``keeplore connect``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from keeplore.cli.output import near, note, say
from keeplore.config.machine import Machine
from keeplore.config.places import Places
from keeplore.errors import ConfigError
from keeplore_hooks.hosts import HOSTS

DEFAULT = (
    "user/memory/claude-code"  # below the home workspace, where files of other programs are read
)


@click.command(short_help="Let the agents on this machine report to Keeplore, and ask it.")
@click.argument("hosts", metavar="[HOST]...", nargs=-1, type=click.Choice(sorted(HOSTS)))
@click.option("--dry-run", is_flag=True, help="Print every change as a unified diff, and stop.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask; needed where nobody can be asked.")
@click.option(
    "--auto-memory",
    "notes_in",
    metavar="[DIR]",
    type=click.Path(file_okay=False, path_type=Path),
    is_flag=False,
    flag_value=Path(),
    help="Let Claude Code keep its own notes in the home workspace, or in the folder DIR of one.",
)
@click.pass_obj
def command(
    places: Places, hosts: tuple[str, ...], notes_in: Path | None, *, dry_run: bool, yes: bool
) -> None:
    """Put Keeplore's entries into the files of each HOST, or of every host that is found on this
    machine.

    What would change is shown first, and remembered: `keeplore disconnect` takes it out again, byte
    for byte. No memory of a host's own is switched off, and no CLAUDE.md or AGENTS.md is touched.

    \b
    keeplore connect --dry-run
    keeplore connect
    keeplore connect claude-code codex --yes
    """
    # heavy: what is installed into hosts is read here, not for --help
    from keeplore.cli.connect_dialog import confirm, runs, show, surroundings, tell
    from keeplore.connect.apply import carry_out
    from keeplore.connect.connect_plan import connect
    from keeplore.connect.connection_record import Manifest
    from keeplore.connect.host_locations import PLACES

    around = surroundings(places)
    chosen = list(dict.fromkeys(hosts)) or around.found()
    if not chosen:
        raise ConfigError(
            "no agent was found on this machine", f"Name one: keeplore connect {' | '.join(PLACES)}"
        )
    folder = _notes_folder(places, notes_in, chosen)
    how = runs(around)
    plan = connect(chosen, around, Manifest.load(places.state), how, folder)
    if dry_run:
        show(plan, is_whole=True)
        sys.exit(1 if tell(plan) else 0)
    show(plan, is_whole=False)
    is_refused = tell(plan)
    if plan.changes:
        confirm("Make these changes?", yes=yes)
    if plan.ready:
        places.create()
    if plan.changes or plan.ready:
        carry_out(plan, places.state)
    for host in plan.ready:
        place = PLACES[host]
        if any(told.host == host for told in plan.told):
            say(f"{place.label}: connected in part; what is missing is said above.")
        elif any(change.host == host for change in plan.changes):
            say(f"{place.label}: connected. Next: {place.next_step}.")
        else:
            say(f"{place.label}: connected already.")
    if folder:
        note(
            f"Claude Code keeps its notes of all projects in {near(folder, Path.cwd())} now; those "
            f"it has stay there"
        )
    if plan.ready and not how.mcp:
        note(
            "there is no MCP server without `pip install 'keeplore[mcp]'`; then run `keeplore "
            "connect` again"
        )
    if plan.ready and not Machine.load(places).workspaces:
        note(
            "no workspace is set up yet: `keeplore init ~/memory`. What is said until then waits "
            "in the inbox"
        )
    sys.exit(1 if is_refused else 0)


def _notes_folder(places: Places, named: Path | None, hosts: list[str]) -> Path | None:
    """Where Claude Code is to keep its notes, which has to be where Keeplore reads."""
    if named is None:
        return None
    if "claude-code" not in hosts:
        raise click.UsageError("--auto-memory is for claude-code")
    machine = Machine.load(places)
    roots = machine.workspaces
    if not machine.home:
        raise ConfigError(
            "there is no workspace for Claude Code's notes", "Run `keeplore init DIR` first"
        )
    folder = roots[machine.home] / DEFAULT if named == Path() else named.expanduser().resolve()
    if not any(
        folder.is_relative_to(root) and "memory" in folder.relative_to(root).parts
        for root in roots.values()
    ):
        places_known = ", ".join(str(root / "user" / "memory") for root in roots.values())
        raise ConfigError(
            f"{folder} is not in the memory of a workspace", f"Name a folder in {places_known}"
        )
    return folder
