"""How connecting and disconnecting are shown and asked for, before anything is changed."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import sys
from collections import defaultdict
from pathlib import Path

import click

from keeplore.cli.output import block, near, note, plain, say
from keeplore.config.machine import Machine
from keeplore.config.places import Places
from keeplore.config.settings import load_settings
from keeplore.connect.client_copy import launcher
from keeplore.connect.connect_plan import Change, Plan
from keeplore.connect.diff import unified
from keeplore.connect.hook_entries import Launcher
from keeplore.connect.host_locations import PLACES, Surroundings
from keeplore.errors import ConfigError, KeeploreError

_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


def surroundings(places: Places) -> Surroundings:
    return Surroundings(Path.home(), places.state, os.environ)


def runs(around: Surroundings) -> Launcher:
    """How hosts start the client; the MCP server only where its library is installed."""
    has_mcp = importlib.util.find_spec("mcp") is not None
    search_path = around.environment.get("PATH", os.defpath)
    return launcher(
        around.state,
        search_path=search_path,
        has_mcp=has_mcp,
        before_edit=_wants_before_edit(around),
    )


def _wants_before_edit(around: Surroundings) -> bool:
    """Whether any workspace of this machine wants to be asked before edits."""
    for root in Machine.load(Places(around.state, around.state)).workspaces.values():
        with contextlib.suppress(ConfigError):  # one that is gone wants nothing
            if load_settings(root).context.before_edit:
                return True
    return False


def show(plan: Plan, *, is_whole: bool) -> None:
    """Every file, and what changes within those of the person; with ``is_whole`` nothing but one
    diff of all.
    """
    if is_whole:
        _show_diff(plan.changes)
        return
    by_host: dict[str, list[Change]] = defaultdict(list)
    for change in plan.changes:
        by_host[change.host].append(change)
    for host, changes in by_host.items():
        say(PLACES[host].label, bold=True)
        for change in changes:
            say(f"  {_deed(change)}  {near(change.path, Path.cwd())}")
    _show_diff(
        [
            change
            for change in plan.changes
            if change.before is not None and change.after is not None
        ]
    )


def tell(plan: Plan) -> bool:
    """Print what is not as it was asked for, on stderr; returns whether there is such a thing."""
    for told in plan.skipped:
        note(f"{told.message}. {told.remedy}" if told.remedy else told.message)
    for told in plan.told:
        click.echo(f"{PLACES[told.host].label}: {plain(told.message)}", err=True)
        for line in block(told.remedy).splitlines():
            click.echo(f"  → {line}", err=True)
    return bool(plan.told)


def confirm(question: str, *, yes: bool) -> None:
    if yes:
        return
    if not sys.stdin.isatty():
        raise KeeploreError(
            "nobody is here to be asked, so nothing was changed", "Add --yes to go on"
        )
    click.confirm(question, abort=True, err=True)


def _deed(change: Change) -> str:
    if change.before is None:
        return "new    "
    return "removed" if change.after is None else "changed"


def _show_diff(changes: list[Change] | tuple[Change, ...]) -> None:
    for line in unified(changes):
        colour = _COLOURS.get(line[:1])
        text = block(line)
        say(text, fg=colour) if colour else say(text)
