"""``keeplore engine``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from keeplore.cli.output import attributes_of, confirm_risk, emit_json, note, say
from keeplore.cli.parameters import json_option, pass_registry, pass_workspace
from keeplore.cli.progress import fill_vectors
from keeplore.config.settings import FILE
from keeplore.errors import ConfigError, EngineUnavailable, ModelUnavailable

if TYPE_CHECKING:
    from keeplore.workspace.registry import Registry
    from keeplore.workspace.workspace import Workspace


@click.group(
    short_help="Show what searches the memories: this machine, or a server.",
    invoke_without_command=True,
)
@json_option
@click.pass_context
def engine_command(context: click.Context, /, *, as_json: bool) -> None:
    """Show what searches this directory's workspace, whether it answers, and how far it is.

    \b
    keeplore engine
    keeplore engine accept
    keeplore engine rebuild
    """
    if context.invoked_subcommand is None:
        _show(as_json=as_json)


@engine_command.command()
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_registry
def accept(registry: Registry, *, yes: bool) -> None:
    """Use the engine that keeplore.yaml names on this machine too."""
    # heavy: git and the index are needed here, not for --help
    from keeplore.config.consent import Consents, ConsentUse
    from keeplore.workspace.search_backend import is_shared, subject

    workspace = registry.for_directory(Path.cwd())
    wishes = workspace.settings.index
    if not is_shared(wishes):
        raise ConfigError(
            "keeplore.yaml names no engine besides the embedded one",
            "Write it under `index:`",
        )
    say(
        f"What this workspace's memories say goes to {wishes.url} as numbers, under the name "
        f"{wishes.name}:"
    )
    say("no text, but whoever reads that server can tell much of it from them.")
    confirm_risk(yes=yes)
    Consents(registry.places.state).accept(
        workspace.root, ConsentUse.INDEX, subject(wishes)
    )
    _touch_settings(workspace)
    _make_vectors(registry.named(workspace.name))


@engine_command.command(
    short_help="Search on this machine again, whatever keeplore.yaml names."
)
@pass_workspace
def refuse(workspace: Workspace) -> None:
    """Search on this machine again, whatever keeplore.yaml names; what the server has stays
    there.
    """
    from keeplore.config.consent import Consents, ConsentUse  # heavy, as above

    Consents(workspace.places.state).withdraw(workspace.root, ConsentUse.INDEX)
    _touch_settings(workspace)
    say(f"{workspace.name} is searched on this machine.")


@engine_command.command(
    short_help="Empty what the engine has of this workspace, and refill it."
)
@pass_workspace
def rebuild(workspace: Workspace) -> None:
    """Empty what the engine has of this workspace, and fill it again from the text.

    On a shared one, the other machines put again within an hour what they have and this one has
    not.
    """
    workspace.index.refresh()
    workspace.index.rebuild()
    _make_vectors(workspace)


def _touch_settings(workspace: Workspace) -> None:
    """Let a worker open the workspace anew, as it does when settings have changed."""
    os.utime(workspace.root / FILE)


def _make_vectors(workspace: Workspace) -> None:
    workspace.index.refresh()
    if fill_vectors(workspace):
        stamp = workspace.index.state()
        counted = f"{stamp.vectors:,} of {stamp.passages:,} passages have their vector"
        say(f"{workspace.name}: {counted}", bold=True)


@pass_workspace
def _show(workspace: Workspace, *, as_json: bool) -> None:
    from keeplore.workspace.search_backend import is_accepted  # heavy, as above

    workspace.index.refresh_for_reading()
    wishes = workspace.settings.index
    accepted = is_accepted(wishes, workspace.root, workspace.places.state)
    problem = _problem(workspace, is_accepted=accepted)
    stamp = workspace.index.state()
    if as_json:
        settings = attributes_of(wishes, "backend", "url", "name") | {
            "accepted": accepted
        }
        emit_json(
            {
                **settings,
                **attributes_of(stamp, "passages", "vectors"),
                "problem": problem,
            }
        )
        return
    place = f" at {wishes.url}, as {wishes.name}" if wishes.url else ""
    counted = f"{stamp.vectors:,} of {stamp.passages:,} passages with their vector"
    say(f"{wishes.backend}{place}: {counted}", bold=True)
    if problem:
        note(problem)


def _problem(workspace: Workspace, *, is_accepted: bool) -> str:
    """Why the configured engine does not answer; "" where it does."""
    refused = "" if is_accepted else workspace.index.note
    try:
        workspace.index.warm_up()
    except (EngineUnavailable, ModelUnavailable) as e:
        return refused or str(e)
    return refused
