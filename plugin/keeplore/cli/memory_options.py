"""Options that name what a memory may be: its scope, project, category, kind.

They stand apart, because the model of memories takes longer to import than a recall may.
"""

from __future__ import annotations

import click

from keeplore.cli.parameters import Option
from keeplore.memory import CATEGORIES, KINDS, SCOPES


def scope_option(text: str) -> Option:
    return click.option("--scope", type=click.Choice(SCOPES), help=text)


def project_option(text: str) -> Option:
    return click.option("--project", metavar="NAME", help=text)


def category_option(text: str) -> Option:
    return click.option(
        "--category",
        metavar="CATEGORY",
        type=click.Choice(CATEGORIES),
        help=f"{text}: {', '.join(CATEGORIES)}.",
    )


def kind_option(
    *names: str, text: str = "Only of this kind.", multiple: bool = False
) -> Option:
    return click.option(*names, type=click.Choice(KINDS), multiple=multiple, help=text)


def check_place(scope: str | None, project: str | None) -> None:
    """A project has one scope. Raises UsageError."""
    if project and scope not in (None, "project"):
        raise click.UsageError(f"--project and --scope {scope} exclude one another")
