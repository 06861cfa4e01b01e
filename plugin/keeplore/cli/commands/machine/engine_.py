"""``keeplore engine``."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from keeplore.cli.output import emit_json, note, plain, say
from keeplore.cli.progress import fill_vectors
from keeplore.config.places import Places
from keeplore.config.settings import FILE
from keeplore.errors import ConfigError, EngineUnavailable, ModelUnavailable

if TYPE_CHECKING:
    from keeplore.workspace.workspace import Workspace


@click.group(
    short_help="Show what searches the memories: this machine, or a server.",
    invoke_without_command=True,
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
@click.pass_context
def command(context: click.Context, *, as_json: bool) -> None:
    """Show what searches this directory's workspace, whether it answers, and how far it is.

    \b
    keeplore engine
    keeplore engine accept
    keeplore engine rebuild
    """
    if context.invoked_subcommand is None:
        _show(context.obj, as_json=as_json)


@command.command()
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.pass_obj
def accept(places: Places, *, yes: bool) -> None:
    """Use the engine that keeplore.yaml names on this machine too."""
    # heavy: git and the index are needed here, not for --help
    from keeplore.config.consent import INDEX, Consents
    from keeplore.workspace.registry import Registry
    from keeplore.workspace.search_backend import is_shared, subject

    with Registry(places) as registry:
        workspace = registry.for_directory(Path.cwd())
        wishes = workspace.settings.index
        if not is_shared(wishes):
            raise ConfigError(
                "keeplore.yaml names no engine besides the embedded one", "Write it under `index:`"
            )
        say(
            f"What this workspace's memories say goes to {plain(wishes.url)} as numbers, under the "
            f"name {wishes.name}:"
        )
        say("no text, but whoever reads that server can tell much of it from them.")
        if not yes:
            if not sys.stdin.isatty():
                raise ConfigError("nobody is here to accept that", "Add --yes where you do")
            click.confirm("Accept that on this machine, for this workspace?", abort=True, err=True)
        Consents(places.state).accept(workspace.root, INDEX, subject(wishes))
        os.utime(
            workspace.root / FILE
        )  # a worker opens a workspace anew whose settings have changed
        _fill(registry.named(workspace.name))


@command.command()
@click.pass_obj
def refuse(places: Places) -> None:
    """Search on this machine again, whatever keeplore.yaml names; what the server has stays
    there.
    """
    # heavy, as above
    from keeplore.config.consent import INDEX, Consents
    from keeplore.workspace.registry import Registry

    with Registry(places) as registry:
        workspace = registry.for_directory(Path.cwd())
        Consents(places.state).withdraw(workspace.root, INDEX)
        os.utime(workspace.root / FILE)  # as above
        say(f"{plain(workspace.name)} is searched on this machine.")


@command.command()
@click.pass_obj
def rebuild(places: Places) -> None:
    """Empty what the engine has of this workspace, and fill it again from the text.

    On a shared one, the other machines put again within an hour what they have and this one has
    not.
    """
    # heavy, as above
    from keeplore.workspace.registry import Registry

    with Registry(places) as registry:
        workspace = registry.for_directory(Path.cwd())
        workspace.index.refresh()
        workspace.index.rebuild()
        _fill(workspace)


def _fill(workspace: Workspace) -> None:
    workspace.index.refresh()
    if fill_vectors(workspace):
        stamp = workspace.index.state()
        say(
            f"{plain(workspace.name)}: {stamp.vectors:,} of {stamp.passages:,} passages have their "
            f"vector",
            bold=True,
        )


def _show(places: Places, *, as_json: bool) -> None:
    # heavy, as above
    from keeplore.workspace.registry import Registry
    from keeplore.workspace.search_backend import is_accepted

    with Registry(places) as registry:
        workspace = registry.for_directory(Path.cwd())
        workspace.index.refresh()
        wishes = workspace.settings.index
        accepted = is_accepted(wishes, workspace.root, places.state)
        problem = "" if accepted else workspace.index.note
        try:
            workspace.index.warm_up()
        except (EngineUnavailable, ModelUnavailable) as e:
            problem = problem or str(e)
        stamp = workspace.index.state()
    if as_json:
        told = {
            "backend": wishes.backend,
            "url": wishes.url,
            "name": wishes.name,
            "accepted": accepted,
        }
        emit_json(
            {**told, "passages": stamp.passages, "vectors": stamp.vectors, "problem": problem}
        )
        return
    place = f" at {plain(wishes.url)}, as {plain(wishes.name)}" if wishes.url else ""
    say(
        f"{plain(wishes.backend)}{place}: {stamp.vectors:,} of {stamp.passages:,} passages with "
        f"their vector",
        bold=True,
    )
    if problem:
        note(problem)
