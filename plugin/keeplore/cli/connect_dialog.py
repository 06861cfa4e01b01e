"""How connecting and disconnecting are shown and asked for, before anything is changed."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import sys
from collections.abc import Iterable
from pathlib import Path

import click

from keeplore.cli.output import block, confirm, near, note, say
from keeplore.config.machine import Machine
from keeplore.config.places import Places
from keeplore.config.setting_layers import settings_here
from keeplore.connect.apply import apply
from keeplore.connect.client_copy import launcher
from keeplore.connect.connect_plan import ConnectPlan, FileChange, unified_diff
from keeplore.connect.hook_events import Launcher
from keeplore.connect.host_locations import LOCATIONS, Surroundings
from keeplore.errors import ConfigError

_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


def surroundings(places: Places) -> Surroundings:
    return Surroundings(Path.home(), places.state, os.environ)


def client_launcher(surroundings: Surroundings) -> Launcher:
    """How hosts start the client; the MCP server only where its library is installed."""
    return launcher(
        surroundings.state,
        search_path=surroundings.environment.get("PATH", os.defpath),
        has_mcp=importlib.util.find_spec("mcp") is not None,
        before_edit=_wants_before_edit(surroundings),
    )


def _wants_before_edit(surroundings: Surroundings) -> bool:
    """Whether any workspace of this machine wants to be asked before edits."""
    machine = Machine.load(Places(surroundings.state, surroundings.state))
    for root in machine.workspaces.values():
        with contextlib.suppress(ConfigError):  # one that is gone wants nothing
            if settings_here(root, surroundings.state).context.before_edit:
                return True
    return False


def show_and_apply(
    plan: ConnectPlan, places: Places, *, dry_run: bool, yes: bool
) -> bool:
    """Show what changes, and do it once the person agrees; returns whether all is as it was asked
    for.

    With ``dry_run`` nothing but the diff is shown, and the program ends.
    """
    _tell_before(plan.changes)
    if dry_run:
        _show_diff(plan.changes)
        sys.exit(1 if show_problems(plan) else 0)
    _show_changes(plan.changes)
    has_problems = show_problems(plan)
    if plan.changes:
        confirm(
            "Make these changes?",
            yes=yes,
            refusal="nobody is here to be asked, so nothing was changed",
        )
    if plan.ready:
        places.create()
    if plan.changes or plan.ready or plan.before.files:
        apply(plan, places.state)
    return not has_problems


def show_problems(plan: ConnectPlan) -> bool:
    """Print on stderr what could not be done as asked; returns whether there was anything."""
    for skipped in plan.skipped:
        note(
            f"{skipped.message}. {skipped.remedy}"
            if skipped.remedy
            else skipped.message
        )
    for problem in plan.problems:
        say(f"{LOCATIONS[problem.host].label}: {problem.message}", err=True)
        for line in block(problem.remedy).splitlines():
            click.echo(f"  → {line}", err=True)
    return bool(plan.problems)


def _tell_before(changes: Iterable[FileChange]) -> None:
    """Say what a host will do by itself once it is connected."""
    new = {change.host for change in changes if change.before is None}
    for host in sorted(new):
        if LOCATIONS[host].before:
            note(f"{LOCATIONS[host].label}: {LOCATIONS[host].before}")


def _show_changes(changes: Iterable[FileChange]) -> None:
    """Print every file by host, and what changes within the person's own files."""
    for host in dict.fromkeys(change.host for change in changes):
        say(LOCATIONS[host].label, bold=True)
        for change in changes:
            if change.host == host:
                say(f"  {_change_label(change)}  {near(change.path)}")
    _show_diff(change for change in changes if _change_label(change) == "changed")


def _change_label(change: FileChange) -> str:
    if change.before is None:
        return "new    "
    return "removed" if change.after is None else "changed"


def _show_diff(changes: Iterable[FileChange]) -> None:
    for line in unified_diff(changes):
        colour = _COLOURS.get(line[:1])
        text = block(line)
        click.echo(click.style(text, fg=colour) if colour else text)
