"""``keeplore upgrade``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from keeplore import __version__
from keeplore.cli.output import emit_json, say, table
from keeplore.cli.parameters import json_option
from keeplore.config.install_method import install_method
from keeplore.config.machine import Machine
from keeplore.config.places import FORMAT, Places
from keeplore.config.state_database import VERSION, version_of

KEPT, REBUILT = "kept", "made anew from the text; vectors are taken over"
NEWER = "of a newer Keeplore: upgrade this one"


@click.command(
    short_help="Say how this installation is upgraded, and what that changes."
)
@json_option
@click.pass_obj
def upgrade_command(places: Places, *, as_json: bool) -> None:
    """Say how this installation is upgraded, and what a newer one does with what is on this
    machine. It changes nothing and asks no network.
    """
    method = install_method()
    commands = [*method.upgrade_commands(), "keeplore worker stop", "keeplore connect"]
    formats = list(_formats(places))
    if as_json:
        emit_json(
            {
                "version": __version__,
                "installer": str(method.installer),
                "source": method.source,
                "is_editable": method.is_editable,
                "commands": commands,
                "formats": formats,
            }
        )
        return
    manner = ", editable" if method.is_editable else ""
    say(f"keeplore {__version__}, by {method.installer} from {method.source}{manner}")
    for command in commands:
        say(f"  {command}")
    rows = [
        (format_["part"], format_["found"], format_["known"], format_["then"])
        for format_ in formats
    ]
    table(("part", "format", "known here", "by an upgrade"), rows, wide=("part",))


def _formats(places: Places) -> Iterator[dict[str, Any]]:
    """What has a format here: the one found, the one that this program writes, what becomes of
    it.
    """
    yield _format("inbox", places.found_format, FORMAT, KEPT)
    for file in (places.jobs, places.ledger):
        if file.exists():
            yield _format(file.name, version_of(file), VERSION, KEPT)
    # heavy: it knows what a vector is
    from keeplore.index import schema

    for name in Machine.load(places).workspaces:
        file = places.cache / "index" / name / "index.sqlite3"
        if file.exists():
            yield _format(f"index {name}", version_of(file), schema.VERSION, REBUILT)


def _format(part: str, version: int, known: int, then: str) -> dict[str, Any]:
    then = NEWER if version > known else then
    return {"part": part, "found": version, "known": known, "then": then}
