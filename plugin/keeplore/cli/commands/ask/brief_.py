"""``keeplore brief``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from keeplore.cli.memory_options import agent_option
from keeplore.cli.output import note
from keeplore.cli.parameters import pass_registry
from keeplore.cli.writing import calling_agent_name
from keeplore_hooks.hosts.host_adapter import HostAdapter

if TYPE_CHECKING:
    from keeplore.workspace.registry import Registry


@click.command(short_help="Print what an agent is told when it begins here.")
@agent_option("What this agent of the project is told.")
@pass_registry
def brief_command(registry: Registry, /, *, agent: str | None) -> None:
    """Print what an agent is told when it begins a new session in this directory: the fenced block
    as its host gets it.

    \b
    keeplore brief
    keeplore brief --agent reviewer
    """
    # heavy: the index is needed here, not for --help
    from keeplore.recall.brief import brief
    from keeplore.recall.render import TextBudget

    here = Path.cwd()
    wishes = registry.for_directory(here).settings.context
    if not wishes.enabled:
        note(
            "agents are told nothing here: `keeplore config set context.enabled true` changes that"
        )
        return
    views = registry.views(here, agent=agent or calling_agent_name(registry.places))
    for view in views:
        view.index.refresh_for_reading()
    room = TextBudget(wishes.brief_tokens, HostAdapter.context_bytes)
    text, _ = brief(views, session="", source="startup", room=room)
    if text:
        click.echo(text)
    else:
        note(
            "an agent that begins here is told nothing: nothing is remembered for this project, or "
            "for all; `keeplore list --all-projects` shows what there is"
        )
