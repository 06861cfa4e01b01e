"""``keeplore projects``."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from keeplore.cli.commands.machine.in_repo_ import in_repo_command
from keeplore.cli.output import emit_json, near, note, say, table
from keeplore.cli.parameters import (
    directory_argument,
    json_option,
    pass_registry,
    pass_workspace,
)
from keeplore.cli.progress import lines
from keeplore.cli.writing import settle
from keeplore.errors import ConfigError

if TYPE_CHECKING:
    from keeplore.workspace.identity import Project
    from keeplore.workspace.registry import Registry
    from keeplore.workspace.workspace import Workspace


@click.group(
    short_help="List, add, clone and reassign the workspace's projects.",
    invoke_without_command=True,
)
@json_option
@click.pass_context
def projects_command(context: click.Context, /, *, as_json: bool) -> None:
    """List the projects of this directory's workspace, and how each is recognised.

    A project that a session is captured in is added by itself.

    \b
    keeplore projects
    keeplore projects add ~/code/shop
    keeplore projects clone --all --into ~/code
    keeplore projects reassign shop-3f0c9a2e shop
    """
    if context.invoked_subcommand is None:
        context.invoke(list_, as_json=as_json)


@projects_command.command(name="list")
@json_option
@pass_workspace
def list_(workspace: Workspace, *, as_json: bool) -> None:
    """List the projects and how each is recognised."""
    # heavy: git is needed here, not for --help
    from keeplore.workspace.identity import load_projects
    from keeplore.workspace.lifecycle.projects import LIST

    projects = list(load_projects(workspace.store))
    if as_json:
        emit_json([asdict(project) for project in projects])
        return
    rows = [(project.name, _recognised_by(project)) for project in projects]
    table(("project", "recognised by"), rows, wide=("recognised by",))
    if not projects:
        note(
            "no project yet: one is added when a session in it is captured or imported"
        )
    file = workspace.root / LIST
    if file.is_file():
        note(f"`keeplore projects add --from {near(file)}` takes in the list there")


@projects_command.command(short_help="Add the project of DIRECTORY, or of this one.")
@directory_argument
@click.option(
    "--name",
    default="",
    help="What to call it; the name of its remote or folder if not given.",
)
@click.option(
    "--from",
    "source",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A projects.json of another tool: every project in it that is new is added.",
)
@pass_registry
def add(
    registry: Registry, directory: Path | None, name: str, source: Path | None
) -> None:
    """Add the project of DIRECTORY, of this directory if none is named, or all of a list.

    A list is JSON: an array, an object by name, or either below "projects". Each entry is an
    address or has one under url, remote, repo, repository or git, and may have a name and a path.
    """
    if source and (directory or name):
        raise click.UsageError(
            "--from names a list, so neither a directory nor --name goes with it"
        )
    from keeplore.workspace.lifecycle import projects  # heavy, as above

    if source is None:
        place = (directory or Path.cwd()).expanduser().resolve()
        workspace = registry.for_directory(place)
        made = [projects.add(workspace, place, name)]
    else:
        workspace = registry.for_directory(Path.cwd())
        made = _add_listed(workspace, source)
    for project in made:
        say(f"{project.name}: {_recognised_by(project)}")
    if made:
        settle(workspace, "Add projects")
    else:
        note("no project of it is new")


def _add_listed(workspace: Workspace, source: Path) -> list[Project]:
    """Add what is new in the list of another tool."""
    from keeplore.workspace.lifecycle import projects  # heavy, as above

    listed, left_out = projects.parse_project_list(_text(source))
    made = projects.add_missing(workspace, listed)
    if left_out:
        have = "have" if left_out > 1 else "has"
        note(f"{left_out} of its entries {have} no address that can be followed")
    return made


def _text(path: Path) -> str:
    from keeplore.workspace.lifecycle.projects import MAX_LIST  # heavy, as above

    with path.open("rb") as file:
        data = file.read(MAX_LIST + 1)
    if len(data) > MAX_LIST:
        raise ConfigError(
            f"{path} is larger than {MAX_LIST} bytes", "Name a file that lists projects"
        )
    return data.decode("utf-8", "replace")


@projects_command.command(short_help="Clone projects from their remotes.")
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option("--all", "is_all", is_flag=True, help="Every project that has a remote.")
@click.option(
    "--into",
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder to clone into; this directory if not given.",
)
@pass_workspace
def clone(
    workspace: Workspace, names: tuple[str, ...], into: Path | None, *, is_all: bool
) -> None:
    """Clone the projects NAME, or all, from their remotes, each into a folder of its name.

    Over https, or over ssh where the workspace's own remote is reached so. What is there already
    stays as it is; no submodule is fetched and nothing of a project is run.

    Exit status: 0 all are there, 1 one could not be cloned.
    """
    if bool(names) == is_all:
        raise click.UsageError("name the projects, or say --all")
    sys.exit(0 if clone_all(workspace, names, into or Path.cwd()) else 1)


@projects_command.command(short_help="Let the project OLD be NEW from now on.")
@click.argument("old")
@click.argument("new")
@pass_workspace
def reassign(workspace: Workspace, old: str, new: str) -> None:
    """Let the project OLD be NEW: one project that was taken for two, or that has another name now.

    Directories of OLD are recognised as NEW, which finds the memory of both. No file of memory is
    moved or changed.
    """
    from keeplore.workspace.lifecycle.projects import reassign as act  # heavy, as above

    project = act(workspace, old, new, workspace.identities.of(Path.cwd()).proposal)
    settle(workspace, f"Reassign the project {old} to {new}")
    say(f"{old} is {project.name} now, recognised by {_recognised_by(project)}")


projects_command.add_command(in_repo_command)


def clone_all(workspace: Workspace, names: tuple[str, ...], into: Path) -> bool:
    """Clone projects, all for no names, and say what came of each; returns whether all
    are there.
    """
    from keeplore.workspace.lifecycle import projects  # heavy, as above

    is_whole = True
    wanted = projects.projects_named(workspace, names)
    with lines() as follow:
        for cloned in projects.clone(
            workspace, wanted, into.expanduser().resolve(), follow
        ):
            if cloned.error:
                is_whole = False
                say(f"{cloned.name}: not cloned: {cloned.error}", fg="red")
            else:
                deed = "cloned into" if cloned.is_new else "is there already:"
                say(f"{cloned.name}: {deed} {near(cloned.path)}")
    return is_whole


def _recognised_by(project: Project) -> str:
    """What a directory is recognised by as the project's, and the names of other projects that it
    was before.
    """
    root = project.root_commit[:8]
    evidence = (
        ", ".join(project.remotes)
        or ", ".join(filter(None, (project.path, *project.paths)))
        or (f"root commit {root}" if root else "its name alone")
    )
    return f"{evidence} (also {', '.join(project.also)})" if project.also else evidence
