"""``keeplore connect``."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from keeplore.cli.output import near, note, say
from keeplore.cli.parameters import dry_run_option, yes_option
from keeplore.config.install_method import install_hint
from keeplore.config.machine import Machine
from keeplore.config.places import Places
from keeplore.config.setting_layers import is_frozen
from keeplore.errors import ConfigError, WorkspaceFrozen
from keeplore_hooks.installed import HOSTS

if TYPE_CHECKING:
    from keeplore.connect.connect_plan import ConnectPlan

# below the home workspace, where files of other programs are read
NOTES_FOLDER = "user/memory/claude-code"


@click.command(
    short_help="Let the agents on this machine report to Keeplore, and ask it."
)
@click.argument(
    "hosts", metavar="[HOST]...", nargs=-1, type=click.Choice(sorted(HOSTS))
)
@dry_run_option
@yes_option
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
def connect_command(
    places: Places,
    hosts: tuple[str, ...],
    notes_in: Path | None,
    *,
    dry_run: bool,
    yes: bool,
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
    from keeplore.cli.connect_dialog import (
        client_launcher,
        show_and_apply,
        surroundings,
    )
    from keeplore.connect.connect_plan import connect
    from keeplore.connect.connection_record import ConnectionRecord
    from keeplore.connect.host_locations import LOCATIONS

    around = surroundings(places)
    chosen = list(dict.fromkeys(hosts)) or around.found()
    if not chosen:
        raise ConfigError(
            "no agent was found on this machine",
            f"Name one: keeplore connect {' | '.join(LOCATIONS)}",
        )
    folder = _notes_folder(places, notes_in, chosen)
    launcher = client_launcher(around)
    plan = connect(
        chosen, around, ConnectionRecord.load(places.state), launcher, folder
    )
    is_whole = show_and_apply(plan, places, dry_run=dry_run, yes=yes)
    for host in plan.ready:
        _say_outcome(plan, host)
    if folder:
        note(
            f"Claude Code keeps its notes of all projects in {near(folder)} now; those it has stay "
            f"there"
        )
    if plan.ready:
        _note_what_is_missing(places, has_mcp=bool(launcher.mcp))
    sys.exit(0 if is_whole else 1)


def _notes_folder(places: Places, named: Path | None, hosts: list[str]) -> Path | None:
    """The folder where Claude Code is to keep its notes, which must be one that Keeplore reads."""
    if named is None:
        return None
    if "claude-code" not in hosts:
        raise click.UsageError("--auto-memory is for claude-code")
    machine = Machine.load(places)
    roots = machine.workspaces
    if not machine.home:
        raise ConfigError(
            "there is no workspace for Claude Code's notes",
            "Run `keeplore init DIR` first",
        )
    home = roots[machine.home] / NOTES_FOLDER
    folder = home if named == Path() else named.expanduser().resolve()
    for root in roots.values():
        if _is_memory(folder, root):
            if is_frozen(root, places.state):
                raise WorkspaceFrozen(root)
            return folder
    raise _elsewhere_error(folder, roots.values())


def _elsewhere_error(folder: Path, roots: Iterable[Path]) -> ConfigError:
    known = ", ".join(str(root / "user" / "memory") for root in roots)
    return ConfigError(
        f"{folder} is not in the memory of a workspace", f"Name a folder in {known}"
    )


def _is_memory(folder: Path, root: Path) -> bool:
    return folder.is_relative_to(root) and "memory" in folder.relative_to(root).parts


def _say_outcome(plan: ConnectPlan, host: str) -> None:
    from keeplore.connect.host_locations import LOCATIONS  # heavy, as above

    location = LOCATIONS[host]
    if any(problem.host == host for problem in plan.problems):
        say(f"{location.label}: connected in part; what is missing is said above.")
    elif any(change.host == host for change in plan.changes):
        say(f"{location.label}: connected. Next: {location.next_step}.")
    else:
        say(f"{location.label}: connected already.")


def _note_what_is_missing(places: Places, *, has_mcp: bool) -> None:
    if not has_mcp:
        note(
            "the MCP server is left out, since its library is not installed. "
            f"{install_hint('mcp')}, then `keeplore connect` again"
        )
    if not Machine.load(places).workspaces:
        note(
            "no workspace is set up yet: `keeplore init ~/memory`. What is said until then waits "
            "in the inbox"
        )
