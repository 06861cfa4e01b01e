"""``keeplore graph [NAME]``."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from keeplore.cli.output import (
    note,
    plain,
    refuse_to_replace,
    say,
    table,
    write_file,
)
from keeplore.cli.parameters import DAY, output_option, pass_registry
from keeplore.text.counts import counted

if TYPE_CHECKING:
    from keeplore.index.graph.entity_queries import Entity
    from keeplore.viewer.collect import GraphView
    from keeplore.viewer.picture import GraphPicture
    from keeplore.workspace.registry import Registry

# entities, if the person names no number
LIMITS = {"tree": 30, "dot": 100, "mermaid": 100, "json": 500, "html": 500}
MOST = 2000  # entities; with more nobody sees anything
NOTHING, EMPTY = 4, 5  # exit status, as of `recall`
CLOSE = 5  # names that may have been meant
MARK = "keeplore graph"


@click.command(short_help="Show who and what memory is about, and what ties them.")
@click.argument("name", nargs=-1)
@click.option(
    "-f",
    "--format",
    "form",
    default="tree",
    show_default=True,
    type=click.Choice([*LIMITS]),
    help="Lines for a terminal, Graphviz, Mermaid, JSON for programs, or a page to pan and search.",
)
@output_option
@click.option(
    "--hops",
    default=1,
    show_default=True,
    type=click.IntRange(1, 3),
    help="How far from NAME.",
)
@click.option(
    "--at",
    type=DAY,
    help="Show the relations that held on that day, or so long ago: 2026-01-31, 8w.",
)
@click.option(
    "-p", "--project", default="", help="Look from this project, at its memories alone."
)
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(1, MOST),
    help="Entities at most, the most mentioned: 30 in a tree, 100 in DOT and Mermaid, 500 in JSON "
    "and HTML.",
)
@pass_registry
def graph_command(
    registry: Registry,
    /,
    *,
    name: tuple[str, ...],
    form: str,
    output: Path | None,
    hops: int,
    at: str | None,
    project: str,
    limit: int | None,
) -> None:
    """Show what memory knows around NAME: relations, aspects, what stands in the same memories, and
    these.

    Without NAME: the entities that are mentioned most.

    \b
    keeplore graph fastembed
    keeplore graph fastembed --hops 2 --format mermaid
    keeplore graph fastembed --at 2026-01-31
    keeplore graph --format html --output graph.html

    Exit status: 0 found, 4 nothing is known by that name, 5 nothing is known yet.
    """
    _check_output(form, output)
    view, asked = _view(registry, project, at or ""), " ".join(name)
    picture = _picture(view, asked, hops, limit or LIMITS[form], is_tied=form != "tree")
    if picture is None or not picture.nodes:
        sys.exit(_say_what_is_missing(view, asked))
    if output:
        _write(output, picture, form)
    elif form == "tree":
        _show(picture)
    else:
        for piece in _render(picture, form):
            click.echo(piece, nl=False)


def _check_output(form: str, output: Path | None) -> None:
    """Refuse an output that does not suit the format (UsageError), or a file that is there already
    (KeeploreError).
    """
    if output and form == "tree":
        raise click.UsageError(
            "--output is for the other formats; a tree can be sent to a file with >"
        )
    if form == "html" and not output and sys.stdout.isatty():
        raise click.UsageError("a page is not for a terminal: --output graph.html")
    if output:
        refuse_to_replace(output, "graph", [MARK])


def _view(registry: Registry, project: str, at: str) -> GraphView:
    # heavy: git and the index are needed here, not for --help
    from keeplore.index import Index, ScopeFilter
    from keeplore.viewer.collect import GraphView
    from keeplore.viewer.joined_graph import JoinedIndex
    from keeplore.workspace.reading.replacements import replaced_at

    cwd = Path.cwd()
    workspace = (
        registry.for_project(project, cwd) if project else registry.for_directory(cwd)
    )
    allowed = ScopeFilter((("project", project),) if project else ())
    here = workspace.identities.here(cwd).project
    code = registry.code_memory(cwd, workspace) if project in ("", here) else None
    index: Index | JoinedIndex = workspace.index
    workspace.index.refresh_for_reading()
    if code:
        code.index.refresh_for_reading()
        index = JoinedIndex(workspace.index, code.index, code.project)
    if left := index.graph.link(steps=0):
        note(
            f"{left} memories and names are still to be looked through: the worker does so"
        )
    ended = replaced_at(workspace)
    return GraphView(index, workspace.name, allowed, project or here, at, ended)


def _picture(
    view: GraphView, name: str, hops: int, limit: int, *, is_tied: bool
) -> GraphPicture | None:
    """The picture around NAME, or of what is mentioned most where no name is given; None for an
    unknown name.
    """
    # heavy, as above
    from keeplore.viewer.collect import neighbourhood, overview

    if not name:
        return overview(view, limit, is_tied=is_tied)
    graph = view.index.graph
    every = graph.named(name) or graph.named(name := _display_name(name, view.project))
    middle = graph.entity(name, view.project) or next(iter(every), None)
    if middle is None:
        return None
    _note_elsewhere(middle, every)
    return neighbourhood(view, middle, hops, limit)


def _note_elsewhere(middle: Entity, every: Iterable[Entity]) -> None:
    places = [other.place for other in every if other.place not in ("", middle.place)]
    if places:
        note(f"the name means another thing in {', '.join(places)}: --project shows it")


def _display_name(spelling: str, project: str) -> str:
    """What a thing is called that memories write like this: a file by its path, an issue of this
    project by #12.
    """
    # heavy, as above
    from keeplore.index.graph.code_spans import INLINE, TextSpan
    from keeplore.index.graph.name_shapes import shapes

    if project and spelling.startswith("#") and spelling[1:].isdecimal():
        return project + spelling
    for shape in shapes(TextSpan(INLINE, spelling)):
        if shape.spelling == spelling:
            return shape.name
    return spelling


def _say_what_is_missing(view: GraphView, name: str) -> int:
    """Say why the graph is empty, and what to do, on stderr: a program may read stdout. Returns the
    exit status.
    """
    if not name:
        note(
            "nothing is known yet; `keeplore import --all` reads your sessions, `keeplore entity "
            "add NAME` names one"
        )
        return EMPTY
    close = view.index.graph.similar_names(name, CLOSE)
    near_it = f" Near it: {', '.join(close)}." if close else ""
    name = plain(name)
    say(f"Nothing found: nothing is known by the name {name!r}.{near_it}", err=True)
    search = f"keeplore recall {shlex.quote(name)}"
    note(f"`keeplore graph` lists what is known; `{search}` looks for the words")
    return NOTHING


def _write(output: Path, picture: GraphPicture, form: str) -> None:
    write_file(output, _render(picture, form))
    names = counted(len(picture.nodes), "name is", "names are")
    note(f"{names} in {output}{_more_hint(picture)}")


def _more_hint(picture: GraphPicture) -> str:
    return "; there are more, which --limit shows" if picture.has_more else ""


def _render(picture: GraphPicture, form: str) -> Iterable[str]:
    # heavy, as above: the page reads its parts
    from keeplore.viewer.dot import as_dot
    from keeplore.viewer.mermaid import as_mermaid
    from keeplore.viewer.page import as_page
    from keeplore.viewer.picture import as_json

    formats: dict[str, Callable[[GraphPicture], Iterable[str]]] = {
        "dot": as_dot,
        "mermaid": as_mermaid,
        "json": lambda picture: (as_json(picture),),
        "html": lambda picture: (as_page(picture),),
    }
    return formats[form](picture)


def _show(picture: GraphPicture) -> None:
    # heavy, as above
    from keeplore.viewer.tree import as_tree

    if picture.has_middle:
        name, facts, *lines = as_tree(picture)
        click.echo(click.style(name, bold=True))
        click.echo(click.style(facts, dim=True))
        click.echo("\n".join(lines), nl=bool(lines))
    else:
        _show_list(picture)


def _show_list(picture: GraphPicture) -> None:
    """Show what is mentioned most, where no name was asked for."""
    rows = [
        (node.spelling, node.type, node.place or "-", node.mentions)
        for node in picture.nodes
    ]
    table(("name", "type", "project", "mentions"), rows, wide=("name",))
    if picture.has_more:
        note(f"{counted(len(picture.nodes), 'name')}{_more_hint(picture)}")
