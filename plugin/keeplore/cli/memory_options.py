"""Options that name what a memory may be: its scope, project, category, kind.

They stand apart, because the model of memories takes longer to import than a recall may.
"""

from __future__ import annotations

import click

from keeplore.cli.parameters import NamedChoice, Option
from keeplore.memory import CATEGORIES, KINDS, WIDE_SCOPES
from keeplore.text.agent_scope import agent_of

PLACE = ("scope", "project", "agent")  # the options that say whose a memory is


def scope_option(text: str) -> Option:
    return click.option("--scope", type=NamedChoice(WIDE_SCOPES), help=text)


def project_option(text: str) -> Option:
    return click.option("--project", metavar="NAME", help=text)


def agent_option(text: str) -> Option:
    return click.option("--agent", metavar="NAME", help=text)


def category_option(text: str) -> Option:
    return click.option(
        "--category",
        metavar="CATEGORY",
        type=NamedChoice(CATEGORIES),
        help=f"{text}: {', '.join(CATEGORIES)}.",
    )


def kind_option(
    *names: str, text: str = "Only of this kind.", multiple: bool = False
) -> Option:
    return click.option(*names, type=NamedChoice(KINDS), multiple=multiple, help=text)


def check_place(
    scope: str | None, project: str | None, agent: str | None = None
) -> None:
    """Raise UsageError for a scope, project and agent that do not go together: a project has one
    scope, and its agents have theirs.
    """
    if agent and scope is not None:
        raise click.UsageError(f"--agent and --scope {scope} exclude one another")
    if project and scope not in (None, "project"):
        raise click.UsageError(f"--project and --scope {scope} exclude one another")


def place_options(scope: str, project: str) -> str:
    """The options that name a place."""
    if agent := agent_of(scope):
        return f"--project {project} --agent {agent}"
    return f"--project {project}" if project else f"--scope {scope}"
