"""``keeplore unpin REF…``."""

from __future__ import annotations

import click

from keeplore.cli.pinning import pin
from keeplore.cli.references import reference
from keeplore.config.places import Places


@click.command(short_help="Make memories permanent no more.")
@reference("references", many=True)
@click.pass_obj
def command(places: Places, *, references: tuple[str, ...]) -> None:
    """Take back `keeplore pin` for the memories REF. Each gets a new version.

    Decisions, conventions and the like are not archived all the same; `keeplore archive --help`
    says which.

    \b
    keeplore unpin 1f0c9a2e
    """
    pin(places, references, is_wanted=False)
