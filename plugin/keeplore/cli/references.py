"""The argument REF: which memory a person means, and what a shell offers to complete it with."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from typing import Any

import click
from click.shell_completion import CompletionItem

from keeplore.cli.output import plain
from keeplore.config.machine import Machine
from keeplore.config.places import Places

OFFERED = 40  # memories
SHORT_ID = 8  # digits, as file names have them


class Reference(click.ParamType[str]):
    """An id, four or more digits of one, a path, or a file's name; words of a title complete to an
    id.
    """

    name = "ref"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        del ctx, param  # a shell asks without running the command, so there is no context of ours
        # whatever goes wrong, a person who presses the tabulator wants no error
        with contextlib.suppress(Exception):
            return [
                CompletionItem(short(id_), help=plain(title)) for id_, title in _known(incomplete)
            ]
        return []


def reference(name: str = "reference", *, many: bool = False) -> Callable[[Any], Any]:
    """The argument of a command that is about memories."""
    metavar = "REF..." if many else "REF"
    return click.argument(
        name, metavar=metavar, nargs=-1 if many else 1, required=True, type=Reference()
    )


def short(memory_id: str) -> str:
    """The digits that a person reads and types."""
    return memory_id.removeprefix("mem_")[:SHORT_ID]


def _known(beginning: str) -> list[tuple[str, str]]:
    # heavy: the index is needed for this alone
    from keeplore.index.memory_queries import complete_reference

    places = Places.from_environment(os.environ)
    found = []
    for name in Machine.load(places).workspaces:
        found += complete_reference(places.cache / "index" / name, beginning, OFFERED)
    return found[:OFFERED]
