"""``keeplore graph [NAME]``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from keeplore.cli.output import note, plain, say, table, write_file
from keeplore.config.places import Places
from keeplore.errors import KeeploreError

if TYPE_CHECKING:
    from keeplore.cli.graph.collect import View
    from keeplore.cli.graph.picture import Picture
    from keeplore.workspace.registry import Registry

LIMITS = {
    "tree": 30,
    "dot": 100,
    "mermaid": 100,
    "json": 500,
    "html": 500,
}  # entities, if the person names no number
MOST = 2000  # entities; with more nobody sees anything
NOTHING, EMPTY = 4, 5  # exit status, as of `recall`
CLOSE = 5  # names that may have been meant
OURS = 512  # characters at the beginning of a file, by which it is known to be ours
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
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file; stdout if not given.",
)
@click.option(
    "--hops", default=1, show_default=True, type=click.IntRange(1, 3), help="How far from NAME."
)
@click.option("-p", "--project", default="", help="Look from this project, at its memories alone.")
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(1, MOST),
    help="Entities at most, the most mentioned: 30 in a tree, 100 in DOT and Mermaid, 500 in JSON "
    "and HTML.",
)
@click.pass_obj
def graph_command(
    places: Places,
    /,
    *,
    name: tuple[str, ...],
    form: str,
    output: Path | None,
    hops: int,
    project: str,
    limit: int | None,
) -> None:
    """Show what memory knows around NAME: relations, aspects, what stands in the same memories, and
    these.

    Without NAME: the entities that are mentioned most.

    \b
    keeplore graph fastembed
    keeplore graph fastembed --hops 2 --format mermaid
    keeplore graph --format html --output graph.html

    Exit status: 0 found, 4 nothing is known by that name, 5 nothing is known yet.
    """
    if output and form == "tree":
        raise click.UsageError(
            "--output is for the other formats; a tree can be sent to a file with >"
        )
    if form == "html" and not output and sys.stdout.isatty():
        raise click.UsageError("a page is not for a terminal: --output graph.html")
    # heavy: git and the index are needed here, not for --help
    from keeplore.workspace.registry import Registry

    if output:
        _refuse_to_replace(output)
    with Registry(places) as registry:
        view, asked = _view(registry, project), " ".join(name)
        picture = _picture(view, asked, hops, limit or LIMITS[form], is_tied=form != "tree")
        if picture is None or not picture.nodes:
            sys.exit(_say_what_is_missing(view, asked))
    if output:
        write_file(output, _pieces(picture, form))
        number = len(picture.nodes)
        note(f"{'1 name is' if number == 1 else f'{number} names are'} in {output}{_more(picture)}")
    elif form == "tree":
        _show(picture)
    else:
        for piece in _pieces(picture, form):
            click.echo(piece, nl=False)


def _view(registry: Registry, project: str) -> View:
    # heavy, as above
    from keeplore.cli.graph.collect import View
    from keeplore.index import ScopeFilter

    cwd = Path.cwd()
    workspace = registry.for_project(project, cwd) if project else registry.for_directory(cwd)
    workspace.index.refresh()
    if left := workspace.index.graph.link(steps=0):
        note(f"{left} memories and names are still to be looked through: the worker does so")
    allowed = ScopeFilter((("project", project),)) if project else ScopeFilter()
    return View(
        workspace.index, workspace.name, allowed, project or workspace.identities.here(cwd).project
    )


def _picture(view: View, name: str, hops: int, limit: int, *, is_tied: bool) -> Picture | None:
    # heavy, as above
    from keeplore.cli.graph.collect import neighbourhood, overview

    if not name:
        return overview(view, limit, is_tied=is_tied)
    graph = view.index.graph
    every = graph.named(name) or graph.named(name := _called(name, view.project))
    middle = graph.entity(name, view.project) or next(iter(every), None)
    if middle is None:
        return None
    if others := [plain(other.place) for other in every if other.place not in ("", middle.place)]:
        note(f"the name means another thing in {', '.join(others)}: --project shows it")
    return neighbourhood(view, middle, hops, limit)


def _called(spelling: str, project: str) -> str:
    """What a thing is called that memories write like this: a file by its path, an issue of this
    project by #12.
    """
    # heavy, as above
    from keeplore.index.graph.code_spans import INLINE, TextSpan
    from keeplore.index.graph.name_shapes import shapes

    if project and spelling.startswith("#") and spelling[1:].isdecimal():
        return project + spelling
    return next(
        (shape.name for shape in shapes(TextSpan(INLINE, spelling)) if shape.spelling == spelling),
        spelling,
    )


def _say_what_is_missing(view: View, name: str) -> int:
    """On stderr, for a program may read the rest; returns the exit status."""
    if not name:
        note(
            "nothing is known yet; `keeplore import --all` reads your sessions, `keeplore entity "
            "add NAME` names one"
        )
        return EMPTY
    close = view.index.graph.alike(name, CLOSE)
    near_it = f" Near it: {', '.join(map(plain, close))}." if close else ""
    click.echo(f"Nothing found: nothing is known by the name {plain(name)!r}.{near_it}", err=True)
    note(
        f"`keeplore graph` lists what is known; `keeplore recall {plain(name)!r}` looks for the "
        f"words"
    )
    return NOTHING


def _more(picture: Picture) -> str:
    return "; there are more, which --limit shows" if picture.has_more else ""


def _pieces(picture: Picture, form: str) -> Iterator[str]:
    # heavy, as above: the page reads its parts
    from keeplore.cli.graph.dot import as_dot
    from keeplore.cli.graph.mermaid import as_mermaid
    from keeplore.cli.graph.page import as_page
    from keeplore.cli.graph.picture import as_json

    formats: dict[str, Callable[[Picture], Iterable[str]]] = {
        "dot": as_dot,
        "mermaid": as_mermaid,
        "json": lambda picture: (as_json(picture),),
        "html": lambda picture: (as_page(picture),),
    }
    yield from formats[form](picture)


def _show(picture: Picture) -> None:
    # heavy, as above
    from keeplore.cli.graph.tree import as_tree

    if not picture.has_middle:
        rows = [
            (node.spelling, node.type, node.place or "-", node.mentions) for node in picture.nodes
        ]
        table(("name", "type", "project", "mentions"), rows, wide=("name",))
        if picture.has_more:
            note(f"{len(picture.nodes)} names{_more(picture)}")
        return
    for number, line in enumerate(as_tree(picture)):
        say(line, **({"bold": True} if not number else {"dim": True} if number == 1 else {}))


def _refuse_to_replace(output: Path) -> None:
    """A picture may replace one that was made before, and nothing else."""
    if not output.exists():
        return
    with output.open("rb") as file:
        if MARK.encode() in file.read(OURS):
            return
    raise KeeploreError(
        f"{plain(output)} is there already, and was not written by `keeplore graph`",
        "Name another file with --output, or take that one away",
    )
