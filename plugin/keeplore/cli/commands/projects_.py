"""``keeplore projects``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from keeplore.cli.output import emit_json, note, table
from keeplore.config.places import Places


@click.command(short_help="List the projects that the workspace knows.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
@click.pass_obj
def command(places: Places, *, as_json: bool) -> None:
    """List the projects of this directory's workspace and how each is recognised."""
    # heavy: git is needed here, not for --help
    from keeplore.workspace.identity import load_projects
    from keeplore.workspace.registry import Registry

    with Registry(places) as registry:
        projects = list(load_projects(registry.for_directory(Path.cwd()).store))
    if as_json:
        emit_json([asdict(project) for project in projects])
        return
    rows = [
        (project.name, ", ".join(project.remotes) or project.path or f"root commit {project.root_commit[:8]}")
        for project in projects
    ]
    table(("project", "recognised by"), rows, wide=("recognised by",))
    if not projects:
        note("no project yet: one is added when a session in it is captured or imported")
