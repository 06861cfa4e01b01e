"""``keeplore pin REF…``."""

from __future__ import annotations

import click

from keeplore.cli.pinning import pin
from keeplore.cli.references import reference
from keeplore.config.places import Places


@click.command(short_help="Make memories permanent: never archived, ranked first.")
@reference("references", many=True)
@click.pass_obj
def command(places: Places, *, references: tuple[str, ...]) -> None:
    """Make the memories REF permanent. Each gets a new version; `keeplore unpin` takes it back.

    \b
    keeplore pin 1f0c9a2e
    """
    pin(places, references, is_wanted=True)
