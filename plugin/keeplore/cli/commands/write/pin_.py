"""``keeplore pin REF…`` and ``keeplore unpin REF…``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from keeplore.cli.output import say
from keeplore.cli.parameters import pass_registry, reference
from keeplore.cli.writing import settle
from keeplore.memory.names import short_id

if TYPE_CHECKING:
    from keeplore.workspace.registry import Registry


@click.command(short_help="Make memories permanent: never archived, ranked first.")
@reference("references", many=True)
@pass_registry
def pin_command(registry: Registry, *, references: tuple[str, ...]) -> None:
    """Make the memories REF permanent. Each gets a new version; `keeplore unpin` takes it back.

    \b
    keeplore pin 1f0c9a2e
    """
    _set_permanence(registry, references, is_permanent=True)


@click.command(short_help="Make memories permanent no more.")
@reference("references", many=True)
@pass_registry
def unpin_command(registry: Registry, *, references: tuple[str, ...]) -> None:
    """Take back `keeplore pin` for the memories REF. Each gets a new version.

    Decisions, conventions and the like are not archived all the same; `keeplore archive --help`
    says which.

    \b
    keeplore unpin 1f0c9a2e
    """
    _set_permanence(registry, references, is_permanent=False)


def _set_permanence(
    registry: Registry, references: Sequence[str], *, is_permanent: bool
) -> None:
    """Set or remove the mark of permanence; nothing is written before all are found."""
    state = "permanent" if is_permanent else "not permanent"
    found = [registry.find(reference, Path.cwd()) for reference in references]
    changed = {}
    for one in found:
        outcome = one.workspace.notes.revise(one.row.id, permanent=is_permanent or None)
        named = f"{outcome.memory.title} ({short_id(outcome.memory.id)})"
        if outcome.is_new:
            changed[one.workspace.name] = one.workspace
            say(f"Now {state}: {named}")
        else:
            say(f"It was {state} before: {named}")
    for workspace in changed.values():
        settle(workspace)
